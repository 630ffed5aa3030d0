/** What a judged result leaves in the bundle: its outputs and metrics as files, the rest as a record. */
import { caseSlug } from "../cases/case.ts";
import { sha256 } from "../evidence/bag.ts";
import { stableJson } from "../evidence/json.ts";
import type { Judgement, RawOutput } from "./judge.ts";
import type { ResultRecord } from "./record.ts";

/** The part of a completed result's record that the judgement and its files give. */
export type JudgedRecord = Pick<
  ResultRecord,
  "case" | "route" | "state" | "error" | "verdict" | "metrics" | "gates" | "outputs" | "metricsPath"
>;

/**
 * Writes every output, and the metrics where there are any.
 *
 * @param write gets a path in the bundle and what stands there
 */
export function writeJudged(
  { key, route }: { readonly key: string; readonly route: string },
  raw: readonly RawOutput[],
  judgement: Judgement,
  write: (file: string, data: Uint8Array | string) => void,
): JudgedRecord {
  const folder = `data/parity/${caseSlug(key)}/${route}`;
  const outputs = raw.map(({ name, dtype, shape, bytes }) => {
    const path = `${folder}/${name}.${dtype}`;
    write(path, bytes);
    return { name, dtype, shape: [...shape], path, sha256: sha256(bytes) };
  });
  const { verdict, summary, gates, metrics } = judgement;
  const metricsPath = metrics === null ? null : `${folder}/metrics.json`;
  if (metricsPath !== null) write(metricsPath, stableJson(metrics));
  return {
    case: key,
    route,
    state: "completed",
    error: null,
    verdict,
    metrics: summary,
    gates: [...gates],
    outputs,
    metricsPath,
  };
}
