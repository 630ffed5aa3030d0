/**
 * Constant expressions: indices of attributes (`[[function_constant(BASE + 1)]]`), thread limits that depend on
 * template arguments, and predicates of arguments.
 */
import type { Token } from "./tokens.ts";

/** What is read of a token. */
type ExpressionToken = Pick<Token, "text" | "spaced"> & { readonly kind: Token["kind"] | "directive" };

/** A value as the arithmetic of constant expressions here knows it. */
export type ConstantValue = number | boolean;

/** What names mean. Returning undefined makes the whole expression undefined. */
export interface Scope {
  readonly value: (name: string) => ConstantValue | undefined;
  /** For `is_function_constant_defined(name)`. */
  readonly isDefined?: (name: string) => boolean;
  /** What a function gives; without it calls are undefined. */
  readonly call?: (name: string, values: readonly number[]) => ConstantValue | undefined;
  /** How `/` divides: as in C, where whole numbers stay whole, or as in arithmetic. Default: `whole`. */
  readonly division?: "whole" | "real";
}

const NOTHING: Scope = { value: () => undefined };

/** Binary operators by precedence, loosest first. */
const LEVELS: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<", ">", "<=", ">="],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
];

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => ConstantValue>> = {
  "||": (a, b) => a !== 0 || b !== 0,
  "&&": (a, b) => a !== 0 && b !== 0,
  "|": (a, b) => a | b,
  "^": (a, b) => a ^ b,
  "&": (a, b) => a & b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "<<": (a, b) => a << b,
  ">>": (a, b) => a >> b,
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => (Number.isInteger(a) && Number.isInteger(b) ? Math.trunc(a / b) : a / b),
  "real /": (a, b) => a / b,
  "%": (a, b) => a % b,
};

/** The value of the tokens as a constant expression, or undefined if they are none that is known here. */
export function evaluate(tokens: readonly ExpressionToken[], scope: Scope = NOTHING): ConstantValue | undefined {
  const parser = new Parser(tokens, scope);
  const value = parser.conditional();
  return parser.atEnd() ? value : undefined;
}

/** As `evaluate`, for whole numbers. */
export function evaluateInteger(tokens: readonly Token[], scope: Scope = NOTHING): number | undefined {
  const value = evaluate(tokens, scope);
  const number = typeof value === "boolean" ? Number(value) : value;
  return number !== undefined && Number.isInteger(number) ? number : undefined;
}

/** A number literal of C++ or MSL (`0x1F`, `1.5h`, `3u`, `1e-3f`), or undefined. */
export function parseNumber(text: string): number | undefined {
  const plain = text.replaceAll("'", "");
  const integer = /^(0[xX][\da-fA-F]+|0[bB][01]+|\d+)[uUlL]*$/.exec(plain)?.[1];
  if (integer !== undefined) {
    return /^0\d/.test(integer) ? Number.parseInt(integer, 8) : Number(integer);
  }
  const real = /^(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(?:[fFhH]|bf|BF)?$/.exec(plain)?.[1];
  return real === undefined ? undefined : Number(real);
}

class Parser {
  #next = 0;
  readonly #tokens: readonly ExpressionToken[];
  readonly #scope: Scope;

  constructor(tokens: readonly ExpressionToken[], scope: Scope) {
    this.#tokens = tokens;
    this.#scope = scope;
  }

  atEnd(): boolean {
    return this.#next >= this.#tokens.length;
  }

  conditional(): ConstantValue | undefined {
    const condition = this.#binary(0);
    if (!this.#take("?")) return condition;
    const yes = this.conditional();
    if (!this.#take(":")) return undefined;
    const no = this.conditional();
    if (condition === undefined) return undefined;
    return condition ? yes : no;
  }

  #binary(level: number): ConstantValue | undefined {
    const operators = LEVELS[level];
    if (!operators) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = this.#operator();
      if (operator === undefined || !operators.includes(operator)) return left;
      this.#next += operator === ">>" || operator === ">=" || operator === "<<" ? this.#width(operator) : 1;
      const right = this.#binary(level + 1);
      const real = operator === "/" && this.#scope.division === "real";
      left = apply(real ? "real /" : operator, left, right);
    }
  }

  /** The operator here; `>>`, `>=` and `<<` arrive as single characters. */
  #operator(): string | undefined {
    const token = this.#tokens[this.#next];
    if (token?.kind !== "punctuator") return undefined;
    const following = this.#tokens[this.#next + 1];
    if (following && !following.spaced && following.kind === "punctuator") {
      const pair = token.text + following.text;
      if (pair === ">>" || pair === ">=" || pair === "<<") return pair;
    }
    return token.text;
  }

  #width(operator: string): number {
    return this.#tokens[this.#next]?.text === operator ? 1 : operator.length;
  }

  #unary(): ConstantValue | undefined {
    if (this.#take("-")) return negate(this.#unary());
    if (this.#take("+")) return this.#unary();
    if (this.#take("!")) {
      const value = this.#unary();
      return value === undefined ? undefined : !value;
    }
    if (this.#take("~")) {
      const value = this.#unary();
      return value === undefined ? undefined : ~Number(value);
    }
    return this.#primary();
  }

  #primary(): ConstantValue | undefined {
    const token = this.#tokens[this.#next];
    if (!token) return undefined;
    this.#next += 1;
    if (token.kind === "number") return parseNumber(token.text);
    if (token.text === "(") {
      const value = this.conditional();
      return this.#take(")") ? value : undefined;
    }
    if (token.kind !== "identifier") return undefined;
    if (token.text === "true") return true;
    if (token.text === "false") return false;
    if (token.text === "is_function_constant_defined" && this.#take("(")) {
      const name = this.#tokens[this.#next]?.text ?? "";
      this.#next += 1;
      if (!this.#take(")")) return undefined;
      return this.#scope.isDefined?.(name);
    }
    // A conversion such as `uint(3)` or `int(BASE)`.
    if (/^(?:bool|u?char|u?short|u?int|u?long|float|half|size_t)$/.test(token.text) && this.#take("(")) {
      const value = this.conditional();
      return this.#take(")") ? value : undefined;
    }
    if (this.#scope.call !== undefined && this.#take("(")) return this.#called(token.text, this.#scope.call);
    return this.#scope.value(token.text);
  }

  #called(name: string, call: NonNullable<Scope["call"]>): ConstantValue | undefined {
    const values: (ConstantValue | undefined)[] = [];
    if (!this.#take(")")) {
      do values.push(this.conditional());
      while (this.#take(","));
      if (!this.#take(")")) return undefined;
    }
    return values.includes(undefined) ? undefined : call(name, values.map(Number));
  }

  #take(text: string): boolean {
    if (this.#tokens[this.#next]?.text !== text) return false;
    this.#next += 1;
    return true;
  }
}

function negate(value: ConstantValue | undefined): number | undefined {
  return value === undefined ? undefined : -Number(value);
}

/** `a || true` is true and `a && false` is false whatever `a` is: predicates use this with undefined constants. */
function apply(
  operator: string,
  left: ConstantValue | undefined,
  right: ConstantValue | undefined,
): ConstantValue | undefined {
  if (operator === "||" && (left || right)) return true;
  if (operator === "&&" && ((left !== undefined && !left) || (right !== undefined && !right))) return false;
  if (left === undefined || right === undefined) return undefined;
  return OPERATIONS[operator]?.(Number(left), Number(right));
}
