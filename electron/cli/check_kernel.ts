/** `lockstep check`: the checker's reports on any kernel, with the author's lines; text, JSON or SARIF. */
import fs from "node:fs";
import path from "node:path";
import type { CheckReport } from "../../native/check.ts";
import { countedOutcome } from "../checker/judge.ts";
import { reportKey } from "../checker/merge.ts";
import type { FlavourOutcome, KernelAnswer } from "../checker/messages.ts";
import { checkFailure, sarifLog } from "../checker/sarif.ts";
import {
  howLines,
  inexactLines,
  logLines,
  reportLines,
  summaryText,
  trafficFoot,
  trafficLines,
} from "../checker/text.ts";
import { stableJson } from "../evidence/json.ts";
import { appVersion, type Places } from "../host/root.ts";
import { manifestJsonSchema } from "../manifest/json_schema.ts";
import { UsageError } from "../runs/usage.ts";
import { bytesText, counted, figureText, timeText } from "../words.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";
import { gateLines, pinLines } from "./run_kernel.ts";
import { answerHead, askHost, type KernelOptions, kernelRequestOf, sayRefusal } from "./run_kernel_request.ts";

export interface CheckKernelOptions extends KernelOptions {
  readonly traffic?: boolean;
  readonly all?: boolean;
  readonly sarif?: string;
  readonly schema?: boolean;
}

/** Exit 0 where no report is an error, 1 where one is or the checker came to no end, 2 could not run, 130 interrupted. */
export async function checkKernel(options: CheckKernelOptions, where: Places, output: Output): Promise<number> {
  if (options.schema) {
    output.line(manifestJsonSchema().trimEnd());
    return EXIT.passed;
  }
  if (options.manifest === undefined) {
    throw new UsageError("check takes a manifest: lockstep check KERNEL.kernel.json; --schema prints what is in one.");
  }
  const end = await askHost(kernelRequestOf(options, "check", null), where, output);
  if (end.type !== "kernel_ended") return sayRefusal(end, options.json, output);
  const { answer } = end;
  if (options.sarif !== undefined) writeSarif(options.sarif, answer, appVersion(where.root));
  if (options.json) output.line(stableJson({ ...answer, texts: undefined }).trimEnd());
  else for (const line of checkTextLines(answer, options, output.colour)) output.line(line);
  const outcome = countedOutcome(answer.stage);
  const clean = outcome.error === null && outcome.check?.complete === true && errorsOf(answer) === 0;
  return clean ? EXIT.passed : EXIT.failed;
}

function errorsOf({ stage }: KernelAnswer): number {
  return reportsOf(countedOutcome(stage)).filter(({ severity }) => severity === "error").length;
}

function reportsOf(outcome: FlavourOutcome | undefined): readonly CheckReport[] {
  return outcome?.check?.reports ?? [];
}

/** Reports that only `check` gave: without lockstep lanes read what others have not written yet. */
function onlyWithoutLockstep({ stage }: Pick<KernelAnswer, "stage">): readonly CheckReport[] {
  if (stage.outcomes.length < 2) return [];
  const locked = new Set(reportsOf(stage.outcomes[1]).map(reportKey));
  return reportsOf(stage.outcomes[0]).filter((report) => !locked.has(reportKey(report)));
}

function checkTextLines(
  answer: KernelAnswer,
  options: Pick<CheckKernelOptions, "traffic" | "all">,
  colour: boolean,
): readonly string[] {
  const texts = new Map(answer.texts.map(({ path: name, text }) => [name, text] as const));
  const outcome = countedOutcome(answer.stage);
  const worth = (report: CheckReport): boolean => options.all === true || report.severity !== "info";
  const lines: string[] = [...answerHead(answer), ""];
  const show = (reports: readonly CheckReport[]): void => {
    for (const report of reports) lines.push(...reportLines(report, texts, false), "");
  };
  show(reportsOf(outcome).filter(worth));
  const apart = onlyWithoutLockstep(answer).filter(worth);
  if (apart.length > 0) {
    lines.push("Seen only without lockstep, and not counted:", "");
    show(apart);
  }
  const how = howLines([...reportsOf(outcome).filter(worth), ...apart]);
  if (how.length > 0) lines.push(...how, "");
  for (const each of answer.stage.outcomes) lines.push(...resultLines(each, colour));
  lines.push(...logLines(outcome));
  lines.push("");
  if (options.traffic && outcome.check !== null) {
    const { traffic } = outcome.check;
    for (const dispatch of traffic.dispatches) lines.push(...trafficLines(dispatch), "");
    lines.push(trafficFoot(traffic), "");
  }
  const inexact = inexactLines(outcome.check);
  if (inexact.length > 0) lines.push(...inexact, "");
  const pin = pinLines(answer);
  if (pin.length > 0) lines.push(...pin.slice(1), "");
  lines.push(lastLine(answer, outcome, options.all === true));
  return lines;
}

/** One line a flavour: its time and what the gates said of its result; gates that failed follow. */
function resultLines(outcome: FlavourOutcome, colour: boolean): readonly string[] {
  const head = `result in ${outcome.flavour}`;
  if (outcome.error !== null) return [`${head}: ${outcome.error.code}: ${outcome.error.message}`];
  const ms = outcome.timings.reduce((sum, { ns }) => sum + ns / 1e6, 0);
  const padding = outcome.padding.map(
    ({ dispatch, bytes }) =>
      `  ${dispatch}: lent ${bytesText(bytes)} of threadgroup memory that its host does not ask for`,
  );
  const time = `${timeText(ms)} of emulation`;
  if (outcome.verdict === null) return [`${head}: not compared, ${time}`, ...padding];
  const failed = outcome.gates.filter(({ verdict }) => verdict !== "pass");
  const word = outcome.verdict === "pass" ? "right" : "WRONG";
  const figures = `NMSE ${figureText(outcome.nmse ?? Number.NaN)}, largest error ${figureText(outcome.maxAbs ?? Number.NaN)}`;
  return [`${head}: ${word} by the oracle's gates, ${figures}, ${time}`, ...gateLines(failed, colour), ...padding];
}

function lastLine(answer: KernelAnswer, outcome: FlavourOutcome, all: boolean): string {
  const hidden = reportsOf(outcome).filter(({ severity }) => severity === "info").length;
  const benign = hidden > 0 && !all ? "; --all shows the benign ones" : "";
  if (outcome.check === null) return `The checker came to no end: ${outcome.error?.message ?? "no result"}`;
  const judged = outcome.verdict === "fail" ? `; ${counted(failedGates(outcome), "gate")} failed` : "";
  return `${answer.name}, ${outcome.flavour}: ${summaryText(outcome.check)}${judged}${benign}`;
}

function failedGates(outcome: FlavourOutcome): number {
  return outcome.gates.filter(({ verdict }) => verdict === "fail").length;
}

function writeSarif(file: string, answer: KernelAnswer, version: string): void {
  const outcome = countedOutcome(answer.stage);
  const failure = checkFailure(outcome.check, outcome.error?.message ?? null);
  const target = path.resolve(file);
  try {
    fs.writeFileSync(target, `${JSON.stringify(sarifLog(reportsOf(outcome), version, failure), null, 2)}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `--sarif ${target} cannot be written (${code ?? String(error)}): name a file in a folder that can.`,
    );
  }
}
