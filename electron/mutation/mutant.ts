/** A mutant: one planted fault in one of the project's kernel sources. */
import type { Operator } from "../../kernels/route.ts";

/** What kind of mistake a mutant is. */
export const MUTANT_CLASSES = [
  "barrier_removed",
  "guard_dropped",
  "head_mapping",
  "scale",
  "last_token",
  "partition",
  "strides",
  "rescale",
  "rope_head",
  "fragment",
  "stale_partial",
  "bounds",
] as const;
export type MutantClass = (typeof MUTANT_CLASSES)[number];

export interface Mutant {
  /** Stable and unique: class, file and line, or a name. */
  readonly id: string;
  readonly class: MutantClass;
  readonly operator: Operator;
  /** File below `kernels/`. */
  readonly file: string;
  /** 1-based line of the change. */
  readonly line: number;
  /** What stood there and what stands there now, shortened to a line each. */
  readonly was: string;
  readonly now: string;
  /** The mistake in words. */
  readonly what: string;
  /** The whole source with the fault. */
  readonly text: string;
}

/** Line of an offset, 1-based. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** One line of text for a table. */
export function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 90 ? line : `${line.slice(0, 60)} ... ${line.slice(-25)}`;
}
