/** Measuring on a shared, noisy machine: what is compared runs interleaved, and figures are medians. */

/** Milliseconds that `work` takes. */
export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/** Middle value; the mean of the two middle ones for an even count. Throws RangeError for an empty list. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("median of no values");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Times `a` and `b` in the order A B B A, `rounds` times after one unmeasured round, so that a drift of the machine hits
 * both alike. Resolves with the two medians in milliseconds.
 */
export async function sideBySide(
  a: () => Promise<unknown>,
  b: () => Promise<unknown>,
  rounds: number,
): Promise<{ readonly a: number; readonly b: number }> {
  await a();
  await b();
  const times: { a: number[]; b: number[] } = { a: [], b: [] };
  for (let round = 0; round < rounds; round++) {
    times.a.push(await milliseconds(a));
    times.b.push(await milliseconds(b));
    times.b.push(await milliseconds(b));
    times.a.push(await milliseconds(a));
  }
  return { a: median(times.a), b: median(times.b) };
}
