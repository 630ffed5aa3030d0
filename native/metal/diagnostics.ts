/**
 * Metal's messages at the author's positions. The run-time compiler prints what clang prints; `#line` in the flattened
 * source makes it name the author's files. `program_source`, its own name for the text, is counted back to them.
 */
import { basename } from "node:path";
import type { Diagnostic } from "../device.ts";
import { type ClangMessage, parseDiagnostics } from "../msl/clang_output.ts";
import { summarise } from "../msl/diagnostics.ts";
import type { FlatSource } from "../msl/source.ts";
import type { MetalError } from "./binding.ts";

/** What stands before the first message: "Compilation failed: ", "Compilation succeeded with: ". */
const PREAMBLE = /^\s*Compilation (?:failed|succeeded with):\s*/;
const PROGRAM_SOURCE = "program_source";
const LINE_DIRECTIVE = /^#line (\d+) "((?:[^"\\]|\\.)*)"$/;

type Position = Pick<Diagnostic, "path" | "line" | "column">;

/**
 * Every message in `words`, each with its notes behind it. What is said of a system header is placed where the author's
 * code led there, and names the header.
 */
export function readMetalMessages(words: string, flat: FlatSource): readonly Diagnostic[] {
  const messages = parseDiagnostics(words.replace(PREAMBLE, ""));
  const found: Diagnostic[] = [];
  for (let at = 0; at < messages.length; at += 1) {
    const head = messages[at];
    if (head === undefined) continue;
    const notes: ClangMessage[] = [];
    for (let note = messages[at + 1]; note?.severity === "note"; note = messages[at + 1]) {
      notes.push(note);
      at += 1;
    }
    found.push(...placed(head, notes, flat));
  }
  return found;
}

/** A message and its notes at the author's positions. */
function placed(head: ClangMessage, notes: readonly ClangMessage[], flat: FlatSource): readonly Diagnostic[] {
  const ownNotes = notes.flatMap((note) => {
    const position = authorPosition(note, flat);
    return position === undefined ? [] : [{ severity: note.severity, ...position, message: note.message }];
  });
  const own = authorPosition(head, flat);
  if (own !== undefined) return [{ severity: head.severity, ...own, message: head.message }, ...ownNotes];
  const included = head.includedFrom.map((from) => authorPosition({ ...from, column: 1 }, flat));
  const [first] = ownNotes;
  const led = first ?? included.find((position) => position !== undefined) ?? { path: flat.path, line: 1, column: 1 };
  const where = head.path === "" ? "" : ` (in ${basename(head.path)}:${head.line})`;
  const { path, line, column } = led;
  return [{ severity: head.severity, path, line, column, message: `${head.message}${where}` }, ...ownNotes.slice(1)];
}

/** Where the author wrote it; undefined for what stands in a file of the system. */
function authorPosition(position: Position, flat: FlatSource): Position | undefined {
  const named = position.path === PROGRAM_SOURCE ? countedBack(position.line, flat) : position;
  const file = flat.files.find((one) => one.path === named?.path);
  if (named === undefined || file === undefined) return undefined;
  const { path, line } = named;
  return { path, line, column: utf16Column(file.text.split("\n")[line - 1] ?? "", position.column) };
}

/** File and line of a line of the flattened text itself. */
function countedBack(line: number, flat: FlatSource): Omit<Position, "column"> | undefined {
  const lines = flat.text.split("\n");
  for (let at = Math.min(line, lines.length) - 1; at >= 0; at -= 1) {
    const [, start, path] = LINE_DIRECTIVE.exec(lines[at] ?? "") ?? [];
    if (start === undefined || path === undefined) continue;
    // The directive names the line that follows it.
    return { path: path.replace(/\\(.)/g, "$1"), line: Number(start) + line - at - 2 };
  }
  return undefined;
}

/** Columns of clang count bytes of UTF-8, those of editors units of UTF-16. */
function utf16Column(text: string, column: number): number {
  return (
    Buffer.from(text, "utf8")
      .subarray(0, column - 1)
      .toString("utf8").length + 1
  );
}

/** Domain of what the addon refuses itself, before it asks Metal. */
export const OWN_DOMAIN = "lockstep";

/** What was refused, with Metal's words at its end, word for word. */
export function refusalText(what: string, { words, domain, code }: MetalError): string {
  return domain === OWN_DOMAIN ? `${what} ${words}` : `${what} Metal's words (${domain} ${code}): ${words}`;
}

/** Message of a source that does not compile: the first error, then every word of Metal. */
export function compileRefusal(flat: FlatSource, error: MetalError, diagnostics: readonly Diagnostic[]): string {
  const hasError = diagnostics.some((one) => one.severity === "error");
  const what = hasError ? `${summarise(diagnostics)}.` : `${flat.path} was not compiled.`;
  return refusalText(what, error);
}
