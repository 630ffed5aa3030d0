/** Small texts, and the search of palette and filters. */
import { describe, expect, it } from "vitest";
import { clockText, digestText, originText, plural, runName, sizeText, whenText } from "../../renderer/parts/text.ts";
import { matchWords } from "../../renderer/shell/match.ts";

describe("texts", () => {
  it("are short and exact", () => {
    expect(runName("2026-11-29t211238z-quick-m1.lockstep")).toBe("quick-m1 11-29 21:12:38");
    expect(runName("m4max-0612.lockstep")).toBe("m4max-0612");
    expect([0, 48_900, 3_723_000].map(clockText)).toEqual(["0:00", "0:48", "1:02:03"]);
    expect([512, 2048, 19_083_000].map(sizeText)).toEqual(["512 B", "2.00 KiB", "18.2 MiB"]);
    expect(digestText(`a81f0c22${"0".repeat(52)}7e90`)).toBe("a81f 0c22 … 7e90");
    expect([plural(1, "case"), plural(1024, "case")]).toEqual(["1 case", "1,024 cases"]);
    const noon = new Date(2026, 5, 12, 12, 5);
    expect(whenText(noon.toISOString(), noon)).toBe("12:05");
    expect(whenText(noon.toISOString(), new Date(2026, 5, 13))).toBe("06-12");
    expect(originText("gqa_decode/h4kv4d32/L64/softmax_stress.increasing_steep/f32")).toBe("increasing_steep");
    expect(originText("gqa_decode/h32kv4d512/L33/spread/f32")).toBe("spread");
  });
});

describe("a search", () => {
  it("needs every word, in any order, and marks them", () => {
    const match = matchWords("run  CANCEL");
    expect(match.test("Cancel the run")).toBe(true);
    expect(match.test("Cancel")).toBe(false);
    expect(match.parts("Cancel the run")).toEqual([
      { text: "Cancel", hit: true },
      { text: " the ", hit: false },
      { text: "run", hit: true },
    ]);
    expect(matchWords("").test("anything")).toBe(true);
  });
});
