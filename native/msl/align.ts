/**
 * Columns. A preprocessor closes up white space and expands macros, so its columns are not those of the file. Here each
 * preprocessed line is laid beside the line it came from: tokens that occur in both keep the author's column, tokens
 * out of a macro take the column of the macro's name.
 */
import type { RawToken } from "./tokens.ts";

/** Above this many cells the alignment of one line stops being worth its time and only equal prefixes are matched. */
const MAX_CELLS = 250_000;

/**
 * Columns (1-based) in the author's line for each token of the preprocessed line.
 * @param output tokens of the preprocessed line, in order
 * @param original tokens of the same line of the file, in order; empty if unknown
 */
export function alignColumns(output: readonly RawToken[], original: readonly RawToken[]): number[] {
  if (original.length === 0) return output.map((token) => token.column);
  const partner = match(output, original);
  const kept = new Set(partner);
  const owners = macroCalls(original, kept);
  let next = 0;
  return output.map((token, position) => {
    const index = partner[position] ?? -1;
    if (index >= 0) {
      next = index + 1;
      return original[index]?.column ?? 1;
    }
    // Without a partner the token came out of a macro: the one written here, or the one whose arguments these are.
    const here = Math.min(next, original.length - 1);
    const isMacro = original[here]?.kind === "identifier" && !kept.has(here);
    const call = isMacro ? undefined : (owners.get(here) ?? owners.get(here - 1));
    const argument =
      call &&
      original.slice(call.name + 1, call.end).find((one) => one.kind === "identifier" && one.text === token.text);
    return (argument ?? original[call?.name ?? here])?.column ?? 1;
  });
}

interface MacroCall {
  /** Indices of the macro's name and of what follows its closing parenthesis. */
  readonly name: number;
  readonly end: number;
}

/** The outermost macro call around each token: a name that is not in the output, with its parentheses. */
function macroCalls(original: readonly RawToken[], kept: ReadonlySet<number>): ReadonlyMap<number, MacroCall> {
  const owners = new Map<number, MacroCall>();
  for (let i = 0; i < original.length; i += 1) {
    if (original[i]?.kind !== "identifier" || kept.has(i) || original[i + 1]?.text !== "(") continue;
    let depth = 0;
    let end = i + 1;
    for (; end < original.length; end += 1) {
      if (original[end]?.text === "(") depth += 1;
      if (original[end]?.text === ")") depth -= 1;
      if (depth === 0) break;
    }
    const call = { name: i, end: end + 1 };
    for (let inside = i; inside < call.end; inside += 1) owners.set(inside, call);
    i = end;
  }
  return owners;
}

/** For each output token the index of its partner in `original`, or -1: a longest common subsequence. */
function match(output: readonly RawToken[], original: readonly RawToken[]): Int32Array {
  const partner = new Int32Array(output.length).fill(-1);
  let head = 0;
  while (head < output.length && head < original.length && output[head]?.text === original[head]?.text) {
    partner[head] = head;
    head += 1;
  }
  let tail = 0;
  while (
    tail < Math.min(output.length, original.length) - head &&
    output[output.length - 1 - tail]?.text === original[original.length - 1 - tail]?.text
  ) {
    tail += 1;
    partner[output.length - tail] = original.length - tail;
  }
  const rows = output.length - head - tail;
  const width = original.length - head - tail + 1;
  if (rows <= 0 || width <= 1 || rows * width > MAX_CELLS) return partner;

  /** `length[r * width + c]`: longest common subsequence of the tokens from row r and column c on. */
  const length = new Uint16Array((rows + 1) * width);
  for (let r = rows - 1; r >= 0; r -= 1) {
    for (let c = width - 2; c >= 0; c -= 1) {
      const same = output[head + r]?.text === original[head + c]?.text;
      const skip = Math.max(length[(r + 1) * width + c] ?? 0, length[r * width + c + 1] ?? 0);
      length[r * width + c] = same ? Math.max(skip, (length[(r + 1) * width + c + 1] ?? 0) + 1) : skip;
    }
  }
  for (let r = 0, c = 0; r < rows && c < width - 1; ) {
    const here = length[r * width + c] ?? 0;
    const same = output[head + r]?.text === original[head + c]?.text;
    if (same && here === (length[(r + 1) * width + c + 1] ?? 0) + 1) {
      partner[head + r] = head + c;
      r += 1;
      c += 1;
    } else if ((length[r * width + c + 1] ?? 0) === here) c += 1;
    else r += 1;
  }
  return partner;
}
