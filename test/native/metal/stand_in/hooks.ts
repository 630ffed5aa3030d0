/** What every test file of the binding does: open the stand-in once, and after each test hold it to have seen no misuse. */
import { afterEach, beforeAll, expect } from "vitest";
import { openStandIn, STAND_IN_TIMEOUT_MS, type StandIn } from "./open.ts";

/**
 * Registers both with the test file that calls it.
 *
 * @param prepare gets the stand-in in its usual state
 */
export function withStandIn(prepare: (standIn: StandIn) => void | Promise<void>): void {
  let standIn: StandIn;
  beforeAll(async () => {
    standIn = await openStandIn();
    standIn.set({});
    await prepare(standIn);
  }, STAND_IN_TIMEOUT_MS);

  afterEach(() => {
    expect(standIn.violations()).toEqual([]);
    expect(standIn.objects().withoutPool).toBe(0);
    standIn.set({});
  });
}
