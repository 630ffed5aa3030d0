/** Accesses that the instrumentation passes over: it knows 1, 2, 4, 8 and 16 bytes, and the compiler makes others. */
import type { Syntax } from "../msl/syntax.ts";

/** Elements of vectors of three components. Their loads and stores are seen where the compiler takes four instead. */
const ELEMENTS = ["float", "half", "bfloat", "int", "uint", "short", "ushort", "char", "uchar", "long", "ulong"];
const UNSEEN: ReadonlySet<string> = new Set([
  ...ELEMENTS.flatMap((name) => [`${name}3`, `packed_${name}3`]),
  "long4",
  "ulong4",
]);

/**
 * The first such vector that the source keeps in memory (behind a pointer or reference, in an array, as a member, as a
 * template argument); undefined if there is none. Values alone, such as a position in the grid, do no harm.
 */
export function unseenVector(syntax: Syntax): string | undefined {
  for (let i = 0; i < syntax.tokens.length; i += 1) {
    const name = syntax.text(i);
    if (!UNSEEN.has(name)) continue;
    const next = syntax.text(i + 1);
    const isArray = syntax.isIdentifier(i + 1) && syntax.text(i + 2) === "[" && !syntax.startsAttributes(i + 2);
    const isMember = syntax.isIdentifier(i + 1) && syntax.text(i + 2) === ";";
    if (next === "*" || next === "&" || next === ">" || isArray || isMember) return name;
  }
  return undefined;
}
