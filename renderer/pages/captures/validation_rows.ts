/** What Metal's validation said during a run, as rows of a table. Pure. */
import type { CallOutput } from "../../../electron/contract.ts";
import { countText } from "../../parts/text.ts";

export type Validation = NonNullable<CallOutput<"runs.record">["validation"]>;
export type Report = Validation["reports"][number];

/** The result that the page is about. */
export interface Subject {
  readonly case: string;
  readonly route: string;
}

/** True where a report stands against the result: it came while that was computed, or outside any. */
export function concerns({ at }: Report, subject: Subject): boolean {
  return at === null || (at.case === subject.case && at.route === subject.route);
}

export const SEVERITY_WORDS: Readonly<Record<Report["severity"], string>> = {
  error: "error",
  warning: "warning",
  unclear: "unclear",
};

export const LAYER_WORDS: Readonly<Record<Report["layer"], string>> = {
  api: "API",
  shader: "shader",
  unknown: "not known",
};

const SEVERITIES: readonly Report["severity"][] = ["error", "unclear", "warning"];

/** Those of the selected result first, errors before the others, then in the order of the log. */
export function reportRows({ reports }: Validation, subject: Subject): readonly Report[] {
  const rank = (report: Report): number =>
    (concerns(report, subject) ? 0 : SEVERITIES.length) + SEVERITIES.indexOf(report.severity);
  return [...reports].sort((a, b) => rank(a) - rank(b) || a.line - b.line);
}

/** Where it came: the case and route, or outside any. */
export function placeText({ at }: Report): string {
  return at === null ? "outside any result" : `${at.route} on ${at.case}`;
}

/** What may be concluded, in one sentence. A layer that never said it is on has proved nothing by silence. */
export function validationSentence({ enabled, counts }: Validation): string {
  const silent = [...(enabled.api ? [] : ["API"]), ...(enabled.shader ? [] : ["shader"])];
  if (silent.length > 0) {
    return `Metal never said that ${silent.join(" and ")} validation ${silent.length > 1 ? "are" : "is"} on: silence proves nothing`;
  }
  if (counts.dropped > 0)
    return `${countText(counts.dropped)} lines of the log found no room: nothing can be concluded`;
  if (counts.errors > 0) return `${countText(counts.errors)} errors in Metal's words`;
  if (counts.unclear > 0) return `no error, and ${countText(counts.unclear)} lines of Metal's that no form knows`;
  return "Metal said that both layers are on, and reported no error";
}

export const VALIDATION_HEAD = ["severity", "layer", "kernel", "times", "case", "route", "log line", "text"] as const;

export function reportLine(report: Report): readonly (string | number)[] {
  const { severity, layer, kernel, times, at, line, text } = report;
  return [severity, layer, kernel ?? "not named", times, at?.case ?? "", at?.route ?? "", line, text];
}
