import { describe, expect, it } from "vitest";
import { capabilitiesOf, dispatch } from "../../../../electron/dispatch/dispatch.ts";
import type { CaseShape, RouteCapabilities } from "../../../../kernels/route.ts";
import { OPERATORS, routesFor } from "../../../../kernels/routes.ts";
import { emulatedProfile } from "../../../../native/emulator/profile.ts";
import {
  askedOf,
  caseOf,
  changedShape,
  dispatchWords,
  type ListedCase,
} from "../../../../renderer/pages/dispatch/asked.ts";
import { variationsOf } from "../../../../renderer/pages/dispatch/flips.ts";
import { isDevicePredicate, knownBy } from "../../../../renderer/pages/dispatch/known_by.ts";
import { PRODUCTION, presetOf } from "../../../../renderer/pages/dispatch/shape_form.ts";
import { opensByItself, shortFigure, standingOf, whySentence } from "../../../../renderer/pages/dispatch/words.ts";

const capabilities = (chip: string): RouteCapabilities => capabilitiesOf(emulatedProfile(chip));
const shapeOf = (params: Readonly<Record<string, string>>): CaseShape => askedOf(params, [])!.shape;

const CASE: ListedCase = {
  key: "gqa_decode/h32kv4d512/L8192/spread/f32",
  alias: "L8192.spread",
  shape: { ...PRODUCTION[0]!.shape, operator: "gqa_decode" } as ListedCase["shape"],
  source: { kind: "generator", generator: "lockstep.fmix32/1", seed: 1, variant: "spread" },
  boundary: true,
};

describe("what a view asks", () => {
  it("waits for the cases where it names one, and begins anew where nothing has that name", () => {
    expect(askedOf({ case: CASE.key }, undefined)).toBeUndefined();
    expect(askedOf({ case: CASE.key }, [CASE])).toMatchObject({ base: CASE.key, changed: [] });
    expect(askedOf({ case: "gone" }, [CASE])?.base).toBe("prefill");
    expect(askedOf({ case: "decode", route: "simdgroup_8x8" }, [])?.forced).toBeNull();
  });

  it("is a command: of the case with that shape, or of the shape itself", () => {
    const same = askedOf({ case: "decode", chip: "M5", route: "naive" }, [CASE])!;
    expect(dispatchWords(same, caseOf(same, [CASE]))).toEqual([
      "lockstep",
      "dispatch",
      "--case",
      CASE.key,
      "--chip",
      "M5",
      "--route",
      "naive",
    ]);
    const other = askedOf({ case: CASE.key, live: "5" }, [CASE])!;
    expect(caseOf(other, [CASE])).toBeUndefined();
    const words = dispatchWords(other, undefined);
    expect(JSON.parse(words.at(-1)!)).toEqual(other.shape);
  });

  it("a change taken back gives the route of the base again", () => {
    const asked = askedOf({ case: "decode", dim: "500", live: "64" }, [])!;
    const labels = variationsOf(asked).map(({ label }) => label);
    expect(labels.slice(0, 2)).toEqual(["Head width back to 512", "Live tokens back to 8192"]);
    const back = changedShape(asked, variationsOf(asked)[0]!.changes);
    expect(back).toMatchObject({ dim: 512, live: 64, capacity: 68 });
    expect(dispatch(back, capabilities("M3 Max")).route).toBe("three_stage");
    expect(dispatch(asked.shape, capabilities("M3 Max")).route).toBeNull();
  });
});

describe("a decision in words", () => {
  it("names what keeps the 16x16 route from a chip", () => {
    const shape = presetOf("mla_prefill").shape;
    const decision = dispatch(shape, capabilities("M3 Max"));
    expect(whySentence(decision, null)).toBe("matrix_16x16 fails 2 of 12: GPU family; its kernel is not built yet");
    expect(decision.candidates.map((candidate) => standingOf(candidate).word)).toEqual([
      "rejected, 2 of 12 failed",
      "chosen, 10 of 10 held",
      "would hold; taken only when forced",
    ]);
    expect(decision.candidates.map((candidate) => opensByItself(decision, candidate))).toEqual([true, true, false]);
    const newest = dispatch(shape, capabilities("M5 Max"));
    expect(whySentence(newest, null)).toBe("matrix_16x16 would hold, but its kernel is not built yet");
    expect(standingOf(newest.candidates[0]!).glyph).toBe("blocked");
    expect(opensByItself(newest, newest.candidates[0]!)).toBe(true);
  });

  it("says what every candidate lacks where none can run", () => {
    const decision = dispatch(shapeOf({ case: "decode", dim: "500" }), capabilities("M1"));
    expect(whySentence(decision, null)).toBe("Every candidate needs a multiple of 32, 32 to 512; it is 500");
    expect(standingOf(decision.candidates[0]!)).toMatchObject({ glyph: "fail", word: "rejected, 1 of 9 failed" });
  });

  it("a forced route is chosen though policy would not take it, and refused where a requirement fails", () => {
    const forced = "fused_split_kv_p32";
    const taken = dispatch(shapeOf({ case: "decode" }), capabilities("M1"), { forced });
    expect(whySentence(taken, forced)).toBe("fused_split_kv_p32 is forced: all 11 requirements hold");
    const refused = dispatch(shapeOf({ case: "decode", dim: "256" }), capabilities("M1"), { forced });
    expect(whySentence(refused, forced)).toContain("needs a head width of exactly 512, but it is 256");
  });
});

describe("how an actual value is known", () => {
  it("every predicate that changes with the device alone is known by the device", () => {
    const low: RouteCapabilities = {
      appleFamily: 5,
      metalVersion: "1.0",
      macos: "10.0",
      maxThreadsPerThreadgroup: 1,
      maxThreadgroupMemoryBytes: 1,
    };
    for (const operator of OPERATORS) {
      const { shape } = presetOf(operator);
      for (const route of routesFor(operator)) {
        const high = route.predicates(shape, capabilities("M5 Max"));
        for (const [index, predicate] of route.predicates(shape, low).entries()) {
          const changes = predicate.actual !== high[index]?.actual;
          expect(isDevicePredicate(predicate.id), `${route.name} ${predicate.id}`).toBe(changes);
        }
      }
    }
  });

  it("an assumed system is soft, a family of the table is not", () => {
    const profile = emulatedProfile("M3 Max");
    expect(knownBy(profile, "macos_26_2", false)).toMatchObject({ word: "assumed", soft: true });
    expect(knownBy(profile, "apple_family", false)).toMatchObject({ word: "table", soft: false });
    expect(knownBy(profile, "kernel_built", true).word).toBe("policy");
  });
});

describe("a figure in the table of predicates", () => {
  it("is shortened where it is a long fraction, and only there", () => {
    expect(shortFigure("0.07216878364870323")).toBe("0.0721688");
    expect(["0.125", "128 + 64 / 128", "1,024", "26.4", "Apple9"].map(shortFigure)).toEqual([
      "0.125",
      "128 + 64 / 128",
      "1,024",
      "26.4",
      "Apple9",
    ]);
  });
});
