/** Reports and traffic as lines of text. */
import type {
  CheckReport,
  CheckResult,
  SiteAccess,
  TrafficDispatch,
  TrafficLine,
  TrafficTable,
} from "../../native/check.ts";
import { counted } from "../words.ts";
import { excerpt, type SourceTexts } from "./excerpt.ts";
import type { FlavourOutcome } from "./messages.ts";
import { CHECK_RULES } from "./rules.ts";

/** Number with thousands separated by commas. */
function figure(value: number): string {
  return value.toLocaleString("en-US");
}

function triple(value: readonly number[]): string {
  return `(${value.join(", ")})`;
}

/** `path:line:column`, or that it is not known. */
export function placeText(site: SiteAccess): string {
  const { location } = site;
  return location === null ? "no source line" : `${location.path}:${location.line}:${location.column}`;
}

function threadText(site: SiteAccess): string {
  return `threadgroup ${triple(site.threadgroup)}, simdgroup ${site.simdgroup}, lane ${site.lane} (thread ${site.thread})`;
}

function memoryText(report: CheckReport): string | undefined {
  const { buffer, offset, addressSpace, size } = report;
  if (buffer === null || offset === null) return undefined;
  const index = buffer.index === null ? "" : ` (index ${buffer.index})`;
  return `${addressSpace ?? "memory"} ${buffer.name}${index}, byte ${figure(offset)} of ${figure(buffer.bytes)}, ${counted(size, "byte")} at a time`;
}

/** One report: a head line that an editor can follow, both sides with source, memory, what to do; `how` it was seen. */
export function reportLines(report: CheckReport, sources: SourceTexts, how = true): readonly string[] {
  const { first, second } = report;
  const times = report.count === 1 ? "once" : `${figure(report.count)} times`;
  const lines = [
    `${placeText(first)}: ${report.severity}: ${CHECK_RULES[report.kind].title} [${report.kind}]`,
    `  ${report.message}`,
  ];
  const side = (site: SiteAccess): void => {
    lines.push(`  ${site.access} by ${threadText(site)}${site === first ? "" : `, ${placeText(site)}`}`);
    if (site.location !== null) lines.push(...excerpt(sources, site.location).map((line) => `    ${line}`));
  };
  side(first);
  if (second !== undefined) side(second);
  const memory = memoryText(report);
  if (memory !== undefined) lines.push(`  ${memory}`);
  const known = how ? `; seen by ${report.mechanism}; blind to ${report.blindSpot}` : "";
  lines.push(`  in dispatch "${report.dispatch}", ${times}${known}`);
  return lines;
}

/** How each kind among the reports was seen, and what that cannot see: once for all of them. */
export function howLines(reports: readonly CheckReport[]): readonly string[] {
  const kinds = new Map(reports.map((report) => [report.kind, report] as const));
  if (kinds.size === 0) return [];
  return [
    "How these were seen:",
    ...[...kinds.values()].map(({ kind, mechanism, blindSpot }) => `  ${kind}: ${mechanism}. Blind to ${blindSpot}`),
  ];
}

/** Why the checker's look at this kernel was not exact, where that is known; none where it was, or where it ended early. */
export function inexactLines(check: CheckResult | null): readonly string[] {
  if (check === null || check.traffic.exact || !check.complete) return [];
  return [`Not exact: ${check.traffic.exactReason}. Where accesses are not seen, silence proves nothing.`];
}

/** Most lines of a kernel's log that are shown. */
const LOG_SHOWN = 40;

/** What the kernels logged, a line each: level, dispatch, thread, message. */
export function logLines({ log }: Pick<FlavourOutcome, "log">): readonly string[] {
  if (log === undefined) return [];
  const lines = log.lines.slice(0, LOG_SHOWN).map(({ level, label, threadgroup, thread, message, subsystem }) => {
    const source = subsystem === undefined ? "" : ` ${subsystem}`;
    const by = threadgroup === undefined ? "" : `, threadgroup ${triple(threadgroup)}, thread ${thread}`;
    return `  ${level.padEnd(7)} ${label}${source}${by}: ${message}`;
  });
  const more = log.lines.length + log.lost - lines.length;
  return [
    `logged by the kernel, ${counted(log.lines.length + log.lost, "line")}`,
    ...lines,
    ...(more > 0 ? [`  and ${counted(more, "more line")}`] : []),
  ];
}

/** How many of each severity, for a last line. */
export function summaryText(result: CheckResult): string {
  const count = (severity: CheckReport["severity"]): number =>
    result.reports.filter((report) => report.severity === severity).length;
  const parts = [counted(count("error"), "error"), counted(count("warning"), "warning"), `${count("info")} benign`];
  const dropped = result.dropped === 0 ? "" : `; ${counted(result.dropped, "report")} found no room`;
  return `${parts.join(", ")}${dropped}${result.complete ? "" : "; the run ended early, so this is a part"}`;
}

function row(widths: readonly number[], cells: readonly string[]): string {
  const rest = cells.slice(1).map((cell, index) => cell.padStart(widths[index + 1]!));
  return `  ${[cells[0]!.padEnd(widths[0]!), ...rest].join("  ")}`.trimEnd();
}

/** Rows under their heads, columns as wide as they need. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  return rows.map((cells) => row(widths, cells));
}

/** Source lines of a dispatch that are shown, busiest first. */
const TRAFFIC_LINES = 40;

/** Rows of one place, direction and buffer as one: inlining and unrolling make several of it. */
function mergedLines(lines: readonly TrafficLine[]): readonly TrafficLine[] {
  const merged = new Map<string, TrafficLine>();
  for (const line of lines) {
    const { location, access, buffer, index, model } = line;
    const key = JSON.stringify([location, access, buffer, index, model.kind]);
    const known = merged.get(key);
    merged.set(key, known === undefined ? line : added(known, line));
  }
  return [...merged.values()];
}

function added(a: TrafficLine, b: TrafficLine): TrafficLine {
  return {
    ...a,
    bytes: {
      requested: a.bytes.requested + b.bytes.requested,
      distinct: a.bytes.distinct + b.bytes.distinct,
      accesses: a.bytes.accesses + b.bytes.accesses,
      simdAccesses: a.bytes.simdAccesses + b.bytes.simdAccesses,
    },
    model: {
      ...a.model,
      units: a.model.units + b.model.units,
      ideal: a.model.ideal + b.model.ideal,
      worst: Math.max(a.model.worst, b.model.worst),
    },
  };
}

/** Traffic of one dispatch: a row a buffer, then a row a source line, busiest first. */
export function trafficLines(dispatch: TrafficDispatch): readonly string[] {
  const buffers = dispatch.buffers.map((buffer) => [
    `${buffer.name}${buffer.addressSpace === "threadgroup" ? " (threadgroup)" : ""}`,
    figure(buffer.read.requested),
    figure(buffer.read.distinct),
    figure(buffer.written.requested),
    figure(buffer.written.distinct),
  ]);
  const busiest = [...mergedLines(dispatch.lines)].sort((a, b) => b.bytes.requested - a.bytes.requested);
  const lines = busiest
    .slice(0, TRAFFIC_LINES)
    .map(({ location, access, buffer, bytes, model }) => [
      `${location === null ? "no source line" : `${location.path}:${location.line}:${location.column}`} ${access} ${buffer}`,
      figure(bytes.requested),
      figure(bytes.distinct),
      figure(bytes.simdAccesses),
      `${figure(model.units)} ${model.kind === "banks_32x4" ? "bank cycles" : "lines of 128"}, ideal ${figure(model.ideal)}`,
    ]);
  const rest = busiest.length - lines.length;
  return [
    `traffic of "${dispatch.dispatch}", bytes`,
    ...table([["buffer", "read", "read, distinct", "written", "written, distinct"], ...buffers]),
    ...(lines.length === 0
      ? []
      : ["", ...table([["source line", "requested", "distinct", "SIMD accesses", "model"], ...lines])]),
    ...(rest > 0 ? [`  and ${counted(rest, "line")} with less`] : []),
  ];
}

/** What the counts are, and are not. */
export function trafficFoot({ stage, exact, exactReason }: TrafficTable): string {
  const why = exactReason === "" ? "" : `: ${exactReason}`;
  return `Counts are taken ${stage} and are ${exact ? "" : "not "}exact${why}. Banks and lines are a model, not a measurement`;
}
