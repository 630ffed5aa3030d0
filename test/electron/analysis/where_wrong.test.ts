import { describe, expect, it } from "vitest";
import { errorArrays } from "../../../electron/analysis/errors.ts";
import { wrongPlaces } from "../../../electron/analysis/where_wrong.ts";
import { FRAGMENT_8X8, ownerOf } from "../../../kernels/fragments.ts";
import { at, ELEMENTS, PREFILL, planted } from "./planted.ts";

function placesOf(change: (output: Float64Array) => void, map = true): ReturnType<typeof wrongPlaces> {
  const { output, reference } = planted(change);
  const errors = errorArrays(output, reference, "f32");
  return wrongPlaces(errors, PREFILL, map ? FRAGMENT_8X8 : undefined, 1e-4);
}

describe("where the wrong elements lie", () => {
  it("one lane, wherever its tiles are", () => {
    const places = placesOf((output) => {
      for (let token = 0; token < 70; token++) {
        for (let dim = 0; dim < 32; dim++) {
          const row = token < 40 ? token : token - 40;
          const owner = ownerOf(FRAGMENT_8X8, { row: row % 8, column: dim % 8 });
          if (owner.lane === 13) output[at(token, 1, dim)]! += 0.5;
        }
      }
    });
    expect(places.words).toBe("all in lane 13, head 1");
    expect(places.of).toBe(ELEMENTS);
    const single = placesOf((output) => {
      output[at(3, 1, 7)] = 9;
    });
    expect(single).toMatchObject({ count: 1, words: null });
  });

  it("one head, one dimension, one query, one sequence", () => {
    const one = (...wrong: readonly number[]): string | null =>
      placesOf((output) => {
        for (const index of wrong) output[index] = Number.NaN;
      }, false).words;
    expect(one(at(0, 2, 3), at(60, 2, 9), at(30, 2, 20))).toBe("all in head 2");
    expect(one(at(0, 0, 5), at(50, 1, 5), at(69, 2, 5))).toBe("all in dimension 5");
    expect(one(at(9, 0, 5), at(9, 1, 6), at(9, 2, 17))).toBe("all in query 9");
    expect(one(at(41, 0, 5), at(50, 1, 6), at(69, 2, 17))).toBeNull();
  });

  it("nothing is said where they are everywhere, or nowhere", () => {
    expect(placesOf((output) => output.fill(0)).words).toBeNull();
    expect(placesOf(() => undefined)).toMatchObject({ count: 0, words: null });
  });
});
