/**
 * Where C++ needs to be told what MSL takes for granted about an operand: swizzles that are read, literals whose
 * suffix clang does not know, and string literals, which lie in constant memory.
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
  const start = operandStart(syntax, index);
  const isRead = isBinaryOperator(syntax, index + 1) || isOperandEnd(syntax.text(index + 1));
  if (isRead && isUnaryOperator(syntax, start - 1)) {
    // `->*` binds looser than a unary operator: the operand is wrapped instead.
    edits.before(start, "::lockstep::rvalue(");
    edits.after(index, ")");
  } else if (isBinaryOperator(syntax, index + 1) || (isRead && isBinaryOperator(syntax, start - 1))) {
    edits.after(index, "->*::lockstep::unit");
  }
}

/**
 * A string literal is an array in constant memory; in C++ it has no address space, and a parameter `constant char*` does
 * not take it. It is converted wherever an expression may stand, unless it initialises an array.
 */
export function placeString(syntax: Syntax, index: number, edits: Edits): void {
  if (!/^(?:[=(,{?:]|return)$/.test(syntax.text(index - 1)) || syntax.text(index - 2) === "]") return;
  edits.before(index, "(constant char *)");
}

/** Calls whose strings are for the compiler: `static_assert(x, "why")`, `__attribute__((annotate("x")))`. */
export function takesPlainStrings(text: string): boolean {
  return text === "static_assert" || text === "_Static_assert" || text === "__attribute__";
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

/** `-`, `+`, `~` or `!` in front of an operand. */
function isUnaryOperator(syntax: Syntax, index: number): boolean {
  if (!/^[-+~!]$/.test(syntax.text(index))) return false;
  const before = syntax.text(index - 1);
  if (before === "return" || before === "case") return true;
  return !syntax.isIdentifier(index - 1) && syntax.tokens[index - 1]?.kind !== "number" && !/^[)\]]$/.test(before);
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
