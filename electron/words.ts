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
  resources: "make the threadgroup smaller, or use fewer registers",
};

/** `NMSE of the worst row is 3.91e-2, limit 1.00e-10 (token 3 head 1). Next: ...`, or the device's own words. */
export function missText(result: ResultRecord): string {
  if (result.error !== null) {
    if (result.verdict === "fail") return result.error;
    return `${result.error.replace(/\.$/, "")}. A required gate that did not run is not a pass`;
  }
  const failed = result.gates.filter((gate) => gate.verdict === "fail");
  // Where oracle and file disagree, what the file says of the output means nothing.
  const disagreement = failed.find((gate) => gate.id === "oracle_agreement");
  const first = failed[0]?.id === "stored_reference" ? disagreement : undefined;
  const miss = first ?? failed[0] ?? result.gates.find((gate) => gate.verdict === "not_run");
  if (miss === undefined) return "no gate applied";
  const title = GATES.find((gate) => gate.id === miss.id)?.title ?? miss.id;
  if (miss.verdict === "not_run") return `${title} did not run: ${miss.note ?? "no reason given"}`;
  const value = miss.value === null ? "" : ` is ${figureText(miss.value)}`;
  const limit = miss.limit === null ? "" : `, limit ${figureText(miss.limit)}`;
  const note = miss.note === null ? "" : `; ${miss.note}`;
  const next = NEXT[miss.id];
  return `${title}${value}${limit} (${miss.where ?? "case"}${note})${next === undefined ? "" : `. Next: ${next}`}`;
}

/** Quotes a word for a POSIX shell where it needs it. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
