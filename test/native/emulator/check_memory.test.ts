/** Reports about memory: order, bounds, alignment, bindings, values that nobody wrote. Each with a twin that is silent. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkResultSchema } from "../../../native/check.ts";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { testDevice } from "../msl/workbench.ts";
import { type CheckedKernel, checkKernel, shownReport } from "./check_run.ts";

let device: EmulatedDevice;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

type Setup = Partial<Omit<CheckedKernel, "source" | "kernel">>;

/** A kernel `k` of 64 threads with an output of 64 floats at 0 and 64 floats at 1, unless told otherwise. */
async function reportsOf(source: string, setup: Setup = {}): Promise<readonly string[]> {
  const input = Float32Array.from({ length: 64 }, (_, index) => index + 1);
  const check = await checkKernel(device, {
    source,
    kernel: "k",
    threads: [64, 1, 1],
    buffers: [{ bytes: 256 }, input],
    ...setup,
  });
  expect(checkResultSchema.safeParse(check).success).toBe(true);
  return check.reports.map(shownReport);
}

const HEAD =
  "kernel void k(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {";

/** `HEAD` stands on line 1. */
const kernel = (...lines: readonly string[]): string => [HEAD, ...lines, "}", ""].join("\n");

describe("order of threadgroup memory", () => {
  const exchange = (...between: readonly string[]): string =>
    kernel("  threadgroup float tile[64];", "  tile[i] = in[i];", ...between, "  out[i] = tile[63 - i];");

  it("a race between simdgroups: both lines, both threads, offset, count", async () => {
    const source = exchange("");
    expect(await reportsOf(source)).toEqual([
      "error race test.metal:3:11 write, test.metal:5:12 read tile+128 x4 (64)",
      "error uninitialized_threadgroup test.metal:5:12 read tile+252 x4 (32)",
    ]);
    const check = await checkKernel(device, {
      source,
      kernel: "k",
      threads: [64, 1, 1],
      buffers: [{ bytes: 256 }, new Float32Array(64)],
    });
    const race = check.reports[0]!;
    expect(race).toMatchObject({
      kind: "race",
      dispatch: "k",
      first: { threadgroup: [0, 0, 0], simdgroup: 1, lane: 0, thread: 32 },
      second: { threadgroup: [0, 0, 0], simdgroup: 0, lane: 31, thread: 31 },
      addressSpace: "threadgroup",
      buffer: { name: "tile", index: null, bytes: 256 },
      message:
        "Two simdgroups access tile (threadgroup) with no barrier between, and one of them writes: put threadgroup_barrier(mem_flags::mem_threadgroup) between.",
    });
  });

  it("the same in lockstep", async () => {
    const reports = await reportsOf(exchange(""), { flavour: "check+lockstep" });
    expect(reports).toContain("error race test.metal:3:11 write, test.metal:5:12 read tile+252 x4 (64)");
  });

  it("none with a barrier", async () => {
    expect(await reportsOf(exchange("  threadgroup_barrier(mem_flags::mem_threadgroup);"))).toEqual([]);
  });

  it.each(["mem_none", "mem_device"])("a barrier with %s does not order it", async (flags) => {
    const reports = await reportsOf(exchange(`  threadgroup_barrier(mem_flags::${flags});`));
    expect(reports).toEqual(["error race test.metal:5:12 read, test.metal:3:11 write tile+0 x4 (64)"]);
  });

  it("a simdgroup_barrier does not order simdgroups", async () => {
    const reports = await reportsOf(exchange("  simdgroup_barrier(mem_flags::mem_threadgroup);"));
    expect(reports).toContain("error race test.metal:3:11 write, test.metal:5:12 read tile+128 x4 (64)");
  });

  it("a region that is used again: the barrier that is missing is the second one", async () => {
    const again = (between: string): string =>
      kernel(
        "  threadgroup float tile[64];",
        "  float sum = 0;",
        "  for (uint turn = 0; turn < 2; ++turn) {",
        "    tile[i] = in[i] + turn;",
        "    threadgroup_barrier(mem_flags::mem_threadgroup);",
        "    sum += tile[63 - i];",
        `    ${between}`,
        "  }",
        "  out[i] = sum;",
      );
    expect(await reportsOf(again(""))).toEqual([
      "error race test.metal:7:12 read, test.metal:5:13 write tile+252 x4 (64)",
    ]);
    expect(await reportsOf(again("threadgroup_barrier(mem_flags::mem_threadgroup);"))).toEqual([]);
  });

  it("halves beside each other are not shared, a half twice is", async () => {
    const halves = (index: string): string =>
      kernel(
        "  threadgroup half tile[64];",
        `  tile[${index}] = half(in[i]);`,
        "  threadgroup_barrier(mem_flags::mem_threadgroup);",
        "  out[i] = tile[i / 2];",
      );
    expect(await reportsOf(halves("i"))).toEqual([]);
    expect(await reportsOf(halves("i % 32"))).toEqual([
      "error race test.metal:3:16 write, test.metal:3:16 write tile+0 x2 (32)",
    ]);
  });

  it("a cell that was one of 16 bytes and is read by components", async () => {
    const source = kernel(
      "  threadgroup float4 tile[64];",
      "  tile[i] = float4(in[i]);",
      "  simdgroup_barrier(mem_flags::mem_threadgroup);",
      "  out[i] = tile[i ^ 1].y + tile[(i + 32) % 64].z;",
    );
    const reports = await reportsOf(source);
    expect(reports.filter((line) => line.includes("race"))).toEqual([
      "error race test.metal:3:11 write, test.metal:5:48 read tile+512 x16 (64)",
    ]);
  });
});

describe("exchange inside a simdgroup", () => {
  const exchange = (between: string): string =>
    kernel("  threadgroup float tile[64];", "  tile[i] = in[i];", `  ${between}`, "  out[i] = tile[i ^ 1];");
  const silent = async (between: string): Promise<void> => {
    expect(await reportsOf(exchange(between))).toEqual([]);
    expect(await reportsOf(exchange(between), { flavour: "check+lockstep" })).toEqual([]);
  };

  it("with nothing between is right only in lockstep", async () => {
    const reports = await reportsOf(exchange(""));
    expect(reports[0]).toBe("error lockstep_exchange test.metal:3:11 write, test.metal:5:12 read tile+4 x4 (64)");
    const inStep = await reportsOf(exchange(""), { flavour: "check+lockstep" });
    expect(inStep).toEqual(["error lockstep_exchange test.metal:5:12 read, test.metal:3:11 write tile+124 x4 (64)"]);
  });

  it("with a collective between wants simdgroup_barrier", async () => {
    const reports = await reportsOf(exchange("in[0] > simd_max(in[i]) ? out[0] = 1 : 0;"));
    expect(reports).toEqual(["warning lockstep_exchange test.metal:5:12 read, test.metal:3:11 write tile+120 x4 (64)"]);
  });

  it.each(["simdgroup_barrier(mem_flags::mem_threadgroup);", "threadgroup_barrier(mem_flags::mem_threadgroup);"])(
    "%s orders it",
    silent,
  );

  it("simdgroup_barrier(mem_none) does not", async () => {
    const reports = await reportsOf(exchange("simdgroup_barrier(mem_flags::mem_none);"));
    expect(reports[0]).toBe("error lockstep_exchange test.metal:3:11 write, test.metal:5:12 read tile+4 x4 (64)");
  });

  it("matrix stores and loads of the same memory want one too", async () => {
    const matrices = (between: string): string =>
      kernel(
        "  threadgroup float tile[128];",
        "  simdgroup_float8x8 a = make_filled_simdgroup_matrix<float, 8, 8>(in[0]), b;",
        "  simdgroup_store(a, tile + i / 32 * 64, 8);",
        `  ${between}`,
        "  simdgroup_load(b, tile + i / 32 * 64, 8, ulong2(0), true);",
        "  out[i] = b.thread_elements()[0];",
      );
    const reports = await reportsOf(matrices(""));
    expect(reports[0]).toMatch(/^error lockstep_exchange test\.metal:[46]:3 (read|write), test\.metal:[46]:3 /);
    expect(await reportsOf(matrices("simdgroup_barrier(mem_flags::mem_threadgroup);"))).toEqual([]);
  });
});

describe("writes of the same value", () => {
  const writes = (value: string): string =>
    kernel(
      "  threadgroup float tile[1];",
      `  tile[0] = ${value};`,
      "  threadgroup_barrier(mem_flags::mem_threadgroup);",
      "  out[i] = tile[0] + in[i];",
    );

  it("are benign and listed apart", async () => {
    expect(await reportsOf(writes("in[3]"))).toEqual([
      "info same_value_write test.metal:3:11 write, test.metal:3:11 write tile+0 x4 (63)",
    ]);
  });

  it("of different values are races", async () => {
    const reports = await reportsOf(writes("in[i]"));
    expect(reports).toEqual([
      "error race test.metal:3:11 write, test.metal:3:11 write tile+0 x4 (1)",
      "error lockstep_exchange test.metal:3:11 write, test.metal:3:11 write tile+0 x4 (62)",
    ]);
  });

  it("one writer is silent", async () => {
    const source = writes("in[3]").replace("  tile[0] =", "  if (i == 0) tile[0] =");
    expect(await reportsOf(source)).toEqual([]);
  });
});

describe("order of device memory", () => {
  const shared = (line: string): string => kernel(`  ${line}`);

  it("threadgroups of a dispatch are not ordered", async () => {
    const check = await checkKernel(device, {
      source: shared("out[i] = in[i] + out[(i + 1) % 64];"),
      kernel: "k",
      threads: [32, 1, 1],
      threadgroups: [2, 1, 1],
      buffers: [new Float32Array(64), new Float32Array(64)],
    });
    const race = check.reports.find((report) => report.kind === "device_race")!;
    expect(race.severity).toBe("error");
    expect(race.first.threadgroup).toEqual([1, 0, 0]);
    expect(race.second?.threadgroup).toEqual([0, 0, 0]);
    expect(race).toMatchObject({ addressSpace: "device", buffer: { name: "b0", index: 0, bytes: 256 } });
  });

  it("each its own part is silent, and so are readers", async () => {
    const source = kernel("  out[i] = in[(i + 7) % 64] + in[0];").replace(
      "thread_index_in_threadgroup",
      "thread_position_in_grid",
    );
    expect(await reportsOf(source, { threads: [32, 1, 1], threadgroups: [2, 1, 1] })).toEqual([]);
  });

  it("a barrier with mem_device orders a threadgroup, one with mem_threadgroup does not", async () => {
    const source = (flags: string): string =>
      kernel(
        "  out[i] = in[i];",
        `  threadgroup_barrier(mem_flags::${flags});`,
        "  out[i] += out[63 - i] * 0 + 1;",
      ).replace("out[i] += out[63 - i] * 0 + 1", "if (in[i] + out[63 - i] < 0) out[i] = 7");
    expect(await reportsOf(source("mem_device"))).toEqual([]);
    const reports = await reportsOf(source("mem_threadgroup"));
    expect(reports).toEqual(["error race test.metal:4:15 read, test.metal:2:10 write b0+0 x4 (64)"]);
  });

  it("atomics do not race with atomics, but with plain accesses they do", async () => {
    const source = (line: string): string =>
      [
        "kernel void k(device atomic_uint* n [[buffer(0)]], device uint* plain [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {",
        `  ${line}`,
        "}",
        "",
      ].join("\n");
    const setup = {
      threads: [32, 1, 1],
      threadgroups: [2, 1, 1],
      buffers: [new Uint32Array(4), new Uint32Array(64)],
    } as const;
    expect(await reportsOf(source("atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);"), setup)).toEqual([]);
    const mixed = await reportsOf(
      source(
        "if (i == 0) atomic_fetch_add_explicit(n, 1u, memory_order_relaxed); else if (i == 1) *(device uint*)n = 7;",
      ),
      setup,
    );
    expect(mixed.some((line) => line.startsWith("error device_race"))).toBe(true);
  });

  it("dispatches of a submission are ordered, unless they may overlap", async () => {
    const source = kernel("  out[i] = in[i] * 2;");
    expect(await reportsOf(source, { repeats: 2 })).toEqual([]);
    expect(await reportsOf(source, { repeats: 2, order: "concurrent" })).toEqual([
      "info same_value_write test.metal:2:10 write, test.metal:2:10 write b0+0 x4 (64)",
    ]);
    const counting = kernel("  out[i] = out[i] + in[i];");
    const buffers = [new Float32Array(64), new Float32Array(64).fill(1)];
    expect(await reportsOf(counting, { buffers, repeats: 2 })).toEqual([]);
    const overlapping = await reportsOf(counting, { buffers, repeats: 2, order: "concurrent" });
    expect(overlapping.every((line) => line.startsWith("error device_race"))).toBe(true);
    expect(overlapping.length).toBeGreaterThan(0);
  });
});

describe("bounds", () => {
  it("reads and writes outside of buffers, and the run goes on", async () => {
    const source = kernel("  out[i + 1] = in[i + 300];");
    expect(await reportsOf(source)).toEqual([
      "error out_of_bounds test.metal:2:16 read b1+1200 x4 (64)",
      "error out_of_bounds test.metal:2:14 write b0+256 x4 (1)",
    ]);
    expect(await reportsOf(kernel("  if (i < 63) out[i + 1] = in[i]; else out[0] = 1;"))).toEqual([]);
  });

  it("before the start, and far behind the end", async () => {
    const source = kernel("  out[i] = in[int(i) - 4] + in[i + 100000000];");
    expect(await reportsOf(source)).toEqual([
      "error out_of_bounds test.metal:2:12 read b1+-16 x4 (4)",
      "error out_of_bounds test.metal:2:29 read b1+400000000 x4 (64)",
    ]);
  });

  it("writes that are caught do not reach what lies around the buffer", async () => {
    const { reports } = await checkKernel(device, {
      source:
        "kernel void k(device uchar* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) { out[i] = 1; }\n",
      kernel: "k",
      threads: [32, 1, 1],
      buffers: [{ bytes: 21 }],
    });
    expect(reports.map(shownReport)).toEqual(["error out_of_bounds test.metal:1:120 write b0+21 x1 (11)"]);
  });

  const dynamic = (size: number): Setup => ({ threadgroupMemory: [{ index: 0, bytes: size }] });
  const fill = HEAD.replace("uint i", "threadgroup float* t [[threadgroup(0)]], uint i");

  it("dynamic threadgroup arrays, with and without padding", async () => {
    const source = `${fill}\n  t[i] = in[i];\n  out[i] = t[i];\n}\n`;
    expect(await reportsOf(source, dynamic(256))).toEqual([]);
    const over = await reportsOf(source, dynamic(240));
    expect(over).toEqual(["error out_of_bounds test.metal:2:8 write t+240 x4 (4)"]);
    const padded = await reportsOf(source, { ...dynamic(240), threadgroupPadding: [{ index: 0, bytes: 16 }] });
    expect(padded).toEqual([]);
  });

  it("the end of the static threadgroup arrays, through a pointer", async () => {
    const source = kernel(
      "  threadgroup float tile[64];",
      "  threadgroup float* p = tile;",
      "  p[i + 8] = in[i];",
      "  threadgroup_barrier(mem_flags::mem_threadgroup);",
      "  out[i] = tile[i / 64 + 9];",
    );
    expect(await reportsOf(source)).toEqual(["error out_of_bounds test.metal:4:12 write tile+256 x4 (8)"]);
  });

  it("inline bytes are exercised by constants", async () => {
    const source = [
      "kernel void k(device float* out [[buffer(0)]], constant float* in [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {",
      "  out[i] = in[i + 1];",
      "}",
      "",
    ].join("\n");
    expect(await reportsOf(source)).toEqual(["error out_of_bounds test.metal:2:12 read b1+256 x4 (1)"]);
  });

  it("an address of nothing ends the threadgroup and not the run", async () => {
    const source = kernel("  device float* p = (device float*)(ulong(in[i]) * 64);", "  *p = 1;", "  out[i] = 1;");
    const check = await checkKernel(device, {
      source,
      kernel: "k",
      threads: [32, 1, 1],
      threadgroups: [3, 1, 1],
      buffers: [{ bytes: 256 }, new Float32Array(64).fill(2)],
    });
    expect(check.reports.map(shownReport)).toEqual(["error out_of_bounds test.metal:3:6 write (3)"]);
    expect(check.reports[0]?.message).toContain("address 0x80, which belongs to nothing that is bound");
  });
});

describe("alignment and bindings", () => {
  it("an access that is not aligned to its size", async () => {
    const source = kernel(
      "  device const uint* p = (device const uint*)((device const uchar*)in + 2);",
      "  out[i] = p[i / 2];",
    );
    expect(await reportsOf(source)).toEqual(["error misaligned test.metal:3:12 read b1+2 x4 (64)"]);
  });

  it("a write through a parameter that is const", async () => {
    const source = kernel("  ((device float*)in)[i] = 1;", "  out[i] = 1;");
    expect(await reportsOf(source)).toEqual(["error read_only_write test.metal:2:26 write b1+0 x4 (64)"]);
  });
});

describe("values that nobody wrote", () => {
  it("of threadgroup memory, by the threads that read it", async () => {
    const half = (guard: string): string =>
      kernel(
        "  threadgroup float tile[64];",
        `  ${guard}tile[i] = in[i];`,
        "  threadgroup_barrier(mem_flags::mem_threadgroup);",
        "  out[i] = tile[63 - i];",
      );
    expect(await reportsOf(half("if (i < 32) "))).toEqual([
      "error uninitialized_threadgroup test.metal:5:12 read tile+252 x4 (32)",
    ]);
    expect(await reportsOf(half(""))).toEqual([]);
  });

  it("and not because an earlier threadgroup wrote it", async () => {
    const source = kernel(
      "  threadgroup float tile[64];",
      "  if (in[0] == 1) tile[i] = in[i];",
      "  threadgroup_barrier(mem_flags::mem_threadgroup);",
      "  out[i] = tile[i];",
      "  ((device float*)in)[0] = 2;",
    ).replaceAll("device const float*", "device float*");
    const reports = await reportsOf(source, { threads: [32, 1, 1], threadgroups: [2, 1, 1] });
    const found = reports.filter((line) => line.includes("uninitialized_threadgroup"));
    expect(found).toEqual([
      expect.stringMatching(/^error uninitialized_threadgroup test\.metal:5:12 read tile\+\d+ x4 \(32\)$/),
    ]);
  });

  it("but the padding behind three components is nobody's", async () => {
    const source = kernel(
      "  threadgroup half3 tile[64];",
      "  tile[i].x = half(in[i]);",
      "  tile[i].y = 1;",
      "  WRITE",
      "  threadgroup_barrier(mem_flags::mem_threadgroup);",
      "  const half3 v = tile[63 - i] + tile[i];",
      "  out[i] = v.x + v.y + v.z;",
    );
    expect(await reportsOf(source.replace("WRITE", "tile[i].z = 2;"))).toEqual([]);
    const reports = await reportsOf(source.replace("WRITE", ""));
    expect(reports.length).toBeGreaterThan(0);
    for (const line of reports) expect(line).toMatch(/^error uninitialized_threadgroup test\.metal:7:\d+ read tile\+/);
  });

  it("a load that the compiler moved out of a loop still has a line", async () => {
    const source = kernel(
      "  threadgroup float tile[1];",
      "  if (i == 0) tile[0] = in[0];",
      "  float sum = 0;",
      "  for (uint n = 0; n < uint(in[9]); ++n) sum += tile[0] * in[n];",
      "  out[i] = sum;",
    );
    const check = await checkKernel(device, {
      source,
      kernel: "k",
      threads: [64, 1, 1],
      buffers: [{ bytes: 256 }, new Float32Array(64).fill(3)],
    });
    const race = check.reports.find((report) => report.kind === "race")!;
    expect(race.first.location?.path).toBe("test.metal");
    expect(race.second?.location?.line).toBe(3);
  });

  it("of device memory: neither the host nor a kernel", async () => {
    const source = kernel("  out[i] = in[i];");
    expect(await reportsOf(source, { buffers: [{ bytes: 256 }, { bytes: 256 }] })).toEqual([
      "error uninitialized_device test.metal:2:12 read b1+0 x4 (64)",
    ]);
    const written = kernel("  out[i] = in[i];", "  out[i] = out[i] + 1;");
    expect(await reportsOf(written)).toEqual([]);
  });
});

describe("outputs", () => {
  it("bytes that are never written, and bytes that are written twice", async () => {
    const outputs = { outputs: [0] };
    expect(await reportsOf(kernel("  if (i > 2) out[i] = in[i];"), outputs)).toEqual([
      "error unwritten_output ? none b0+0 x1 (12)",
    ]);
    expect(await reportsOf(kernel("  out[i] = in[i];", "  if (i == 5) out[i] = in[i - 1];"), outputs)).toEqual([
      "info written_twice test.metal:3:22 write, test.metal:2:10 write b0+20 x4 (1)",
    ]);
    const byAnother = ["  threadgroup_barrier(mem_flags::mem_device);", "  if (i == 5) out[6] = in[i];"];
    expect(await reportsOf(kernel("  out[i] = in[i];", ...byAnother), outputs)).toEqual([
      "warning written_twice test.metal:4:22 write, test.metal:2:10 write b0+24 x4 (1)",
    ]);
    expect(await reportsOf(kernel("  out[i] = in[i];"), outputs)).toEqual([]);
  });
});
