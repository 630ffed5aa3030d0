/** From what clang says about the rewritten text to what the author of the `.metal` file needs to read. */
import type { Diagnostic } from "../device.ts";
import type { Layout } from "./layout.ts";
import type { Unit } from "./preprocess.ts";

/** How names of the C++ side read in MSL. Applied in order. */
const WORDING: readonly (readonly [RegExp, string])[] = [
  [/__attribute__\(\(opencl_global_host\)\) const|const __global_host|__global_host const/g, "constant"],
  [/__attribute__\(\(opencl_global_host\)\)|__global_host/g, "constant"],
  [/__attribute__\(\(opencl_global\)\)|__global(?:_device)?\b/g, "device"],
  [/__attribute__\(\(opencl_local\)\)|__local\b/g, "threadgroup"],
  [/__attribute__\(\(opencl_private\)\)|__private\b/g, "thread"],
  [/\b_Float16\b/g, "half"],
  [/\b__bf16\b/g, "bfloat"],
  [/\b(?:metal::)?vec<(?:metal::)?(\w+), ([234])>/g, "$1$2"],
  [/\bunsigned (char|short|int|long)([234])?\b/g, "u$1$2"],
  [/\bunsigned int\b/g, "uint"],
  [/\bmetal::(half|bfloat|float|u?int|u?short|u?char|u?long|bool)([234])?\b/g, "$1$2"],
  [/\bLS_METHOD_(\w+)/g, "$1"],
];

/** A message in the words of MSL. */
export function reword(message: string): string {
  let text = message;
  for (const [pattern, words] of WORDING) text = text.replace(pattern, words);
  // `'float4' (aka 'vec<float, 4>')` says the same twice once both are reworded.
  return text.replace(/'([^']*)' \(aka '\1'\)/g, "'$1'");
}

/**
 * Messages at the author's positions. Errors inside the standard library's headers are placed where the author's code
 * led there; notes about those headers are dropped.
 * @param kernel where a message about the generated entry belongs
 */
export function mapDiagnostics(
  messages: readonly Diagnostic[],
  unit: Unit,
  layout: Layout,
  kernel: Pick<Diagnostic, "path" | "line" | "column">,
): Diagnostic[] {
  const own = new Set(unit.files);
  const mapped: Diagnostic[] = [];
  for (let i = 0; i < messages.length; i += 1) {
    const head = messages[i];
    if (!head) continue;
    const notes: Diagnostic[] = [];
    while (messages[i + 1]?.severity === "note") {
      const note = messages[i + 1];
      if (note) notes.push(note);
      i += 1;
    }
    const ownNotes = notes.filter((note) => own.has(note.path));
    const place = own.has(head.path) ? head : (ownNotes[0] ?? (head.severity === "error" ? undefined : null));
    if (place === null) continue;
    const position = place
      ? { path: place.path, line: place.line, column: layout.column(place.path, place.line, place.column) }
      : kernel;
    const words = reword(head.message);
    const hasPlace = place !== undefined || head.path === "";
    const message = hasPlace ? words : `this kernel cannot be called with the arguments it declares: ${words}`;
    mapped.push({ severity: head.severity, ...position, message });
    for (const note of ownNotes) {
      if (note === place || head.severity !== "error") continue;
      const column = layout.column(note.path, note.line, note.column);
      mapped.push({ severity: "note", path: note.path, line: note.line, column, message: reword(note.message) });
    }
  }
  return mapped;
}

/** The first error as `path:line:column: error: message`, with the number of further ones. */
export function summarise(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter((entry) => entry.severity === "error");
  const first = errors[0];
  if (!first) return "no message";
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return `${first.path}:${first.line}:${first.column}: error: ${first.message}${more}`;
}
