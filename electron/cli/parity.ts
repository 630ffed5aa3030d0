/** `lockstep parity`: runs the suite or a file, shows a row per case and route, writes the bundle. */
import fs from "node:fs";
import path from "node:path";
import { fileStem } from "../cases/file.ts";
import { SUITES } from "../cases/suites.ts";
import { bundleName, type ClosedBundle, closeBundle, discardStaging, openStaging } from "../evidence/bundle.ts";
import { executionText } from "../evidence/execution.ts";
import { HostClient, type RunEnd } from "../host/client.ts";
import { deviceWanted } from "../host/device_name.ts";
import type { RunRequest } from "../host/messages.ts";
import { appCommit, appVersion, type Places } from "../host/root.ts";
import type { RunEvent } from "../runs/events.ts";
import { OPERATORS } from "../runs/plan.ts";
import type { Outcome, ResultRecord, RunRecord } from "../runs/record.ts";
import { Recorder } from "../runs/recorder.ts";
import { UsageError, unknownName } from "../runs/usage.ts";
import { keepValidation, ValidationCollector } from "../validation/collector.ts";
import { VALIDATION_ENVIRONMENT } from "../validation/environment.ts";
import { counted, missText, shellQuote } from "../words.ts";
import { headText, type RowWidths, rowText } from "./format.ts";
import type { Output } from "./output.ts";

export interface ParityOptions {
  readonly suite?: string;
  readonly operator?: string;
  readonly route?: string;
  readonly case?: string;
  readonly device?: string;
  readonly chip?: string;
  readonly validation?: boolean;
  readonly seed?: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly inputs?: string;
  readonly outputs?: string;
  readonly producer?: string;
  readonly timeout?: string;
  readonly workers?: string;
}

/** Exit codes of every command. */
export const EXIT = { passed: 0, failed: 1, couldNotRun: 2, interrupted: 130 } as const;

function oneOf<T extends string>(kind: string, value: string, names: readonly T[]): T {
  const found = names.find((name) => name === value);
  if (found === undefined) throw unknownName(kind, value, names);
  return found;
}

export function positive(option: string, text: string | undefined, most: number, whole: boolean): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (text.trim() === "" || !(value > 0 && value <= most) || (whole && !Number.isInteger(value))) {
    const words = `a ${whole ? "whole " : ""}number above 0, at most ${most.toLocaleString("en-US")}`;
    throw new UsageError(`${option} is "${text}"; it takes ${words}.`);
  }
  return value;
}

/** Timers of Node count 32-bit milliseconds and fire at once beyond them: 11 days are enough. */
export const MAX_TIMEOUT_S = 1_000_000;

export const MAX_WORKERS = 1024;

function seedOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!/^(0x[0-9a-f]+|\d+)$/i.test(text) || value > 0xffffffff) {
    throw new UsageError(`--seed is "${text}"; it takes a whole number from 0 to 4294967295, or 0x... in hexadecimal.`);
  }
  return value;
}

/** Pairs of which the second leaves nothing for the first to do. Said, because silence would look like obedience. */
const WITHOUT_EFFECT: readonly (readonly [keyof ParityOptions, keyof ParityOptions, string])[] = [
  ["seed", "inputs", "the inputs are those of the file"],
  ["suite", "outputs", "outputs are looked for among all cases"],
  ["device", "outputs", "they were computed elsewhere"],
  ["chip", "outputs", "they were computed elsewhere"],
  ["validation", "outputs", "they were computed elsewhere"],
  ["timeout", "outputs", "nothing runs here"],
  ["workers", "outputs", "nothing runs here"],
];

/** Checks what can be checked without cases and devices. Throws `UsageError`. */
export function requestOf(options: ParityOptions, staging: string): RunRequest {
  if (options.producer !== undefined && options.outputs === undefined) {
    throw new UsageError("--producer belongs to --outputs: give the file of outputs as well.");
  }
  if (options.outputs !== undefined && options.producer === undefined) {
    throw new UsageError(
      "--outputs needs --producer FILE.json with engine, chip, os, toolchain, build and command of what computed them.",
    );
  }
  if (options.inputs !== undefined && options.suite !== undefined) {
    throw new UsageError("--inputs takes the place of --suite: give one of them.");
  }
  for (const [option, other, why] of WITHOUT_EFFECT) {
    if (options[option] === undefined || options[other] === undefined) continue;
    throw new UsageError(`--${option} has no effect with --${other}: ${why}. Leave it out.`);
  }
  const wanted = deviceWanted(options.device ?? null, options.chip ?? null);
  if (options.validation && wanted?.kind === "emulated") {
    throw new UsageError(
      "--validation is Metal's own; the emulated device has none. Take --device metal on a Mac, or lockstep check for the checker.",
    );
  }
  const absolute = (file: string | undefined) => (file === undefined ? null : path.resolve(file));
  const timeout = positive("--timeout", options.timeout, MAX_TIMEOUT_S, false);
  return {
    suite: oneOf("suite", options.suite ?? "standard", SUITES),
    inputs: absolute(options.inputs),
    outputs: absolute(options.outputs),
    producer: absolute(options.producer),
    operator: options.operator === undefined ? null : oneOf("operator", options.operator, OPERATORS),
    route: options.route ?? null,
    case: options.case ?? null,
    device: options.device ?? null,
    chip: options.chip ?? null,
    validation: options.validation === true,
    seed: seedOf(options.seed),
    timeoutMs: timeout === null ? null : timeout * 1000,
    workers: positive("--workers", options.workers, MAX_WORKERS, true),
    staging,
  };
}

/** What a bundle is called after: the suite or the file, and the chip where one was named. */
function subject(options: ParityOptions): readonly string[] {
  const file = options.outputs ?? options.inputs;
  const what = file === undefined ? (options.suite ?? "standard") : fileStem(file);
  const device = options.chip ?? options.device;
  return [what, ...(device === undefined ? [] : [device]), ...(options.validation ? ["validation"] : [])];
}

export async function parity(
  options: ParityOptions,
  argv: readonly string[],
  where: Places,
  output: Output,
): Promise<number> {
  const startedAt = new Date().toISOString();
  requestOf(options, "");
  const evidence = options.out ?? "evidence";
  const made = !fs.existsSync(path.resolve(evidence));
  const staging = openStaging(evidence, bundleName(startedAt, ...subject(options)));
  const request = requestOf(options, staging.folder);
  const recorder = new Recorder({
    app: { name: "lockstep", version: appVersion(where.root), commit: appCommit(where.root) },
    command: ["lockstep", ...argv],
    startedAt,
  });
  const collector = request.validation ? new ValidationCollector() : null;
  const host = new HostClient({
    path: where.host,
    ...(collector === null
      ? {}
      : { environment: VALIDATION_ENVIRONMENT, onLog: (text: string) => collector.add(text) }),
  });
  const interrupt = interruptHandler(host, output);
  const view = options.json ? undefined : new View(output);
  // However the program ends, nothing half-written stays. A bundle that is complete has left the folder.
  const onExit = (): void => {
    host.kill();
    discardStaging(staging);
    if (made) removeIfEmpty(path.dirname(staging.target));
  };
  process.on("exit", onExit);
  let end: RunEnd;
  try {
    end = await host.run(request, (event) => {
      recorder.add(event);
      if (view === undefined) showProgress(event, recorder, output);
      else view.show(event, recorder);
    });
    await (collector === null ? host.close() : host.closeDrained());
  } finally {
    interrupt.remove();
    process.off("exit", onExit);
  }
  output.clear();

  if (end.type === "refused" || !recorder.planned) {
    discardStaging(staging);
    if (made) removeIfEmpty(path.dirname(staging.target));
    const cancelled = end.type === "finished" && end.outcome === "cancelled";
    const message = end.type === "finished" ? "The run ended before it was planned. Nothing was kept" : messageOf(end);
    if (options.json) output.line(JSON.stringify({ error: { code: errorCode(end), message } }));
    else output.note(message);
    return cancelled ? EXIT.interrupted : EXIT.couldNotRun;
  }
  let bundle: ClosedBundle;
  let outcome: Outcome;
  try {
    if (collector !== null) keepValidation(recorder, collector, staging);
    const ended = ending(end, recorder);
    const { reason } = ended;
    outcome = ended.outcome;
    const draft = recorder.draft(outcome, reason, new Date().toISOString());
    bundle = closeBundle(staging, draft, recorder.endedLog(outcome, reason));
  } catch (error) {
    discardStaging(staging);
    if (made) removeIfEmpty(path.dirname(staging.target));
    throw error;
  }
  if (options.json) output.line(JSON.stringify(summaryJson(bundle)));
  else summary(bundle, where, output);
  return exitCode(outcome);
}

function errorCode(end: RunEnd): string {
  if (end.type === "refused") return end.code;
  return end.type === "finished" ? end.outcome : "internal";
}

function messageOf(end: Exclude<RunEnd, { type: "finished" }>): string {
  return end.type === "refused" ? end.message : end.reason;
}

function ending(end: RunEnd, recorder: Recorder): { readonly outcome: Outcome; readonly reason: string | null } {
  if (end.type === "finished") return { outcome: recorder.outcomeAfter(end.outcome), reason: end.reason };
  return { outcome: "crashed", reason: `${messageOf(end)}. It was at: ${recorder.position}` };
}

function exitCode(outcome: Outcome): number {
  if (outcome === "passed") return EXIT.passed;
  return outcome === "cancelled" ? EXIT.interrupted : EXIT.failed;
}

function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder);
  } catch {
    // not empty, or not ours to remove
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** First Ctrl-C: cancel in order, keep what is finished. Second: stop at once, leave nothing behind. */
function interruptHandler(host: HostClient, output: Output): { readonly remove: () => void } {
  let asked = false;
  const onSignal = (): void => {
    if (asked) process.exit(EXIT.interrupted);
    asked = true;
    output.note("Cancelling. Finished cases are kept; once more stops at once and keeps nothing");
    host.cancel();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    remove: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

function showProgress(event: RunEvent, recorder: Recorder, output: Output): void {
  if (event.type !== "progress") return;
  const percent = event.fraction === null ? "" : ` ${Math.floor(event.fraction * 100)} %`;
  const what = `${event.case} ${event.route ?? ""}`.trimEnd();
  output.progress(`${recorder.results.length} of ${recorder.total}  ${what}: ${event.phase}${percent}`);
}

/** Rows as they come. */
class View {
  readonly #output: Output;
  #widths: RowWidths = { case: 4, route: 5 };

  constructor(output: Output) {
    this.#output = output;
  }

  show(event: RunEvent, recorder: Recorder): void {
    if (event.type === "planned") {
      const longest = (names: readonly string[]) => names.reduce((most, name) => Math.max(most, name.length), 5);
      this.#widths = {
        case: longest(event.planned.map((item) => item.case)),
        route: longest(event.planned.map((item) => item.route)),
      };
      this.#output.note(
        `${counted(event.cases.length, "case")}, ${counted(event.planned.length, "result")} to come, on ${event.device?.name.value ?? "imported outputs"}`,
      );
      if (event.device !== null && event.choice !== undefined) {
        this.#output.note(`${event.device.id}: ${event.choice.reasons.join("; ")}`);
      }
      if (event.instrumented) this.#output.note("Under Metal's validation, whose word comes when the run has ended");
      this.#output.line(headText(this.#widths));
    } else if (event.type === "result") {
      this.#row(event.result);
    } else {
      showProgress(event, recorder, this.#output);
    }
  }

  #row(result: ResultRecord): void {
    this.#output.line(rowText(result, this.#widths, this.#output.colour));
    if (result.verdict !== "pass") this.#output.line(`${"".padEnd(9)}  ${missText(result)}`);
  }
}

function headline(record: RunRecord): string {
  const failed = record.results.filter((result) => result.verdict === "fail").length;
  const passed = record.results.filter((result) => result.verdict === "pass").length;
  const planned = record.planned.length;
  switch (record.outcome) {
    case "passed":
      return `Pass: every required gate held in ${passed} of ${planned} results`;
    case "failed":
      return `Fail: ${failed} of ${planned} results failed a gate, ${passed} passed, ${planned - passed - failed} did not run`;
    case "cancelled":
      return record.outcomeReason ?? "Cancelled by you";
    case "crashed":
      return `Crashed: ${record.outcomeReason ?? "a kernel crashed"}. ${passed} of ${planned} results passed`;
    case "timed_out":
      return `Timed out: ${passed} of ${planned} results passed. A required gate that did not run is not a pass`;
  }
}

function summary(bundle: ClosedBundle, where: Places, output: Output): void {
  const { record } = bundle;
  const shown = shownPath(bundle.path);
  output.line("");
  output.line(headline(record));
  for (const claim of record.claims) {
    output.line(`  ${claim.operator} ${claim.route} ${claim.dtype}: ${claim.level}${supportText(claim)}`);
  }
  output.line(executionText(record));
  for (const line of validationLines(record)) output.line(line);
  output.line(`bundle: ${shown}`);
  output.line(`verify: lockstep verify ${shellQuote(shown)}`);
  if (process.cwd() === where.root) output.line(`        npm run --silent lockstep -- verify ${shellQuote(shown)}`);
}

function supportText({ execution, supportsChip }: RunRecord["claims"][number]): string {
  if (supportsChip !== null) return `, supports ${supportsChip}`;
  return execution === "imported" ? "" : `, ${execution}: supports no chip`;
}

/** Reports of validation that are printed; the bundle has them all. */
const VALIDATION_SHOWN = 10;

/** What Metal's validation said, and which results it turned. Empty where it was not asked. */
function validationLines(record: RunRecord): readonly string[] {
  const { validation } = record;
  if (validation === undefined) return [];
  const { counts, enabled, reports, log } = validation;
  const on = (is: boolean): string => (is ? "on" : "NOT SEEN ON");
  const lines = [
    `validation: API ${on(enabled.api)}, shader ${on(enabled.shader)}; ${counted(counts.errors, "error")}, ` +
      `${counted(counts.warnings, "warning")}, ${counted(counts.unclear, "line")} of no known form; ${log} has all`,
  ];
  for (const { severity, at, text, times } of reports.slice(0, VALIDATION_SHOWN)) {
    const where = at === null ? "outside any result" : `${at.case}, ${at.route}`;
    lines.push(`  ${severity}${times > 1 ? ` x ${times}` : ""}, ${where}: ${text.split("\n", 1)[0]}`);
  }
  if (reports.length > VALIDATION_SHOWN)
    lines.push(`  and ${counted(reports.length - VALIDATION_SHOWN, "more report")}`);
  const turned = record.results.filter(
    ({ gates }) =>
      gates.every(({ id, verdict }) => id === "validation" || verdict === "pass") &&
      gates.some(({ id, verdict }) => id === "validation" && verdict !== "pass"),
  );
  if (turned.length > 0)
    lines.push(`  ${counted(turned.length, "result")} held every other gate and did not pass by it`);
  return lines;
}

/** Relative where that is shorter. */
function shownPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative.startsWith("..") || relative === "" ? file : relative;
}

function summaryJson(bundle: ClosedBundle): object {
  const { record } = bundle;
  return {
    outcome: record.outcome,
    reason: record.outcomeReason,
    execution: record.execution,
    supportsChip: record.claims.some((claim) => claim.supportsChip !== null),
    device: record.device?.id ?? null,
    reasons: record.choice?.reasons ?? [],
    ...(record.validation === undefined ? {} : { validation: record.validation }),
    bundle: bundle.path,
    identity: bundle.identity,
    gates: record.gates.sha256,
    results: record.results.map((result) => ({
      case: result.case,
      route: result.route,
      verdict: result.verdict,
      state: result.state,
      error: result.error,
      maxAbs: finite(result.metrics?.maxAbs),
      nmse: finite(result.metrics?.nmse),
      worstRow: result.metrics?.worstRow ?? null,
      ms: result.ms,
      miss: result.verdict === "pass" ? null : missText(result),
    })),
    claims: record.claims,
  };
}

/** Numbers that JSON cannot hold go out as words. */
function finite(value: number | undefined): number | string | null {
  if (value === undefined) return null;
  return Number.isFinite(value) ? value : String(value);
}
