/**
 * What people and CI read of a bundle without this program: a page, a JUnit file and a table, all derived from the record.
 * The record counts; verification writes them again and compares.
 */
import { createHash } from "node:crypto";
import type { ResultRecord, RunRecord } from "../runs/record.ts";
import { counted, figureText, missText, shellQuote, timeText, verdictWord } from "../words.ts";
import { executionText } from "./execution.ts";

/** Version of these writers. It stands in each file, so that a report of another version is not held against this one. */
export const REPORT_VERSION = "lockstep.report/2";

/** What a report is made from: the record without what the bundle adds to it. */
export type ReportBasis = Omit<RunRecord, "schema" | "gates" | "files">;

export interface ReportFile {
  readonly path: string;
  readonly text: string;
}

export function reportFiles(basis: ReportBasis): readonly ReportFile[] {
  return [
    { path: "data/report/index.html", text: htmlReport(basis) },
    { path: "data/report/junit.xml", text: junitReport(basis) },
    { path: "data/report/summary.csv", text: csvReport(basis) },
  ];
}

/** Text for XML and HTML. XML 1.0 cannot hold most control characters at all: they become U+FFFD. */
function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd")
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
  );
}

/** Results in the order of the plan; undefined for what never began. */
function planned(basis: ReportBasis): readonly {
  readonly case: string;
  readonly route: string;
  readonly result: ResultRecord | undefined;
}[] {
  const results = new Map(basis.results.map((result) => [`${result.case}\n${result.route}`, result]));
  return basis.planned.map((item) => ({ ...item, result: results.get(`${item.case}\n${item.route}`) }));
}

const NEVER_BEGAN = "the run ended before it began. A required gate that did not run is not a pass";

function marks(basis: ReportBasis): string {
  const device = basis.device?.name.value ?? basis.producer?.chip ?? "unknown";
  if (basis.execution === "emulated") return `emulated on ${device}: no evidence about a chip`;
  if (basis.execution === "metal") return executionText(basis).replace(/^execution: metal\. /, "on Metal, ");
  return basis.execution === "imported"
    ? `computed elsewhere on ${device}, judged here`
    : `${basis.execution}, ${device}`;
}

/** JUnit: a failed gate is a failure, what did not run an error: no CI takes it for a pass. */
function junitReport(basis: ReportBasis): string {
  const items = planned(basis);
  const failures = items.filter(({ result }) => result?.verdict === "fail").length;
  const errors = items.filter(({ result }) => result === undefined || result.verdict === "not_run").length;
  const seconds = (ms: number | null | undefined): string => ((ms ?? 0) / 1000).toFixed(3);
  const total = items.reduce((sum, { result }) => sum + (result?.ms ?? 0), 0);
  const name = escaped(`lockstep ${basis.suite ?? "file"}`);
  const attributes = `tests="${items.length}" failures="${failures}" errors="${errors}" time="${seconds(total)}"`;
  const cases = items.map(({ case: key, route, result }) => {
    const head = `    <testcase classname="${escaped(key)}" name="${escaped(route)}" time="${seconds(result?.ms)}"`;
    if (result?.verdict === "pass") return `${head}/>\n`;
    const words = result === undefined ? NEVER_BEGAN : missText(result);
    const kind = result?.verdict === "fail" ? "failure" : "error";
    const type = result === undefined ? "not run" : verdictWord(result).toLowerCase();
    return `${head}>\n      <${kind} type="${type}" message="${escaped(words)}"/>\n    </testcase>\n`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<!-- ${REPORT_VERSION} -->\n`,
    `<testsuites name="lockstep" ${attributes}>\n`,
    `  <testsuite name="${name}" ${attributes} skipped="0" timestamp="${basis.startedAt}">\n`,
    "    <properties>\n",
    `      <property name="execution" value="${escaped(marks(basis))}"/>\n`,
    "    </properties>\n",
    ...cases,
    "  </testsuite>\n</testsuites>\n",
  ].join("");
}

/** A cell of a table: quoted where it must be, and never a formula to a spreadsheet. */
function cell(text: string): string {
  const plain = /^[=+@\t\r]|^-(?!\d|Infinity$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

const COLUMNS = ["case", "route", "verdict", "state", "max_abs", "nmse", "worst_row", "ms", "execution", "report"];

function csvReport(basis: ReportBasis): string {
  const rows = planned(basis).map(({ case: key, route, result }) => [
    key,
    route,
    result?.verdict ?? "not_run",
    result?.state ?? "not begun",
    result?.metrics ? String(result.metrics.maxAbs) : "",
    result?.metrics ? String(result.metrics.nmse) : "",
    result?.metrics?.worstRow ?? "",
    result === undefined || result.ms === null ? "" : String(result.ms),
    basis.validation === undefined ? basis.execution : `${basis.execution} under validation`,
    REPORT_VERSION,
  ]);
  return [COLUMNS, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

const STYLE = `
:root { color-scheme: light dark; --text: light-dark(#16191f, #e8eaee); --soft: light-dark(#5c6470, #98a1ad);
  --line: light-dark(#dfe2e7, #2c313a); --pass: light-dark(#00696d, #6fdccb); --fail: light-dark(#a5202a, #ff7e84);
  --emu: light-dark(#6236c2, #b79dff); --ground: light-dark(#fff, #16191f); }
body { margin: 24px auto; max-width: 1200px; padding: 0 24px; background: var(--ground); color: var(--text);
  font: 13px/20px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 20px; line-height: 26px; margin: 0; } h2 { font-size: 14px; margin: 28px 0 4px; }
p { margin: 4px 0; } .soft { color: var(--soft); } .emu { color: var(--emu); border: 1px dashed; padding: 2px 8px; display: inline-block; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 500; color: var(--soft); }
th, td { padding: 3px 8px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; } .num { text-align: right; }
.pass { color: var(--pass); } .fail { color: var(--fail); } code { font: 12px/18px ui-monospace, monospace; overflow-wrap: anywhere; }
`;

const HEADLINES: Readonly<Record<RunRecord["outcome"], string>> = {
  passed: "Pass",
  failed: "Fail",
  cancelled: "Cancelled",
  crashed: "Crashed",
  timed_out: "Timed out",
};

function tableOf(heads: readonly (readonly [string, string])[], rows: readonly string[]): string {
  const head = heads.map(([text, kind]) => `<th${kind === "" ? "" : ` class="${kind}"`}>${text}</th>`).join("");
  return `<table><thead><tr>${head}</tr></thead><tbody>\n${rows.join("")}</tbody></table>\n`;
}

function resultRow(item: ReturnType<typeof planned>[number]): string {
  const { case: key, route, result } = item;
  const word = result === undefined ? "not run" : verdictWord(result).toLowerCase();
  const kind = result?.verdict === "pass" ? "pass" : "fail";
  const sign = kind === "pass" ? "✓" : "✕";
  const figures = result?.metrics ?? null;
  const miss =
    kind === "pass"
      ? ""
      : `<br><span class="fail">${escaped(result === undefined ? NEVER_BEGAN : missText(result))}</span>`;
  return (
    `<tr><td class="${kind}">${sign} ${word}</td><td><code>${escaped(key)}</code>${miss}</td><td>${escaped(route)}</td>` +
    `<td class="num">${figures === null ? "" : figureText(figures.maxAbs)}</td>` +
    `<td class="num">${figures === null ? "" : figureText(figures.nmse)}</td>` +
    `<td class="num">${result === undefined || result.ms === null ? "" : timeText(result.ms)}</td></tr>\n`
  );
}

function validationText({ enabled, counts }: NonNullable<ReportBasis["validation"]>): string {
  const on = [enabled.api ? "API" : "", enabled.shader ? "shader" : ""].filter((word) => word !== "").join(" and ");
  return `${on === "" ? "no layer" : on} seen on; ${counted(counts.errors, "error")}, ${counted(counts.unclear, "line")} of no known form`;
}

/** One page without scripts or links to anything outside it. */
function htmlReport(basis: ReportBasis): string {
  const style = createHash("sha256").update(STYLE).digest("base64");
  const passed = basis.results.filter((result) => result.verdict === "pass").length;
  const failed = basis.results.filter((result) => result.verdict === "fail").length;
  const rest = basis.planned.length - passed - failed;
  const emulated = basis.execution === "emulated";
  const facts: readonly (readonly [string, string])[] = [
    ["started", basis.startedAt],
    ["finished", basis.finishedAt],
    ["suite", basis.suite ?? "a file"],
    ["device", `${basis.device?.name.value ?? basis.producer?.chip ?? "unknown"} (${basis.device?.id ?? "imported"})`],
    ...(basis.choice === undefined ? [] : [["taken because", basis.choice.reasons.join("; ")] as const]),
    ...(basis.validation === undefined ? [] : [["validation", validationText(basis.validation)] as const]),
    ["toolchain", basis.device?.toolchain.value ?? basis.producer?.toolchain ?? "unknown"],
    ["machine", `${basis.host.os}, ${basis.host.arch}, ${basis.host.cpu}, ${counted(basis.host.cores, "core")}`],
    ["program", `lockstep ${basis.app.version}, commit ${basis.app.commit ?? "unknown"}`],
  ];
  const claims = basis.claims.map(
    (claim) =>
      `<tr><td>${escaped(claim.route)}</td><td>${claim.operator}, ${claim.dtype}</td><td>${claim.level}</td>` +
      `<td class="num">${claim.cases}</td><td>${escaped(claim.supportsChip ?? "no chip")}</td>` +
      `<td>${escaped(claim.provides)}</td><td>${escaped(claim.doesNotProvide)}</td></tr>\n`,
  );
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${style}'">\n`,
    `<meta name="generator" content="${REPORT_VERSION}">\n`,
    '<meta name="viewport" content="width=device-width">\n',
    `<title>Lockstep ${escaped(basis.suite ?? "file")}: ${HEADLINES[basis.outcome].toLowerCase()}</title>\n`,
    `<style>${STYLE}</style>\n</head>\n<body>\n`,
    `<h1 class="${basis.outcome === "passed" ? "pass" : "fail"}">${HEADLINES[basis.outcome]}</h1>\n`,
    `<p>${counted(passed, "result")} pass, ${failed} fail, ${rest} did not run, of ${basis.planned.length}</p>\n`,
    basis.outcomeReason === null ? "" : `<p>${escaped(basis.outcomeReason)}</p>\n`,
    `<p class="${emulated ? "emu" : "soft"}">${escaped(marks(basis))}</p>\n`,
    '<p class="soft">Derived from data/record.json, which counts. Check the bundle with lockstep verify.</p>\n',
    `<p><code>${escaped(basis.command.map(shellQuote).join(" "))}</code></p>\n`,
    "<h2>Claims</h2>\n",
    tableOf(
      [
        ["route", ""],
        ["operator", ""],
        ["level", ""],
        ["cases", "num"],
        ["supports", ""],
        ["shows", ""],
        ["does not show", ""],
      ],
      claims,
    ),
    "<h2>Results</h2>\n",
    tableOf(
      [
        ["verdict", ""],
        ["case", ""],
        ["route", ""],
        ["max abs", "num"],
        ["NMSE", "num"],
        [emulated ? "time, emulated" : basis.validation === undefined ? "time" : "time, instrumented", "num"],
      ],
      planned(basis).map(resultRow),
    ),
    "<h2>Where it ran</h2>\n",
    tableOf(
      [
        ["fact", ""],
        ["value", ""],
      ],
      facts.map(([name, value]) => `<tr><td>${name}</td><td>${escaped(value)}</td></tr>\n`),
    ),
    `<h2>Limits</h2>\n<ul>\n${basis.limits.map((limit) => `<li>${escaped(limit)}</li>\n`).join("")}</ul>\n`,
    "</body>\n</html>\n",
  ].join("");
}
