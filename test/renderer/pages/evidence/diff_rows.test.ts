/** The table and the sentence of a diff. */
import { describe, expect, it } from "vitest";
import { type Diff, diffRows, diffSentence, ratioText } from "../../../../renderer/pages/evidence/diff_rows.ts";

const CASE = "gqa_decode/h1kv1d32/L1/spread/f32";

function diff(change: Partial<Diff>): Diff {
  return {
    schema: "lockstep.diff/1",
    config: [],
    verdicts: [],
    figures: [],
    same: 0,
    onlyA: [],
    onlyB: [],
    shared: 2,
    timesComparable: true,
    ...change,
  };
}

const BROKE: Diff["verdicts"][number] = {
  case: CASE,
  route: "naive",
  a: { verdict: "pass", state: "completed", error: null },
  b: { verdict: "not_run", state: "skipped", error: "skipped by you" },
  change: "broke",
  deltas: [],
};

describe("the rows of a diff", () => {
  it("are the changed verdicts, then the figures, then what only one has", () => {
    const item = { case: CASE, route: "naive", verdict: "pass" } as const;
    const rows = diffRows(
      diff({ verdicts: [BROKE], figures: [{ ...item, deltas: [] }], onlyA: [item], onlyB: [item] }),
    );
    expect(rows.map((row) => [row.group, row.a, row.b, row.reason])).toEqual([
      ["verdicts", "pass", "not_run", "skipped by you"],
      ["figures", "pass", "pass", null],
      ["onlyA", "pass", null, null],
      ["onlyB", null, "pass", null],
    ]);
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
  });

  it("write a ratio where there is one", () => {
    const delta = { metric: "maxAbs", a: 1, b: 2, delta: 1, ratio: 2, word: "larger" } as const;
    expect(ratioText(delta)).toBe("2.00 ×");
    expect(ratioText({ ...delta, ratio: 123456 })).toBe("1.2e+5 ×");
    expect(ratioText({ ...delta, ratio: null })).toBe("");
    expect(ratioText({ ...delta, ratio: 1, word: "same" })).toBe("");
  });
});

describe("the sentence of a diff", () => {
  const words = (change: Partial<Diff>) => {
    const { tone, word } = diffSentence(diff(change));
    return [tone, word];
  };

  it("is a pass only where every output has the same bits", () => {
    expect(words({ same: 2 })).toEqual(["pass", "Same"]);
    expect(words({ figures: [{ case: CASE, route: "naive", verdict: "pass", deltas: [] }] })).toEqual([
      "plain",
      "Same verdicts",
    ]);
    expect(words({ verdicts: [BROKE] })).toEqual(["fail", "Verdicts changed"]);
    expect(words({ verdicts: [{ ...BROKE, change: "mended" }] })).toEqual(["plain", "Verdicts changed"]);
    expect(words({ onlyA: [{ case: CASE, route: "naive", verdict: "pass" }] })).toEqual(["fail", "Results missing"]);
    expect(words({ shared: 0 })).toEqual(["plain", "Nothing in common"]);
    expect(diffSentence(diff({ verdicts: [BROKE] })).sentence).toBe("1 broke of 2 results that both have");
  });
});
