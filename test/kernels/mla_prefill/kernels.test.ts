import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KernelDtype } from "../../../kernels/route.ts";
import type { Device } from "../../../native/device.ts";
import { narrow, widenToF64 } from "../../../oracle/tensor.ts";
import { testDevice } from "../../native/msl/workbench.ts";
import {
  difference,
  type PrefillCase,
  type PrefillLengths,
  prefillCase,
  prefillReference,
  runPrefill,
  values,
} from "../run.ts";

let device: Device;
beforeAll(async () => {
  device = await testDevice();
});
afterAll(async () => {
  await device.close();
});

const ROUTES = ["simdgroup_8x8", "naive"] as const;

/** Rounding of the output to its dtype, for values up to 1; lse is always f32. */
const TOLERANCE: Readonly<Record<KernelDtype, number>> = { f32: 4e-6, f16: 5e-4, bf16: 4e-3 };

async function expectParity(route: string, prefill: PrefillCase): Promise<void> {
  const error = difference(await runPrefill(device, route, prefill), prefillReference(prefill));
  expect(error.out, `${route}: out`).toBeLessThanOrEqual(TOLERANCE[prefill.shape.dtype]);
  expect(error.lse, `${route}: lse`).toBeLessThanOrEqual(1e-5);
}

const BATCHES: Readonly<Record<string, PrefillLengths>> = {
  "one sequence": { queries: [77], keys: [77] },
  "a ragged batch with an empty sequence": { queries: [1, 7, 0, 8, 9, 33, 64], keys: [1, 7, 0, 8, 9, 33, 64] },
  "chunks: the last queries of longer sequences": { queries: [5, 9, 0, 40], keys: [33, 70, 5, 40] },
  "queries before the first key": { queries: [4, 12], keys: [2, 0] },
  "one query": { queries: [1], keys: [100] },
  "nothing at all": { queries: [0, 0], keys: [0, 0] },
};

describe.each([
  [[16, 16, 16], "f32", 2],
  [[32, 16, 48], "bf16", 2],
  [[128, 64, 128], "f16", 2],
  [[512, 64, 512], "f32", 1],
] as const)("widths %j in %s", (widths, dtype, heads) => {
  test.each(ROUTES)("%s agrees with the oracle", async (route) => {
    for (const lengths of Object.values(BATCHES)) await expectParity(route, prefillCase(lengths, heads, widths, dtype));
  });
});

test("naive agrees with the oracle at widths that no tile in registers holds", async () => {
  await expectParity("naive", prefillCase({ queries: [5, 9], keys: [5, 12] }, 1, [1024, 64, 1040], "f32"));
});

/** Scores given directly, in the first rope dimension of the shared key. */
function scoreCase(scores: readonly number[]): PrefillCase {
  const tokens = scores.length;
  const base = prefillCase({ queries: [tokens], keys: [tokens] }, 2, [16, 16, 16], "f32");
  const first = (value: (row: number) => number, rows: number): Float32Array => {
    const data = new Float32Array(rows * 16);
    for (let row = 0; row < rows; row++) data[row * 16] = value(row);
    return data;
  };
  return {
    shape: { ...base.shape, scale: 1 },
    tensors: {
      ...base.tensors,
      q_nope: narrow(new Float32Array(tokens * 2 * 16), "f32", [tokens, 2, 16]),
      q_rope: narrow(
        first(() => 1, tokens * 2),
        "f32",
        [tokens, 2, 16],
      ),
      k_nope: narrow(new Float32Array(tokens * 2 * 16), "f32", [tokens, 2, 16]),
      k_rope: narrow(
        first((row) => scores[row]!, tokens),
        "f32",
        [tokens, 16],
      ),
    },
  };
}

const LENGTH = 43;
const noise = values(3, 0, LENGTH);
const ADVERSARIAL: Readonly<Record<string, (token: number) => number>> = {
  "all masked": () => Number.NEGATIVE_INFINITY,
  "first 35 masked": (token) => (token < 35 ? Number.NEGATIVE_INFINITY : noise[token]!),
  "last half masked": (token) => (token < 20 ? noise[token]! : Number.NEGATIVE_INFINITY),
  "all -3e38": () => -3e38,
  "3.4e38 and -3.4e38": (token) => (token % 2 === 0 ? 3.4e38 : -3.4e38),
  "rising steeply": (token) => 100 * token,
  "falling steeply": (token) => -100 * token,
};

describe.each(ROUTES)("%s with given scores", (route) => {
  test.each(Object.keys(ADVERSARIAL))("%s", async (name) => {
    const scores = Array.from({ length: LENGTH }, (_, token) => Math.fround(ADVERSARIAL[name]!(token)));
    await expectParity(route, scoreCase(scores));
  });
});

test.each(ROUTES)("%s: lockstep gives the same bits", async (route) => {
  const prefill = prefillCase({ queries: [17, 40], keys: [17, 50] }, 2, [16, 16, 16], "f32");
  const fast = await runPrefill(device, route, prefill);
  const lockstep = await runPrefill(device, route, prefill, { flavour: "lockstep" });
  const differing = [...fast.out.keys()].filter((index) => !Object.is(fast.out[index], lockstep.out[index]));
  expect(differing).toEqual([]);
  expect(lockstep.lse).toEqual(fast.lse);
});

test("the case's own checks: a shifted reference is far outside the tolerance", async () => {
  const prefill = prefillCase(BATCHES["one sequence"]!, 2, [16, 16, 16], "f32");
  const shape = { ...prefill.shape, qOffset: [-1] };
  const wrong = prefillReference({ shape, tensors: prefill.tensors });
  const error = difference(await runPrefill(device, "naive", prefill), wrong);
  expect(error.out).toBeGreaterThan(100 * TOLERANCE.f32);
  expect(widenToF64(prefill.tensors.v!).some((value) => value !== 0)).toBe(true);
});
