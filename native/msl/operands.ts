/**
 * Where C++ needs to be told what MSL takes for granted about an operand: swizzles that are read, and literals whose
 * suffix clang does not know.
 */
import type { Edits } from "./layout.ts";
import type { Syntax } from "./syntax.ts";

const SWIZZLE = /^(?:[xyzw]{2,4}|[rgba]{2,4})$/;
const BINARY_OPERATOR = /^(?:[-+*/%&|^<>]|<<|==|!=|<=|>=|&&|\|\|)$/;

/**
 * A swizzle is a property of the C++ class. Where its type depends on a template parameter, clang finds no operator for
 * `a.xy * b.yx`; behind `->* ::lockstep::unit` it is a value. Only operands of a binary operator are rewritten, and none
 * that is assigned to.
 */
export function readSwizzle(syntax: Syntax, index: number, edits: Edits): void {
  if (!SWIZZLE.test(syntax.text(index)) || !isMemberAccess(syntax.text(index - 1))) return;
  const next = syntax.text(index + 1);
  if (
    isBinaryOperator(syntax, index + 1) ||
    (isOperandEnd(next) && isBinaryOperator(syntax, operandStart(syntax, index) - 1))
  ) {
    edits.after(index, "->*::lockstep::unit");
  }
}

/** `1.5H` is `1.5h`, `1.5bf` is `1.5_bf`: the suffixes that the headers can define. */
export function writeLiteral(text: string, index: number, edits: Edits): void {
  if (/^0[xXbB]/.test(text) && !/[pP]/.test(text)) return;
  const written = text.replace(/(?:bf|BF)$/, "_bf").replace(/H$/, "h");
  if (written !== text) edits.replace(index, written);
}

function isMemberAccess(text: string): boolean {
  return text === "." || text === "->";
}

/** A token that ends an operand without using it further: no selection, call, index or assignment follows. */
function isOperandEnd(text: string): boolean {
  return text === ")" || text === "]" || text === "}" || text === ";" || text === "," || text === ":" || text === "?";
}

/** `>` is always a token of its own, so that `>>=` is three of them and the only assignment among these. */
function isBinaryOperator(syntax: Syntax, index: number): boolean {
  const assigns = syntax.text(index) === ">" && syntax.text(index + 1) === ">" && syntax.text(index + 2) === "=";
  return BINARY_OPERATOR.test(syntax.text(index)) && !assigns;
}

/** First token of the postfix expression that the member at `index` ends. */
function operandStart(syntax: Syntax, index: number): number {
  const opened = (end: number): number => (/^[)\]]$/.test(syntax.text(end)) ? (syntax.partner[end] ?? -1) : end);
  for (let start = index; start > 0; ) {
    const before = syntax.text(start - 1);
    const isSuffix = /^[([]$/.test(syntax.text(start)) && (syntax.isIdentifier(start - 1) || /^[)\]]$/.test(before));
    if (isMemberAccess(before) || before === "::") start = opened(start - 2);
    else if (isSuffix) start = opened(start - 1);
    else return start;
  }
  return 0;
}
