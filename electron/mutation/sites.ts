/**
 * Mutants that follow from the text alone, so that a new kernel has them without a table: every barrier removed, every
 * guard dropped.
 */
import type { Operator } from "../../kernels/route.ts";
import { lineOf, type Mutant, type MutantClass, short } from "./mutant.ts";

/** Offsets of `text` that stand in a comment or a preprocessor line. */
function silent(text: string): (offset: number) => boolean {
  const ranges = [...text.matchAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\/|^[ \t]*#[^\n]*/gm)].map(
    ({ index, 0: found }) => [index, index + found.length] as const,
  );
  return (offset) => ranges.some(([begin, end]) => offset >= begin && offset < end);
}

/** End of the parenthesis that opens at `open`. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")" && --depth === 0) return at;
  }
  throw new Error(`a parenthesis that opens at offset ${open} is never closed`);
}

interface Edit {
  readonly class: MutantClass;
  readonly begin: number;
  readonly end: number;
  readonly now: string;
  readonly what: string;
}

function barriers(text: string): readonly Edit[] {
  return [...text.matchAll(/\b(threadgroup|simdgroup)_barrier\([^)]*\);/g)].map(({ index, 0: found }) => ({
    class: "barrier_removed",
    begin: index,
    end: index + found.length,
    now: ";",
    what: `${found.replace(/;$/, "")} is removed`,
  }));
}

/** `if (guard) {`: taken always, or, where it only returns, never. */
function guards(text: string): readonly Edit[] {
  return [...text.matchAll(/\bif \(/g)].map(({ index }) => {
    const open = index + "if ".length;
    const close = closing(text, open);
    const guard = text.slice(open + 1, close);
    const leaves = /^\s*\{\s*return;\s*\}/.test(text.slice(close + 1));
    return {
      class: "guard_dropped",
      begin: open + 1,
      end: close,
      now: leaves ? "false" : "true",
      what: leaves ? `threads go on although ${guard}` : `what is done where ${guard} is done always`,
    };
  });
}

/** `guard ? value : neutral`, where the neutral value is 0 or -INFINITY. */
function choices(text: string): readonly Edit[] {
  const pattern = /([\w.+\-* ]+ (?:<|>|==) [\w.]+) \? ([^?;]+?) : (-INFINITY|0|0\.0f|float[24]\(0\.0f\))(?=[;,)])/g;
  return [...text.matchAll(pattern)].map((found) => {
    const [whole, guard = "", value = ""] = found;
    const lead = guard.length - guard.trimStart().length;
    // The pattern may begin before the guard: behind an assignment or `return` it begins.
    const from = Math.max(
      lead,
      ...["= ", "return "].map((word) => (guard.includes(word) ? guard.lastIndexOf(word) + word.length : 0)),
    );
    return {
      class: "guard_dropped",
      begin: found.index + from,
      end: found.index + whole.length,
      now: value,
      what: `the value is taken although not ${guard.slice(from)}`,
    };
  });
}

/** Every mutant of a source that its text gives, in the order of the text. */
export function siteMutants(operator: Operator, file: string, text: string): readonly Mutant[] {
  const isSilent = silent(text);
  return [...barriers(text), ...guards(text), ...choices(text)]
    .filter((edit) => !isSilent(edit.begin))
    .sort((a, b) => a.begin - b.begin)
    .map((edit) => {
      const line = lineOf(text, edit.begin);
      const column = edit.begin - text.lastIndexOf("\n", edit.begin - 1);
      return {
        id: `${edit.class}:${file}:${line}:${column}`,
        class: edit.class,
        operator,
        file,
        line,
        was: short(text.slice(edit.begin, edit.end)),
        now: short(edit.now),
        what: short(edit.what),
        text: text.slice(0, edit.begin) + edit.now + text.slice(edit.end),
      };
    });
}
