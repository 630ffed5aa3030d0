/**
 * Whole requests on the Metal device over the stand-in for Metal, in this process: the device's own code is executed, kernels
 * run in the emulator. The stand-in is no GPU and no evidence of one.
 */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CaptureRequest } from "../../../electron/captures/gputrace.ts";
import type { KernelRequest } from "../../../electron/checker/messages.ts";
import { closeBundle, openStaging } from "../../../electron/evidence/bundle.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import { captureRequest } from "../../../electron/host/capture.ts";
import { kernelRequest } from "../../../electron/host/kernel.ts";
import type { RunRequest } from "../../../electron/host/messages.ts";
import type { Places } from "../../../electron/host/root.ts";
import { runRequest } from "../../../electron/host/session.ts";
import { RunControl } from "../../../electron/runs/control.ts";
import type { RunEvent } from "../../../electron/runs/events.ts";
import { type PipelineReceipt, type RunRecord, receiptSchema } from "../../../electron/runs/record.ts";
import { Recorder } from "../../../electron/runs/recorder.ts";
import { CAPTURE_ENVIRONMENT } from "../../../electron/validation/environment.ts";
import { openDevice } from "../../../native/open.ts";
import { buildStandIn } from "../../native/metal/stand_in/build.ts";
import { openStandIn, STAND_IN_NAME, STAND_IN_TIMEOUT_MS, type StandIn } from "../../native/metal/stand_in/open.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";
import { runRequest as asked } from "./request.ts";

let folder: string;
let standIn: StandIn;
let where: Places;

beforeAll(async () => {
  folder = scratchFolder();
  standIn = await openStandIn();
  where = { ...WHERE, addon: (await buildStandIn()).addon };
}, STAND_IN_TIMEOUT_MS);

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** A Mac as the stand-in plays it. */
const MAC = { os: "26.1.0", "sysctl.machdep.cpu.brand_string": "Apple M3 Max", "sysctl.kern.hv_vmm_present": 0 };

interface Ran {
  readonly events: readonly RunEvent[];
  readonly record: RunRecord | null;
  readonly reasons: readonly string[];
  readonly bundle: string | null;
}

/** A request as a door makes it, to its bundle. */
async function run(change: Partial<RunRequest> = {}, scenario: Parameters<StandIn["set"]>[0] = MAC): Promise<Ran> {
  standIn.set(scenario);
  const staging = openStaging(folder, "metal.lockstep");
  const recorder = new Recorder({
    app: { name: "lockstep", version: "0.0.0", commit: null },
    command: ["lockstep", "parity"],
    startedAt: new Date().toISOString(),
  });
  const events: RunEvent[] = [];
  const emit = (event: RunEvent): void => {
    events.push(event);
    recorder.add(event);
  };
  const leash = { signal: new AbortController().signal, control: new RunControl(() => undefined) };
  await runRequest({ ...asked(folder), ...change, staging: staging.folder }, where, leash, emit);
  const end = events.at(-1);
  if (end?.type !== "finished") return { events, record: null, reasons: [], bundle: null };
  const draft = recorder.draft(end.outcome, end.reason, new Date().toISOString());
  const { path: bundle, record } = closeBundle(staging, draft, recorder.endedLog(end.outcome, end.reason));
  return { events, record, bundle, reasons: verifyBundle(bundle).checks.flatMap(({ reasons }) => reasons) };
}

function receiptsOf({ record, bundle }: Ran): readonly PipelineReceipt[] {
  const files = record!.results.flatMap(({ receipts }) => receipts);
  return files.map((file) => receiptSchema.parse(JSON.parse(fs.readFileSync(path.join(bundle!, file), "utf8"))));
}

describe("a run on Metal", () => {
  it("is taken by itself where there is one, and leaves a bundle that verifies", async () => {
    const ran = await run({ route: null, case: "gqa_decode/h32kv4d512/L33/spread/f32" });
    const { record, reasons } = ran;
    expect(reasons).toEqual([]);
    expect(record).toMatchObject({
      outcome: "passed",
      execution: "metal",
      device: { id: "metal:0", name: { value: STAND_IN_NAME }, virtualGpu: { value: false } },
      choice: { asked: null, reasons: [expect.stringContaining("metal:0 is there")] },
    });
    expect(record!.results.length).toBeGreaterThan(3);
    for (const { gates, timings, flavour } of record!.results) {
      expect(gates.map(({ id }) => id)).toEqual(
        expect.arrayContaining(["launched", "coverage", "sentinels", "repeat"]),
      );
      expect(gates.filter(({ id }) => ["lockstep", "checker", "validation"].includes(id))).toEqual([]);
      expect(timings.every(({ clock }) => clock === "stage_boundary_counters")).toBe(true);
      expect(flavour).toBeUndefined();
    }
    for (const receipt of receiptsOf(ran)) {
      expect(receipt).toMatchObject({ flavour: "fast", mathMode: { value: "safe" }, language: { by: "api" } });
    }
    expect(record!.claims[0]).toMatchObject({ execution: "metal", supportsChip: "M3 Max" });
    expect(standIn.violations()).toEqual([]);
  });

  it("on a virtual GPU supports no chip", async () => {
    const { record, reasons } = await run({}, { ...MAC, "sysctl.kern.hv_vmm_present": 1 });
    expect(reasons).toEqual([]);
    expect(record!.choice!.reasons.join(" ")).toContain("virtual GPU");
    expect(record!.claims).toMatchObject([{ level: "parity", supportsChip: null }]);
  });

  it("keeps Metal's words where it refuses a pipeline, fails, and goes on", async () => {
    const refused = await run({}, { ...MAC, "fail.pipeline": "Compiler encountered an internal error" });
    expect(refused.reasons).toEqual([]);
    expect(refused.record).toMatchObject({
      outcome: "failed",
      results: [{ state: "refused", error: expect.stringContaining("Compiler encountered an internal error") }],
    });
    const compile = await run({}, { ...MAC, "fail.compile": "program_source:1:1: error: no such thing" });
    expect(compile.record!.results).toMatchObject([
      { state: "compile_failed", error: expect.stringContaining("no such thing") },
    ]);
    const crashed = await run({}, { ...MAC, "fail.commit": "*", "fail.commit_words": "Caused GPU Hang Error" });
    expect(crashed.reasons).toEqual([]);
    expect(crashed.record!.outcome).not.toBe("passed");
    expect(crashed.record!.results[0]!.verdict).not.toBe("pass");
  });

  it("needs no more than the working set that the device reports", async () => {
    const { record } = await run({}, { ...MAC, working_set: 4096 });
    expect(record!.results).toMatchObject([
      { state: "failed", error: expect.stringContaining("recommendedMaxWorkingSetSize of the device is 4,096 bytes") },
    ]);
  });

  it("is refused for an index that is not there, and an emulated one is still emulated", async () => {
    const { events } = await run({ device: "metal:9" });
    expect(events).toMatchObject([
      { type: "refused", code: "usage", message: expect.stringContaining("Metal lists metal:0") },
    ]);
    expect((await run({ device: "emulated" })).record).toMatchObject({
      execution: "emulated",
      choice: { asked: "emulated", reasons: ["emulated was asked for"] },
    });
  });

  it("under validation is refused by a host without its environment: Metal would not validate", async () => {
    await expect(run({ validation: true })).rejects.toThrow("started without MTL_DEBUG_LAYER=1");
  });
});

describe("binary archives", () => {
  it("are left alone under shader validation and in captures", async () => {
    standIn.set(MAC);
    const cachedWith = async (environment: Readonly<Record<string, string>>): Promise<readonly boolean[]> => {
      const cacheDir = fs.mkdtempSync(path.join(folder, "cache-"));
      const cached: boolean[] = [];
      for (let round = 0; round < 2; round++) {
        const device = await openDevice(
          { kind: "metal" },
          { addon: standIn.addon, runnerPath: "", cacheDir, environment },
        );
        const text = "kernel void k(device float* out [[buffer(0)]]) { out[0] = 1; }";
        const library = await device.compile({ path: "k.metal", text: `#include <metal_stdlib>\n${text}` });
        cached.push((await device.pipeline(library, "k")).receipt.cached);
        await device.close();
      }
      return cached;
    };
    expect(await cachedWith({})).toEqual([false, true]);
    expect(await cachedWith({ MTL_SHADER_VALIDATION: "1" })).toEqual([false, false]);
    expect(await cachedWith({ MTL_CAPTURE_ENABLED: "1" })).toEqual([false, false]);
    expect(await cachedWith({ MTL_SHADER_VALIDATION: "0" })).toEqual([false, true]);
  });
});

describe("a capture", () => {
  const request = (change: Partial<CaptureRequest> = {}): CaptureRequest => ({
    suite: "quick",
    inputs: null,
    case: "gqa_decode/h32kv4d512/L33/spread/f32",
    route: "three_stage",
    device: "metal",
    out: path.join(fs.mkdtempSync(path.join(folder, "trace-")), "one.gputrace"),
    ...change,
  });
  const take = async (change: Partial<CaptureRequest> = {}, scenario: Parameters<StandIn["set"]>[0] = MAC) => {
    standIn.set(scenario);
    Object.assign(process.env, CAPTURE_ENVIRONMENT);
    try {
      return await captureRequest(request(change), where, new AbortController().signal, () => undefined);
    } finally {
      for (const name of Object.keys(CAPTURE_ENVIRONMENT)) delete process.env[name];
    }
  };

  it("holds the dispatches of one case, once, and says what it is", async () => {
    const end = await take();
    expect(end).toMatchObject({
      type: "captured",
      answer: { route: "three_stage", device: { id: "metal:0" }, reasons: ["metal was asked for"] },
    });
    if (end.type !== "captured") return;
    expect(end.answer.bytes).toBeGreaterThan(0);
    expect(end.answer.dispatches.length).toBeGreaterThan(1);
    expect(fs.existsSync(end.answer.path)).toBe(true);
  });

  it("keeps Metal's words where it refuses", async () => {
    expect(await take({}, { ...MAC, "fail.capture": "Capturing is not supported." })).toMatchObject({
      type: "capture_refused",
      message: expect.stringContaining("Capturing is not supported."),
    });
  });

  it("that fails or is cancelled leaves nothing that looks like one, and the name is free for the next", async () => {
    const out = path.join(folder, "again.gputrace");
    const failed = await take({ out }, { ...MAC, "fail.commit": "*" });
    expect(failed).toMatchObject({ type: "capture_refused", code: "refused" });
    expect(fs.existsSync(out)).toBe(false);
    expect(await take({ out })).toMatchObject({ type: "captured" });
  });

  it("is refused over another file, under another name, of several results, and of an emulated device", async () => {
    const there = path.join(folder, "there.gputrace");
    fs.writeFileSync(there, "");
    const refusals = [
      [{ out: there }, "is there already"],
      [{ out: path.join(folder, "a.trace") }, "ends in .gputrace"],
      [{ out: path.join(folder, "no", "a.gputrace") }, "is not there: make it first"],
      [{ case: "L33", route: "fused_split_kv" }, "a capture is of one"],
      [{ device: "emulated" }, "Only Metal captures"],
    ] as const;
    for (const [change, words] of refusals) {
      expect(await take(change)).toMatchObject({ type: "capture_refused", message: expect.stringContaining(words) });
    }
  });

  it("needs the environment in which Metal captures", async () => {
    standIn.set(MAC);
    const ask = captureRequest(request(), where, new AbortController().signal, () => undefined);
    await expect(ask).rejects.toThrow("started without MTL_CAPTURE_ENABLED=1");
  });
});

describe("a manifest's kernel on Metal", () => {
  const GOLDEN = path.join(WHERE.root, "test/electron/manifest/golden");
  const request = (change: Partial<KernelRequest> = {}): KernelRequest => ({
    from: { kind: "file", path: path.join(GOLDEN, "attention.kernel.json"), root: null },
    purpose: "run",
    flavour: null,
    sizes: {},
    device: "metal",
    chip: null,
    timeoutMs: null,
    workers: null,
    ...change,
  });
  const ask = (change: Partial<KernelRequest> = {}) => {
    standIn.set(MAC);
    return kernelRequest(request(change), where, new AbortController().signal, () => undefined);
  };

  it("is judged by the device's result and the emulated checker's word", async () => {
    expect(await ask()).toMatchObject({
      type: "kernel_ended",
      answer: {
        verdict: "pass",
        device: { id: "metal:0", execution: "metal", checkedOn: expect.stringMatching(/^emulated:/) },
        result: { flavour: "fast", timings: [{ clock: "stage_boundary_counters" }] },
        stage: { outcomes: [{ flavour: "check" }] },
      },
    });
  });

  it("that needs its lanes in lockstep is wrong there: nothing promises that", async () => {
    const body = "threadgroup float t[32];\nt[i] = i;\nout[i] = t[31 - i];";
    const metal = `#include <metal_stdlib>\nusing namespace metal;\nkernel void k(device float *out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {\n${body}\n}\n`;
    const manifest = {
      schema: "lockstep.kernel/1",
      name: "exchange",
      source: "exchange.metal",
      buffers: [{ name: "out", scratch: 128 }],
      dispatches: [
        { function: "k", threadgroups: [1], threadsPerThreadgroup: [32], arguments: [{ index: 0, buffer: "out" }] },
      ],
    };
    const from = {
      kind: "texts",
      name: "exchange",
      manifest: JSON.stringify(manifest),
      files: [{ path: "exchange.metal", text: metal }],
    } as const;
    const texts = { ...from, files: [...from.files] };
    expect(await ask({ from: texts })).toMatchObject({
      answer: { verdict: "fail", pinned: false, reason: expect.stringMatching(/checker reports \d+ error/) },
    });
    expect(await ask({ from: texts, device: "emulated" })).toMatchObject({ answer: { verdict: null, pinned: true } });
  });

  it("is not run in a flavour that only the emulated device has, nor checked there", async () => {
    expect(await ask({ flavour: "lockstep" })).toMatchObject({
      type: "kernel_refused",
      message: expect.stringContaining("on the emulated device alone"),
    });
    expect(await ask({ purpose: "check" })).toMatchObject({ type: "kernel_refused", code: "usage" });
    expect(await ask({ purpose: "run", device: null, flavour: "lockstep" })).toMatchObject({
      type: "kernel_ended",
      answer: { device: { execution: "emulated" } },
    });
  });
});
