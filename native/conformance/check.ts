/**
 * What every implementation of `native/device.ts` has to do, as plain data. The same checks run on the emulated device in
 * the tests and on the Metal device on a Mac: what passes on one and fails on the other is a difference between them.
 */
import type { Device } from "../device.ts";
import type { NeedId } from "./needs.ts";

/** One statement about a device, with the program that tries it. */
export interface ConformanceCheck {
  /** `area.what`, stable: results of different devices are compared by it. */
  readonly id: string;
  /** What must be true, in one sentence without a full stop. */
  readonly title: string;
  /** What a device must have so that the statement can be tried; `needs.ts` decides by the profile. */
  readonly needs: readonly NeedId[];
  /** Tries it and says what was seen. Throws `ConformanceFailure` (or whatever the device throws) where it is not so. */
  run(device: Device): Promise<string>;
}

export const CONFORMANCE_OUTCOMES = ["passed", "failed", "not_run"] as const;
export type ConformanceOutcome = (typeof CONFORMANCE_OUTCOMES)[number];

export interface ConformanceResult {
  readonly id: string;
  readonly title: string;
  readonly outcome: ConformanceOutcome;
  /** What was seen, what is wrong, or why it was not run. Never empty. */
  readonly words: string;
}

/** The device is not as the check says it must be. `message` names what was expected and what was seen. */
export class ConformanceFailure extends Error {
  override readonly name = "ConformanceFailure";
}

/** Throws `ConformanceFailure` with `words` unless `condition` holds. */
export function must(condition: boolean, words: string): asserts condition {
  if (!condition) throw new ConformanceFailure(words);
}
