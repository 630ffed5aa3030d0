/**
 * Reads what Xcode's Metal debugger writes from its Counters tab: the whole tab as CSV (`Index,Encoder FunctionIndex,...`, one
 * row an encoder), or one of its lists copied as text with tabs (`Thumbnails`, `Name`, ...). Cells are numbers, with or
 * without a unit; what is no number is counted and stays text. A formula is text like any other: nothing is evaluated.
 */
import { CsvError, parse } from "csv-parse/sync";
import { type AttachedTable, AttachmentError, type AttachmentSummary, keptText } from "./attachment.ts";
import { SeriesStore } from "./series.ts";

export const CSV_LIMITS = { bytes: 32 * 1024 ** 2, columns: 2048, rows: 100_000, record: 1 << 20, notes: 20 } as const;

/** Columns that say what a row is, in both forms. */
const NAMES = [
  "Index",
  "Encoder FunctionIndex",
  "CommandBuffer Label",
  "Debug Group",
  "Encoder Label",
  "Thumbnails",
  "Name",
  "",
];

interface Line {
  readonly cells: readonly string[];
  readonly line: number;
}

/** `1.59`, `8,058 `, `0.00%`, `2.21 MiB`: figure and unit; undefined for what is no number. */
export function cellValue(cell: string): { readonly value: number; readonly unit: string | null } | undefined {
  const match = /^(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(%|[A-Za-zµ][A-Za-zµ/]{0,15})?$/.exec(
    cell.trim(),
  );
  if (match === null) return undefined;
  const value = Number(match[1]!.replaceAll(",", ""));
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined;
  return { value, unit: match[2] ?? null };
}

/** An encoder's label without the address that Xcode appends, and without the number that the text form puts first. */
export function encoderLabel(given: string, numbered: boolean): string {
  const plain = keptText(given.replace(/(?<!\s)\s+0x[0-9a-f]+\s*$/i, ""));
  return numbered ? plain.replace(/^\d+\s+/, "") : plain;
}

function linesOf(name: string, text: string): readonly Line[] {
  const head = text.slice(0, text.indexOf("\n") < 0 ? text.length : text.indexOf("\n"));
  const tabs = head.includes("\t");
  try {
    const records = parse(text, {
      delimiter: tabs ? "\t" : ",",
      quote: tabs ? null : '"',
      info: true,
      max_record_size: CSV_LIMITS.record,
      // The header, and one more than is allowed: what is beyond is refused, and would fill the memory before.
      to: CSV_LIMITS.rows + 2,
      relax_column_count: false,
      skip_empty_lines: true,
    }) as unknown as readonly { readonly record: readonly string[]; readonly info: { readonly lines: number } }[];
    return records.map(({ record, info }) => ({ cells: record, line: info.lines }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as { readonly lines?: number };
    const where = lines === undefined ? "" : `, line ${lines}`;
    throw new AttachmentError(
      `${name}${where}: ${error.message.replace(/ at line \d+/, "").replace(/ on line \d+/, "")}`,
    );
  }
}

interface Column {
  readonly name: string;
  readonly at: number;
}

/** The counters of the header. A name that stands twice counts once where both columns say the same in every row. */
function countersOf(name: string, head: Line, rows: readonly Line[]): { columns: readonly Column[]; repeated: number } {
  const columns: Column[] = [];
  let repeated = 0;
  for (const [at, cell] of head.cells.entries()) {
    const title = keptText(cell, 200);
    if (NAMES.includes(title)) continue;
    const before = columns.find((column) => column.name === title);
    if (before === undefined) {
      columns.push({ name: title, at });
      continue;
    }
    const other = rows.find((row) => row.cells[at] !== row.cells[before.at]);
    if (other !== undefined) {
      throw new AttachmentError(
        `${name}, line ${other.line}: the header has "${title}" as columns ${before.at + 1} and ${at + 1}, which differ here: one name, two counters`,
      );
    }
    repeated += 1;
  }
  return { columns, repeated };
}

/** Reads a whole file of counters. Throws AttachmentError, with the line, for what is none. */
export function readCounters(name: string, bytes: Uint8Array): AttachmentSummary {
  if (bytes.byteLength > CSV_LIMITS.bytes) {
    throw new AttachmentError(
      `${name}: ${bytes.byteLength.toLocaleString("en-US")} bytes; the limit of counters is ${CSV_LIMITS.bytes.toLocaleString("en-US")}`,
    );
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new AttachmentError(`${name}: bytes that are no UTF-8; export the counters again`);
  }
  const [head, ...rows] = linesOf(name, text);
  const titles = head?.cells.map((cell) => keptText(cell, 200)) ?? [];
  const whole = titles[0] === "Index" && titles.includes("Encoder FunctionIndex");
  const list = titles[0] === "Thumbnails" && titles[1] === "Name";
  if (head === undefined || (!whole && !list)) {
    throw new AttachmentError(
      `${name}, line 1: the header begins "${keptText(titles.slice(0, 3).join(", "), 80)}"; "Index, Encoder FunctionIndex" or "Thumbnails, Name" of Xcode's Counters tab is expected`,
    );
  }
  if (titles.length > CSV_LIMITS.columns)
    throw new AttachmentError(`${name}, line 1: ${titles.length} columns; the limit is ${CSV_LIMITS.columns}`);
  if (rows.length > CSV_LIMITS.rows)
    throw new AttachmentError(
      `${name}: more than ${CSV_LIMITS.rows.toLocaleString("en-US")} rows: export fewer encoders`,
    );
  const labelled = titles.indexOf(whole ? "Encoder Label" : "Name");
  if (labelled < 0) throw new AttachmentError(`${name}, line 1: no column "Encoder Label"`);
  return summaryOf(name, { head, rows, titles, whole, labelled });
}

interface Sheet {
  readonly head: Line;
  readonly rows: readonly Line[];
  readonly titles: readonly string[];
  readonly whole: boolean;
  readonly labelled: number;
}

/**
 * Whether figures of a list have a decimal point: Xcode prints them as the user's region does, and `8.058` may be eight thousand.
 * Shares tell it, for none has thousands. False where no share has decimals; then a figure with a sign stays text. Throws
 * AttachmentError for a decimal comma.
 */
function hasDecimalPoint(name: string, rows: readonly Line[]): boolean {
  let point = false;
  for (const { cells, line } of rows) {
    for (const cell of cells) {
      const sign = /\d([.,])\d+\s*%\s*$/.exec(cell)?.[1];
      if (sign === ",") {
        throw new AttachmentError(
          `${name}, line ${line}: "${keptText(cell, 40)}" has a decimal comma; export it with a region that has a decimal point`,
        );
      }
      point ||= sign === ".";
    }
  }
  return point;
}

function summaryOf(name: string, { head, rows, titles, whole, labelled }: Sheet): AttachmentSummary {
  const { columns, repeated } = countersOf(name, head, rows);
  const store = new SeriesStore((words) => {
    throw new AttachmentError(`${name}: ${words}`);
  });
  const labels = rows.map((row) => encoderLabel(row.cells[labelled] ?? "", !whole) || "no label");
  const notNumbers: string[] = [];
  let texts = 0;
  let zeros = 0;
  const sure = whole || hasDecimalPoint(name, rows);
  const readCell = (cell: string) => (sure || !/[.,]/.test(cell) ? cellValue(cell) : undefined);
  for (const column of columns) {
    const values = rows.map((row) => readCell(row.cells[column.at] ?? ""));
    // Most of the 240 counters belong to graphics and are 0 in every row of a compute workload.
    if (rows.length > 0 && values.every((found) => found?.value === 0)) {
      zeros += 1;
      continue;
    }
    for (const [index, row] of rows.entries()) {
      const cell = row.cells[column.at] ?? "";
      const found = values[index];
      if (found === undefined) {
        if (cell.trim() === "" || cell.trim() === "-") continue;
        texts += 1;
        if (notNumbers.length < CSV_LIMITS.notes)
          notNumbers.push(`line ${row.line}, ${column.name}: "${keptText(cell, 80)}"`);
        continue;
      }
      store.add(
        {
          table: 0,
          label: labels[index]!,
          process: null,
          channel: null,
          depth: null,
          quantity: column.name,
          unit: found.unit,
          // The whole tab prints shares and counts alike, without a unit: a sum of either could be of the other.
          summable: !whole && found.unit !== "%" && found.unit?.includes("/") !== true,
        },
        found.value,
      );
    }
  }
  const { series, left } = store.end();
  const table: AttachedTable = {
    name: whole ? "Counters, all" : "Counters, one list",
    place: null,
    rows: rows.length,
    columns: [...titles],
    read: "counters of each encoder, by its label",
    reason: null,
  };
  const notes = [
    whole
      ? "The file states no units: a counter's name is all that says what it counts"
      : "Units are those of the cells; figures are rounded to them",
    ...(repeated > 0 ? [`${repeated} names stand twice in the header with the same values; each counts once`] : []),
    ...(zeros > 0 ? [`${zeros} counters are 0 in every row and are not listed`] : []),
    ...(texts > 0 ? [`${texts} cells are no number and stay text: ${notNumbers.join("; ")}`] : []),
    ...(left > 0 ? [`${left.toLocaleString("en-US")} further series are not listed`] : []),
  ].map((note) => keptText(note, 2000));
  return {
    tool: { name: "Xcode Metal debugger", version: null },
    facts: [],
    tables: [table],
    series: [...series],
    left,
    notes,
  };
}
