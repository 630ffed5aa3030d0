/**
 * Expressions of a manifest: sizes, geometry, values of buffers. The arithmetic of the language's constant expressions,
 * with real division (`1 / sqrt(D)` is what it says) and a few functions; a size must come out whole.
 */
import { evaluate } from "../../native/msl/expression.ts";
import { tokenise } from "../../native/msl/tokens.ts";
import { UsageError } from "../runs/usage.ts";

/** A number, or an expression over the manifest's sizes. */
export type Expression = number | string;

/** What names mean, by name. */
export type Sizes = Readonly<Record<string, number>>;

const FUNCTIONS: Readonly<Record<string, { readonly arity: number; readonly of: (a: number, b: number) => number }>> = {
  ceil: { arity: 1, of: Math.ceil },
  floor: { arity: 1, of: Math.floor },
  sqrt: { arity: 1, of: Math.sqrt },
  log2: { arity: 1, of: Math.log2 },
  exp2: { arity: 1, of: (a) => 2 ** a },
  abs: { arity: 1, of: Math.abs },
  min: { arity: 2, of: Math.min },
  max: { arity: 2, of: Math.max },
  /** `a` rounded up to a multiple of `b`. */
  round_up: { arity: 2, of: (a, b) => Math.ceil(a / b) * b },
  ceil_div: { arity: 2, of: (a, b) => Math.ceil(a / b) },
  floor_div: { arity: 2, of: (a, b) => Math.floor(a / b) },
};

const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ["inf", Number.POSITIVE_INFINITY],
  ["nan", Number.NaN],
]);

const FUNCTION_NAMES: readonly string[] = Object.keys(FUNCTIONS);

/** The value of an expression. Throws `UsageError` with `what`, the expression and what it may use. */
export function numberOf(expression: Expression, sizes: Sizes, what: string): number {
  if (typeof expression === "number") return expression;
  const unknown = new Set<string>();
  const value = evaluate(tokenise(expression), {
    division: "real",
    value: (name) => {
      const known = Object.hasOwn(sizes, name) ? sizes[name] : CONSTANTS.get(name);
      if (known === undefined) unknown.add(name);
      return known;
    },
    call: (name, values) => {
      const found = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
      if (found === undefined || values.length !== found.arity) {
        unknown.add(found === undefined ? `${name}()` : `${name}() with ${values.length} values`);
        return undefined;
      }
      return found.of(values[0]!, values[1] ?? 0);
    },
  });
  if (value !== undefined) return Number(value);
  const names = Object.keys(sizes).join(", ") || "none";
  const why = unknown.size > 0 ? `it names ${[...unknown].join(", ")}` : "it is no expression";
  throw new UsageError(
    `${what}: "${expression}" has no value: ${why}. Sizes: ${names}; functions: ${FUNCTION_NAMES.join(", ")}.`,
  );
}

/** A size: a whole number of at least `least`. Throws `UsageError` naming both sides. */
export function sizeOf(expression: Expression, sizes: Sizes, what: string, least = 0): number {
  const value = numberOf(expression, sizes, what);
  if (!Number.isSafeInteger(value) || value < least) {
    throw new UsageError(`${what}: "${expression}" is ${value}; it must be a whole number of at least ${least}.`);
  }
  return value;
}
