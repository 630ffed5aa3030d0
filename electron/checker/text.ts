/** Reports and traffic as lines of text. */
import type { CheckReport, CheckResult, SiteAccess, TrafficDispatch } from "../../native/check.ts";
import { counted } from "../words.ts";
import { excerpt, type SourceTexts } from "./excerpt.ts";
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

/** One report: a head line that an editor can follow, both sides with source, memory, what to do. */
export function reportLines(report: CheckReport, sources: SourceTexts): readonly string[] {
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
  lines.push(`  in dispatch "${report.dispatch}", ${times}; seen by ${report.mechanism}; blind to ${report.blindSpot}`);
  return lines;
}

/** How many of each severity, for a last line. */
export function summaryText(result: CheckResult): string {
  const count = (severity: CheckReport["severity"]): number =>
    result.reports.filter((report) => report.severity === severity).length;
  const parts = [counted(count("error"), "error"), counted(count("warning"), "warning"), `${count("info")} benign`];
  const dropped = result.dropped === 0 ? "" : `; ${counted(result.dropped, "report")} found no room`;
  return `${parts.join(", ")}${dropped}${result.complete ? "" : "; the run ended early, so this is a part"}`;
}

/** Traffic of one dispatch: a row a buffer. */
export function trafficLines(dispatch: TrafficDispatch): readonly string[] {
  const row = (cells: readonly string[]): string =>
    `  ${cells[0]!.padEnd(24)}${cells
      .slice(1)
      .map((cell) => cell.padStart(18))
      .join("")}`.trimEnd();
  return [
    `traffic of "${dispatch.dispatch}", bytes`,
    row(["buffer", "read", "read, distinct", "written", "written, distinct"]),
    ...dispatch.buffers.map((buffer) =>
      row([
        `${buffer.name}${buffer.addressSpace === "threadgroup" ? " (threadgroup)" : ""}`,
        figure(buffer.read.requested),
        figure(buffer.read.distinct),
        figure(buffer.written.requested),
        figure(buffer.written.distinct),
      ]),
    ),
  ];
}
