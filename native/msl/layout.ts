/**
 * Writing tokens back as text: every token on its author's line and, where that is possible, at its author's column.
 * Where it is not (a macro or a rewriting made the line longer), the column can be traced back.
 */
import type { Unit } from "./preprocess.ts";

/** What is written instead of the tokens, and around them. */
export class Edits {
  readonly #replaced = new Map<number, string>();
  readonly #dropped = new Set<number>();
  readonly #before = new Map<number, string>();
  readonly #after = new Map<number, string>();

  replace(index: number, text: string): void {
    this.#replaced.set(index, text);
  }

  /** Leaves out the tokens from `start` to `end`, exclusive, whatever else is asked for them. */
  drop(start: number, end: number): void {
    for (let i = start; i < end; i += 1) this.#dropped.add(i);
  }

  /** Writes `text` in front of the token; what was asked for first stands outermost. */
  before(index: number, text: string): void {
    this.#before.set(index, (this.#before.get(index) ?? "") + text);
  }

  /** Writes `text` behind the token; what was asked for first stands outermost. */
  after(index: number, text: string): void {
    this.#after.set(index, text + (this.#after.get(index) ?? ""));
  }

  prefix(index: number): string {
    return this.#dropped.has(index) ? "" : (this.#before.get(index) ?? "");
  }

  /** The token's text after the edits, without what stands in front of it. */
  body(index: number, original: string): string {
    return this.#dropped.has(index) ? "" : (this.#replaced.get(index) ?? original) + (this.#after.get(index) ?? "");
  }
}

export interface Layout {
  readonly text: string;
  /** The author's column for a column of a line of `text`, both 1-based. */
  column(path: string, line: number, column: number): number;
}

/** Empty lines up to which a gap is bridged without a line marker. */
const MAX_GAP = 8;

export function layOut(unit: Unit, edits: Edits): Layout {
  const written = new Int32Array(unit.tokens.length);
  const chunks: string[] = [];
  let file = -1;
  let line = 0;
  /** Text of the current line. */
  let row = "";
  for (const [index, token] of unit.tokens.entries()) {
    const before = edits.prefix(index);
    const body = edits.body(index, token.text);
    if (before + body === "") continue;
    if (token.file !== file || token.line < line || token.line > line + MAX_GAP) {
      chunks.push(row, file < 0 ? "" : "\n", `# ${token.line} ${JSON.stringify(unit.files[token.file])}\n`);
      row = "";
    } else if (token.line > line) {
      chunks.push(row, "\n".repeat(token.line - line));
      row = "";
    }
    ({ file, line } = token);
    const gap = token.column - 1 - row.length - before.length;
    if (row === "" || token.spaced) row += " ".repeat(Math.max(gap, row === "" ? 0 : 1));
    else if (/\w$/.test(row) && /^\w/.test(before + body)) row += " ";
    written[index] = row.length + before.length + 1;
    row += before + body;
  }
  chunks.push(row, "\n");

  return {
    text: chunks.join(""),
    column(path, line, column) {
      let best: number | undefined;
      for (const [index, token] of unit.tokens.entries()) {
        if (token.line !== line || unit.files[token.file] !== path) continue;
        const start = written[index] ?? 0;
        if (start === 0 || start - edits.prefix(index).length > column) continue;
        if (start > column) {
          best = token.column;
          continue;
        }
        const inside = Math.min(column - start, token.text.length);
        best = edits.body(index, token.text).startsWith(token.text) ? token.column + inside : token.column;
      }
      return best ?? column;
    },
  };
}
