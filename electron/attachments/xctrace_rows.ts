/** Rows of an export: elements to values, values to series. */
import { type AttachedSeries, keptText } from "./attachment.ts";
import type { SeriesStore } from "./series.ts";
import { COUNTER_TABLE, KEPT_TAGS, type TableSpec } from "./xctrace_tables.ts";
import type { ValueTable } from "./xctrace_values.ts";

/** A table whose rows are read. */
export interface OpenTable {
  readonly index: number;
  readonly columns: readonly { readonly mnemonic: string; readonly type: string }[];
  /** Null where it is not read. */
  readonly spec: TableSpec | null;
  readonly counters: boolean;
}

interface Frame {
  readonly tag: string;
  readonly ref: string | undefined;
  readonly id: string | undefined;
  readonly fmt: string | undefined;
  text: string;
  /** Text of the first `<string>` in it: a label without the process that Instruments appends. */
  inner: string | null;
}

type Cell = number | string | null;

/** A figure and its unit are no longer; a search for them in a longer text would take the square of its length. */
const PRINTED_CHARACTERS = 100;

/** `2.1%` of `2.1% (share of cores ...)`; figure and unit. */
const PRINTED = /^(-?[\d,]*\.?\d+)\s*(%|[A-Za-z][A-Za-z/]{0,15})(?=\s|\(|$)/;

/**
 * A label without what Instruments prints behind it: `( process (pid) )` and the number of the submission. A run of spaces is
 * looked at once, from its begin, for a label may be a megabyte of them.
 */
export function plainLabel(label: string): string {
  return label.replace(/(?<!\s)\s+0x[0-9a-f]+\s*$/i, "").replace(/(?<!\s)\s+\([^()]*\(\d+\)\s*\)\s*$/, "");
}

export class RowReader {
  readonly #values: ValueTable;
  readonly #series: SeriesStore;
  readonly #refuse: (words: string) => never;
  readonly #frames: Frame[] = [];
  #table: OpenTable | null = null;
  #cells: Cell[] = [];
  readonly #counters = new Map<number, { readonly name: string; readonly type: string }>();
  #withoutUnit = 0;
  #withoutValue = 0;
  #numbered = false;

  constructor(values: ValueTable, series: SeriesStore, refuse: (words: string) => never) {
    this.#values = values;
    this.#series = series;
    this.#refuse = refuse;
  }

  /** True within a row. */
  get open(): boolean {
    return this.#table !== null;
  }

  begin(table: OpenTable): void {
    this.#table = table;
    this.#cells = [];
  }

  element(tag: string, attributes: Readonly<Record<string, string>>): void {
    this.#frames.push({ tag, ref: attributes.ref, id: attributes.id, fmt: attributes.fmt, text: "", inner: null });
  }

  text(text: string): void {
    const frame = this.#frames.at(-1);
    if (frame !== undefined && frame.text === "") frame.text = text;
  }

  /** An element of the row ended; `depth` is that of its cell, 0 for the cell itself. */
  close(depth: number): void {
    const frame = this.#frames.pop()!;
    const value = this.#valueOf(frame);
    if (depth === 0) this.#take(frame, value);
    else if (frame.tag === "string") {
      const outer = this.#frames.at(-1)!;
      outer.inner ??= typeof value === "string" ? value : null;
    }
  }

  #valueOf({ tag, ref, id, fmt, text, inner }: Frame): Cell {
    const kept = KEPT_TAGS.get(tag);
    if (kept === undefined) return null;
    if (ref !== undefined) {
      const value = this.#values.get(ref, kept.code, tag);
      return kept.kind === "text" ? this.#values.text(value) : value;
    }
    if (kept.kind === "text") {
      const printed = text.trim() === "" ? (fmt ?? "") : text;
      const named = tag === "process" ? (fmt ?? text) : (inner ?? printed);
      const value = keptText(tag === "formatted-label" && inner === null ? plainLabel(named) : named);
      if (id !== undefined) this.#values.set(id, kept.code, this.#values.keep(value));
      return value;
    }
    const plain = text.trim();
    if (plain === "") return null;
    const value = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(plain) ? Number(plain) : Number.NaN;
    if (!Number.isFinite(value)) this.#refuse(`<${tag}> holds "${keptText(plain, 60)}"; a number is expected`);
    if (id !== undefined) this.#values.set(id, kept.code, value);
    return value;
  }

  #take({ tag }: Frame, value: Cell): void {
    const table = this.#table!;
    if (!table.counters && table.spec === null) return;
    const column = table.columns[this.#cells.length];
    if (column === undefined) {
      this.#refuse(`a row with more than the ${table.columns.length} columns of its schema: <${keptText(tag, 60)}>`);
    }
    if (tag !== "sentinel" && column.type !== "" && column.type !== tag) {
      this.#refuse(`<${keptText(tag, 60)}> in the column ${column.mnemonic}; <${column.type}> is expected`);
    }
    this.#cells.push(tag === "sentinel" ? null : value);
  }

  end(): void {
    const table = this.#table!;
    this.#table = null;
    if (!table.counters && table.spec === null) return;
    if (this.#cells.length !== table.columns.length) {
      this.#refuse(`a row of ${this.#cells.length} values; its schema has ${table.columns.length} columns`);
    }
    if (table.counters) this.#counter(table);
    if (table.spec !== null) this.#row(table, table.spec);
  }

  #cell(table: OpenTable, mnemonic: string | null): Cell {
    return mnemonic === null
      ? null
      : (this.#cells[table.columns.findIndex((each) => each.mnemonic === mnemonic)] ?? null);
  }

  #row(table: OpenTable, spec: TableSpec): void {
    const value = this.#cell(table, spec.value);
    if (typeof value !== "number") {
      this.#withoutValue += 1;
      return;
    }
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) this.#refuse(`${spec.value} is beyond 2^53`);
    const text = (mnemonic: string | null): string | null => {
      const cell = this.#cell(table, mnemonic);
      return typeof cell === "string" ? cell : null;
    };
    const depth = this.#cell(table, spec.depth);
    const named = this.#cell(table, spec.label);
    const numbered = spec.unit.kind === "counter";
    this.#numbered ||= numbered;
    this.#series.add(
      {
        table: table.index,
        label:
          spec.label === null
            ? spec.quantity
            : named === null
              ? "no label"
              : numbered
                ? `counter ${named}`
                : String(named),
        process: text(spec.process),
        channel: text(spec.channel),
        depth: typeof depth === "number" && Number.isSafeInteger(depth) && depth >= 0 ? depth : null,
        quantity: spec.quantity,
        unit:
          spec.unit.kind === "fixed"
            ? spec.unit.unit
            : spec.unit.kind === "label"
              ? this.#printedUnit(text(spec.unit.column), value)
              : null,
        summable: spec.summable,
      },
      value,
    );
  }

  /** The unit that the label prints behind the value. Null where the printed figure is another: then it is scaled, or not its. */
  #printedUnit(label: string | null, value: number): string | null {
    const match = label === null ? null : PRINTED.exec(label.slice(0, PRINTED_CHARACTERS));
    const figure = match === null ? Number.NaN : Number(match[1]!.replaceAll(",", ""));
    const digits = match?.[1]?.split(".")[1]?.length ?? 0;
    if (Math.abs(figure - value) <= 0.5 * 10 ** -digits + 1e-9 * Math.abs(value)) return match![2]!;
    this.#withoutUnit += 1;
    return null;
  }

  #counter(table: OpenTable): void {
    const id = this.#cell(table, COUNTER_TABLE.id);
    const name = this.#cell(table, COUNTER_TABLE.name);
    const type = this.#cell(table, COUNTER_TABLE.type);
    if (typeof id !== "number" || typeof name !== "string") return;
    if (this.#counters.size < 4096) this.#counters.set(id, { name, type: typeof type === "string" ? type : "" });
  }

  /** Counters by their name, where the file has the table of names. It may stand behind the values. */
  named(series: readonly AttachedSeries[]): AttachedSeries[] {
    return series.map((entry) => {
      const id = entry.quantity === "counter" ? /^counter (\d+)$/.exec(entry.label)?.[1] : undefined;
      const info = id === undefined ? undefined : this.#counters.get(Number(id));
      if (info === undefined) return entry;
      return {
        ...entry,
        label: keptText(`${info.name} (counter ${id})`),
        unit: info.type === "Percentage" ? "%" : null,
      };
    });
  }

  notes(): readonly string[] {
    const notes: string[] = [];
    if (this.#numbered && this.#counters.size === 0) {
      notes.push("Counters have numbers only: export gpu-counter-info in the same file for their names");
    }
    if (this.#withoutUnit > 0) {
      notes.push(
        `${this.#withoutUnit.toLocaleString("en-US")} values of counters have no unit: none is printed behind the value`,
      );
    }
    if (this.#withoutValue > 0) {
      notes.push(`${this.#withoutValue.toLocaleString("en-US")} rows have no value and are in no series`);
    }
    return notes;
  }
}
