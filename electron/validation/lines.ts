/**
 * The forms of lines that Metal's validation writes to standard error, as they were seen in public, and the reader of a whole
 * log. The layer may write while another line is half-written, so that no form is tied to the beginning of a line.
 *
 * Nothing here was read on a Mac by this project: what no form knows and what yet speaks of Metal is `unclear`, never silence.
 */
import type { ValidationLog, ValidationReport } from "./report.ts";

/** Version of the table. Raise it with every change of a form: a log is read again by its own version alone. */
export const FORMS_VERSION = "lockstep.validation_forms/1";

interface Form {
  readonly id: string;
  readonly pattern: RegExp;
  readonly means:
    | { readonly enables: "api" | "shader" }
    | { readonly severity: "error" | "warning"; readonly layer: ValidationReport["layer"] }
    /** A notice that says nothing about the run. */
    | "nothing";
  /** Where such lines were seen. */
  readonly seen: string;
}

/** The first form that fits is in force. */
const FORMS: readonly Form[] = [
  {
    id: "api_enabled",
    pattern: /\bMetal API Validation Enabled\b/,
    means: { enables: "api" },
    seen: "JuliaGPU/Metal.jl issues 463 and 467, macOS 15.0.1",
  },
  {
    id: "shader_enabled",
    pattern: /\bMetal (?:GPU|Shader) Validation Enabled\b/,
    means: { enables: "shader" },
    seen: "JuliaGPU/Metal.jl issues 463 and 467, macOS 15.0.1",
  },
  {
    id: "capture_enabled",
    pattern: /\bMetal GPU Frame Capture Enabled\b/,
    means: "nothing",
    seen: "madebyollin/maple-diffusion issue 20",
  },
  {
    id: "cache_lock",
    pattern: /\bflock failed to lock (?:list|maps) file\b/,
    means: "nothing",
    seen: "AcademySoftwareFoundation/MaterialX issue 1331: two processes share Metal's cache of pipelines",
  },
  {
    id: "invalid_access",
    pattern: /\bInvalid (?:[\w-]+ )*?(?:load|store|read|write|access|atomic)\b.*\bexecuting \w+ function\b/,
    means: { severity: "error", layer: "shader" },
    seen: "Pushkinist/rMLX issues 328 and 438",
  },
  {
    id: "executing_function",
    pattern: /\bexecuting (?:kernel|vertex|fragment|object|mesh|tile) function\b/,
    means: { severity: "error", layer: "shader" },
    seen: "as above; other findings of shader validation name the function in the same way",
  },
  {
    id: "failed_assertion",
    pattern: /:\d+: failed assertion [`'‘]/,
    means: { severity: "error", layer: "api" },
    seen: "antirez/ds4 pull request 39; libsdl-org/SDL issue 15241",
  },
  {
    id: "command_buffer_error",
    pattern: /\bExecution of the command buffer was aborted\b/,
    means: { severity: "error", layer: "api" },
    seen: "MTLCommandBufferError as macOS words it",
  },
  {
    id: "debug_class",
    pattern: /-\[MTLDebug\w+ [^\]]*\]/,
    means: { severity: "error", layer: "api" },
    seen: "the classes of the debug layer, which speak of misuse alone",
  },
  {
    id: "validation_heading",
    pattern: /(?:^|[^\w])[A-Z]\w+(?: [A-Z]\w+)* Validation\s*$/,
    means: { severity: "error", layer: "api" },
    seen: "heading of a finding where errors are logged: athei/mtld3d issue 116",
  },
];

/** What speaks of Metal and has no form. */
const OF_METAL = /\bMTL\w+|\bMetal\b|\bAGX\w+|\bIOGPU\w+|\bvalidation\b|\binvalid\b|\bassert/i;

/** `2024-10-17 16:40:59.867 julia[17424:9358094] `: what `NSLog` puts before a line. */
const NSLOG = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?:[+-]\d{4})? [^[\]]*\[\d+:[0-9a-f]+\] ?/;

/** A line that belongs to the finding of shader validation before it. */
const DETAIL = /^\s*(?:buffer|texture|pipeline|encoder|dispatch|command buffer|threadgroup|resource|label)\b[^:]*:/i;

const KERNEL: readonly RegExp[] = [
  /\bexecuting \w+ function:? "([^"]*)"/,
  /\b(?:Compute|Kernel) Function\(([^)]+)\)/,
  /\bkernel function:? "([^"]*)"/,
];

const MARK = "lockstep-at ";
const DROPPED = "lockstep-dropped ";

/** What the host writes between Metal's lines, on a line of its own. Without a route nothing is being computed. */
export function markLine(testCase: string, route: string | null): string {
  return `\n${MARK}${JSON.stringify(route === null ? null : { case: testCase, route })}\n`;
}

/** What stands at the end of a log that found no room for more. */
export function droppedLine(lines: number): string {
  return `${DROPPED}${lines}\n`;
}

/** Longest text of a report, and how many are kept of each kind: beyond that they are counted. */
const TEXT_LIMIT = 4096;
const REPORT_LIMIT = 2000;
const UNKNOWN_LIMIT = 200;
/** Lines of one finding at most. */
const JOINED = 12;

/** Mutable while a log is read. */
interface Open {
  report: ValidationReport;
  lines: number;
  /** An assertion's text goes on until its quote is closed. */
  quoted: boolean;
}

function placeOf(text: string): ValidationReport["at"] {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return null;
    const { case: key, route } = value as { readonly case?: unknown; readonly route?: unknown };
    return typeof key === "string" && typeof route === "string" ? { case: key, route } : null;
  } catch {
    return null;
  }
}

function kernelIn(text: string): string | null {
  for (const pattern of KERNEL) {
    const name = pattern.exec(text)?.[1];
    if (name !== undefined) return name.slice(0, TEXT_LIMIT);
  }
  return null;
}

function isQuoteOpen(text: string): boolean {
  const at = text.search(/failed assertion [`‘]/);
  return at >= 0 && !/['’]\s*$/.test(text);
}

/** Reads a whole log. The same text always gives the same answer. */
export function readValidation(text: string): ValidationLog {
  const enabled = { api: false, shader: false };
  const counts = { lines: 0, errors: 0, warnings: 0, unclear: 0, unknown: 0, dropped: 0 };
  const reports = new Map<string, ValidationReport>();
  const unknown: { line: number; text: string }[] = [];
  let at: ValidationReport["at"] = null;
  let open: Open | undefined;

  const keep = (): void => {
    if (open === undefined) return;
    const { report } = open;
    open = undefined;
    const key = JSON.stringify([report.form, report.text, report.at]);
    const known = reports.get(key);
    if (known !== undefined) reports.set(key, { ...known, times: known.times + 1 });
    else if (reports.size < REPORT_LIMIT) reports.set(key, report);
    else counts.dropped += 1;
  };
  const begin = (report: Omit<ValidationReport, "at" | "times" | "kernel">): void => {
    keep();
    open = {
      report: { ...report, kernel: kernelIn(report.text), at, times: 1 },
      lines: 1,
      quoted: isQuoteOpen(report.text),
    };
  };
  /** True where the line belongs to the finding before it. */
  const joins = (line: string): boolean => {
    if (open === undefined || open.lines >= JOINED) return false;
    const { report, quoted } = open;
    if (!quoted && !(report.layer === "shader" && DETAIL.test(line))) return false;
    const joined = `${report.text}\n${line}`.slice(0, TEXT_LIMIT);
    open = {
      report: { ...report, text: joined, kernel: report.kernel ?? kernelIn(line) },
      lines: open.lines + 1,
      quoted: quoted && isQuoteOpen(joined),
    };
    return true;
  };

  for (const [index, raw] of text.split("\n").entries()) {
    const written = raw.replace(/\r$/, "");
    if (written.trim() === "") continue;
    if (written.startsWith(MARK)) {
      keep();
      at = placeOf(written.slice(MARK.length));
      continue;
    }
    if (written.startsWith(DROPPED)) {
      counts.dropped += Number.parseInt(written.slice(DROPPED.length), 10) || 1;
      continue;
    }
    counts.lines += 1;
    const line = index + 1;
    const words = written.replace(NSLOG, "").slice(0, TEXT_LIMIT);
    const form = FORMS.find(({ pattern }) => pattern.test(words));
    if (form === undefined && words === written && joins(words)) continue;
    if (form === undefined) {
      if (OF_METAL.test(words)) {
        counts.unclear += 1;
        begin({ form: "none", severity: "unclear", layer: "unknown", text: words, line });
        continue;
      }
      keep();
      counts.unknown += 1;
      if (unknown.length < UNKNOWN_LIMIT) unknown.push({ line, text: words });
      continue;
    }
    const { means, id } = form;
    if (means === "nothing") keep();
    else if ("enables" in means) {
      keep();
      enabled[means.enables] = true;
    } else {
      counts[means.severity === "error" ? "errors" : "warnings"] += 1;
      begin({ form: id, ...means, text: words, line });
    }
  }
  keep();
  return {
    schema: "lockstep.validation/1",
    forms: FORMS_VERSION,
    enabled,
    counts,
    reports: [...reports.values()],
    unknown,
  };
}
