/** The checker's reports as rows of a list: one of a place, whatever sets of pipelines gave it. Pure. */
import { reportKey } from "../../../electron/checker/merge.ts";
import { CHECK_RULES } from "../../../electron/checker/rules.ts";
import { placeText } from "../../../electron/checker/text.ts";
import type { CallOutput, StreamItem } from "../../../electron/contract.ts";
import { counted } from "../../../electron/words.ts";
import { CHECK_KINDS, type CheckReport, type CheckResult } from "../../../native/check.ts";
import { countText, plural } from "../../parts/text.ts";

export type RunChecks = CallOutput<"checks.list">;
export type RunCheck = RunChecks["checks"][number];
export type KernelAnswer = Extract<StreamItem<"kernel.check">, { type: "kernel_ended" }>["answer"];

/** One thing that the checker looked at: a set of pipelines of a run, or a flavour of a manifest's kernel. */
export interface CheckedSet {
  /** Route or kernel. */
  readonly name: string;
  /** Key of the small case, or the sizes of the manifest. */
  readonly on: string;
  readonly flavour: string;
  readonly pinned: boolean;
  /** False for what was seen only without lockstep of a kernel that is pinned to it. */
  readonly counted: boolean;
  /** Null where the check came to no end. */
  readonly result: CheckResult | null;
  /** Why it came to no end. */
  readonly error: string | null;
}

export type Severity = CheckReport["severity"];
const SEVERITIES: readonly Severity[] = ["error", "warning", "info"];

export interface ReportRow {
  /** 1-based place in the whole list; it names the row in the URL. */
  readonly number: number;
  readonly report: CheckReport;
  /** Sets that gave it, with how often. */
  readonly sets: readonly { readonly set: CheckedSet; readonly count: number }[];
  readonly count: number;
  /** False where every set that gave it is one that does not count. */
  readonly counted: boolean;
}

/** A tuple that came over the contract is an array to the compiler; both sides have checked it. */
function own(result: RunCheck["result"]): CheckResult {
  return result as CheckResult;
}

export function setsOfRun({ checks }: Pick<RunChecks, "checks">): readonly CheckedSet[] {
  return checks.map(({ route, case: on, flavour, pinned, result }) => ({
    name: route,
    on,
    flavour,
    pinned,
    counted: true,
    result: own(result),
    error: null,
  }));
}

export function setsOfManifest({ name, sizes, stage, pinned }: KernelAnswer): readonly CheckedSet[] {
  const on = Object.entries(sizes)
    .map(([size, value]) => `${size} ${value}`)
    .join(", ");
  return stage.outcomes.map(({ flavour, check, error }, index) => ({
    name,
    on: on === "" ? "the manifest's own sizes" : on,
    flavour,
    pinned,
    counted: index === stage.outcomes.length - 1,
    result: check === null ? null : own(check),
    error: error?.message ?? null,
  }));
}

/** Errors first, then by kind, file and line. What does not count comes last. */
export function rowsOf(sets: readonly CheckedSet[]): readonly ReportRow[] {
  const found = new Map<string, { report: CheckReport; sets: { set: CheckedSet; count: number }[] }>();
  for (const set of sets) {
    for (const report of set.result?.reports ?? []) {
      const key = reportKey(report);
      const known = found.get(key);
      const seen = { set, count: report.count };
      if (known === undefined) found.set(key, { report, sets: [seen] });
      else known.sets.push(seen);
    }
  }
  const rows = [...found.values()].map((each) => ({
    ...each,
    count: each.sets.reduce((sum, { count }) => sum + count, 0),
    counted: each.sets.some(({ set }) => set.counted),
  }));
  const rank = (row: (typeof rows)[number]): readonly number[] => [
    row.counted ? 0 : 1,
    SEVERITIES.indexOf(row.report.severity),
    CHECK_KINDS.indexOf(row.report.kind),
  ];
  const place = ({ report }: (typeof rows)[number]): string => report.first.location?.path ?? "";
  const line = ({ report }: (typeof rows)[number]): number => report.first.location?.line ?? 0;
  return rows
    .sort((a, b) => {
      const [left, right] = [rank(a), rank(b)];
      const at = left.findIndex((value, index) => value !== right[index]);
      if (at >= 0) return left[at]! - right[at]!;
      return place(a).localeCompare(place(b)) || line(a) - line(b);
    })
    .map((row, index) => ({ number: index + 1, ...row }));
}

/** Rows in which every word of the filter stands: kind, title, place, dispatch, memory, route, flavour. */
export function filterRows(rows: readonly ReportRow[], text: string): readonly ReportRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(({ report, sets }) => {
    const { kind, severity, dispatch, first, second, buffer } = report;
    const hay = [
      kind,
      CHECK_RULES[kind].title,
      severity,
      dispatch,
      placeText(first),
      second === undefined ? "" : placeText(second),
      buffer?.name ?? "",
      ...sets.map(({ set }) => `${set.name} ${set.flavour}`),
    ]
      .join(" ")
      .toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

/** `naive`, or `4 routes` where several gave the report. */
export function setsText({ sets }: Pick<ReportRow, "sets">): string {
  const names = [...new Set(sets.map(({ set }) => set.name))];
  return names.length === 1 ? names[0]! : plural(names.length, "route");
}

/** A place without its folder: `fused_split_kv.metal:60`; `fused_split_kv.metal:60, 68` with both lines of one file. */
export function shortPlace({ first, second }: CheckReport, both = false): string {
  const { location } = first;
  if (location === null) return "no source line";
  const other = both && second?.location?.path === location.path ? second.location.line : location.line;
  const lines = other === location.line ? `${location.line}` : `${location.line}, ${other}`;
  return `${location.path.split("/").at(-1)}:${lines}`;
}

export const SEVERITY_WORDS: Readonly<Record<Severity, string>> = {
  error: "error",
  warning: "warning",
  info: "benign",
};

export const SEVERITY_GLYPHS = { error: "fail", warning: "ambig", info: "queued" } as const;

export interface Headline {
  readonly glyph: "pass" | "fail" | "ambig" | "notrun";
  readonly word: string;
  readonly sentence: string;
  readonly edge: "p" | "f" | "i" | "";
}

function looked(sets: readonly CheckedSet[], what: "run" | "manifest"): string {
  if (what === "manifest") return `${sets[0]?.name ?? "the kernel"} at ${sets[0]?.on ?? "its sizes"}`;
  return `${plural(sets.length, "set")} of pipelines on ${sets.length === 1 ? "its small case" : "their small cases"}`;
}

/** What the checker says in one sentence. A check that came to no end is not clean. */
export function headlineOf(
  sets: readonly CheckedSet[],
  rows: readonly ReportRow[],
  what: "run" | "manifest",
): Headline {
  const own = sets.filter((set) => set.counted);
  const count = (severity: Severity): number =>
    rows.filter((row) => row.counted && row.report.severity === severity).length;
  const [errors, warnings, benign] = [count("error"), count("warning"), count("info")];
  const short = own.filter(({ result }) => result === null || !result.complete || result.dropped > 0);
  const rest = [
    ...(warnings > 0 ? [counted(warnings, "warning")] : []),
    ...(benign > 0 ? [`${countText(benign)} benign`] : []),
  ];
  const pinned = own.filter((set) => set.pinned).length;
  const inLockstep =
    pinned === 0 ? "" : `; ${pinned === own.length ? "pinned to lockstep" : `${countText(pinned)} pinned to lockstep`}`;
  const where = looked(own, what);
  if (errors > 0) {
    const more = rest.length === 0 ? "" : `with ${rest.join(", ")} `;
    return {
      glyph: "fail",
      word: counted(errors, "error"),
      sentence: `${more}in ${where}${inLockstep}`,
      edge: "f",
    };
  }
  if (short.length > 0) {
    const [first] = short;
    const why = first?.error ?? (first?.result?.complete === false ? "the run ended early" : "reports found no room");
    return {
      glyph: "notrun",
      word: "No verdict",
      sentence: `the check of ${counted(short.length, "set")} came to no whole result: ${why}`,
      edge: "f",
    };
  }
  if (rest.length > 0) {
    return {
      glyph: warnings > 0 ? "ambig" : "pass",
      word: "No error",
      sentence: `${rest.join(", ")} in ${where}${inLockstep}`,
      edge: warnings > 0 ? "i" : "p",
    };
  }
  return { glyph: "pass", word: "No report:", sentence: `${where}${inLockstep}`, edge: "p" };
}

export const REPORT_HEAD = [
  "severity",
  "kind",
  "title",
  "path",
  "line",
  "column",
  "second path",
  "second line",
  "second column",
  "dispatch",
  "memory",
  "byte offset",
  "count",
  "routes",
  "message",
] as const;

/** Fields of a report for a file of figures. */
export function reportFields({ report, sets, count }: ReportRow): readonly (string | number)[] {
  const { first, second, buffer } = report;
  const place = (site: CheckReport["first"] | undefined): readonly (string | number)[] => {
    const at = site?.location ?? null;
    return at === null ? ["", "", ""] : [at.path, at.line, at.column];
  };
  return [
    SEVERITY_WORDS[report.severity],
    report.kind,
    CHECK_RULES[report.kind].title,
    ...place(first),
    ...place(second),
    report.dispatch,
    buffer === null ? "" : `${report.addressSpace ?? "memory"} ${buffer.name}`,
    report.offset ?? "",
    count,
    [...new Set(sets.map(({ set }) => set.name))].join(" "),
    report.message,
  ];
}
