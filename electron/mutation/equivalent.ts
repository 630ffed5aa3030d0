/**
 * Mutants that change nothing that can be observed, each with the reason. They are listed and not counted. A mutant belongs
 * here only if the reason holds for every input, not if no case happens to show it.
 */
import type { Mutant } from "./mutant.ts";

interface Equivalent {
  readonly class: Mutant["class"];
  /** Files below `kernels/`. */
  readonly files: readonly string[];
  /** What stands at the site. */
  readonly was: string;
  readonly reason: string;
}

const EQUIVALENT: readonly Equivalent[] = [];

/** Why a mutant is equivalent; undefined where it is not known to be. */
export function equivalence(mutant: Mutant): string | undefined {
  return EQUIVALENT.find(
    (entry) => entry.class === mutant.class && entry.files.includes(mutant.file) && entry.was === mutant.was,
  )?.reason;
}
