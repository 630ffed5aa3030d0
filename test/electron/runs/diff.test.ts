/** The diff of two runs: circumstances that differ, changed verdicts first, then figures, then what only one has. */
import fs from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deltaOf, deltaText, diffRuns, diffSchema, isWorse } from "../../../electron/runs/diff.ts";
import type { RunRecord } from "../../../electron/runs/record.ts";
import { fixtureBundle, temporary } from "../evidence/fixture.ts";

let folder: string;
let good: RunRecord;
let bad: RunRecord;

beforeAll(() => {
  folder = temporary();
  good = fixtureBundle(folder).record;
  bad = fixtureBundle(folder, { error: 0.5 }).record;
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function changed(record: RunRecord, change: (draft: RunRecord) => void): RunRecord {
  const copy = structuredClone(record);
  change(copy);
  return copy;
}

describe("two runs", () => {
  it("that are the same differ in nothing", () => {
    const diff = diffRuns(good, structuredClone(good));
    expect(diffSchema.parse(diff)).toEqual(diff);
    expect(diff).toMatchObject({ config: [], verdicts: [], figures: [], onlyA: [], onlyB: [], same: 2, shared: 2 });
    expect(isWorse(diff)).toBe(false);
  });

  it("show a verdict that broke, its reason, and the figures that moved with it", () => {
    const diff = diffRuns(good, bad);
    expect(diff.verdicts).toMatchObject([{ change: "broke", a: { verdict: "pass" }, b: { verdict: "fail" } }]);
    const maxAbs = diff.verdicts[0]!.deltas.find((delta) => delta.metric === "maxAbs")!;
    expect(maxAbs).toMatchObject({ word: "larger", b: expect.closeTo(0.5) });
    expect(maxAbs.ratio).toBeGreaterThan(1000);
    expect(diff.same).toBe(1);
    expect(diff.config.map((entry) => entry.fact)).toEqual(["outcome"]);
    expect(isWorse(diff)).toBe(true);
    const back = diffRuns(bad, good);
    expect(back.verdicts).toMatchObject([{ change: "mended" }]);
    expect(isWorse(back)).toBe(false);
  });

  it("list what is not run as changed, never as the same", () => {
    const skipped = changed(good, (record) => {
      const [first] = record.results;
      Object.assign(first!, {
        verdict: "not_run",
        state: "skipped",
        error: "skipped by you",
        metrics: null,
        outputs: [],
      });
    });
    expect(diffRuns(good, skipped).verdicts).toMatchObject([{ change: "broke", b: { error: "skipped by you" } }]);
    // Two results without outputs are not of the same bits.
    expect(diffRuns(skipped, structuredClone(skipped))).toMatchObject({ same: 1, figures: [{ verdict: "not_run" }] });
  });

  it("sort breaks before other changes, and figures by how far they moved", () => {
    const a = changed(good, (record) => {
      record.results[0]!.verdict = "fail";
    });
    const b = changed(good, (record) => {
      record.results[1]!.verdict = "fail";
    });
    expect(diffRuns(a, b).verdicts.map((item) => item.change)).toEqual(["broke", "mended"]);
    const moved = changed(good, (record) => {
      for (const [index, result] of record.results.entries()) {
        for (const output of result.outputs) output.sha256 = "0".repeat(64);
        result.metrics!.maxAbs *= index === 0 ? 2 : 8;
      }
    });
    const { figures } = diffRuns(good, moved);
    expect(figures.map((item) => item.case)).toEqual([good.results[1]!.case, good.results[0]!.case]);
    expect(figures[0]!.deltas.find((delta) => delta.metric === "maxAbs")!.ratio).toBeCloseTo(8);
  });

  it("list only the circumstances that differ, with what that means", () => {
    const other = changed(good, (record) => {
      record.gates.sha256 = "1".repeat(64);
      record.app.commit = "2".repeat(40);
      record.files.find((file) => file.role === "kernel")!.sha256 = "3".repeat(64);
      record.host.cpu = "another";
      for (const entry of record.cases) if (entry.source.kind === "generator") entry.source.seed = 12;
    });
    const { config, timesComparable } = diffRuns(good, other);
    expect(config.map((entry) => entry.fact)).toEqual([
      "gates",
      "commit",
      "seeds",
      "machine",
      "kernel gqa_decode/naive.metal",
    ]);
    expect(config[0]).toMatchObject({ b: "1".repeat(64), note: "verdicts were given by different gates" });
    expect(config[2]).toMatchObject({ a: "0xb", b: "0xc" });
    expect(timesComparable).toBe(false);
  });

  it("list what only one of them has", () => {
    const less = changed(good, (record) => {
      record.results.pop();
    });
    const diff = diffRuns(good, less);
    expect([diff.onlyA.length, diff.onlyB.length, diff.shared]).toEqual([1, 0, 1]);
    expect(isWorse(diff)).toBe(true);
    expect(isWorse(diffRuns(less, good))).toBe(false);
  });
});

describe("a figure", () => {
  it("has a word and, where it can, a ratio", () => {
    expect(deltaOf("maxAbs", 2, 2)).toMatchObject({ word: "same", delta: 0, ratio: 1 });
    expect(deltaOf("maxAbs", 2, 1)).toMatchObject({ word: "smaller", delta: -1, ratio: 0.5 });
    expect(deltaOf("maxAbs", 0, 1)).toMatchObject({ word: "larger", delta: 1, ratio: null });
    expect(deltaOf("maxAbs", null, 1)).toMatchObject({ word: "only in B", delta: null });
    expect(deltaOf("maxAbs", 1, null)).toMatchObject({ word: "only in A" });
    expect(deltaOf("maxAbs", Number.NaN, Number.NaN)).toMatchObject({ word: "same", ratio: null });
    expect(deltaOf("maxAbs", 1, Number.NaN)).toMatchObject({ word: "not comparable", ratio: null });
    expect(deltaOf("ms", 1, 2, false)).toMatchObject({ word: "not comparable" });
    expect(deltaText(deltaOf("nmse", 2e-8, 4e-7))).toBe("2.00e-8 to 4.00e-7, 20.0 times");
    expect(deltaText(deltaOf("ms", 10, null))).toBe("10.0 ms to none");
  });
});
