/**
 * Preprocessing: clang's own preprocessor with empty stand-ins for Metal's headers, so that macros and conditions need
 * no special case later, and MSL keywords are still plain tokens.
 */
import type { CompileOptions, Diagnostic } from "../device.ts";
import { alignColumns } from "./align.ts";
import { type ClangMessage, parseDiagnostics } from "./clang_output.ts";
import { stubsFolder } from "./paths.ts";
import { runProcess } from "./process.ts";
import type { FlatSource } from "./source.ts";
import { type RawToken, type Token, tokenise } from "./tokens.ts";
import { unsupportedHeader } from "./unsupported.ts";

/** A preprocessed source: its tokens at the author's positions. */
export interface Unit {
  /** Names of the files that tokens point into. */
  readonly files: readonly string[];
  readonly tokens: readonly Token[];
}

export type PreprocessResult =
  | { readonly ok: true; readonly text: string; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * The MSL version assumed if none is asked for: what public kernels ask for at most without a condition (they take later
 * versions as a sign of tensors, which are not there).
 */
export const DEFAULT_LANGUAGE_VERSION = "3.1";

/** MSL versions and the value of `__METAL_VERSION__` (MSL specification, section 1.5.2). */
export const LANGUAGE_VERSIONS: Readonly<Record<string, number>> = {
  "2.0": 200,
  "2.1": 210,
  "2.2": 220,
  "2.3": 230,
  "2.4": 240,
  "3.0": 300,
  "3.1": 310,
  "3.2": 320,
  "4.0": 400,
};

/** Predefined macros, in a fixed order: those of Metal for macOS, then the caller's. */
export function predefinedMacros(options: CompileOptions): readonly (readonly [string, string])[] {
  const version = LANGUAGE_VERSIONS[options.languageVersion ?? DEFAULT_LANGUAGE_VERSION];
  const own: [string, string][] = [
    ["__METAL__", "1"],
    ["__METAL_VERSION__", String(version)],
    ["__METAL_MACOS__", "1"],
    ["__HAVE_BFLOAT__", "1"],
  ];
  const given = Object.entries(options.defines ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return [...own, ...given.map(([name, value]): [string, string] => [name, String(value)])];
}

/**
 * Runs `clang -E` on the flattened source. Messages come back at the author's file, line and column. Rejects with `cancelled`
 * where `signal` aborts.
 */
export async function preprocess(
  clang: string,
  flat: FlatSource,
  options: CompileOptions,
  signal?: AbortSignal,
): Promise<PreprocessResult> {
  const args = [
    "-E",
    "-x",
    "c++",
    "-std=c++20",
    "-nostdinc",
    "-undef",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
  ];
  for (const [name, value] of predefinedMacros(options)) args.push(`-D${name}=${value}`);
  args.push("-I", stubsFolder(), "-");
  const result = await runProcess(clang, args, { input: flat.text, signal });
  const messages = parseDiagnostics(result.stderr).map((entry) => ownMessage(entry, flat));
  if (result.status === 0) return { ok: true, text: result.stdout, warnings: messages };
  if (messages.some((entry) => entry.severity === "error")) return { ok: false, diagnostics: messages };
  const words = result.stderr.trim().slice(0, 400);
  const message = `the preprocessor ended with status ${result.status ?? "signal"}: ${words}`;
  return { ok: false, diagnostics: [{ severity: "error", path: flat.path, line: 1, column: 1, message }] };
}

/** A message of the preprocessor; one about a stand-in header belongs to the line that includes it. */
function ownMessage(found: ClangMessage, flat: FlatSource): Diagnostic {
  const { severity, message } = found;
  const isOwn = flat.files.some((file) => file.path === found.path);
  const includer = found.includedFrom.find((entry) => flat.files.some((file) => file.path === entry.path));
  if (isOwn || !includer) {
    const { path, line, column } = found;
    return { severity, path, line, column, message: unsupportedHeader(message) ?? message };
  }
  const text = flat.files.find((file) => file.path === includer.path)?.text.split("\n")[includer.line - 1] ?? "";
  const header = /[<"]([^>"]*)[>"]/.exec(text);
  const words = unsupportedHeader(`'${header?.[1] ?? ""}' file not found`) ?? message;
  return { severity, path: includer.path, line: includer.line, column: (header?.index ?? 0) + 1, message: words };
}

/** Reads preprocessed text into tokens at the positions of the files it was made of. */
export function readUnit(text: string, flat: FlatSource): Unit {
  const files: string[] = [];
  const tokens: Token[] = [];
  const originals = new Map<number, ReadonlyMap<number, readonly RawToken[]>>();
  let file = fileIndex(files, flat.path);
  /** Presumed line minus physical line. */
  let shift = 0;
  let group: RawToken[] = [];
  let groupLine = 0;

  function close(): void {
    if (group.length === 0) return;
    let lines = originals.get(file);
    if (!lines) {
      lines = linesOf(flat.files.find((entry) => entry.path === files[file])?.text ?? "");
      originals.set(file, lines);
    }
    const columns = alignColumns(group, lines.get(groupLine) ?? []);
    for (const [index, token] of group.entries()) {
      const kind = token.kind === "directive" ? "pragma" : token.kind;
      const { text: spelling, spaced } = token;
      tokens.push({ kind, text: spelling, file, line: groupLine, column: columns[index] ?? token.column, spaced });
    }
    group = [];
  }

  for (const token of tokenise(text)) {
    if (token.kind === "directive") {
      const marker = /^#\s*(?:line\s+)?(\d+)\s+"((?:\\.|[^"\\])*)"/.exec(token.text);
      if (marker) {
        close();
        file = fileIndex(files, (marker[2] ?? "").replace(/\\(.)/g, "$1"));
        shift = Number(marker[1]) - (token.line + 1);
        continue;
      }
    }
    const line = token.line + shift;
    if (line !== groupLine) close();
    groupLine = line;
    group.push(token);
  }
  close();
  return { files, tokens: settlePragmas(tokens) };
}

/** A pragma out of a macro stands on a line of its own behind its statement's line: put it where the next token is. */
function settlePragmas(tokens: readonly Token[]): readonly Token[] {
  return tokens.map((token, index) => {
    const next = tokens[index + 1];
    if (token.kind !== "pragma" || !next || next.file !== token.file || next.line >= token.line) return token;
    return { ...token, line: next.line, column: next.column };
  });
}

function fileIndex(files: string[], name: string): number {
  const known = files.indexOf(name);
  return known >= 0 ? known : files.push(name) - 1;
}

function linesOf(text: string): ReadonlyMap<number, readonly RawToken[]> {
  const lines = new Map<number, RawToken[]>();
  for (const token of tokenise(text)) {
    const line = lines.get(token.line);
    if (line) line.push(token);
    else lines.set(token.line, [token]);
  }
  return lines;
}
