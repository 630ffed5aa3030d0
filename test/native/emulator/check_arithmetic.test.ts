/** Reports about values: NaN and infinity where they are made, integers that leave their width, unwritten locals. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { testDevice, testToolchain } from "../msl/workbench.ts";
import { type CheckedKernel, checkKernel, shownReport } from "./check_run.ts";

let device: EmulatedDevice;
/** The processor's traps are there on x86-64 Linux alone. */
let traps: boolean;

beforeAll(async () => {
  device = await testDevice();
  const { platform, architecture } = await testToolchain();
  traps = platform === "linux" && architecture === "x86_64";
});

afterAll(async () => {
  await device.close();
});

type Setup = Partial<Omit<CheckedKernel, "source" | "kernel">>;

async function reportsOf(source: string, setup: Setup = {}): Promise<readonly string[]> {
  const check = await checkKernel(device, {
    source,
    kernel: "k",
    threads: [32, 1, 1],
    buffers: [{ bytes: 128 }, Float32Array.from({ length: 32 }, (_, index) => index)],
    ...setup,
  });
  return check.reports.map(shownReport);
}

function kernel(...lines: readonly string[]): string {
  const head =
    "kernel void k(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {";
  return [head, ...lines, "}", ""].join("\n");
}

/** What is expected where the processor traps; nothing elsewhere. */
function trapped(...reports: readonly string[]): readonly string[] {
  return traps ? reports : [];
}

describe("NaN", () => {
  it("0 / 0, where it is made and where it is stored", async () => {
    const source = kernel("  const float x = in[i] / in[i];", "  const float y = x * 2;", "  out[i] = y + 1;");
    expect(await reportsOf(source)).toEqual(
      trapped("error nan_created test.metal:2:25 arithmetic, test.metal:4:10 write b0+0 x4 (1)"),
    );
    expect(await reportsOf(source.replace("in[i] / in[i]", "in[i] / (in[i] + 1)"))).toEqual([]);
  });

  it("inf - inf in a softmax over a row without a finite score, brought to a collective", async () => {
    const source = kernel(
      "  const float score = in[i] < 100 ? -INFINITY : in[i];",
      "  const float most = simd_max(score);",
      "  const float weight = exp(score - most);",
      "  const float sum = simd_sum(weight);",
      "  out[i] = weight / sum;",
    );
    expect(await reportsOf(source)).toEqual(
      trapped("error nan_created test.metal:4:34 arithmetic, test.metal:5:21 collective (32)"),
    );
    const guarded = source
      .replace("score - most", "score - (most == -INFINITY ? 0.0f : most)")
      .replace("weight / sum", "sum > 0 ? weight / sum : 0.0f");
    expect(await reportsOf(guarded)).toEqual([]);
  });

  it("that was there before is not created", async () => {
    const source = kernel("  out[i] = max(in[i], 1.0f) * 2 + fma(in[i], 2.0f, 1.0f) - in[i];");
    const setup = { buffers: [{ bytes: 128 }, new Float32Array(32).fill(Number.NaN)] };
    expect(await reportsOf(source, setup)).toEqual([]);
  });

  it("in half", async () => {
    const source = kernel(
      "  const half x = half(in[i]);",
      "  device half* h = (device half*)out;",
      "  h[i] = x - x / x;",
    );
    expect(await reportsOf(source)).toEqual(
      trapped("error nan_created test.metal:4:16 arithmetic, test.metal:4:8 write b0+0 x2 (1)"),
    );
  });
});

describe("infinity", () => {
  it("a division by zero and an overflow", async () => {
    expect(await reportsOf(kernel("  out[i] = 1 / in[i];"))).toEqual(
      trapped("warning infinity_created test.metal:2:14 arithmetic, test.metal:2:10 write b0+0 x4 (1)"),
    );
    expect(await reportsOf(kernel("  out[i] = (in[i] + 1) * 2e37f;"))).toEqual(
      trapped("warning infinity_created test.metal:2:24 arithmetic, test.metal:2:10 write b0+68 x4 (15)"),
    );
    expect(await reportsOf(kernel("  out[i] = 1 / (in[i] + 1);"))).toEqual([]);
  });

  it("partial sums in half that leave its range", async () => {
    const source = kernel("  ((device half*)out)[i] = half(in[i] * 4096);");
    expect(await reportsOf(source)).toEqual(
      trapped("warning infinity_created test.metal:2:33 arithmetic, test.metal:2:26 write b0+32 x2 (16)"),
    );
  });

  it("an infinite constant is fine in safe math and not in fast math", async () => {
    const source = kernel(
      "  const float score = i < 30 ? -INFINITY : in[i];",
      "  out[i] = simd_max(score) + 1;",
      "  if (i == 0) out[0] = -INFINITY;",
    );
    expect(await reportsOf(source)).toEqual([]);
    expect(await reportsOf(source, { options: { mathMode: "fast" } })).toEqual([
      "warning infinity_in_fast_math test.metal:3:12 collective (30)",
      "warning infinity_in_fast_math test.metal:4:22 write b0+0 x4 (1)",
    ]);
  });
});

describe("integers", () => {
  it("a signed product that leaves int", async () => {
    const source = kernel("  const int row = int(in[31]) * 100000000;", "  out[i] = row > 0 ? 1 : 2;");
    expect(await reportsOf(source)).toEqual(["error integer_overflow test.metal:2:31 arithmetic (32)"]);
    expect(await reportsOf(source.replace("int row = int(", "long row = long("))).toEqual([]);
  });

  it("a 16-bit row index", async () => {
    const source = kernel("  const short row = int(in[31]) * 2000;", "  out[i] = row;");
    expect(await reportsOf(source)).toEqual(["error integer_overflow test.metal:2:21 arithmetic (32)"]);
    expect(await reportsOf(source.replace("short row", "int row"))).toEqual([]);
  });

  it("unsigned arithmetic that wraps is told, not blamed", async () => {
    const hash = kernel("  uint h = i * 2654435761u;", "  h ^= h >> 15;", "  out[i] = float(h & 1u);");
    expect(await reportsOf(hash)).toEqual(["info integer_overflow test.metal:2:14 arithmetic (30)"]);
    const down = kernel(
      "  float sum = 0;",
      "  for (uint n = 3; n-- > 0;) sum += in[n];",
      "  out[i] = sum + (i - 1u < 4u ? 1 : 0);",
    );
    expect(await reportsOf(down)).toEqual([]);
  });

  it("arithmetic of the library is not the kernel's", async () => {
    const source = kernel(
      "  out[i] = exp(in[i] * 0.1f) + sin(in[i]) + float(popcount(i)) + clamp(in[i], 0.0f, 3.0f) + log(in[i] + 1);",
    );
    expect(await reportsOf(source)).toEqual([]);
  });
});

describe("indices of arrays of known size", () => {
  it("of threadgroup memory, although the next array follows", async () => {
    const source = (index: string): string =>
      kernel(
        "  threadgroup float a[32];",
        "  threadgroup float b[32];",
        "  b[i] = in[i];",
        `  a[${index}] = in[i];`,
        "  threadgroup_barrier(mem_flags::mem_threadgroup);",
        "  out[i] = a[i] + b[i];",
      );
    expect(await reportsOf(source("i + uint(in[1])"))).toEqual(["error out_of_bounds test.metal:5:22 none (1)"]);
    expect(await reportsOf(source("i"))).toEqual([]);
  });

  it("of local memory", async () => {
    const source = (index: string): string =>
      kernel("  float m[4] = {1, 2, 3, 4};", `  m[${index}] = in[i];`, "  out[i] = m[i & 3u];");
    expect(await reportsOf(source("uint(in[5])"))).toEqual(["error out_of_bounds test.metal:3:18 none (1)"]);
    expect(await reportsOf(source("uint(in[3])"))).toEqual([]);
  });
});

describe("local arrays", () => {
  const source = (initialiser: string): string =>
    [
      "__attribute__((noinline)) float pick(thread const float* m, uint i) {",
      "  return m[i];",
      "}",
      kernel(`  float m[4]${initialiser};`, "  if (in[i] < 30) m[i & 3u] = in[i];", "  out[i] = pick(m, 3);"),
    ].join("\n");

  it("an element that nobody wrote", async () => {
    const reports = await reportsOf(source(""));
    expect(reports).toEqual(["warning uninitialized_stack test.metal:2:10 read (25)"]);
  });

  it("all elements initialised", async () => {
    expect(await reportsOf(source(" = {}"))).toEqual([]);
  });
});
