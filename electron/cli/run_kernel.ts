/** `lockstep run`: any kernel by its manifest, judged by the oracle and the gates; the checker looks first. */
import { commandLine } from "../actions.ts";
import { countedOutcome } from "../checker/judge.ts";
import { type FlavourOutcome, flavourSchema, type KernelAnswer, type KernelRequest } from "../checker/messages.ts";
import { CHECK_RULES } from "../checker/rules.ts";
import { inexactLines, logLines, placeText, summaryText } from "../checker/text.ts";
import { stableJson } from "../evidence/json.ts";
import { GATES } from "../gates/gates.ts";
import type { Places } from "../host/root.ts";
import { unknownName } from "../runs/usage.ts";
import { bytesText, counted, figureText, timeText } from "../words.ts";
import { painted } from "./format.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";
import { answerHead, askHost, type KernelOptions, kernelRequestOf, sayRefusal } from "./run_kernel_request.ts";

export interface RunKernelOptions extends KernelOptions {
  readonly flavour?: string;
}

/** Runs the kernel. Exit 0 passed or nothing to compare, 1 failed, 2 could not run, 130 interrupted. */
export async function runKernel(options: RunKernelOptions, where: Places, output: Output): Promise<number> {
  const end = await askHost(kernelRequestOf(options, "run", flavourOf(options.flavour)), where, output);
  if (end.type !== "kernel_ended") return sayRefusal(end, options.json, output);
  const { answer } = end;
  if (options.json) output.line(stableJson({ ...answer, texts: undefined }).trimEnd());
  else for (const line of resultLines(answer, checkCommand(options), output.colour)) output.line(line);
  return verdictExit(answer.verdict);
}

/** The command that shows the reports of the same run. */
function checkCommand({ manifest, root, set, chip }: RunKernelOptions): string {
  const option = (flag: string, value: string | undefined): readonly string[] =>
    value === undefined ? [] : [flag, value];
  const words = [String(manifest), ...option("--root", root), ...option("--set", set), ...option("--chip", chip)];
  return commandLine(["lockstep", "check", ...words]);
}

function flavourOf(text: string | undefined): KernelRequest["flavour"] {
  if (text === undefined) return null;
  const parsed = flavourSchema.safeParse(text);
  if (!parsed.success) throw unknownName("flavour", text, flavourSchema.options);
  return parsed.data;
}

/** A kernel that ran and was not judged passes nothing and fails nothing: its run is what was asked for. */
function verdictExit(verdict: KernelAnswer["verdict"]): number {
  return verdict === "pass" || verdict === null ? EXIT.passed : EXIT.failed;
}

const HEADLINE = { pass: "Pass", fail: "Fail", not_run: "No verdict" } as const;

/** Verdict and reason as one line. */
function headline(answer: KernelAnswer, colour: boolean): string {
  const { verdict, reason } = answer;
  return verdict === null ? `Ran: ${reason}` : `${painted(HEADLINE[verdict], verdict, colour)}: ${reason}`;
}

function resultLines(answer: KernelAnswer, check: string, colour: boolean): readonly string[] {
  const { result } = answer;
  return [
    ...answerHead(answer),
    ...(answer.note === null ? [] : [`  note       ${answer.note}`]),
    "",
    ...outcomeLines(result, colour),
    ...pinLines(answer),
    ...checkLines(answer, check),
    "",
    headline(answer, colour),
  ];
}

/** Times, padding and gates of one flavour. */
function outcomeLines(outcome: FlavourOutcome, colour: boolean): readonly string[] {
  const lines: string[] = [`flavour ${outcome.flavour}`];
  if (outcome.error !== null) return [...lines, `  ${outcome.error.code}: ${outcome.error.message}`];
  const width = Math.max(...outcome.timings.map(({ label }) => label.length), 8);
  for (const { label, ns, clock } of outcome.timings) {
    const what = clock === undefined ? "time of the emulation" : `time on the GPU, ${clock.replaceAll("_", " ")}`;
    lines.push(`  ${label.padEnd(width)}  ${timeText(ns / 1e6).padStart(9)}  ${what}`);
  }
  for (const { dispatch, bytes } of outcome.padding) {
    lines.push(`  ${dispatch}: lent ${bytesText(bytes)} of threadgroup memory that its host does not ask for`);
  }
  lines.push(...logLines(outcome));
  if (outcome.gates.length === 0) return lines;
  lines.push("", ...gateLines(outcome.gates, colour));
  for (const { id, why } of outcome.leftOut) {
    lines.push(`  left out  ${GATES.find((gate) => gate.id === id)?.title ?? id}: ${why}`);
  }
  return lines;
}

/** A row a gate: verdict, title, value, limit, place. */
export function gateLines(gates: FlavourOutcome["gates"], colour: boolean): readonly string[] {
  const titles = gates.map(({ id }) => GATES.find((gate) => gate.id === id)?.title ?? id);
  const longest = Math.max(...titles.map((title) => title.length));
  return gates.map((gate, index) => {
    const word = gate.verdict === "pass" ? "pass" : gate.verdict === "fail" ? "FAIL" : "not run";
    const value = gate.value === null ? "" : figureText(gate.value);
    const limit = gate.limit === null ? "" : `limit ${figureText(gate.limit)}`;
    const cells = [titles[index]!.padEnd(longest), value.padStart(9), limit.padEnd(14), gate.where ?? gate.note ?? ""];
    return `  ${painted(word, gate.verdict, colour)}${"".padEnd(7 - word.length)}  ${cells.join("  ")}`.trimEnd();
  });
}

/** How the kernel depends on lockstep, said plainly. Empty where it does not. */
export function pinLines({ pinned, stage, result }: KernelAnswer): readonly string[] {
  if (!pinned) return [];
  const [plain, locked] = stage.outcomes;
  const right = (outcome: FlavourOutcome | undefined): boolean => outcome?.verdict === "pass";
  const consequence =
    right(locked) && !right(plain)
      ? "Its result is right only where the lanes of a simdgroup advance in lockstep"
      : right(plain)
        ? "Its result was right without lockstep as well, in the order of this emulation; nothing promises that"
        : "Nothing compared says whether its result needs that";
  const ran = result.flavour.startsWith("check") ? "judged" : "computed and judged";
  return [
    "",
    "Pinned to lockstep: lanes exchange data through memory without a barrier between.",
    `  ${consequence}. It was ${ran} in ${result.flavour}.`,
  ];
}

function checkLines(answer: KernelAnswer, command: string): readonly string[] {
  const { stage, stageCached, stageDigest } = answer;
  const outcome = countedOutcome(stage);
  const source = stageCached ? `, cached verdict ${stageDigest.slice(0, 12)} of the same texts and sizes` : "";
  const head = `checker, ${outcome.flavour}${source}`;
  if (outcome.check === null) return ["", `${head}: ${outcome.error?.message ?? "no result"}`];
  const worth = outcome.check.reports.filter(({ severity }) => severity !== "info");
  const lines = ["", `${head}: ${summaryText(outcome.check)}`];
  lines.push(...inexactLines(outcome.check).map((line) => `  ${line}`));
  for (const report of worth.slice(0, SHOWN)) {
    lines.push(`  ${placeText(report.first)}: ${report.severity}: ${CHECK_RULES[report.kind].title}`);
  }
  if (worth.length > SHOWN) lines.push(`  and ${counted(worth.length - SHOWN, "more report")}`);
  if (worth.length > 0) lines.push(`  with their lines: ${command}`);
  return lines;
}

/** Reports that a run names; `check` shows all. */
const SHOWN = 5;
