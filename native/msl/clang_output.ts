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
/** The compiler's back end gives up; what follows is a stack dump and the driver's remark that the front end failed. */
const BACK_END = /^fatal error: error in backend: (.*)$/;
const FRONT_END_FAILED = /^clang frontend command failed/;

/** Causes of such an end that the author of a kernel can do something about. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/soft promote/, "arithmetic with one half and one bfloat operand has no type here: cast one of them"],
];

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
      const bare = bareMessage(line);
      if (bare !== undefined && !(FRONT_END_FAILED.test(bare) && found.some((entry) => entry.severity === "error")))
        found.push({ severity: "error", path: "", line: 0, column: 0, message: bare, includedFrom });
    }
    includedFrom = [];
  }
  return found;
}

/** A message of the driver or of the back end, without a position. */
function bareMessage(line: string): string | undefined {
  const words = BACK_END.exec(line)?.[1];
  if (words === undefined) return BARE_MESSAGE.exec(line)?.[2];
  const cause = CAUSES.find(([pattern]) => pattern.test(words))?.[1];
  return `the compiler cannot build this kernel: ${cause ?? words}`;
}

/** Names that the linker did not find, as lld or Apple's ld says it; C names have an underscore before them on macOS. */
const UNDEFINED = /(?:undefined symbol: (.+)|^ {2}"_?(.+)", referenced from:)$/gm;

/** The symbols that a failed link lacked, each once. */
export function parseUndefinedSymbols(stderr: string): readonly string[] {
  return [...new Set([...stderr.matchAll(UNDEFINED)].map(([, lld, apple]) => lld ?? apple ?? ""))];
}
