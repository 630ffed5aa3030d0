/** Reads clang's messages as it prints them with `-fno-color-diagnostics -fno-caret-diagnostics`. */
import type { Diagnostic } from "../device.ts";

/** A message where clang puts it, with the includes that led there, innermost first. */
export interface ClangMessage extends Diagnostic {
  readonly includedFrom: readonly { readonly path: string; readonly line: number }[];
}

const MESSAGE = /^(.*?):(\d+):(\d+): (fatal error|error|warning|note): (.*)$/;
const INCLUDED = /^(?:In file included from|\s+from) (.*?):(\d+):?,?$/;
/** Messages without a position: those of the driver itself. */
const BARE_MESSAGE = /^(?:clang(?:\+\+)?(?:-\d+)?|<.*>): (fatal error|error): (.*)$/;

/** All messages in `text`, in order, at the positions that clang states. */
export function parseDiagnostics(text: string): ClangMessage[] {
  const found: ClangMessage[] = [];
  let includedFrom: { path: string; line: number }[] = [];
  for (const line of text.split("\n")) {
    const [, includer, includeLine] = INCLUDED.exec(line) ?? [];
    if (includer !== undefined) {
      includedFrom.push({ path: includer, line: Number(includeLine) });
      continue;
    }
    const [, path, row, column, severity, message] = MESSAGE.exec(line) ?? [];
    if (path !== undefined && severity !== undefined && message !== undefined) {
      found.push({
        severity: severity === "fatal error" ? "error" : (severity as Diagnostic["severity"]),
        path,
        line: Number(row),
        column: Number(column),
        message,
        includedFrom,
      });
    } else {
      const [, , bare] = BARE_MESSAGE.exec(line) ?? [];
      if (bare !== undefined)
        found.push({ severity: "error", path: "", line: 0, column: 0, message: bare, includedFrom });
    }
    includedFrom = [];
  }
  return found;
}
