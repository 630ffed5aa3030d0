/** What the user asked for does not exist or does not fit: the message says what does, and the nearest name. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Edit distance of two words, for "did you mean". */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}

/** The name closest to `wanted`, without regard to case. Undefined for an empty list. */
export function nearest(wanted: string, names: readonly string[]): string | undefined {
  const lower = wanted.toLowerCase();
  const scored = names.map((name) => ({ name, distance: editDistance(lower, name.toLowerCase()) }));
  return scored.sort((a, b) => a.distance - b.distance)[0]?.name;
}

/** How many names an error lists before it gives their number instead. */
const LISTED = 24;

/** `No route is called "x". Nearest: y. Routes: ...` */
export function unknownName(kind: string, wanted: string, names: readonly string[]): UsageError {
  const close = nearest(wanted, names);
  const shown =
    names.slice(0, LISTED).join(", ") + (names.length > LISTED ? `, and ${names.length - LISTED} more` : "");
  const hint = close === undefined ? "" : ` Nearest: ${close}.`;
  return new UsageError(`No ${kind} is called "${wanted}".${hint} Names: ${shown}`);
}
