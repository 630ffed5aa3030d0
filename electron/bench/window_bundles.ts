/** Bundles for measuring the window: one with very many planned results, one with a large output. Their figures are made up. */
import fs from "node:fs";
import path from "node:path";
import { emulatedProfile } from "../../native/emulator/profile.ts";
import { decodeShape } from "../cases/case.ts";
import { generated } from "../cases/file.ts";
import { sha256 } from "../evidence/bag.ts";
import { closeBundle, openStaging, writePayload } from "../evidence/bundle.ts";
import { hostFacts } from "../host/facts.ts";
import { plannedCaseRecord } from "../runs/case_record.ts";
import type { ResultRecord } from "../runs/record.ts";
import { Recorder } from "../runs/recorder.ts";

const STARTED = "2026-01-02T03:04:05.000Z";
const FINISHED = "2026-01-02T03:04:06.000Z";

/** Results with figures among the many: as many as fit the limit of a record. */
const WITH_RESULT = 5000;
const ROUTES = 200;

export interface ArrayBundle {
  readonly id: string;
  /** Path of the output in the bundle. */
  readonly path: string;
  readonly bytes: number;
}

function result(key: string, route: string, extra: Partial<ResultRecord>): ResultRecord {
  return {
    case: key,
    route,
    state: "completed",
    error: null,
    verdict: "pass",
    metrics: { maxAbs: 1e-6, nmse: 1e-13, worstRow: "token 0, head 1", worstRowNmse: 2e-13, unwritten: 0 },
    gates: [],
    ms: 1.5,
    timings: [],
    outputs: [],
    receipts: [],
    metricsPath: null,
    ...extra,
  };
}

function decodeCase(live: number) {
  return generated(decodeShape({ heads: 32, kvHeads: 4, dim: 512, live, scale: 1 }), "spread", 1);
}

function write(
  evidence: string,
  name: string,
  keys: readonly number[],
  routes: readonly string[],
  results: (folder: string, planned: readonly { readonly case: string; readonly route: string }[]) => ResultRecord[],
): string {
  const staging = openStaging(evidence, `${name}.lockstep`);
  const cases = keys.map(decodeCase);
  const planned = cases.flatMap(({ key }) => routes.map((route) => ({ case: key, route })));
  const recorder = new Recorder({
    app: { name: "lockstep", version: "0.0.0", commit: null },
    command: ["lockstep", "parity"],
    startedAt: STARTED,
  });
  recorder.add({
    type: "planned",
    suite: "full",
    execution: "emulated",
    device: emulatedProfile(),
    producer: null,
    host: hostFacts(),
    planned: [...planned],
    cases: cases.map(plannedCaseRecord),
  });
  for (const entry of results(staging.folder, planned)) recorder.add({ type: "result", result: entry });
  const draft = recorder.draft("cancelled", "made up for measuring the window", FINISHED);
  return path.basename(closeBundle(staging, { ...draft, claims: [] }).path);
}

/** A cancelled run of `rows` planned results, a multiple of 200; the first 5,000 have figures. Returns its id. */
export function manyRows(evidence: string, rows: number): string {
  const routes = Array.from({ length: ROUTES }, (_, index) => `route_${index}`);
  const lengths = Array.from({ length: rows / ROUTES }, (_, index) => index + 1);
  return write(evidence, "many-rows", lengths, routes, (_, planned) =>
    planned.slice(0, WITH_RESULT).map(({ case: key, route }) => result(key, route, {})),
  );
}

/** A run whose one output has `bytes` bytes of float32, a multiple of 65,536. */
export function largeArray(evidence: string, bytes: number): ArrayBundle {
  const file = "data/parity/large/naive/out.f32";
  const id = write(evidence, "large-array", [1], ["naive"], (folder, [item]) => {
    const data = new Uint8Array(new Float32Array(bytes / 4).fill(0.5).buffer);
    writePayload(folder, file, data);
    const shape = [bytes / 65_536, 32, 512];
    const outputs = [{ name: "out" as const, dtype: "f32" as const, shape, path: file, sha256: sha256(data) }];
    return [result(item!.case, item!.route, { outputs })];
  });
  if (!fs.existsSync(path.join(evidence, id, file))) throw new Error(`${id} has no ${file}.`);
  return { id, path: file, bytes };
}
