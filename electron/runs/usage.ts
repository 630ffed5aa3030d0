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

/** The name closest to `wanted`, or that begins like it, without regard to case. Undefined for an empty list. */
export function nearest(wanted: string, names: readonly string[]): string | undefined {
  const lower = wanted.toLowerCase();
  const distanceTo = (name: string): number =>
    Math.min(editDistance(lower, name), editDistance(lower, name.slice(0, lower.length)) + 0.5);
  const scored = names.map((name) => ({ name, distance: distanceTo(name.toLowerCase()) }));
  return scored.sort((a, b) => a.distance - b.distance)[0]?.name;
}

/** How many characters of names an error lists before it gives their number instead. */
const LISTED = 320;

/** `No route is called "x". Nearest: y. Names: ...` `others` are names that are taken too, but not listed. */
export function unknownName(
  kind: string,
  wanted: string,
  names: readonly string[],
  others: readonly string[] = [],
): UsageError {
  const close = nearest(wanted, [...names, ...others]);
  let listed = 0;
  for (let length = 0; listed < names.length && length <= LISTED; listed++) length += names[listed]!.length + 2;
  const rest = names.length - listed;
  const shown = names.slice(0, listed).join(", ") + (rest > 0 ? `, and ${rest} more` : "");
  const hint = close === undefined ? "" : ` Nearest: ${close}.`;
  return new UsageError(`No ${kind} is called "${wanted}".${hint} Names: ${shown}`);
}
