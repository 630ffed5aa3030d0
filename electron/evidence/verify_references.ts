/** Record and files of a bundle refer to each other, and repeat the same facts. */
import { gatesDigest } from "../gates/digest.ts";
import type { RunRecord } from "../runs/record.ts";
import { roleOf } from "./bundle.ts";
import { stableJson } from "./json.ts";
import { payload, RECORD, readText, type VerifyState } from "./verify_state.ts";

/** What is listed and missing, there and not listed, or differs, in words. */
export function referenceReasons(state: VerifyState): readonly string[] {
  const { record } = state;
  if (record === null) return ["no record to check"];
  const reasons: string[] = [];
  const listed = new Map(record.files.map((file) => [file.path, file]));
  if (listed.size !== record.files.length) reasons.push(`${RECORD}: a file is listed twice`);
  for (const file of payload(state)) {
    if (file.path === RECORD) continue;
    const entry = listed.get(file.path);
    if (entry === undefined) reasons.push(`${file.path}: not in the record`);
    else {
      if (entry.bytes !== String(file.bytes))
        reasons.push(`${file.path}: ${file.bytes} bytes, the record says ${entry.bytes}`);
      if (entry.sha256 !== state.manifest.get(file.path))
        reasons.push(`${file.path}: record and manifest differ in the digest`);
      if (entry.role !== roleOf(file.path)) reasons.push(`${file.path}: its role is not "${entry.role}"`);
    }
  }
  const present = new Set(payload(state).map((file) => file.path));
  for (const file of listed.keys()) if (!present.has(file)) reasons.push(`${file}: in the record and missing`);

  for (const file of ["data/command.txt", "data/gates/gates.json", "data/env/host.json"]) {
    if (!listed.has(file)) reasons.push(`${file}: every bundle has one`);
  }
  if (listed.get("data/gates/gates.json")?.sha256 !== record.gates.sha256)
    reasons.push("data/gates/gates.json: not the gates that the record names");
  if (record.gates.sha256 !== gatesDigest())
    state.notes.push("The gates of this bundle are not those of this program.");
  reasons.push(...environmentReasons(state, record, listed));

  const cases = new Set(record.cases.map((entry) => entry.key));
  if (cases.size !== record.cases.length) reasons.push(`${RECORD}: a case stands twice`);
  const planned = new Set(record.planned.map((entry) => `${entry.case}\n${entry.route}`));
  const seen = new Set<string>();
  for (const result of record.results) {
    const name = `${result.case}, ${result.route}`;
    const id = `${result.case}\n${result.route}`;
    if (seen.has(id)) reasons.push(`${name}: two results`);
    seen.add(id);
    if (!cases.has(result.case)) reasons.push(`${name}: its case is not in the record`);
    if (!planned.has(id)) reasons.push(`${name}: was not planned`);
    for (const output of result.outputs) {
      if (listed.get(output.path)?.sha256 !== output.sha256)
        reasons.push(`${output.path}: not the output that ${name} names`);
    }
    const named = [...result.receipts, result.metricsPath ?? [], result.check ?? []].flat();
    for (const file of named) {
      if (!listed.has(file)) reasons.push(`${file}: named by ${name} and missing`);
    }
  }
  return reasons;
}

/** `env/*.json` repeat what the record says, so that each can be read alone; they must not differ. */
function environmentReasons(
  state: VerifyState,
  record: RunRecord,
  listed: ReadonlyMap<string, RunRecord["files"][number]>,
): readonly string[] {
  const parts = [
    ["data/env/host.json", record.host],
    ["data/env/device.json", record.device],
    ["data/env/producer.json", record.producer],
  ] as const;
  return parts.flatMap(([file, facts]) => {
    if (facts === null) return listed.has(file) ? [`${file}: the record has no such facts`] : [];
    if (!listed.has(file)) return [`${file}: missing`];
    return readText(state, file) === stableJson(facts) ? [] : [`${file}: differs from the record`];
  });
}
