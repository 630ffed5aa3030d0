/** Reports about threads that do not do the same, and what is left of runs that end early. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DeviceError } from "../../../native/device.ts";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { deviceError, testDevice } from "../msl/workbench.ts";
import { type CheckedKernel, checkKernel, shownReport, submitKernel } from "./check_run.ts";

let device: EmulatedDevice;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

type Setup = Partial<Omit<CheckedKernel, "source" | "kernel">>;

function kernel(...lines: readonly string[]): string {
  const head = "kernel void k(device float* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {";
  return [head, ...lines, "}", ""].join("\n");
}

function setup(source: string, more: Setup = {}): CheckedKernel {
  return { source, kernel: "k", threads: [64, 1, 1], buffers: [{ bytes: 256 }], ...more };
}

async function reportsOf(source: string, more: Setup = {}): Promise<readonly string[]> {
  return (await checkKernel(device, setup(source, more))).reports.map(shownReport);
}

describe("barriers", () => {
  const branch = kernel(
    "  if (i < 32) {",
    "    threadgroup_barrier(mem_flags::mem_threadgroup);",
    "  } else {",
    "    threadgroup_barrier(mem_flags::mem_device);",
    "  }",
    "  out[i] = 1;",
  );

  it("different ones: both lines, both threads, and the run goes on", async () => {
    const check = await checkKernel(device, setup(branch, { threadgroups: [2, 1, 1] }));
    expect(check.reports.map(shownReport)).toEqual([
      "error divergent_barrier test.metal:5:5 barrier, test.metal:3:5 barrier (2)",
    ]);
    expect(check.reports[0]?.first).toMatchObject({ threadgroup: [0, 0, 0], simdgroup: 1, lane: 0, thread: 32 });
    expect(check.reports[0]?.second).toMatchObject({ simdgroup: 0, lane: 0, thread: 0 });
    expect(check.reports[0]?.message).toContain("32 of 64 wait at the other one");
    expect(await reportsOf(kernel("  threadgroup_barrier(mem_flags::mem_device);", "  out[i] = 1;"))).toEqual([]);
  });

  it("threads that have returned", async () => {
    const source = kernel(
      "  if (i >= 40) return;",
      "  threadgroup_barrier(mem_flags::mem_threadgroup);",
      "  out[i] = 1;",
    );
    const check = await checkKernel(device, setup(source));
    expect(check.reports.map(shownReport)).toEqual([
      "warning exited_before_barrier test.metal:3:3 barrier, ? exit (1)",
    ]);
    expect(check.reports[0]?.message).toContain("24 of 64 threads returned before this barrier");
    const whole = kernel(
      "  if (out[0] == 3) return;",
      "  threadgroup_barrier(mem_flags::mem_threadgroup);",
      "  out[i] = 1;",
    );
    expect(await reportsOf(whole, { buffers: [new Float32Array(64)] })).toEqual([
      expect.stringMatching(/^error race /),
    ]);
  });
});

describe("collectives", () => {
  it("reached by a part of the lanes", async () => {
    const source = kernel("  float x = 0;", "  if (i % 2 == 0) x = simd_sum(1.0f);", "  out[i] = x + simd_sum(2.0f);");
    const check = await checkKernel(device, setup(source, { threads: [32, 1, 1] }));
    expect(check.reports.map(shownReport)).toEqual([
      "warning divergent_collective test.metal:3:23 collective, test.metal:4:16 collective (1)",
    ]);
    expect(check.reports[0]?.message).toContain("Only 16 of 32 lanes of the simdgroup take part");
    const whole = kernel("  float x = simd_sum(1.0f);", "  out[i] = x + simd_sum(2.0f);");
    expect(await reportsOf(whole)).toEqual([]);
  });

  it("a whole simdgroup in a branch, and a simdgroup that is not full, are no part", async () => {
    const source = kernel("  float x = 0;", "  if (i < 32) x = simd_sum(1.0f);", "  out[i] = x;");
    expect(await reportsOf(source)).toEqual([]);
    expect(await reportsOf(kernel("  out[i] = simd_sum(1.0f);"), { threads: [40, 1, 1] })).toEqual([]);
  });

  it("what a divergent barrier orders is ordered for its lanes alone", async () => {
    const source = kernel(
      "  threadgroup float tile[32];",
      "  tile[i] = i;",
      "  if (i < 16) simdgroup_barrier(mem_flags::mem_threadgroup);",
      "  out[i] = tile[(i + 8) % 32];",
    );
    const reports = await reportsOf(source, { threads: [32, 1, 1] });
    expect(reports[0]).toBe("error lockstep_exchange test.metal:3:11 write, test.metal:5:12 read tile+96 x4 (24)");
  });
});

describe("runs that end early", () => {
  it("a time-out hands over what was seen", async () => {
    const source = kernel("  out[i + 64] = 1;", "  while (true) { out[0] = out[0] + 1; }");
    const error = await deviceError(submitKernel(device, setup(source, { timeoutMs: 1_500 })));
    expect(error).toBeInstanceOf(DeviceError);
    expect(error.code).toBe("timed_out");
    expect(error.check?.complete).toBe(false);
    expect(error.check?.traffic).toMatchObject({ exact: false, exactReason: "the run ended early" });
    expect(error.check?.reports.map(shownReport)).toContain("error out_of_bounds test.metal:2:15 write b0+256 x4 (1)");
  });

  it("so does a crash", async () => {
    const source = kernel("  out[i + 64] = 1;", "  const int zero = int(out[0] * 0);", "  out[i] = 7 / zero;");
    const error = await deviceError(submitKernel(device, setup(source, { buffers: [new Float32Array(64)] })));
    expect(error.code).toBe("crashed");
    expect(error.message).toContain("integer division by zero");
    expect(error.check?.reports.map(shownReport)).toContain("error out_of_bounds test.metal:2:15 write b0+256 x4 (1)");
  });

  it("a submission of check flavours and others is refused", async () => {
    const library = await device.compile({ path: "test.metal", text: kernel("  out[i] = 1;") });
    const out = device.allocate(256, "out");
    const dispatch = async (flavour: "fast" | "check") => ({
      label: flavour,
      pipeline: await device.pipeline(library, "k", { flavour }),
      threadgroups: [1, 1, 1] as const,
      threadsPerThreadgroup: [64, 1, 1] as const,
      arguments: [{ index: 0, buffer: out }],
    });
    const error = await deviceError(device.submit([await dispatch("fast"), await dispatch("check")]));
    expect(error.code).toBe("dispatch_refused");
    expect(error.message).toContain("Dispatch 'fast' is of flavour fast, 'check' of check");
    out.release();
  });
});
