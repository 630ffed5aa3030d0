/**
 * `MetalDevice` over the stand-in for Metal: the product's Objective-C++ and TypeScript, with a device of tests behind them.
 * Nothing here has seen a GPU.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type Device,
  type DeviceBuffer,
  DeviceError,
  type Dispatch,
  type LogLine,
  POISON_WORD,
} from "../../../native/device.ts";
import { listDevices, metalEntries } from "../../../native/devices.ts";
import { openDevice } from "../../../native/open.ts";
import { openStandIn, type Scenario, type StandIn } from "./stand_in/open.ts";

let standIn: StandIn;
let cacheDir: string;
const opened: Device[] = [];

beforeAll(async () => {
  standIn = await openStandIn();
}, 300_000);

beforeEach(() => {
  cacheDir = mkdtempSync(join(tmpdir(), "lockstep-metal-"));
  standIn.set({});
});

afterEach(async () => {
  standIn.set({});
  for (const device of opened.splice(0)) await device.close();
  expect(standIn.violations()).toEqual([]);
  rmSync(cacheDir, { recursive: true, force: true });
});

afterAll(() => {
  standIn.set({});
});

function parts(logging = false) {
  return { addon: standIn.addon, runnerPath: "/nowhere/runner", cacheDir, logging };
}

async function open(scenario: Scenario = {}, logging = false): Promise<Device> {
  standIn.set(scenario);
  const device = await openDevice({ kind: "metal" }, parts(logging));
  opened.push(device);
  return device;
}

async function refusal(action: Promise<unknown>): Promise<DeviceError> {
  const error = await action.catch((reason: unknown) => reason);
  if (error instanceof DeviceError) return error;
  throw new Error(`not refused: ${String(error)}`);
}

const SCALE = {
  path: "scale.metal",
  text: `#include <metal_stdlib>
using namespace metal;
constant int factor [[function_constant(2)]];
kernel void scale(device float* out [[buffer(0)]], device const float* in [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  out[i] = in[i] * float(factor);
}
kernel void tile(device float* out [[buffer(0)]], threadgroup float* shared [[threadgroup(0)]],
                 uint i [[thread_position_in_threadgroup]]) {
  threadgroup float fixed[64];
  fixed[i] = i;
  shared[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = fixed[i] + shared[(i + 1) % 32];
}
`,
};

interface Ready {
  readonly device: Device;
  readonly out: DeviceBuffer;
  readonly dispatch: (more?: Partial<Dispatch>) => Dispatch;
}

/** A device with a dispatch that doubles 32 numbers. */
async function ready(scenario: Scenario = {}): Promise<Ready> {
  const device = await open(scenario);
  const library = await device.compile(SCALE);
  const pipeline = await device.pipeline(library, "scale", { constants: { factor: 2 } });
  const out = device.allocate(128, "out");
  const input = device.allocate(128, "in");
  input.write(0, new Uint8Array(new Float32Array(32).fill(1.5).buffer));
  const dispatch = (more: Partial<Dispatch> = {}): Dispatch => ({
    label: "scale",
    pipeline,
    threadgroups: [1, 1, 1],
    threadsPerThreadgroup: [32, 1, 1],
    arguments: [
      { index: 0, buffer: out },
      { index: 1, buffer: input },
    ],
    ...more,
  });
  return { device, out, dispatch };
}

describe("a compile that is cancelled", () => {
  it("rejects at once; the device compiles, builds and closes as before", async () => {
    const device = await open();
    const compiling = new AbortController();
    const dropped = refusal(device.compile(SCALE, {}, compiling.signal));
    compiling.abort();
    expect((await dropped).code).toBe("cancelled");
    expect((await refusal(device.compile(SCALE, {}, compiling.signal))).code).toBe("cancelled");
    const library = await device.compile(SCALE);
    const building = new AbortController();
    const descriptor = { constants: { factor: 2 } };
    const left = refusal(device.pipeline(library, "scale", descriptor, building.signal));
    const stayed = device.pipeline(library, "scale", descriptor);
    building.abort();
    expect((await left).code).toBe("cancelled");
    expect((await stayed).function.name).toBe("scale");
    const last = new AbortController();
    const other = refusal(device.pipeline(library, "scale", { constants: { factor: 3 } }, last.signal));
    last.abort();
    // The device closes while Metal still builds.
    expect((await other).code).toBe("cancelled");
  });
});

function floats(buffer: DeviceBuffer): number[] {
  return [...new Float32Array(buffer.read(0, buffer.bytes).slice().buffer)];
}

describe("devices", () => {
  it("are listed with their profiles, and opened by their place in the list", async () => {
    standIn.set({ devices: 2 });
    const entries = await metalEntries(standIn.metal);
    expect(entries.map((entry) => entry.available && entry.profile.id)).toEqual(["metal:0", "metal:1"]);
    const listed = await listDevices({ addon: standIn.addon, cacheDir });
    expect(listed.map((entry) => entry.kind)).toEqual(["metal", "metal", "emulated", "nvidia"]);
    const second = await openDevice({ kind: "metal", index: 1 }, parts());
    opened.push(second);
    expect(second.profile).toMatchObject({ id: "metal:1", name: { value: "Second stand-in for Metal (no GPU)" } });
    const missing = await refusal(openDevice({ kind: "metal", index: 2 }, parts()));
    expect(missing.message).toBe("There is no Metal device metal:2; this system has metal:0, metal:1.");
  });

  it("say why there is none, and why one cannot be used", async () => {
    standIn.set({ devices: 0 });
    expect(await metalEntries(standIn.metal)).toMatchObject([
      { available: false, reason: "Metal lists no device in this session" },
    ]);
    standIn.set({ families: "5001" });
    expect(await metalEntries(standIn.metal)).toMatchObject([
      { available: false, reason: expect.stringContaining("is of none of the families Apple5 to Apple11") },
    ]);
    expect((await refusal(openDevice({ kind: "metal" }, parts()))).message).toContain("metal:0 cannot be used");
  });

  it("cannot be opened where Metal gives no queue", async () => {
    standIn.set({ "fail.queue": 1 });
    const error = await refusal(openDevice({ kind: "metal" }, parts()));
    expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("no command queue") });
  });
});

describe("compile and pipeline", () => {
  it("gives kernels, constants and a receipt of what Metal told", async () => {
    const device = await open();
    const library = await device.compile(SCALE);
    expect(library.functions).toEqual([{ name: "scale" }, { name: "tile" }]);
    expect(library.functionConstants).toEqual([{ name: "factor", index: 2, type: "int" }]);
    const tile = await device.pipeline(library, "tile", { constants: { factor: 1 } });
    expect(tile.function.arguments).toMatchObject([
      { name: "out", kind: "buffer", index: 0, readOnly: false },
      { name: "shared", kind: "threadgroup", index: 0 },
    ]);
    expect(tile.receipt).toMatchObject({
      function: "tile",
      simdWidth: { value: 32, by: "api" },
      staticThreadgroupMemoryBytes: { value: 256, by: "api" },
      language: { value: "3.1", by: "api" },
      mathMode: { value: "safe", by: "api", source: expect.stringContaining("MTLCompileOptions.mathMode") },
      cached: false,
    });
    // The stand-in says Apple9.
    expect(tile.receipt.registers).toBeUndefined();
  });

  it("has the register bracket on Apple7 and Apple8", async () => {
    const device = await open({ families: "1005 1006 1007 5001", pipeline_threads: 832 });
    const pipeline = await device.pipeline(await device.compile(SCALE), "scale", { constants: { 2: 3 } });
    expect(pipeline.receipt.maxTotalThreadsPerThreadgroup.value).toBe(832);
    expect(pipeline.receipt.registers).toMatchObject({ value: { least: 57, most: 64 }, by: "table" });
  });

  it("takes the second one out of the archive, and never one of another constant", async () => {
    const device = await open();
    const library = await device.compile(SCALE);
    const first = await device.pipeline(library, "scale", { constants: { factor: 2 } });
    const again = await device.pipeline(library, "scale", { constants: { factor: 2 } });
    const other = await device.pipeline(library, "scale", { constants: { factor: 3 } });
    expect([first, again, other].map(({ receipt }) => receipt.cached)).toEqual([false, true, false]);
    expect(again.id).toBe(first.id);
    expect(other.id).not.toBe(first.id);
  });

  it("keeps none on a virtual GPU, where opening one ends the process", async () => {
    const device = await open({ families: "1005", "sysctl.kern.hv_vmm_present": 1 }, true);
    expect(device.profile.virtualGpu).toMatchObject({ value: true });
    const library = await device.compile(SCALE);
    for (const factor of [5, 5]) {
      const pipeline = await device.pipeline(library, "scale", { constants: { factor } });
      expect(pipeline.receipt.cached).toBe(false);
    }
    expect(standIn.violations()).toEqual([]);
  });

  it("goes on without an archive that cannot be written", async () => {
    const device = await open({ "fail.archive_write": "disk" });
    const library = await device.compile(SCALE);
    for (const _ of [1, 2]) {
      const made = await device.pipeline(library, "scale", { constants: { factor: 2 } });
      expect(made.receipt.cached).toBe(false);
    }
  });

  it("keeps Metal's words whole and puts errors at the author's lines", async () => {
    const device = await open();
    const text = SCALE.text.replace("in[i] *", "inn[i] *");
    const failing = device.compile({
      path: "wrong.metal",
      text: text.replace("device float* out [[buffer(0)]], device const", "float* out [[buffer(0)]], device const"),
    });
    const error = await refusal(failing);
    expect(error.code).toBe("compile_failed");
    expect(error.diagnostics[0]).toMatchObject({ severity: "error", path: "wrong.metal", line: 4 });
    expect(error.message).toContain("Metal's words (MTLLibraryErrorDomain 3): ");
    standIn.set({ "fail.compile": "Compiler encountered an internal error" });
    const words = await refusal(device.compile(SCALE));
    expect(words.message).toBe(
      "scale.metal was not compiled. Metal's words (MTLLibraryErrorDomain 3): Compiler encountered an internal error",
    );
  });

  it("takes warnings along", async () => {
    const device = await open({ "warn.compile": "scale.metal:6:3: warning: loses a digit [-Wconversion]\n" });
    const library = await device.compile(SCALE);
    expect(library.warnings).toEqual([
      { severity: "warning", path: "scale.metal", line: 6, column: 3, message: "loses a digit [-Wconversion]" },
    ]);
  });

  it("refuses what this macOS does not have, and what no Metal has", async () => {
    const device = await open({ os: "13.6.0", families: "1005 1006 1007 5001" });
    const version = await refusal(device.compile(SCALE, { languageVersion: "4.0" }));
    expect(version).toMatchObject({ code: "compile_failed", message: expect.stringContaining("which needs macOS 26") });
    const library = await device.compile(SCALE);
    const old = await device.pipeline(library, "scale", { constants: { factor: 1 } });
    expect(old.receipt).toMatchObject({
      language: { value: "3.0" },
      mathMode: { value: "safe", source: expect.stringContaining("fastMathEnabled") },
    });
    const relaxed = await refusal(device.compile(SCALE, { mathMode: "relaxed" }));
    expect(relaxed.message).toContain("relaxed math needs macOS 15");
    expect(relaxed.message).not.toContain("Metal's words");
    const required = { constants: { factor: 1 }, requiredThreadsPerThreadgroup: [32, 1, 1] as const };
    expect((await refusal(device.pipeline(library, "scale", required))).message).toContain("needs macOS 26");
    for (const flavour of ["lockstep", "check"] as const) {
      const error = await refusal(device.pipeline(library, "scale", { flavour, constants: { factor: 1 } }));
      expect(error).toMatchObject({ code: "pipeline_refused", message: expect.stringContaining("use fast") });
    }
  });

  it("keeps the words of a refused pipeline", async () => {
    const device = await open();
    const library = await device.compile(SCALE);
    const unset = await refusal(device.pipeline(library, "scale"));
    expect(unset.message).toContain("scale uses function constants without a value: 'factor' (index 2, int).");
    standIn.set({ "fail.pipeline": "Compute function exceeds available temporary registers" });
    const refused = await refusal(device.pipeline(library, "scale", { constants: { factor: 2 } }));
    expect(refused).toMatchObject({
      code: "pipeline_refused",
      message:
        "No pipeline of 'scale' was made. Metal's words (AGXMetalStandIn 3): Compute function exceeds available temporary registers",
    });
  });
});

describe("submit", () => {
  it("runs, with the times of the counters and of the command buffer", async () => {
    const { device, out, dispatch } = await ready();
    expect(new Uint32Array(out.read(0, 4).slice().buffer)[0]).toBe(POISON_WORD);
    const progress: string[] = [];
    const { timings } = await device.submit([dispatch(), dispatch({ label: "again" })], {
      onProgress: ({ dispatch: index, label, threadgroupsDone, threadgroups }) =>
        progress.push(`${index} ${label} ${threadgroupsDone}/${threadgroups}`),
    });
    expect(floats(out)).toEqual(Array(32).fill(3));
    expect(out.sentinelIntact()).toBe(true);
    expect(progress).toEqual(["0 scale 1/1", "1 again 1/1"]);
    expect(timings).toMatchObject([
      { label: "scale", clock: "stage_boundary_counters" },
      { label: "again", clock: "stage_boundary_counters" },
    ]);
    for (const { ns, commandBufferNs } of timings) expect([ns > 0, (commandBufferNs ?? 0) > 0]).toEqual([true, true]);
  });

  it("takes the times of the command buffer where the device samples nothing, and says why", async () => {
    const { device, dispatch } = await ready({ stage_boundary: 0 });
    const { timings } = await device.submit([dispatch()]);
    expect(timings[0]).toMatchObject({
      clock: "command_buffer",
      clockReason: "the device does not sample counters at stage boundaries",
    });
  });

  it("gives padding as memory, and refuses what does not fit with it", async () => {
    const device = await open();
    const library = await device.compile(SCALE);
    const pipeline = await device.pipeline(library, "tile", { constants: { factor: 1 } });
    const out = device.allocate(128, "out");
    const tile = (bytes: number, padding: number): Dispatch => ({
      label: "tile",
      pipeline,
      threadgroups: [1, 1, 1],
      threadsPerThreadgroup: [32, 1, 1],
      arguments: [{ index: 0, buffer: out }],
      threadgroupMemory: [{ index: 0, bytes }],
      threadgroupPadding: [{ index: 0, bytes: padding }],
    });
    await device.submit([tile(128, 16)]);
    expect(floats(out).slice(0, 3)).toEqual([1, 3, 5]);
    const error = await refusal(device.submit([tile(32_512, 16)]));
    expect(error).toMatchObject({ code: "dispatch_refused", message: expect.stringContaining("its padding 16") });
  });

  it("refuses before anything runs", async () => {
    const { device, out, dispatch } = await ready({ pipeline_threads: 64 });
    const error = await refusal(device.submit([dispatch(), dispatch({ threadsPerThreadgroup: [128, 1, 1] })]));
    expect(error).toMatchObject({
      code: "dispatch_refused",
      message: expect.stringContaining("the pipeline allows 64"),
    });
    expect(new Uint32Array(out.read(0, 4).slice().buffer)[0]).toBe(POISON_WORD);
    const other = await open();
    const foreign = await refusal(other.submit([dispatch()]));
    expect(foreign.message).toContain("its pipeline was not built by this device");
  });

  it("is a failure with Metal's words and the states of the encoders", async () => {
    const { device, dispatch } = await ready({
      "fail.commit": "second",
      "fail.commit_code": 3,
      "fail.commit_words": "Caused GPU Address Fault Error",
    });
    const error = await refusal(device.submit([dispatch(), dispatch({ label: "second" })]));
    expect(error.code).toBe("crashed");
    expect(error.message).toContain("Dispatch 'second' (2 of 2) failed: the GPU touched memory that is not there");
    expect(error.message).toContain("Encoders: second: faulted.");
    expect(error.message).toContain("(MTLCommandBufferErrorDomain 3): Caused GPU Address Fault Error");
  });

  it("is cancelled between dispatches", async () => {
    const { device, dispatch } = await ready({ hold: 1 });
    const stop = new AbortController();
    const dispatches = [dispatch(), dispatch(), dispatch()];
    const run = device.submit(dispatches, {
      signal: stop.signal,
      onProgress: () => {
        stop.abort();
        // The second one is at hand by then and ends; the third is not committed.
        standIn.let(1);
      },
    });
    standIn.let(1);
    const error = await refusal(run);
    expect(error).toMatchObject({
      code: "cancelled",
      message: "The run was cancelled before dispatch 'scale' (3 of 3).",
    });
    standIn.set({});
    expect(await device.submit([dispatch()])).toMatchObject({ timings: [{ label: "scale" }] });
    const before = await refusal(device.submit([dispatch()], { signal: AbortSignal.abort() }));
    expect(before).toMatchObject({ code: "cancelled", message: "The submission was cancelled before it ran." });
  });

  it("out of time lets a dispatch that ends soon end, and goes on", async () => {
    const { device, dispatch } = await ready({ hold: 1 });
    const run = device.submit([dispatch(), dispatch()], { timeoutMs: 20 });
    setTimeout(() => standIn.let(1), 200);
    const error = await refusal(run);
    expect(error).toMatchObject({
      code: "timed_out",
      message:
        "Dispatch 'scale' (1 of 2) had not ended 20 ms after the submission began. It was let to its end; nothing after it ran.",
    });
    standIn.set({});
    expect((await device.submit([dispatch()])).timings).toHaveLength(1);
  });

  it("out of time with a kernel that does not end takes nothing until it has", async () => {
    const { device, dispatch } = await ready({ hold: 1 });
    const error = await refusal(device.submit([dispatch()], { timeoutMs: 20 }));
    expect(error).toMatchObject({ code: "timed_out", message: expect.stringContaining("Metal cannot stop a kernel") });
    const next = await refusal(device.submit([dispatch()]));
    expect(next).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("metal:0 takes nothing: Dispatch 'scale' (1 of 1) outlived its time"),
    });
    expect((await refusal(device.capture?.("/tmp/a.gputrace", async () => 1) ?? Promise.resolve())).code).toBe(
      "unavailable",
    );
    standIn.set({});
    await expect
      .poll(() =>
        device.submit([dispatch()]).then(
          () => "runs",
          () => "refused",
        ),
      )
      .toBe("runs");
  });

  it("passes on what kernels log", async () => {
    const device = await open({}, true);
    const text = `#include <metal_stdlib>
#include <metal_logging>
using namespace metal;
kernel void speaks(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = i;
  if (i == 3) os_log_default.log_error("lane %d", int(i));
}
`;
    const library = await device.compile({ path: "speaks.metal", text }, { languageVersion: "3.2" });
    const pipeline = await device.pipeline(library, "speaks");
    const out = device.allocate(128, "out");
    const lines: LogLine[] = [];
    const dispatch: Dispatch = {
      label: "speaks",
      pipeline,
      threadgroups: [1, 1, 1],
      threadsPerThreadgroup: [32, 1, 1],
      arguments: [{ index: 0, buffer: out }],
    };
    await device.submit([dispatch], { onLog: (line) => lines.push(line) });
    expect(lines).toMatchObject([{ level: "error", label: "speaks", message: "lane 3" }]);
    const capture = await refusal(device.capture?.("/tmp/a.gputrace", async () => 1) ?? Promise.resolve());
    expect(capture.message).toContain("Open it without logging");
  });
});

describe("memory", () => {
  it("is refused beyond the largest buffer and the working set, with both sides", async () => {
    const device = await open({ max_buffer: 1 << 20, working_set: 3 << 20 });
    expect(() => device.allocate((1 << 20) + 1, "k")).toThrow("the largest buffer of this device is 1,048,576");
    const kept = [1, 2].map(() => device.allocate(1_000_000, "v"));
    expect(() => device.allocate(1_048_576, "k")).toThrow(/512 of them for sentinels/);
    kept.push(device.allocate(1_000_000, "v"));
    expect(() => device.allocate(1_000_000, "k")).toThrow("this device recommends 3,145,728 at most");
    for (const buffer of kept) buffer.release();
    expect(device.allocate(1_000_000, "k").bytes).toBe(1_000_000);
  });
});

describe("capture and close", () => {
  it("captures what the work submits, where the process may", async () => {
    const { device, dispatch } = await ready({ capture: 1 });
    const path = join(cacheDir, "one.gputrace");
    const given = await device.capture?.(path, async () => {
      await device.submit([dispatch()]);
      const second = await refusal(device.capture?.(path, async () => 1) ?? Promise.resolve());
      expect(second.message).toContain("another capture runs");
      return "done";
    });
    expect(given).toBe("done");
  });

  it("refuses with the reason before the work begins", async () => {
    const device = await open({ capture: 0 });
    let hasBegun = false;
    const work = async (): Promise<void> => {
      hasBegun = true;
    };
    const capture = (path: string) => device.capture?.(path, work) ?? Promise.resolve();
    expect((await refusal(capture("/tmp/a.gputrace"))).message).toContain("MTL_CAPTURE_ENABLED=1");
    expect((await refusal(capture("/tmp/a.trace"))).message).toContain("*.gputrace");
    expect(hasBegun).toBe(false);
  });

  it("closes once, and takes nothing then", async () => {
    const { device, out, dispatch } = await ready();
    await device.close();
    await device.close();
    expect(await refusal(device.submit([dispatch()]))).toMatchObject({ code: "unavailable" });
    expect(() => device.allocate(16, "late")).toThrow("is closed");
    expect(() => out.read(0, 4)).toThrow("was released");
  });
});
