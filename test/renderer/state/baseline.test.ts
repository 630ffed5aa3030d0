/** What a run is held against. */
import { describe, expect, it } from "vitest";
import { baselineSchema, counterpart } from "../../../renderer/state/baseline.ts";

const IDS = ["c.lockstep", "b.lockstep", "a.lockstep"];

describe("the counterpart of a run", () => {
  it("is the baseline, or else the run before it; the oldest has the one after it", () => {
    expect(counterpart("c.lockstep", "a.lockstep", IDS)).toBe("a.lockstep");
    expect(counterpart("c.lockstep", null, IDS)).toBe("b.lockstep");
    expect(counterpart("a.lockstep", "a.lockstep", IDS)).toBe("b.lockstep");
    expect(counterpart("b.lockstep", "gone.lockstep", IDS)).toBe("a.lockstep");
    expect(counterpart("a.lockstep", null, ["a.lockstep"])).toBeUndefined();
    expect(counterpart("other.lockstep", null, IDS)).toBeUndefined();
  });

  it("is read from storage as if a stranger had written it", () => {
    expect(baselineSchema.safeParse({ id: "a.lockstep" }).success).toBe(true);
    for (const value of ["a.lockstep", { id: "../a" }, { id: "a.lockstep", more: 1 }, {}]) {
      expect(baselineSchema.safeParse(value).success).toBe(false);
    }
  });
});
