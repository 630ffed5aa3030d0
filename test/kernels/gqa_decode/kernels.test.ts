import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Device } from "../../../native/device.ts";
import { testDevice } from "../../native/msl/workbench.ts";
import { type DecodeCase, decodeCase, decodeReference, difference, runDecode, values } from "../run.ts";

let device: Device;
beforeAll(async () => {
  device = await testDevice();
});
afterAll(async () => {
  await device.close();
});

const FUSED = ["fused_split_kv_p32", "fused_split_kv_p64", "fused_split_kv_p128", "fused_split_kv_p256"];
const OTHERS = ["three_stage", "three_stage_staged", "naive"];

/** Float32 rounding of sums of this size; a wrong token, head or scale is at least a thousand times larger. */
const TOLERANCE = 2e-6;

async function expectParity(route: string, decode: DecodeCase): Promise<void> {
  const error = difference(await runDecode(device, route, decode), decodeReference(decode));
  expect(error.out, `${route}: out`).toBeLessThanOrEqual(TOLERANCE);
  expect(error.lse, `${route}: lse`).toBeLessThanOrEqual(TOLERANCE * 4);
}

describe.each([
  [8, 1, 512],
  [6, 2, 96],
  [2, 2, 32],
] as const)("%i / %i heads of %i", (heads, kvHeads, dim) => {
  const routes = dim === 512 ? [...OTHERS, ...FUSED] : OTHERS;
  test.each(routes)("%s agrees with the oracle", async (route) => {
    for (const live of [0, 1, 2, 3, 4, 5, 31, 33, 127, 300]) {
      await expectParity(route, decodeCase(heads, kvHeads, dim, live));
    }
  });
});

/** Scores given directly: in dimension 5 of the key, with 1 in that dimension of the query. */
function scoreCase(scores: readonly number[]): DecodeCase {
  const { shape, q, k, v } = decodeCase(8, 1, 512, scores.length);
  q.fill(0);
  k.fill(0);
  for (let head = 0; head < 8; head++) q[head * 512 + 5] = 1;
  for (const [token, score] of scores.entries()) k[token * 512 + 5] = score;
  return { shape: { ...shape, scale: 1 }, q, k, v };
}

const LENGTH = 37;
const noise = values(3, 0, LENGTH);
const ADVERSARIAL: Readonly<Record<string, (token: number) => number>> = {
  "all masked": () => Number.NEGATIVE_INFINITY,
  "first half masked": (token) => (token < LENGTH / 2 ? Number.NEGATIVE_INFINITY : noise[token]!),
  "last half masked": (token) => (token < LENGTH / 2 ? noise[token]! : Number.NEGATIVE_INFINITY),
  "one live": (token) => (token === 12 ? 2 : Number.NEGATIVE_INFINITY),
  "every other one masked": (token) => (token % 2 === 0 ? Number.NEGATIVE_INFINITY : noise[token]!),
  "all -3e38": () => -3e38,
  "3.4e38 and -3.4e38": (token) => (token % 2 === 0 ? 3.4e38 : -3.4e38),
  "rising steeply": (token) => 100 * token,
  "falling steeply": (token) => -100 * token,
};

describe.each([...OTHERS, ...FUSED])("%s with given scores", (route) => {
  test.each(Object.keys(ADVERSARIAL))("%s", async (name) => {
    const scores = Array.from({ length: LENGTH }, (_, token) => Math.fround(ADVERSARIAL[name]!(token)));
    await expectParity(route, scoreCase(scores));
  });
});

test.each([...OTHERS, "fused_split_kv_p32"])("%s: lockstep gives the same bits", async (route) => {
  const decode = decodeCase(8, 1, 512, 33);
  const fast = await runDecode(device, route, decode);
  const lockstep = await runDecode(device, route, decode, { flavour: "lockstep" });
  const differing = [...fast.out.keys()].filter((index) => !Object.is(fast.out[index], lockstep.out[index]));
  expect(differing).toEqual([]);
  expect(lockstep.lse).toEqual(fast.lse);
});

test("each kernel's static threadgroup bytes are those of the table", async () => {
  // The emulated device refuses a dispatch above the limit; here the figures themselves are compared.
  const { STATIC_BYTES } = await import("../../../kernels/gqa_decode/geometry.ts");
  const { findRoute } = await import("../../../kernels/routes.ts");
  const { readFileSync } = await import("node:fs");
  const read = (path: string) => ({
    path,
    text: readFileSync(new URL(`../../../kernels/${path}`, import.meta.url), "utf8"),
  });
  const expected: Readonly<Record<string, number>> = {
    gqa_score: STATIC_BYTES.gqa_score(512),
    gqa_normalise: STATIC_BYTES.gqa_normalise(),
    gqa_value: STATIC_BYTES.gqa_value(8),
    gqa_value_staged: STATIC_BYTES.gqa_value_staged(8),
    gqa_reduce: 0,
    gqa_fused_partial: 0,
    gqa_fused_merge: STATIC_BYTES.gqa_fused_merge(),
    gqa_naive: STATIC_BYTES.gqa_naive(512),
  };
  for (const route of [...OTHERS, "fused_split_kv_p32"]) {
    const plan = findRoute("gqa_decode", route).plan(decodeCase(8, 1, 512, 33).shape);
    const library = await device.compile(read(plan.source), {
      defines: plan.defines,
      includes: plan.includes.map(read),
      mathMode: "safe",
    });
    for (const { kernel } of plan.dispatches) {
      const { receipt } = await device.pipeline(library, kernel);
      expect(receipt.staticThreadgroupMemoryBytes.value, kernel).toBe(expected[kernel]);
    }
  }
});
