/**
 * Casts between half and bfloat. clang has no conversion between its two 16-bit floating types, MSL has an explicit one
 * (through float, which holds both). Casts to a type that may be one of them become `::lockstep::cast<T>(x)`.
 */
import type { Edits } from "./layout.ts";
import type { Syntax } from "./syntax.ts";

const CAST = "::lockstep::cast";

/** What may stand in front of `T(x)` where it is an expression, not a declaration. */
const BEFORE_EXPRESSION = /^(?:[-+*/%&|^!~<>=(,?:[{]|==|!=|<=|&&|\|\||<<|[-+*/%&|^]=|<<=|return|case)$/;

/** Identifiers in front of `(T)` that do not make it a parameter list or an argument. */
const BEFORE_OPERAND: ReadonlySet<string> = new Set(["return", "case", "else", "do"]);

/**
 * Names of types of which a cast has to be watched: half, bfloat, other names for them, and type parameters of
 * templates. Empty if the unit does not use both, so that nothing is rewritten.
 */
export function castNames(syntax: Syntax): ReadonlySet<string> {
  const basic = ["half", "bfloat"];
  const used = new Set<string>();
  for (const token of syntax.tokens) if (basic.includes(token.text)) used.add(token.text);
  if (used.size < basic.length) return new Set();
  const names = new Set(basic);
  for (let i = 0; i < syntax.tokens.length; i += 1) {
    const text = syntax.text(i);
    if (text === "template" && syntax.text(i + 1) === "<") addTypeParameters(syntax, i + 1, names);
    else if (text === "using" && syntax.text(i + 2) === "=" && mayBe(syntax, i + 3, names)) {
      names.add(syntax.text(i + 1));
    } else if (text === "typedef" && mayBe(syntax, i + 1, names)) {
      let end = i + 1;
      while (end < syntax.tokens.length && syntax.text(end) !== ";") end += 1;
      if (syntax.isIdentifier(end - 1)) names.add(syntax.text(end - 1));
    }
  }
  return names;
}

function addTypeParameters(syntax: Syntax, open: number, names: Set<string>): void {
  const close = syntax.closeAngle(open);
  for (let i = open + 1; i < close; i += 1) {
    const introduces = syntax.text(i) === "typename" || syntax.text(i) === "class";
    if (introduces && syntax.isIdentifier(i + 1) && /^[,>=]$/.test(syntax.text(i + 2))) names.add(syntax.text(i + 1));
  }
}

/** True if the type at `index` is a watched name or depends on one. */
function mayBe(syntax: Syntax, index: number, names: ReadonlySet<string>): boolean {
  let at = index;
  while (syntax.text(at + 1) === "::") at += 2;
  return syntax.text(at) === "typename" || (names.has(syntax.text(at)) && syntax.isIdentifier(at));
}

/** Rewrites the cast that starts at `index`, if one does. */
export function writeCast(syntax: Syntax, index: number, names: ReadonlySet<string>, edits: Edits): void {
  const text = syntax.text(index);
  if (text === "static_cast") {
    const isPlain = names.has(syntax.text(index + 2)) && syntax.text(index + 3) === ">";
    if (isPlain) edits.replace(index, CAST);
  } else if (names.has(text)) writeFunctional(syntax, index, edits);
  else if (text === "(" && names.has(syntax.text(index + 1)) && syntax.text(index + 2) === ")") {
    writePrefix(syntax, index, edits);
  }
}

/** `T(x)` with one argument. */
function writeFunctional(syntax: Syntax, index: number, edits: Edits): void {
  if (syntax.text(index + 1) !== "(" || !BEFORE_EXPRESSION.test(syntax.text(index - 1))) return;
  const close = syntax.close(index + 1);
  const isDeclarator = /^[([]$/.test(syntax.text(close + 1)) || /^[*&]$/.test(syntax.text(close - 1));
  if (isDeclarator || syntax.splitAtCommas(index + 2, close).length !== 1) return;
  if (syntax.text(index - 1) === "{" && syntax.text(close + 1) === ";") return;
  edits.before(index, `${CAST}<`);
  edits.after(index, ">");
}

/** `(T)x`: the operand is what a unary operator would take. */
function writePrefix(syntax: Syntax, index: number, edits: Edits): void {
  if (!mayBeCast(syntax, index)) return;
  const end = operandEnd(syntax, index + 3);
  if (end < 0) return;
  edits.replace(index, `${CAST}<`);
  edits.replace(index + 2, ">(");
  edits.after(end, ")");
}

/** False if what stands before `(T)` makes it an argument or a parameter list. */
function mayBeCast(syntax: Syntax, index: number): boolean {
  const before = syntax.text(index - 1);
  // Behind another cast: `(float)(half)x`.
  if (before === ")") {
    return syntax.close(index - 1) === index - 3 && syntax.isIdentifier(index - 2) && mayBeCast(syntax, index - 3);
  }
  return !/^[\]>]$/.test(before) && (!syntax.isIdentifier(index - 1) || BEFORE_OPERAND.has(before));
}

/** Last token of the cast expression at `start`, or -1 if there is none. */
function operandEnd(syntax: Syntax, start: number): number {
  let i = start;
  while (/^(?:[-+!~*&]|\+\+|--)$/.test(syntax.text(i))) i += 1;
  if (syntax.text(i) === "(") {
    const close = syntax.close(i);
    const next = syntax.tokens[close + 1];
    // A value is never followed by a word or a number: what the parentheses hold is a type, and this another cast.
    if (next?.kind === "identifier" || next?.kind === "number") return operandEnd(syntax, close + 1);
    i = close;
  } else if (syntax.isIdentifier(i)) {
    while (syntax.text(i + 1) === "::") i += 2;
  } else if (syntax.tokens[i]?.kind !== "number") return -1;
  for (;;) {
    const next = syntax.text(i + 1);
    if (next === "(" || next === "[") i = syntax.close(i + 1);
    else if (next === "." || next === "->") i += syntax.text(i + 2) === "template" ? 3 : 2;
    else if (next === "++" || next === "--") i += 1;
    else if (next === "<" && syntax.isIdentifier(i)) {
      const close = syntax.closeAngle(i + 1);
      if (close < 0 || !/^(?:\(|\{|::)$/.test(syntax.text(close + 1))) return i;
      i = syntax.text(close + 1) === "::" ? close + 2 : close;
    } else return i;
  }
}
