/**
 * How figures, verdicts and commands are written, in the terminal and in the window: three significant digits, thousands
 * with commas, words before colour. Pure.
 */
import { GATES } from "./gates/gates.ts";
import type { ResultRecord } from "./runs/record.ts";

/** `3.91e-2`, `0`, `NaN`. Counts stay whole. */
export function figureText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return value.toLocaleString("en-US");
  return value.toExponential(2);
}

/** `75.1 ms`, `1.23 s`. */
export function timeText(ms: number | null): string {
  if (ms === null) return "not timed";
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(1)} ms`;
}

/** `1 case`, `51 cases`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

export function bytesText(bytes: number): string {
  return `${bytes.toLocaleString("en-US")} bytes`;
}

/** The word of a verdict; a result that did not complete says how it ended. */
export function verdictWord(result: ResultRecord): string {
  if (result.verdict === "pass") return "pass";
  if (result.verdict === "fail") return "FAIL";
  switch (result.state) {
    case "timed_out":
      return "timed out";
    case "crashed":
      return "crashed";
    default:
      return "not run";
  }
}

/** What to look at first when a gate fails. */
const NEXT: Readonly<Record<string, string>> = {
  coverage: "compare threadgroups x threads with the size of the output",
  finite: "look for a division by an empty sum, or exp of a difference with -inf",
  exact_zero: "an empty or fully masked row must be written as 0",
  subnormal: "compare the operands of the worst element with the limit",
  max_abs: "the worst element and its row stand in metrics.json of this case",
  nmse_case: "the worst rows stand in metrics.json of this case",
  nmse_head: "check which KV head the query head reads",
  nmse_row: "check the tile, page or sequence edge that the row lies at",
  slope: "check the softmax scale and the final division by the sum",
  lse: "check which tokens enter the sum: first, last, partition edges",
  stored_reference: "the file's float64 output disagrees with this output",
  oracle_agreement: "oracle and file disagree: check scale, head map and mask of the file",
  sentinels: "a write went past the end of the named buffer",
  repeat: "two runs differ: look for a missing barrier or an uninitialised read",
  lockstep: "the kernel needs its lanes to advance together: look for a missing barrier",
  checker: "see the checker's reports: each names both lines and what to do",
  resources: "make the threadgroup smaller, or use fewer registers",
  validation: "read data/validation/log.txt of the bundle: it has Metal's own words",
};

type Gate = ResultRecord["gates"][number];

/** What a gate found, where its title and a figure make no sentence; `where` is true where the place is in it. */
interface Finding {
  readonly text: string;
  readonly where: boolean;
}

/** `16,384 elements` of `16384 elements`. */
function grouped(where: string | null): string {
  return (where ?? "the elements").replace(/\d{4,}/g, (digits) => Number(digits).toLocaleString("en-US"));
}

function are(count: number, noun: string): string {
  return `${counted(count, noun)} ${count === 1 ? "is" : "are"}`;
}

function differ(count: number): string {
  return `${counted(count, "byte")} ${count === 1 ? "differs" : "differ"}`;
}

const FINDINGS: Readonly<Record<string, (value: number, gate: Gate) => Finding>> = {
  coverage: (value, { where }) => ({
    text: `${value.toLocaleString("en-US")} of ${grouped(where)} ${value === 1 ? "was" : "were"} never written`,
    where: true,
  }),
  finite: (value, { where }) => ({
    text: `${value.toLocaleString("en-US")} of ${grouped(where)} ${value === 1 ? "is" : "are"} NaN or Inf`,
    where: true,
  }),
  exact_zero: (value) => ({
    text: `the largest output is ${figureText(value)} where the reference is 0`,
    where: false,
  }),
  subnormal: (value) => ({ text: `the largest error is ${figureText(value)}`, where: false }),
  slope: (value) => ({ text: `the slope is ${figureText(value)} away from 1`, where: false }),
  lse: (value) => ({ text: `it differs by ${figureText(value)}`, where: false }),
  stored_reference: (value, { where }) => ({ text: `${where ?? "the error"} is ${figureText(value)}`, where: true }),
  oracle_agreement: (value) => ({ text: `they differ by ${figureText(value)} of the scale`, where: false }),
  sentinels: (value) => ({ text: `${are(value, "buffer")} written past the end`, where: false }),
  repeat: (value) => ({ text: `${differ(value)} between two runs`, where: true }),
  lockstep: (value) => ({ text: `${differ(value)} in the flavour lockstep`, where: true }),
  checker: (value) => ({ text: `${counted(value, "place")} reported at error level`, where: true }),
  validation: (value) => ({ text: `${counted(value, "error")} reported by Metal`, where: true }),
  resources: (value) => ({
    text: `${counted(value, "pipeline")} ${value === 1 ? "does" : "do"} not keep the contract`,
    where: false,
  }),
};

/**
 * One sentence of a gate that failed: `NMSE of the worst row is 3.91e-2, limit 1.00e-10 (token 3 head 1)`, or what it
 * found: `finite: 1 of 16,384 elements is NaN or Inf, limit 0`.
 */
export function gateText(gate: Gate): string {
  const title = GATES.find(({ id }) => id === gate.id)?.title ?? gate.id;
  const finding = gate.value === null ? undefined : FINDINGS[gate.id]?.(gate.value, gate);
  const value = gate.value === null ? "" : ` is ${figureText(gate.value)}`;
  const head = finding === undefined ? `${title}${value}` : `${title}: ${finding.text}`;
  const limit = gate.limit === null ? "" : `, limit ${figureText(gate.limit)}`;
  const place = finding?.where === true ? [] : [gate.where ?? "case"];
  const aside = [...place, ...(gate.note === null ? [] : [gate.note])].join("; ");
  return `${head}${limit}${aside === "" ? "" : ` (${aside})`}`;
}

/** The gate that says why a result is no pass: the first that failed, else the first that did not run. */
export function missedGate(gates: readonly Gate[]): Gate | undefined {
  const failed = gates.filter((gate) => gate.verdict === "fail");
  // Where oracle and file disagree, what the file says of the output means nothing.
  const disagreement = failed.find((gate) => gate.id === "oracle_agreement");
  const first = failed[0]?.id === "stored_reference" ? disagreement : undefined;
  return first ?? failed[0] ?? gates.find((gate) => gate.verdict === "not_run");
}

/** `NMSE of the worst row is 3.91e-2, limit 1.00e-10 (token 3 head 1). Next: ...`, or the device's own words. */
export function missText(result: ResultRecord): string {
  if (result.error !== null) {
    if (result.verdict === "fail") return result.error;
    return `${result.error.replace(/\.$/, "")}. A required gate that did not run is not a pass`;
  }
  const miss = missedGate(result.gates);
  if (miss === undefined) return "no gate applied";
  if (miss.verdict === "not_run") {
    const title = GATES.find((gate) => gate.id === miss.id)?.title ?? miss.id;
    return `${title} did not run: ${miss.note ?? "no reason given"}`;
  }
  const next = NEXT[miss.id];
  return `${gateText(miss)}${next === undefined ? "" : `. Next: ${next}`}`;
}

/** Quotes a word for a POSIX shell where it needs it. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
