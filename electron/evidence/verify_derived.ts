/** Log, report and reports of the checker: derived from the run, and held against its record. */
import fs from "node:fs";
import { LOG_FILE, LOG_LINE_BYTES, type LogLine, logLineSchema } from "../runs/log.ts";
import { checkErrors, routeCheckSchema } from "../runs/route_check.ts";
import { counted } from "../words.ts";
import { JSON_LIMITS, parseStrictJson } from "./json.ts";
import { REPORT_VERSION, reportFiles } from "./report.ts";
import { readable, readJson, readText, schemaReasons, type VerifyState } from "./verify_state.ts";

/** A result's gate on the checker must count what the file of reports holds, for the same route. */
export function checkerReasons(state: VerifyState): readonly string[] {
  const { record } = state;
  if (record === null) return ["no record to check"];
  return record.results.flatMap(({ case: key, route, check: file, gates }) => {
    const gate = gates.find(({ id }) => id === "checker");
    if (file === undefined || gate === undefined) return [];
    const name = `${key}, ${route}`;
    try {
      const value = readJson(state, file);
      const parsed = routeCheckSchema.safeParse(value);
      if (!parsed.success) return schemaReasons(file, routeCheckSchema, value).slice(0, 1);
      const check = parsed.data;
      if (check.route !== route) return [`${file}: of ${check.route}, named by ${name}`];
      const whole = check.result.complete && check.result.dropped === 0;
      const errors = whole ? checkErrors(check.result) : null;
      if (gate.value === errors) return [];
      const has = errors === null ? "is not whole" : `has ${counted(errors, "error")}`;
      return [`${name}: gate "checker" is ${gate.value}; ${file} ${has}`];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  });
}

/** Lines of the log, each strict JSON. Throws Error for what is none. */
function readLog(state: VerifyState): readonly LogLine[] {
  const bytes = fs.readFileSync(readable(state, LOG_FILE, JSON_LIMITS.bytes));
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  if (!text.endsWith("\n")) throw new Error(`${LOG_FILE}: the last line does not end`);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line, index) => {
      const where = `${LOG_FILE}, line ${index + 1}`;
      if (line.length > LOG_LINE_BYTES)
        throw new Error(`${where}: ${line.length} bytes; the limit is ${LOG_LINE_BYTES}`);
      const parsed = logLineSchema.safeParse(parseStrictJson(line, where));
      if (!parsed.success) throw new Error(schemaReasons(where, logLineSchema, JSON.parse(line))[0] ?? where);
      return parsed.data;
    });
}

/** Verdicts and the outcome stand in both; a log must not tell another story than its record. */
export function logReasons(state: VerifyState): readonly string[] {
  const { record } = state;
  if (record === null) return ["no record to check"];
  // Bundles of earlier versions have no log.
  if (!state.files.some((file) => file.path === LOG_FILE)) return [];
  let lines: readonly LogLine[];
  try {
    lines = readLog(state);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  const reasons: string[] = [];
  const said = lines.flatMap((line) => (line.type === "result" ? [line] : []));
  if (said.length !== record.results.length) {
    reasons.push(`${LOG_FILE}: ${said.length} results, the record has ${record.results.length}`);
  }
  for (const [index, result] of record.results.entries()) {
    const line = said[index];
    const same =
      line !== undefined &&
      line.case === result.case &&
      line.route === result.route &&
      line.verdict === result.verdict &&
      line.state === result.state;
    if (!same) {
      reasons.push(`${LOG_FILE}: result ${index + 1} is not ${result.case}, ${result.route}, ${result.verdict}`);
      break;
    }
  }
  const last = lines.at(-1);
  if (last?.type !== "ended" || last.outcome !== record.outcome) {
    reasons.push(`${LOG_FILE}: its last line does not end as "${record.outcome}"`);
  }
  if (lines.some((line, index) => index > 0 && line.at < lines[index - 1]!.at)) {
    reasons.push(`${LOG_FILE}: its times run backwards`);
  }
  return reasons;
}

/** A report is written again from the record and compared. One of another version of the writers is noted, not judged. */
export function reportReasons(state: VerifyState): readonly string[] {
  const { record } = state;
  if (record === null || !record.files.some((file) => file.role === "report")) return [];
  return reportFiles(record).flatMap(({ path: file, text }) => {
    if (!state.files.some((found) => found.path === file))
      return [`${file}: missing, and other parts of a report are there`];
    const found = readText(state, file);
    if (found === text) return [];
    if (!found.includes(REPORT_VERSION)) {
      state.notes.push(`${file} is of another version and was not compared with the record: read the record.`);
      return [];
    }
    return [`${file}: not what the record gives`];
  });
}
