/** One line of the benchmark table: a figure, the figure it must beat, and what ran beside it in the same process run. */

export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: "ms" | "s" | "GiB" | "x";
  /** To beat; null where none is set. */
  readonly target: number | null;
  /** What `compared` is, measured interleaved in the same run, or a remark; null where nothing is compared. */
  readonly comparedWith: string | null;
  readonly compared: number | null;
}

function number(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function headLine(): string {
  return line("figure", "value", "to beat", "", "beside it", "ratio");
}

/** The row as text. `ratio` is value / compared. */
export function rowLine(row: BenchRow): string {
  const met = row.target === null ? "" : row.value <= row.target ? "met" : "missed";
  const target = row.target === null ? "" : `${number(row.target)} ${row.unit}`;
  const compared =
    row.compared === null ? (row.comparedWith ?? "") : `${row.comparedWith}: ${number(row.compared)} ${row.unit}`;
  const ratio = row.compared === null ? "" : number(row.value / row.compared);
  return line(row.name, `${number(row.value)} ${row.unit}`, target, met, compared, ratio);
}

function line(...cells: readonly [string, string, string, string, string, string]): string {
  const [name, value, target, met, compared, ratio] = cells;
  const row = `${name.padEnd(62)}${value.padStart(10)}${target.padStart(10)}  ${met.padEnd(7)} ${compared.padEnd(42)}${ratio.padStart(6)}`;
  return row.trimEnd();
}
