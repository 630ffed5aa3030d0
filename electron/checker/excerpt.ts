/** A line of a source with a caret below a column, as compilers show it. */

/** Text of the files that a report may name, by the path that it names them with. */
export type SourceTexts = ReadonlyMap<string, string>;

/** Longest stretch of a line that is shown. */
const WIDTH = 100;

/** Two lines, or none where the source is not at hand. `line` and `column` are 1-based. */
export function excerpt(
  sources: SourceTexts,
  location: { readonly path: string; readonly line: number; readonly column: number },
): readonly string[] {
  const text = sources.get(location.path)?.split("\n")[location.line - 1];
  if (text === undefined) return [];
  // A tab is one column to the compiler; the caret must stand below its character.
  const plain = text.replaceAll("\t", " ").trimEnd();
  const indent = plain.length - plain.trimStart().length;
  const at = location.column - 1;
  const from = at - indent > WIDTH - 20 ? at - (WIDTH - 20) : indent;
  const shown = `${from > indent ? "..." : ""}${plain.slice(from, from + WIDTH)}${plain.length > from + WIDTH ? "..." : ""}`;
  const caret = at - from + (from > indent ? 3 : 0);
  const gutter = String(location.line);
  return [`${gutter} | ${shown}`, `${" ".repeat(gutter.length)} | ${" ".repeat(Math.max(0, caret))}^`];
}
