/** Simdgroup and quadgroup functions against a plain model, in both flavours, together and diverged. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Device, Flavour } from "../../../native/device.ts";
import { testDevice } from "../msl/workbench.ts";
import { runKernel, stream, toHalf } from "./run_kernel.ts";

let device: Device;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

const FLAVOURS: readonly Flavour[] = ["fast", "lockstep"];

/** What a function gives each lane: `values[i]` of the active lanes (others undefined), asked for lane `lane`. */
type Model = (values: readonly (number | undefined)[], lane: number) => number;

const present = (values: readonly (number | undefined)[]): number[] => values.filter((v) => v !== undefined);

/** The xor butterfly over the active lanes. */
function butterfly(combine: (a: number, b: number) => number): Model {
  return (values) => {
    const tree = [...values];
    for (let mask = 1; mask < tree.length; mask *= 2) {
      for (let i = 0; i < tree.length; i += 2 * mask) {
        const a = tree[i];
        const b = tree[i + mask];
        tree[i] = a === undefined ? b : b === undefined ? a : combine(a, b);
      }
    }
    return tree[0] ?? Number.NaN;
  };
}

const add = (a: number, b: number): number => Math.fround(a + b);
const multiply = (a: number, b: number): number => Math.fround(a * b);
const at = (values: readonly (number | undefined)[], lane: number): number => values[lane] ?? 0;
const quadOf = (values: readonly (number | undefined)[], lane: number): (number | undefined)[] =>
  values.slice(lane & ~3, (lane & ~3) + 4);
const inQuad =
  (model: Model): Model =>
  (values, lane) =>
    model(quadOf(values, lane), lane & 3);

function scan(combine: (a: number, b: number) => number, identity: number, inclusive: boolean): Model {
  return (values, lane) =>
    present(values.slice(0, inclusive ? lane + 1 : lane)).reduce(
      (total, value, i) => (i === 0 && inclusive ? value : combine(total, value)),
      identity,
    );
}

/** Expression on `x` (a float) and its model. `y` is -x. */
const FLOAT_FUNCTIONS: readonly (readonly [string, Model])[] = [
  ["simd_sum(x)", butterfly(add)],
  ["simd_product(x)", butterfly(multiply)],
  ["simd_max(x)", (values) => Math.max(...present(values))],
  ["simd_min(x)", (values) => Math.min(...present(values))],
  [
    "float(simd_sum(half(x)))",
    (values) =>
      butterfly((a, b) => toHalf(a + b))(
        values.map((v) => v && toHalf(v)),
        0,
      ),
  ],
  ["simd_sum(float2(x, 1)).y", (values) => present(values).length],
  ["simd_sum(float4(1, x, y, 2 * x)).y", butterfly(add)],
  ["simd_max(float3(y, 0, x)).z", (values) => Math.max(...present(values))],
  [
    "float(simd_sum(half3(1, 0, half(x))).z)",
    (v) =>
      butterfly((a, b) => toHalf(a + b))(
        v.map((x) => x && toHalf(x)),
        0,
      ),
  ],
  ["simd_prefix_inclusive_sum(x)", scan(add, 0, true)],
  ["simd_prefix_exclusive_sum(x)", scan(add, 0, false)],
  ["simd_prefix_inclusive_product(x)", scan(multiply, 1, true)],
  ["simd_prefix_exclusive_product(x)", scan(multiply, 1, false)],
  ["simd_shuffle(x, ushort((lane * 7) % 32))", (values, lane) => at(values, (lane * 7) % 32)],
  ["simd_shuffle(float4(0, 0, x, 0), ushort(lane ^ 3)).z", (values, lane) => at(values, lane ^ 3)],
  ["simd_shuffle_xor(x, 5)", (values, lane) => at(values, lane ^ 5)],
  ["simd_shuffle_xor(x, 32)", () => 0],
  ["simd_shuffle_up(x, 3)", (values, lane) => at(values, lane < 3 ? lane : lane - 3)],
  ["simd_shuffle_down(x, 3)", (values, lane) => at(values, lane + 3 < 32 ? lane + 3 : lane)],
  ["simd_shuffle_rotate_up(x, 5)", (values, lane) => at(values, (lane + 27) % 32)],
  ["simd_shuffle_rotate_down(x, 5)", (values, lane) => at(values, (lane + 5) % 32)],
  [
    "simd_shuffle_and_fill_up(x, y, 3)",
    (values, lane) => (lane < 3 ? -at(values, lane + 29) : at(values, lane - 3)) + 0,
  ],
  [
    "simd_shuffle_and_fill_down(x, y, 3)",
    (values, lane) => (lane > 28 ? -at(values, lane - 29) : at(values, lane + 3)) + 0,
  ],
  [
    "simd_shuffle_and_fill_down(x, y, 2, 8)",
    (values, lane) => (lane % 8 > 5 ? -at(values, lane - 6) : at(values, lane + 2)) + 0,
  ],
  ["simd_broadcast(x, 7)", (values) => at(values, 7)],
  ["simd_broadcast_first(x)", (values) => present(values)[0] ?? Number.NaN],
  ["quad_sum(x)", inQuad(butterfly(add))],
  ["quad_product(x)", inQuad(butterfly(multiply))],
  ["quad_max(x)", inQuad((values) => Math.max(...present(values)))],
  ["quad_min(x)", inQuad((values) => Math.min(...present(values)))],
  ["quad_prefix_inclusive_sum(x)", inQuad(scan(add, 0, true))],
  ["quad_prefix_exclusive_sum(x)", inQuad(scan(add, 0, false))],
  ["quad_shuffle(x, 2)", inQuad((values) => at(values, 2))],
  ["quad_shuffle_xor(x, 1)", inQuad((values, lane) => at(values, lane ^ 1))],
  ["quad_shuffle_up(x, 1)", inQuad((values, lane) => at(values, lane < 1 ? lane : lane - 1))],
  ["quad_shuffle_down(x, 1)", inQuad((values, lane) => at(values, lane < 3 ? lane + 1 : lane))],
  ["quad_shuffle_rotate_up(x, 1)", inQuad((values, lane) => at(values, (lane + 3) % 4))],
  ["quad_shuffle_rotate_down(x, 1)", inQuad((values, lane) => at(values, (lane + 1) % 4))],
  ["quad_shuffle_and_fill_up(x, y, 1)", inQuad((v, lane) => (lane < 1 ? -at(v, lane + 3) : at(v, lane - 1)) + 0)],
  ["quad_shuffle_and_fill_down(x, y, 1)", inQuad((v, lane) => (lane > 2 ? -at(v, lane - 3) : at(v, lane + 1)) + 0)],
  ["quad_broadcast(x, 3)", inQuad((values) => at(values, 3))],
  ["quad_broadcast_first(x)", inQuad((values) => present(values)[0] ?? Number.NaN)],
];

const mask = (values: readonly (number | undefined)[], says: (value: number) => boolean): number =>
  values.reduce<number>((bits, value, i) => (value !== undefined && says(value) ? (bits | (1 << i)) >>> 0 : bits), 0);
const bitwise = (combine: (a: number, b: number) => number): Model => butterfly((a, b) => combine(a, b) >>> 0);

/** Expression on `u` (a uint) and its model. */
const INTEGER_FUNCTIONS: readonly (readonly [string, Model])[] = [
  ["simd_sum(u)", bitwise((a, b) => a + b)],
  ["simd_and(u)", bitwise((a, b) => a & b)],
  ["simd_or(u)", bitwise((a, b) => a | b)],
  ["simd_xor(u)", bitwise((a, b) => a ^ b)],
  ["simd_max(u)", (values) => Math.max(...present(values))],
  ["uint(simd_min(int(u)))", (values) => Math.min(...present(values).map((v) => v | 0)) >>> 0],
  ["uint(ushort(simd_sum(ushort(u))))", (values) => present(values).reduce((a, b) => (a + b) & 0xffff, 0)],
  ["uint(simd_sum(ulong(u)) >> 32)", (values) => Number(present(values).reduce((a, b) => a + BigInt(b), 0n) >> 32n)],
  ["quad_or(u)", inQuad(bitwise((a, b) => a | b))],
  ["quad_xor(u)", inQuad(bitwise((a, b) => a ^ b))],
  ["uint(simd_vote::vote_t(simd_ballot(u & 1)))", (values) => mask(values, (v) => (v & 1) === 1)],
  ["uint(simd_vote::vote_t(simd_active_threads_mask()))", (values) => mask(values, () => true)],
  ["uint(simd_any(u == 0))", (values) => Number(present(values).some((v) => v === 0))],
  ["uint(simd_all(u != 0))", (values) => Number(present(values).every((v) => v !== 0))],
  ["uint(simd_is_first())", (values, lane) => Number(values.findIndex((v) => v !== undefined) === lane)],
  ["uint(quad_vote::vote_t(quad_ballot(u & 1)))", inQuad((values) => mask(values, (v) => (v & 1) === 1))],
  ["uint(quad_any(u & 1))", inQuad((values) => Number(present(values).some((v) => v & 1)))],
  ["uint(quad_all(u & 1))", inQuad((values) => Number(present(values).every((v) => v & 1)))],
  ["uint(quad_is_first())", inQuad((values, lane) => Number(values.findIndex((v) => v !== undefined) === lane))],
];

const BUILTINS = "uint i [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]";

/** A kernel with one output row of n values for each expression, run by lanes for which `condition` holds. */
function table(functions: readonly (readonly [string, Model])[], type: string, condition: string): string {
  const rows = functions.map(([expression], row) => `    out[${row} * n + i] = ${expression};`).join("\n");
  const input = type === "float" ? "const float x = in[i], y = -x;" : "const uint u = in[i];";
  return `kernel void table(device ${type}* out [[buffer(0)]], device const ${type}* in [[buffer(1)]],
    uint n [[threads_per_threadgroup]], ${BUILTINS}) {
  ${input}
  if (${condition}) {
${rows}
  }
}`;
}

/** Values of the lanes of thread `i`'s simdgroup; inactive lanes are undefined. */
function lanesOf(values: ArrayLike<number>, i: number, active: (lane: number) => boolean): (number | undefined)[] {
  const first = i & ~31;
  return Array.from({ length: 32 }, (_, lane) => (active(lane) ? values[first + lane] : undefined));
}

function expected(
  functions: readonly (readonly [string, Model])[],
  values: ArrayLike<number>,
  active: (lane: number) => boolean,
): (readonly [string, (number | undefined)[]])[] {
  return functions.map(([expression, model]) => [
    expression,
    Array.from({ length: values.length }, (_, i) =>
      active(i & 31) ? model(lanesOf(values, i, active), i & 31) : undefined,
    ),
  ]);
}

function rowsOf(
  functions: readonly (readonly [string, Model])[],
  output: Float32Array | Uint32Array,
  n: number,
  active: (lane: number) => boolean,
): (readonly [string, (number | undefined)[]])[] {
  return functions.map(([expression], row) => [
    expression,
    Array.from(output.subarray(row * n, (row + 1) * n), (value, i) => (active(i & 31) ? value : undefined)),
  ]);
}

const CONDITIONS: readonly (readonly [string, string, (lane: number) => boolean])[] = [
  ["all lanes", "true", () => true],
  ["some lanes", "lane % 5 < 3", (lane) => lane % 5 < 3],
];

describe.each(FLAVOURS)("functions, flavour %s", (flavour) => {
  for (const [name, condition, active] of CONDITIONS) {
    // 80 threads: two full simdgroups and one of 16 lanes.
    const n = 80;

    it(`of floats agree with the model, ${name}`, async () => {
      const values = Float32Array.from(stream(n, 7), (v) => 1 + v / 4);
      const bytes = await runKernel(device, {
        source: table(FLOAT_FUNCTIONS, "float", condition),
        kernel: "table",
        threads: [n, 1, 1],
        inputs: [values],
        outputBytes: FLOAT_FUNCTIONS.length * n * 4,
        flavour,
      });
      expect(rowsOf(FLOAT_FUNCTIONS, new Float32Array(bytes), n, active)).toEqual(
        expected(FLOAT_FUNCTIONS, values, active),
      );
    });

    it(`of integers agree with the model, ${name}`, async () => {
      const values = Uint32Array.from(stream(n, 11), (v, i) => (i === 40 ? 0 : (v * 2 ** 31 + i) >>> 0));
      const bytes = await runKernel(device, {
        source: table(INTEGER_FUNCTIONS, "uint", condition),
        kernel: "table",
        threads: [n, 1, 1],
        inputs: [values],
        outputBytes: INTEGER_FUNCTIONS.length * n * 4,
        flavour,
      });
      expect(rowsOf(INTEGER_FUNCTIONS, new Uint32Array(bytes), n, active)).toEqual(
        expected(INTEGER_FUNCTIONS, values, active),
      );
    });
  }

  it("sums of halves round in half at every step: 2048 + 31 x 1 is 2078", async () => {
    const bytes = await runKernel(device, {
      source: `kernel void sum(device float* out [[buffer(0)]], ${BUILTINS}) {
  out[i] = float(simd_sum(lane == 0 ? half(2048) : half(1)));
}`,
      kernel: "sum",
      threads: [32, 1, 1],
      outputBytes: 128,
      flavour,
    });
    expect([...new Float32Array(bytes)]).toEqual(Array.from({ length: 32 }, () => 2078));
  });
});

/** Kernels whose lanes part and meet again; each writes one float a thread. */
const DIVERGENT: readonly {
  readonly name: string;
  readonly threads: number;
  readonly body: string;
  readonly model: (i: number) => number;
}[] = [
  {
    name: "different functions on the two sides of a branch",
    threads: 64,
    body: "out[i] = lane & 1 ? simd_sum(1.0f) : simd_max(float(lane));",
    model: (i) => (i & 1 ? 16 : 30),
  },
  {
    name: "the same function on the two sides of a branch",
    threads: 32,
    body: "if (lane < 10) { out[i] = simd_sum(1.0f); } else { out[i] = simd_sum(2.0f); }",
    model: (i) => (i < 10 ? 10 : 44),
  },
  {
    name: "element sizes that differ on the two sides",
    threads: 32,
    body: "if (lane < 16) { out[i] = simd_shuffle_xor(float4(lane), 1).w; } else { out[i] = float(simd_shuffle_xor(ushort(lane), 1)); }",
    model: (i) => i ^ 1,
  },
  {
    name: "loops with trip counts that depend on the lane",
    threads: 32,
    body: "float r = 0; for (uint k = 0; k < lane % 4; ++k) r = r * 100 + simd_sum(1.0f); out[i] = r;",
    model: (i) => [0, 24, 2416, 241608][i % 4] ?? 0,
  },
  {
    name: "nested branches that reconverge",
    threads: 32,
    body: `float r = 0;
  if (lane < 16) { r = simd_sum(1.0f); if (lane < 4) { r += 100 * simd_sum(1.0f); } r += 1000 * simd_sum(1.0f); }
  out[i] = r + 100000 * simd_sum(1.0f);`,
    model: (i) => 3_200_000 + (i < 16 ? 16_016 + (i < 4 ? 400 : 0) : 0),
  },
  {
    name: "a switch with a function in each case",
    threads: 32,
    body: `switch (lane % 3) { case 0: out[i] = simd_sum(1.0f); break; case 1: out[i] = 100 + simd_sum(2.0f); break;
    default: out[i] = 200 + simd_min(float(lane)); }`,
    model: (i) => [11, 122, 202][i % 3] ?? 0,
  },
  {
    name: "one helper function with collectives, called on the two sides of a branch",
    threads: 32,
    body: "if (lane < 10) { out[i] = several(1.0f); } else { out[i] = several(2.0f); }",
    model: (i) => (i < 10 ? 10 + 10 + 1 + 1 + 10 : 44 + 44 + 2 + 2 + 22),
  },
  {
    name: "lanes that return before the others meet",
    threads: 80,
    body: "if (i % 7 == 3) { out[i] = -1; return; } out[i] = simd_sum(1.0f);",
    model: (i) => {
      if (i % 7 === 3) return -1;
      const first = i & ~31;
      return Array.from({ length: Math.min(32, 80 - first) }, (_, k) => first + k).filter((k) => k % 7 !== 3).length;
    },
  },
  {
    name: "lanes that return before a barrier",
    threads: 80,
    body: `threadgroup float shared[80]; shared[i] = i; if (i == 5 || i > 70) { out[i] = -1; return; }
  threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = shared[(i + 1) % 71];`,
    model: (i) => (i === 5 || i > 70 ? -1 : (i + 1) % 71),
  },
  {
    name: "simdgroups that return before a barrier",
    threads: 128,
    body: `threadgroup float shared[128]; shared[i] = 1; if (i < 64) { out[i] = -1; return; }
  for (uint k = 0; k < 3; ++k) { threadgroup_barrier(mem_flags::mem_threadgroup); } out[i] = shared[i ^ 1] + simd_sum(1.0f);`,
    model: (i) => (i < 64 ? -1 : 33),
  },
  {
    name: "functions inside a loop around a barrier",
    threads: 96,
    body: `threadgroup float shared[3]; float r = 0;
  for (uint k = 0; k < 4; ++k) {
    const float s = simd_sum(float(lane + k));
    if (lane == 0) shared[i / 32] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    r += shared[(i / 32 + 1) % 3];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = r;`,
    model: () => [0, 1, 2, 3].reduce((total, k) => total + 496 + 32 * k, 0),
  },
];

describe.each(FLAVOURS)("divergence, flavour %s", (flavour) => {
  const helper = `inline float several(float x) {
  float r = simd_sum(x) + simd_prefix_inclusive_sum(x) * 0.0f; r += simd_shuffle_xor(simd_sum(x), 0);
  r += simd_max(x) + simd_broadcast_first(x); r += simd_sum(1.0f);
  return r;
}
`;
  const source =
    helper +
    DIVERGENT.map(
      ({ body }, k) => `kernel void diverge${k}(device float* out [[buffer(0)]], ${BUILTINS}) {\n  ${body}\n}`,
    ).join("\n");

  it.each(DIVERGENT.map((entry, k) => ({ ...entry, k })))("$name", async ({ k, threads, model }) => {
    const bytes = await runKernel(device, {
      source,
      kernel: `diverge${k}`,
      threads: [threads, 1, 1],
      outputBytes: threads * 4,
      flavour,
    });
    expect([...new Float32Array(bytes)]).toEqual(Array.from({ length: threads }, (_, i) => model(i)));
  });
});
