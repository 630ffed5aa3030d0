/** Prefills with rows that see no key: every route gives exactly 0 and minus infinity there, in every dtype, as the oracle does. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PrefillShape } from "../../../kernels/route.ts";
import { visibleKeys } from "../../../oracle/attention.ts";
import { type Bench, openBench, planOf, runHere, STANDARD, withoutLockstep } from "./harness.ts";

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
});

afterAll(() => bench.device.close());

/** Rows of the output (`token * heads + head`) that see no key. */
function blindRows({ cuSeqlensQ, cuSeqlensK, qOffset, heads }: PrefillShape): ReadonlySet<number> {
  const rows = new Set<number>();
  qOffset.forEach((offset, b) => {
    for (let q = cuSeqlensQ[b]!; q < cuSeqlensQ[b + 1]!; q++) {
      if (visibleKeys(offset, q - cuSeqlensQ[b]!, cuSeqlensK[b + 1]! - cuSeqlensK[b]!) > 0) continue;
      for (let head = 0; head < heads; head++) rows.add(q * heads + head);
    }
  });
  return rows;
}

it.each(STANDARD.filter(({ alias }) => alias.startsWith("blind_rows.")))("$key", async ({ key, shape }) => {
  if (shape.operator !== "mla_prefill") throw new Error(`${key} is no prefill`);
  const { results, staging } = await runHere(bench, withoutLockstep(planOf([{ case: key }])));
  expect(results.length).toBeGreaterThan(0);
  const blind = blindRows(shape);
  expect(blind.size).toBe(key.includes("before_keys") ? 12 : 10);
  for (const { verdict, outputs } of results) {
    expect(verdict).toBe("pass");
    for (const { name, dtype, path: file } of outputs) {
      const bytes = fs.readFileSync(path.join(staging, file));
      const width = name === "lse" ? 1 : shape.value;
      const size = dtype === "f32" ? 4 : 2;
      const ofRow = (row: number) => bytes.subarray(row * width * size, (row + 1) * width * size);
      for (const row of blind) {
        if (name === "out") expect(ofRow(row).every((byte) => byte === 0)).toBe(true);
        else expect(ofRow(row).readFloatLE(0)).toBe(Number.NEGATIVE_INFINITY);
      }
      const seen = bytes.length / (width * size) - blind.size;
      expect(seen).toBeGreaterThan(60);
    }
  }
  fs.rmSync(staging, { recursive: true, force: true });
});
