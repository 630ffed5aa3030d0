/** Values gathered by label: count, sum, smallest, median and largest of each, nothing else. Bounded memory. */
import { createHash } from "node:crypto";
import { ATTACHMENT_LIMITS, type AttachedSeries } from "./attachment.ts";

/** What tells one series from another. */
export type SeriesKey = Pick<
  AttachedSeries,
  "table" | "label" | "process" | "channel" | "depth" | "quantity" | "unit"
> & {
  /** False for shares and states. */
  readonly summable: boolean;
};

/** Values of all series together: 64 MiB of float64. */
const MOST_VALUES = 8 * 1024 ** 2;

class Values {
  #values = new Float64Array(16);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  push(value: number): void {
    if (this.#count === this.#values.length) {
      const grown = new Float64Array(this.#values.length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#count++] = value;
  }

  /** Sorts what is there; nothing may be pushed afterwards. */
  figures(summable: boolean): Pick<AttachedSeries, "count" | "sum" | "min" | "median" | "max"> {
    const all = this.#values.subarray(0, this.#count);
    let sum = 0;
    for (const value of all) sum += value;
    all.sort();
    const half = this.#count >> 1;
    const upper = all[half]!;
    const median = this.#count % 2 === 1 ? upper : all[half - 1]! + (upper - all[half - 1]!) / 2;
    const kept = summable && Math.abs(sum) <= Number.MAX_SAFE_INTEGER;
    return { count: this.#count, sum: kept ? sum : null, min: all[0]!, median, max: all[this.#count - 1]! };
  }
}

export class SeriesStore {
  readonly #series = new Map<string, { readonly key: SeriesKey; readonly values: Values }>();
  readonly #left = new Set<string>();
  readonly #overflow: (words: string) => never;
  #total = 0;

  /** `overflow` gets the words of a limit and throws. */
  constructor(overflow: (words: string) => never) {
    this.#overflow = overflow;
  }

  /** Adds a value. Series beyond the limit of a summary are counted and not kept. */
  add(key: SeriesKey, value: number): void {
    const { table, label, process, channel, depth, quantity, unit } = key;
    const name = [table, process ?? "", channel ?? "", depth ?? "", quantity, unit ?? "", label].join("\u0000");
    let found = this.#series.get(name);
    if (found === undefined) {
      if (this.#series.size >= ATTACHMENT_LIMITS.series) {
        // Names are remembered up to sixteen times as many, by their digests; beyond that their number is a lower bound.
        if (this.#left.size < 16 * ATTACHMENT_LIMITS.series) {
          this.#left.add(createHash("sha256").update(name).digest("base64"));
        }
        return;
      }
      found = { key, values: new Values() };
      this.#series.set(name, found);
    }
    if (++this.#total > MOST_VALUES) this.#overflow(`more than ${MOST_VALUES.toLocaleString("en-US")} values`);
    found.values.push(value);
  }

  /** Series in the order of their tables, the largest sum first, then by name. */
  end(): { readonly series: readonly AttachedSeries[]; readonly left: number } {
    const series = [...this.#series.values()].map(({ key, values }): AttachedSeries => {
      const { summable, ...named } = key;
      return { ...named, ...values.figures(summable) };
    });
    const weight = (entry: AttachedSeries): number => entry.sum ?? entry.max;
    series.sort(
      (a, b) =>
        a.table - b.table ||
        weight(b) - weight(a) ||
        compare(a.label, b.label) ||
        compare(a.quantity, b.quantity) ||
        compare(a.unit ?? "", b.unit ?? "") ||
        compare(a.process ?? "", b.process ?? "") ||
        compare(a.channel ?? "", b.channel ?? "") ||
        (a.depth ?? -1) - (b.depth ?? -1),
    );
    return { series, left: this.#left.size };
  }
}

/** By code units: the order may not depend on the machine's language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
