import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { lengthPoints } from "../../../electron/analysis/lengths.ts";
import { fixtureBundle, temporary } from "../evidence/fixture.ts";

describe("error by length", () => {
  it("has a point for every result, with limit and verdict", () => {
    const folder = temporary();
    try {
      const { record } = fixtureBundle(folder, { error: 0.25 });
      const points = lengthPoints(record, "gqa_decode");
      expect(points.map((point) => [point.length, point.verdict, point.route, point.origin, point.dtype])).toEqual([
        [3, "pass", "naive", "spread", "f32"],
        [5, "fail", "naive", "spread", "f32"],
      ]);
      expect(points[1]!.maxAbs).toBeCloseTo(0.25, 6);
      expect(points[1]!.limit).toBeGreaterThan(0);
      expect(lengthPoints(record, "mla_prefill")).toEqual([]);
      const [first] = record.results;
      const empty = {
        ...record,
        results: [
          { ...first!, metrics: null, gates: [] },
          { ...first!, case: "absent" },
        ],
      };
      expect(lengthPoints(empty, "gqa_decode")).toMatchObject([{ maxAbs: null, nmse: null, limit: null }]);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
});
