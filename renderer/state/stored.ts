/** What the window remembers between visits: small JSON values, read as if a stranger had written them. */
import type * as z from "zod";

/** A value of another form, of an earlier version or none at all reads as `fallback`. */
export function parseStored<T>(schema: z.ZodType<T>, text: string | null, fallback: T): T {
  if (text === null) return fallback;
  try {
    const read = schema.safeParse(JSON.parse(text));
    return read.success ? read.data : fallback;
  } catch {
    return fallback;
  }
}

export function readStored<T>(key: string, schema: z.ZodType<T>, fallback: T): T {
  try {
    return parseStored(schema, localStorage.getItem(key), fallback);
  } catch {
    // Storage may be forbidden as a whole; the window works without memory.
    return fallback;
  }
}

export function writeStored(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Full or forbidden: the value holds until the window closes.
  }
}
