/** Scales of the charts: logarithmic axes with ticks at the decades, ticks of places, levels of a colour scale. Pure. */

export interface LogScale {
  /** log10 of both ends: whole decades. */
  readonly from: number;
  readonly to: number;
}

/** Decades that an axis shows at most; what lies below is drawn on the base line. */
const MOST_DECADES = 8;
/** Ticks of an axis at most. */
const MOST_TICKS = 6;

/** Whole decades around the finite magnitudes above 0. Without any: one decade, 0.1 to 1. */
export function logScaleOf(values: Iterable<number>): LogScale {
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  for (const value of values) {
    const magnitude = Math.abs(value);
    if (!(magnitude > 0) || magnitude === Number.POSITIVE_INFINITY) continue;
    if (magnitude < low) low = magnitude;
    if (magnitude > high) high = magnitude;
  }
  if (high === 0) return { from: -1, to: 0 };
  const to = Math.ceil(Math.log10(high)) + 0;
  const from = Math.min(to - 1, Math.floor(Math.log10(low)));
  return { from: Math.max(from, to - MOST_DECADES), to };
}

/** Place of a magnitude between 0 and 1; 0 lies at the base line, what is beyond the ends at them. */
export function logPlace({ from, to }: LogScale, value: number): number {
  const magnitude = Math.abs(value);
  if (magnitude === 0) return 0;
  return Math.min(1, Math.max(0, (Math.log10(magnitude) - from) / (to - from)));
}

/** Exponents of the ticks, at most six. */
export function decadeTicks({ from, to }: LogScale): readonly number[] {
  const step = Math.max(1, Math.ceil((to - from) / (MOST_TICKS - 1)));
  const ticks: number[] = [];
  for (let exponent = from; exponent <= to; exponent += step) ticks.push(exponent);
  return ticks;
}

/** `1e-3`, and `1`, `10`, `100` for small counts. */
export function decadeText(exponent: number): string {
  return exponent >= 0 && exponent <= 2 ? String(10 ** exponent) : `1e${exponent}`.replace("-", "−");
}

/** Places of an axis at which a number stands: round steps, the last place instead of a step close to it. */
export function indexTicks(length: number, most: number): readonly number[] {
  if (length <= 1) return [0];
  const steps = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 512];
  const wanted = (length - 1) / Math.max(1, most);
  let step = steps.find((candidate) => candidate >= wanted) ?? 1024;
  while (step < wanted) step *= 2;
  const ticks: number[] = [];
  for (let place = 0; place < length - 1 - step / 2; place += step) ticks.push(place);
  return [...ticks, length - 1];
}

/** Black and white point of a colour scale, and whether it runs over decades. */
export interface Range {
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
}

/** Place of a magnitude on a colour scale, 0 to 1; values outside clamp. */
export function rangePlace({ low, high, log }: Range, value: number): number {
  const magnitude = Math.abs(value);
  if (magnitude === 0) return 0;
  if (magnitude >= high) return 1;
  if (magnitude <= low) return 0;
  return log ? Math.log(magnitude / low) / Math.log(high / low) : (magnitude - low) / (high - low);
}
