/**
 * Template arguments of an explicit instantiation that names none: `template [[host_name("f")]] kernel void
 * copy(device const half*, ...);` says by its parameters what the template's parameters stand for.
 */
import type { KernelDeclaration } from "./declarations.ts";
import type { Syntax } from "./syntax.ts";

type Range = readonly [number, number];

/**
 * The arguments in the order of the template's parameters, as token ranges of the instantiation; undefined if one
 * without a default cannot be read off. From the first parameter that is left to its default on, none is given.
 * @param open index of the `(` of the instantiation's parameter list
 */
export function deduceArguments(syntax: Syntax, kernel: KernelDeclaration, open: number): readonly Range[] | undefined {
  const names = new Set((kernel.template ?? []).map((parameter) => parameter.name));
  const found = new Map<string, Range>();
  const wanted = syntax.splitAtCommas(kernel.parametersStart, kernel.parametersEnd);
  const given = syntax.splitAtCommas(open + 1, syntax.close(open));
  if (!kernel.template || wanted.length !== given.length) return undefined;
  for (const [index, range] of wanted.entries()) {
    const other = given[index];
    if (other) matchTypes(syntax, range, other, names, found);
  }
  const ranges: Range[] = [];
  for (const parameter of kernel.template) {
    const range = found.get(parameter.name);
    if (range) ranges.push(range);
    else if (parameter.defaultRange) break;
    else return undefined;
  }
  return ranges;
}

/** Walks two spellings of one type side by side; where the first names a template parameter, the second says what it is. */
function matchTypes(
  syntax: Syntax,
  wanted: Range,
  given: Range,
  names: ReadonlySet<string>,
  found: Map<string, Range>,
) {
  let other = given[0];
  for (let i = wanted[0]; i < wanted[1] && other < given[1]; i += 1) {
    const text = syntax.text(i);
    if (names.has(text)) {
      const end = argumentEnd(syntax, other, given[1]);
      if (!found.has(text)) found.set(text, [other, end]);
      other = end;
    } else if (text === syntax.text(other)) other += 1;
    else return;
  }
}

/** End of the type or number at `start`: a qualified name with its template arguments, or one token. */
function argumentEnd(syntax: Syntax, start: number, limit: number): number {
  let end = start + 1;
  while (syntax.isIdentifier(end - 1) && end < limit) {
    if (syntax.text(end) === "::") end += 2;
    else if (syntax.text(end) === "<") {
      const close = syntax.closeAngle(end);
      return close > 0 ? close + 1 : end;
    } else if (/^(?:unsigned|signed)$/.test(syntax.text(end - 1)) && syntax.isIdentifier(end)) end += 1;
    else break;
  }
  return end;
}
