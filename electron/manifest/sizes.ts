/** The sizes of a manifest, evaluated in their order, with those that the command line sets. */
import { UsageError } from "../runs/usage.ts";
import { type Expression, numberOf, type Sizes } from "./expression.ts";

/**
 * Values by name. `overrides` replace sizes that the manifest states. Throws `UsageError` for an override of a size that
 * is not there, and for an expression that uses a later one.
 */
export function evaluateSizes(stated: Readonly<Record<string, Expression>> = {}, overrides: Sizes = {}): Sizes {
  for (const name of Object.keys(overrides)) {
    if (Object.hasOwn(stated, name)) continue;
    const known = Object.keys(stated).join(", ") || "none";
    throw new UsageError(`The manifest states no size "${name}" to set; it states ${known}.`);
  }
  const sizes: Record<string, number> = {};
  for (const [name, expression] of Object.entries(stated)) {
    sizes[name] = overrides[name] ?? numberOf(expression, sizes, `size ${name}`);
  }
  return sizes;
}
