/** What is said of the lines of a source: by the lint, which reads it, and by the compiler, which a check asks. Pure. */
import type { Finding } from "../../../kernels/lint.ts";
import { plural } from "../../parts/text.ts";
import type { CheckAnswer } from "./use_check.ts";

export type Diagnostic = CheckAnswer["diagnostics"][number];

export interface Said {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly severity: Diagnostic["severity"];
  readonly by: "lint" | "compiler";
}

/** Everything said of `path`, by line and column; the compiler first where both say something of one place. */
export function saidOf(
  path: string,
  findings: readonly Finding[],
  diagnostics: readonly Diagnostic[],
): readonly Said[] {
  const own = <T extends { readonly path: string }>(list: readonly T[]): readonly T[] =>
    list.filter((one) => one.path === path);
  const all: Said[] = [
    ...own(diagnostics).map(({ line, column, message, severity }) => ({
      line,
      column,
      message,
      severity,
      by: "compiler" as const,
    })),
    ...own(findings).map(({ line, column, message }) => ({
      line,
      column,
      message,
      severity: "error" as const,
      by: "lint" as const,
    })),
  ];
  return all.sort((a, b) => a.line - b.line || a.column - b.column);
}

/** `2 errors, 1 warning`; `no message` where the compiler said nothing. */
export function countsText(diagnostics: readonly Diagnostic[]): string {
  const counts = (["error", "warning", "note"] as const).flatMap((severity) => {
    const count = diagnostics.filter((one) => one.severity === severity).length;
    return count === 0 ? [] : [plural(count, severity)];
  });
  return counts.length === 0 ? "no message" : counts.join(", ");
}

/** True where the route's kernels cannot be built as they are. */
export function isRefused(answer: CheckAnswer): boolean {
  return answer.refusal !== null || answer.diagnostics.some(({ severity }) => severity === "error");
}
