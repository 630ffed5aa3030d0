/**
 * What the window would be told on Macs, written by hand: readings of two Metal devices that nobody read, through the code that
 * makes profiles of them, and bundles whose outputs are the oracle's own. It shows the window alone: no Mac made any of it, and
 * its bundles stay in folders of the tests.
 */
import path from "node:path";
import { decodeShape } from "../../electron/cases/case.ts";
import { generated } from "../../electron/cases/file.ts";
import type { CallOutput } from "../../electron/contract.ts";
import { sha256 } from "../../electron/evidence/bag.ts";
import { closeBundle, openStaging, writePayload } from "../../electron/evidence/bundle.ts";
import { stableJson } from "../../electron/evidence/json.ts";
import type { RunFacts } from "../../electron/gates/evaluate.ts";
import { hostFacts } from "../../electron/host/facts.ts";
import { plannedCaseRecord } from "../../electron/runs/case_record.ts";
import { judge } from "../../electron/runs/judge.ts";
import type { ResultRecord } from "../../electron/runs/record.ts";
import { Recorder } from "../../electron/runs/recorder.ts";
import { ValidationCollector } from "../../electron/validation/collector.ts";
import { markLine } from "../../electron/validation/lines.ts";
import { findRoute } from "../../kernels/routes.ts";
import type { DeviceProfile } from "../../native/device.ts";
import { emulatedProfile } from "../../native/emulator/profile.ts";
import { type MetalReading, readProfile } from "../../native/metal/profile.ts";
import { gqaDecode } from "../../oracle/attention.ts";
import { generateDecode } from "../../oracle/generator.ts";
import { narrow, tensorBytes } from "../../oracle/tensor.ts";

type Entry = CallOutput<"devices.list">["devices"][number];

const M3_MAX: MetalReading = {
  device: {
    registryId: "4294968432",
    name: "Apple M3 Max",
    isDefault: true,
    architecture: "applegpu_g15s",
    families: [1005, 1006, 1007, 1008, 1009, 5001, 5002],
    hasUnifiedMemory: true,
    recommendedMaxWorkingSetBytes: 51_539_607_552,
    maxBufferBytes: 38_654_705_664,
    maxThreadgroupMemoryBytes: 32_768,
    maxThreadsPerThreadgroup: [1024, 1024, 1024],
    counterSets: ["timestamp"],
    samplesAtStageBoundary: true,
    samplesAtDispatchBoundary: false,
    timestampFrequencyHz: 1_000_000_000,
    gpuCores: { count: 40 },
  },
  system: {
    cpuBrand: "Apple M3 Max",
    model: "Mac15,8",
    virtualMachine: false,
    osVersion: "26.1.0",
    osBuild: "25B78",
    sdkVersion: 260_100,
  },
  offlineCompiler: { reason: "xcrun metal --version failed: missing Metal Toolchain" },
};

const VIRTUAL: MetalReading = {
  device: {
    ...M3_MAX.device,
    registryId: "4294967552",
    name: "Apple Paravirtual device",
    architecture: "applegpu_paravirtual",
    families: [1005, 5001],
    recommendedMaxWorkingSetBytes: 5_726_623_061,
    maxBufferBytes: 4_294_967_296,
    counterSets: null,
    samplesAtStageBoundary: false,
    timestampFrequencyHz: null,
    gpuCores: { problem: "the IO registry has no gpu-core-count" },
  },
  system: {
    ...M3_MAX.system,
    cpuBrand: "Apple M1 (Virtual)",
    model: "VirtualMac2,1",
    virtualMachine: true,
    osVersion: "15.6.1",
    osBuild: "24G90",
  },
  offlineCompiler: { reason: "no developer tools are selected" },
};

export type MetalKind = "m3max" | "virtual";

/** The profile of a reading that was written by hand. */
export function metalProfile(kind: MetalKind): DeviceProfile {
  const result = readProfile(kind === "m3max" ? M3_MAX : VIRTUAL, 0);
  if (!result.ok) throw new Error(result.reason);
  return result.profile;
}

/** What a Mac with the device would list, with the emulated device beside it. */
export function devicesOf(kind: MetalKind, chip: string | null): Entry[] {
  const there = (profile: DeviceProfile): Entry =>
    ({ kind: profile.execution, available: true, profile }) as unknown as Entry;
  return [
    there(metalProfile(kind)),
    there(emulatedProfile(chip ?? undefined, "clang 19.1.7")),
    { kind: "nvidia", available: false, reason: "the NVIDIA device is not built yet", mend: "use another device" },
  ];
}

const ROUTES = ["naive", "fused_split_kv_p32", "three_stage_staged"] as const;
const SHAPE = { heads: 32, kvHeads: 4, dim: 512, scale: 1 };

const FACTS: RunFacts = {
  failure: null,
  brokenSentinels: [],
  repeatDifference: 0,
  lockstep: { expected: false, difference: undefined },
  checker: { expected: false, errors: undefined },
  resources: [],
};

export interface MetalBundle {
  readonly kind: MetalKind;
  /** Becomes a part of the id. */
  readonly name: string;
  readonly startedAt: string;
  readonly validation?: boolean;
  /** Metal's words while the first case ran on the first route. */
  readonly words?: readonly string[];
  /** Apple7 and Apple8 alone have it. */
  readonly registers?: boolean;
}

/** Writes a bundle of two cases on three routes, as if a Mac had run them. Returns its id. */
export function metalBundle(evidence: string, wanted: MetalBundle): string {
  const { kind, name, startedAt, validation = false, words = [] } = wanted;
  const profile = metalProfile(kind);
  const staging = openStaging(evidence, `${name}.lockstep`);
  const { folder } = staging;
  const cases = [33, 259].map((live) => generated(decodeShape({ ...SHAPE, live }), "spread", 11));
  const planned = cases.flatMap(({ key }) => ROUTES.map((route) => ({ case: key, route })));
  const recorder = new Recorder({
    app: { name: "lockstep", version: "0.0.0", commit: null },
    command: ["lockstep", "parity", "--suite", "quick", ...(validation ? ["--device", "metal", "--validation"] : [])],
    startedAt,
  });
  recorder.add(
    {
      type: "planned",
      suite: "quick",
      execution: "metal",
      device: profile,
      choice: { asked: null, reasons: ["metal:0 is there, and a device comes before an emulated one"] },
      ...(validation ? { instrumented: true } : {}),
      producer: null,
      host: hostFacts(),
      planned,
      cases: cases.map(plannedCaseRecord),
    } as Parameters<Recorder["add"]>[0],
    0,
  );
  const collector = new ValidationCollector();
  collector.add("2026-01-02 03:04:05.678 lockstep[1:2] Metal API Validation Enabled\nMetal GPU Validation Enabled\n");
  for (const [index, entry] of cases.entries()) {
    for (const route of ROUTES) {
      collector.add(markLine(entry.key, route));
      if (index === 0 && route === ROUTES[0]) collector.add(words.map((line) => `${line}\n`).join(""));
      const result = resultOf(folder, entry, index, route, wanted);
      recorder.add({ type: "result", result }, 10 * (index + 1));
    }
  }
  if (validation) {
    const { log, validation: record } = collector.write(folder);
    recorder.validated(log, record);
  }
  const outcome = recorder.outcomeAfter("passed");
  const draft = recorder.draft(outcome, null, startedAt.replace(":05.", ":09."));
  return path.basename(closeBundle(staging, draft).path);
}

function resultOf(
  folder: string,
  entry: ReturnType<typeof generated>,
  index: number,
  route: (typeof ROUTES)[number],
  { kind, registers = false }: MetalBundle,
): ResultRecord {
  const { shape } = entry;
  if (shape.operator !== "gqa_decode") throw new Error("decode only");
  const inputs = generateDecode({ seed: 11, variant: "spread", ...SHAPE, live: shape.live });
  const oracle = gqaDecode({ ...inputs, ...shape });
  const raw = [
    { name: "out", dtype: "f32", shape: [32, 512], bytes: tensorBytes(narrow(oracle.out, "f32", [32, 512])) },
    { name: "lse", dtype: "f32", shape: [32], bytes: tensorBytes(narrow(oracle.lse, "f32", [32])) },
  ] as const;
  const reference = { oracle, twin: undefined, sha256: sha256("oracle"), conditioning: 1, ms: 1 };
  const judgement = judge(entry.key, route, shape, raw, reference, undefined, FACTS);
  const parity = `data/parity/case${index}/${route}`;
  const outputs = raw.map(({ name, dtype, shape: extents, bytes }) => {
    const file = `${parity}/${name}.${dtype}`;
    writePayload(folder, file, bytes);
    return { name, dtype, shape: [...extents], path: file, sha256: sha256(bytes) };
  });
  writePayload(folder, `${parity}/metrics.json`, stableJson(judgement.metrics));
  const plan = findRoute("gqa_decode", route).plan(shape);
  const receipts = [...new Set(plan.dispatches.map(({ kernel }) => kernel))].map((kernel) => {
    const file = `data/receipts/${kernel}.${route}.case${index}.json`.replaceAll("_", "-");
    const api = <T>(value: T, source: string) => ({ value, by: "api", source });
    writePayload(
      folder,
      file,
      stableJson({
        schema: "lockstep.receipt/1",
        source: `${plan.source}`,
        defines: plan.defines,
        flavour: "fast",
        function: kernel,
        simdWidth: api(32, "threadExecutionWidth"),
        maxTotalThreadsPerThreadgroup: api(1024, "maxTotalThreadsPerThreadgroup of the pipeline"),
        staticThreadgroupMemoryBytes: api(4096, "staticThreadgroupMemoryLength"),
        ...(registers
          ? {
              registers: {
                value: { least: 33, most: 36 },
                by: "inferred",
                source: "896 launchable threads in the step table of Apple7 and Apple8",
              },
            }
          : {}),
        language: api("MSL 3.1", "MTLCompileOptions.languageVersion"),
        mathMode: api("safe", "MTLCompileOptions.mathMode"),
        digest: sha256(`${kernel} ${index}`),
      }),
    );
    return file;
  });
  const clock = kind === "m3max" ? ("stage_boundary_counters" as const) : ("command_buffer" as const);
  const timings = plan.dispatches.map(({ stage }, at) => ({
    label: stage,
    ns: 24_000 + 9000 * index + 1700 * at,
    clock,
  }));
  return {
    case: entry.key,
    route,
    state: "completed",
    error: null,
    verdict: judgement.verdict,
    metrics: judgement.summary,
    gates: [...judgement.gates],
    // Wall time of the submission: what was timed on the GPU is a part of it.
    ms: 1.9,
    timings,
    outputs,
    receipts,
    metricsPath: `${parity}/metrics.json`,
  };
}
