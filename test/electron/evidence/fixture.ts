/** A small bundle with real figures: two cases, one route, made by the gates and the bundle writer. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { decodeShape } from "../../../electron/cases/case.ts";
import { generated } from "../../../electron/cases/file.ts";
import {
  bagInfoText,
  MANIFEST,
  manifestText,
  sha256,
  sha256File,
  TAG_FILES,
  TAG_MANIFEST,
  walk,
} from "../../../electron/evidence/bag.ts";
import {
  type ClosedBundle,
  closeBundle,
  openStaging,
  type RecordDraft,
  writePayload,
} from "../../../electron/evidence/bundle.ts";
import { stableJson } from "../../../electron/evidence/json.ts";
import type { RunFacts } from "../../../electron/gates/evaluate.ts";
import { hostFacts } from "../../../electron/host/facts.ts";
import { plannedCaseRecord } from "../../../electron/runs/case_record.ts";
import { judge } from "../../../electron/runs/judge.ts";
import type { Outcome, ResultRecord } from "../../../electron/runs/record.ts";
import { Recorder } from "../../../electron/runs/recorder.ts";
import { keepValidation, ValidationCollector } from "../../../electron/validation/collector.ts";
import type { DeviceProfile } from "../../../native/device.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";
import { gqaDecode } from "../../../oracle/attention.ts";
import { generateDecode } from "../../../oracle/generator.ts";
import { narrow, tensorBytes } from "../../../oracle/tensor.ts";

const factsOn = (emulated: boolean): RunFacts => ({
  failure: null,
  brokenSentinels: [],
  repeatDifference: 0,
  lockstep: { expected: emulated, difference: emulated ? 0 : undefined },
  checker: { expected: emulated, errors: emulated ? 0 : undefined },
  resources: [],
});

/**
 * A profile as a Metal device would report it, made by hand: nothing here ran on a Mac. With `virtual` it is a GPU that a
 * hypervisor lends.
 */
export function metalProfile(virtual = false): DeviceProfile {
  const known = <T>(value: T) => ({ value, by: "api", source: "test" }) as const;
  return {
    ...emulatedProfile("M3 Max"),
    id: "metal:0",
    execution: "metal",
    name: known(virtual ? "Apple Paravirtual device" : "Apple M3 Max"),
    chip: known("M3 Max"),
    architecture: known("applegpu_g15s"),
    family: known(virtual ? "apple5" : "apple9"),
    os: known("macOS 26.1 (25B78)"),
    toolchain: known("run-time compiler of macOS 26.1 (25B78)"),
    virtualGpu: known(virtual),
    facts: [
      {
        id: "virtual_machine",
        label: "Runs in a virtual machine",
        value: virtual ? "yes" : "no",
        by: "api",
        source: "test",
        reason: null,
      },
    ],
  };
}

export function temporary(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-test-"));
}

export interface FixtureOptions {
  readonly outcome?: Outcome;
  /** Added to one output element of the second case. */
  readonly error?: number;
  /** Default: the emulated device. */
  readonly device?: DeviceProfile;
  /** What the host wrote to its standard error, for a run under validation. `keys` are the cases of the fixture. */
  readonly validation?: (keys: readonly string[]) => string;
  /** Changes the draft before it is written. */
  readonly change?: (draft: RecordDraft) => RecordDraft;
}

/** The draft of a record, with its payload files in `folder`. */
export function fixtureDraft(folder: string, options: FixtureOptions = {}): RecordDraft {
  const shape = (live: number) => decodeShape({ heads: 2, kvHeads: 1, dim: 32, live, scale: 1 });
  const device = options.device ?? emulatedProfile();
  const { execution } = device;
  const cases = [3, 5].map((live) => generated(shape(live), "spread", 11));
  const results = cases.map((entry, index): ResultRecord => {
    const { shape: s } = entry;
    if (s.operator !== "gqa_decode") throw new Error("decode only");
    const inputs = generateDecode({ seed: 11, variant: "spread", heads: 2, kvHeads: 1, dim: 32, live: s.live });
    const oracle = gqaDecode({ ...inputs, ...s });
    const values = oracle.out.slice();
    if (index === 1) values[7] = values[7]! + (options.error ?? 0);
    const raw = [
      { name: "out", dtype: "f32", shape: [2, 32], bytes: tensorBytes(narrow(values, "f32", [2, 32])) },
      { name: "lse", dtype: "f32", shape: [2], bytes: tensorBytes(narrow(oracle.lse, "f32", [2])) },
    ] as const;
    const reference = { oracle, twin: undefined, sha256: sha256("oracle"), conditioning: 1, ms: 1 };
    const judgement = judge(entry.key, "naive", s, raw, reference, undefined, factsOn(execution === "emulated"));
    const parity = `data/parity/case${index}/naive`;
    const outputs = raw.map(({ name, dtype, shape: extents, bytes }) => {
      const file = `${parity}/${name}.${dtype}`;
      writePayload(folder, file, bytes);
      return { name, dtype, shape: [...extents], path: file, sha256: sha256(bytes) };
    });
    writePayload(folder, `${parity}/metrics.json`, stableJson(judgement.metrics));
    return {
      case: entry.key,
      route: "naive",
      state: "completed",
      error: null,
      verdict: judgement.verdict,
      metrics: judgement.summary,
      gates: [...judgement.gates],
      ms: 1.5,
      timings: [
        {
          label: "attention",
          ns: 1_500_000,
          ...(execution === "metal" ? { clock: "stage_boundary_counters" as const } : {}),
        },
      ],
      outputs,
      receipts: ["data/receipts/gqa_naive.fast.0123456789ab.json"],
      metricsPath: `${parity}/metrics.json`,
    };
  });
  const known = { value: 32, by: "probe", source: "test" } as const;
  writePayload(
    folder,
    "data/receipts/gqa_naive.fast.0123456789ab.json",
    stableJson({
      schema: "lockstep.receipt/1",
      source: "gqa_decode/naive.metal",
      defines: { HEAD_DIM: 32 },
      flavour: "fast",
      function: "gqa_naive",
      simdWidth: known,
      maxTotalThreadsPerThreadgroup: known,
      staticThreadgroupMemoryBytes: known,
      digest: sha256("module"),
    }),
  );
  writePayload(folder, "data/kernels/gqa_decode/naive.metal", "// kernel\n");
  const recorder = new Recorder({
    app: { name: "lockstep", version: "0.0.0", commit: null },
    command: ["lockstep", "parity", "--case", "a b"],
    startedAt: "2026-01-02T03:04:05.000Z",
  });
  recorder.add({
    type: "planned",
    suite: "quick",
    execution,
    device,
    choice: { asked: null, reasons: ["made by hand"] },
    ...(options.validation === undefined ? {} : { instrumented: true }),
    producer: null,
    host: hostFacts(),
    planned: cases.map((entry) => ({ case: entry.key, route: "naive" })),
    cases: cases.map(plannedCaseRecord),
  });
  for (const result of results) recorder.add({ type: "result", result });
  if (options.validation !== undefined) {
    const collector = new ValidationCollector();
    collector.add(options.validation(cases.map(({ key }) => key)));
    keepValidation(recorder, collector, { folder, target: folder });
  }
  const failed = recorder.results.some((result) => result.verdict !== "pass");
  return recorder.draft(options.outcome ?? (failed ? "failed" : "passed"), null, "2026-01-02T03:04:06.000Z");
}

/** Writes the fixture bundle into `out`. */
export function fixtureBundle(out: string, options: FixtureOptions = {}): ClosedBundle {
  const staging = openStaging(out, "fixture.lockstep");
  const draft = fixtureDraft(staging.folder, options);
  return closeBundle(staging, options.change?.(draft) ?? draft);
}

/** Makes manifests and oxum fit the files again, as somebody would who forges a record. */
export function reseal(root: string): void {
  const files = walk(path.join(root, "data")).files;
  const entries = files.map((file) => ({
    path: `data/${file.path}`,
    sha256: sha256File(path.join(root, "data", file.path)),
  }));
  fs.writeFileSync(path.join(root, MANIFEST), manifestText(entries));
  fs.writeFileSync(path.join(root, "bag-info.txt"), bagInfoText(files, "2026-01-02", "lockstep 0.0.0"));
  const tags = TAG_FILES.map((file) => ({ path: file, sha256: sha256File(path.join(root, file)) }));
  fs.writeFileSync(path.join(root, TAG_MANIFEST), manifestText(tags));
}
