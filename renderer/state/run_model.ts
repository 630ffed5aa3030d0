/**
 * A run as the window shows it, made from the items of a live run or from the record of a kept one. Pure: a reduction over
 * what the workbench says.
 */
import type { CallOutput, Failure, StartRequest, StreamItem } from "../../electron/contract.ts";
import { counted } from "../../electron/words.ts";

export type Item = StreamItem<"runs.events">;
export type RunEvent = Extract<Item, { type: "event" }>["event"];
export type RunRecord = CallOutput<"runs.record">;
export type Result = RunRecord["results"][number];
export type CaseRecord = RunRecord["cases"][number];
export type Profile = NonNullable<RunRecord["device"]>;
export type Outcome = RunRecord["outcome"];
export type Phase = Extract<RunEvent, { type: "progress" }>["phase"];

export const PHASES: readonly Phase[] = [
  "inputs",
  "oracle",
  "check",
  "compile",
  "run",
  "repeat",
  "lockstep",
  "compare",
];

/** Where a live run is. */
export interface Step {
  readonly case: string;
  readonly route: string | null;
  readonly phase: Phase;
  readonly fraction: number | null;
  /** Milliseconds since the run began, when this phase began. */
  readonly since: number;
}

/** Whether a run waits: asked to after its running case, or between two cases. */
export type Pausing = "no" | "asked" | "paused";

/** A line of the log as it is shown. */
export interface LogLine {
  readonly at: number;
  readonly kind: string;
  readonly text: string;
  readonly tone: "plain" | "fail" | "crash";
}

export interface RunModel {
  readonly id: string;
  readonly suite: string | null;
  readonly chip: string | null;
  readonly command: readonly string[];
  readonly startedAt: string;
  /** Milliseconds; null while it goes on. */
  readonly tookMs: number | null;
  readonly execution: RunRecord["execution"];
  readonly device: Profile | null;
  readonly planned: RunRecord["planned"];
  readonly cases: ReadonlyMap<string, CaseRecord>;
  readonly results: ReadonlyMap<string, Result>;
  readonly step: Step | null;
  /** `refused`: it never began, or left no bundle. */
  readonly outcome: Outcome | "running" | "refused";
  readonly reason: string | null;
  readonly failure: Failure | null;
  readonly pausing: Pausing;
  /** Empty for bundles of earlier versions, which hold no log. */
  readonly log: readonly LogLine[];
  /** As the list has it, once it is kept. */
  readonly entry: Extract<Extract<Item, { type: "ended" }>["entry"], { readonly state: "kept" }> | null;
}

/** Log lines that are kept in the window. */
const LOG_LIMIT = 2000;

/** One key for a case and a route; case keys hold no `|`. */
export function itemKey(caseKey: string, route: string): string {
  return `${caseKey}|${route}`;
}

export function splitKey(key: string): { readonly case: string; readonly route: string } {
  const at = key.lastIndexOf("|");
  return { case: key.slice(0, at), route: key.slice(at + 1) };
}

/** A case's key for a line of a log: `L33 spread` of one, `T77 chunk13` of the other operator. */
function logCase(key: string): string {
  const [, , length = "", ...rest] = key.split("/");
  const origin = rest.slice(0, -1).join("/");
  return `${length} ${origin.slice(origin.indexOf(".") + 1)}`;
}

/** A case's key without its geometry: `gqa_decode L33 spread`. */
export function shortCase(key: string): string {
  const [operator = key, , length = "", ...rest] = key.split("/");
  return [operator, length, rest.slice(0, -1).join("/")].filter((part) => part !== "").join(" ");
}

/** Lines of a kept log, in the words of a live one. */
export function keptLog(lines: readonly KeptLine[] | null): readonly LogLine[] {
  return (lines ?? []).slice(-LOG_LIMIT).map(shownLine);
}

type KeptLine = NonNullable<CallOutput<"runs.log">["lines"]>[number];

const PAUSE_WORDS = { asked: "pause after this case", paused: "paused by you", resumed: "goes on" } as const;

function shownLine(line: KeptLine): LogLine {
  const { at } = line;
  switch (line.type) {
    case "planned":
      return {
        at,
        kind: "plan",
        text: `${counted(line.cases, "case")}, ${counted(line.results, "result")} to come`,
        tone: "plain",
      };
    case "phase":
      return { at, kind: line.phase, text: stepText(line.case, line.route), tone: "plain" };
    case "result":
      return resultLine(at, line);
    case "pause":
      return { at, kind: "run", text: PAUSE_WORDS[line.state], tone: "plain" };
    case "skip":
      return { at, kind: "run", text: `skip ${logCase(line.case)}`, tone: "fail" };
    case "ended": {
      const tone = line.outcome === "crashed" ? "crash" : line.outcome === "passed" ? "plain" : "fail";
      return { at, kind: line.outcome === "crashed" ? "host" : "run", text: line.reason ?? line.outcome, tone };
    }
  }
}

function stepText(key: string, route: string | null): string {
  return `${logCase(key)}${route === null ? "" : ` ${route}`}`;
}

function resultLine(at: number, result: Pick<Result, "case" | "route" | "verdict" | "state">): LogLine {
  const failed = result.verdict !== "pass";
  const word = result.state === "skipped" ? "SKIPPED" : result.verdict.toUpperCase().replace("_", " ");
  return {
    at,
    kind: "gates",
    text: `${failed ? word : "pass"} ${stepText(result.case, result.route)}`,
    tone: failed ? "fail" : "plain",
  };
}

export function fromRecord(id: string, record: RunRecord, log: readonly LogLine[] = []): RunModel {
  return {
    id,
    suite: record.suite,
    chip: optionOf(record.command, "--chip") ?? emulatedChip(optionOf(record.command, "--device")),
    command: record.command,
    startedAt: record.startedAt,
    tookMs: Date.parse(record.finishedAt) - Date.parse(record.startedAt),
    execution: record.execution,
    device: record.device,
    planned: record.planned,
    cases: new Map(record.cases.map((entry) => [entry.key, entry])),
    results: new Map(record.results.map((result) => [itemKey(result.case, result.route), result])),
    step: null,
    outcome: record.outcome,
    reason: record.outcomeReason,
    failure: null,
    pausing: "no",
    log,
    entry: null,
  };
}

/** The value of an option in a command, given as `--option value` or `--option=value`. */
function optionOf(command: readonly string[], option: string): string | null {
  const joined = command.find((word) => word.startsWith(`${option}=`));
  if (joined !== undefined) return joined.slice(option.length + 1);
  const at = command.indexOf(option);
  return at < 0 ? null : (command[at + 1] ?? null);
}

/** The chip of `emulated:apple9`; `metal:1` names a device and no chip. */
function emulatedChip(device: string | null): string | null {
  return /^emulated:(.+)$/.exec(device ?? "")?.[1] ?? null;
}

function numberOf(text: string | null): number | null {
  return text === null || !Number.isFinite(Number(text)) ? null : Number(text);
}

/** The request that runs one result of a run again, with what that run was asked for; null where its inputs are a file's. */
export function requestAgain(
  run: RunModel,
  item: { readonly case: string; readonly route: string },
): StartRequest | null {
  const { suite } = run;
  const inputs = optionOf(run.command, "--inputs");
  const named = suite === "quick" || suite === "standard" || suite === "full";
  // A relative path is one of the folder that the command line ran in, which nobody knows any more.
  if (!named && !/^(\/|[A-Za-z]:[\\/])/.test(inputs ?? "")) return null;
  const seconds = numberOf(optionOf(run.command, "--timeout"));
  return {
    suite: named ? suite : "quick",
    inputs: named ? null : inputs,
    operator: null,
    route: item.route,
    case: item.case,
    device: optionOf(run.command, "--device"),
    chip: run.chip,
    validation: run.command.includes("--validation"),
    seed: numberOf(optionOf(run.command, "--seed")),
    timeoutMs: seconds === null ? null : seconds * 1000,
    workers: numberOf(optionOf(run.command, "--workers")),
  };
}

/** Takes an item in. A new run replaces the one before. */
export function reduce(model: RunModel | null, item: Item): RunModel | null {
  if (item.type === "started") return begun(item);
  if (model === null || item.id !== model.id) return model;
  if (item.type === "event") return withEvent(model, item.event, item.at);
  const { entry, failure, at } = item;
  if (entry?.state === "kept") {
    const crashed = entry.outcome === "crashed";
    const line: LogLine = {
      at,
      kind: crashed ? "host" : "run",
      text: crashed ? (entry.outcomeReason ?? "crashed") : `${entry.outcome}; bundle ${entry.id}`,
      tone: crashed ? "crash" : entry.outcome === "passed" ? "plain" : "fail",
    };
    const { outcome, outcomeReason: reason } = entry;
    return {
      ...model,
      outcome,
      reason,
      tookMs: at,
      entry,
      pausing: "no",
      step: crashed ? model.step : null,
      log: logged(model, line),
    };
  }
  const line: LogLine = { at, kind: "run", text: failure?.message ?? "left no bundle", tone: "fail" };
  return { ...model, outcome: "refused", failure, tookMs: at, pausing: "no", step: null, log: logged(model, line) };
}

function begun(item: Extract<Item, { type: "started" }>): RunModel {
  return {
    id: item.id,
    suite: item.request.suite,
    chip: item.request.chip,
    command: item.command,
    startedAt: item.startedAt,
    tookMs: null,
    execution: "emulated",
    device: null,
    planned: [],
    cases: new Map(),
    results: new Map(),
    step: null,
    outcome: "running",
    reason: null,
    failure: null,
    pausing: "no",
    log: [],
    entry: null,
  };
}

function logged(model: RunModel, line: LogLine): readonly LogLine[] {
  const from = Math.max(0, model.log.length + 1 - LOG_LIMIT);
  return [...model.log.slice(from), line];
}

function withEvent(model: RunModel, event: RunEvent, at: number): RunModel {
  switch (event.type) {
    case "planned": {
      const { cases, planned } = event;
      const line = shownLine({ type: "planned", at, cases: cases.length, results: planned.length });
      return {
        ...model,
        suite: event.suite,
        execution: event.execution,
        device: event.device,
        planned: event.planned,
        cases: new Map(event.cases.map((entry) => [entry.key, entry])),
        log: logged(model, line),
      };
    }
    case "case":
      return { ...model, cases: new Map(model.cases).set(event.case.key, event.case) };
    case "progress":
      return withProgress(model, event, at);
    case "result": {
      const { result } = event;
      const results = new Map(model.results).set(itemKey(result.case, result.route), result);
      return { ...model, results, log: logged(model, resultLine(at, result)) };
    }
    case "pause": {
      const pausing = event.state === "resumed" ? "no" : event.state;
      return { ...model, pausing, log: logged(model, shownLine({ type: "pause", at, state: event.state })) };
    }
    case "skip":
      return { ...model, log: logged(model, shownLine({ type: "skip", at, case: event.case })) };
    default:
      return model;
  }
}

function withProgress(model: RunModel, event: Extract<RunEvent, { type: "progress" }>, at: number): RunModel {
  const { case: key, route, phase, fraction } = event;
  const { step } = model;
  const same = step?.case === key && step.route === route && step.phase === phase;
  const next: Step = { case: key, route, phase, fraction, since: same ? step.since : at };
  if (same) return { ...model, step: next };
  const line: LogLine = { at, kind: phase, text: stepText(key, route), tone: "plain" };
  return { ...model, step: next, log: logged(model, line) };
}
