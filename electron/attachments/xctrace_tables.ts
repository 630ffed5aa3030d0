/**
 * Tables of an `xctrace export` that are read, with the columns that each needs. Apple documents neither tables nor columns;
 * names and types are those of exports made with Instruments 16 to 27 that are public (see docs/attached-evidence.md). A table
 * that is not here is listed with its rows and not read.
 */

/** Where the unit of a value comes from. */
export type UnitFrom =
  | { readonly kind: "fixed"; readonly unit: string }
  /** From the printed label, where its figure is the value: `2.1% (...)`. */
  | { readonly kind: "label"; readonly column: string }
  /** From the table of counters, where the file holds it. */
  | { readonly kind: "counter" };

export interface TableSpec {
  readonly schema: string;
  /** What is read, in words. */
  readonly read: string;
  /** Column that names a series; null where the quantity is its own label. */
  readonly label: string | null;
  readonly value: string;
  readonly quantity: string;
  readonly unit: UnitFrom;
  readonly process: string | null;
  readonly channel: string | null;
  readonly depth: string | null;
  /** False for shares and states, whose sum says nothing. */
  readonly summable: boolean;
}

const NANOSECONDS: UnitFrom = { kind: "fixed", unit: "ns" };

export const XCTRACE_TABLES: readonly TableSpec[] = [
  {
    schema: "metal-gpu-intervals",
    read: "GPU time of each encoder, by its label",
    label: "event-label",
    value: "duration",
    quantity: "duration",
    unit: NANOSECONDS,
    process: "process",
    channel: "channel-name",
    depth: "event-depth",
    summable: true,
  },
  {
    schema: "metal-shader-profiler-intervals",
    read: "sampled time of each shader (Shader Timeline), by its name",
    label: "name",
    value: "duration",
    quantity: "sample duration",
    unit: NANOSECONDS,
    process: "process",
    channel: "channel-name",
    depth: "event-depth",
    summable: true,
  },
  {
    schema: "metal-gpu-counter-intervals",
    read: "GPU counters of the whole machine, by their name",
    label: "name",
    value: "value",
    quantity: "counter",
    unit: { kind: "label", column: "label" },
    process: null,
    channel: null,
    depth: null,
    summable: false,
  },
  {
    schema: "gpu-counter-value",
    read: "GPU counters of the whole machine, by their number",
    label: "counter-id",
    value: "value",
    quantity: "counter",
    unit: { kind: "counter" },
    process: null,
    channel: null,
    depth: null,
    summable: false,
  },
  {
    schema: "gpu-performance-state-intervals",
    read: "time in each performance state of the GPU",
    label: "gpu-performance-state",
    value: "duration",
    quantity: "duration",
    unit: NANOSECONDS,
    process: null,
    channel: null,
    depth: null,
    summable: true,
  },
  {
    schema: "metal-gpu-state-intervals",
    read: "time in which the GPU was active and idle, for the whole machine",
    label: "state",
    value: "duration",
    quantity: "duration",
    unit: NANOSECONDS,
    process: null,
    channel: null,
    depth: null,
    summable: true,
  },
  {
    schema: "graphics-compiler-spill-events",
    read: "bytes that the compiler spilled, for each encoder that ran such a pipeline",
    label: null,
    value: "spilled-bytes",
    quantity: "spilled bytes",
    unit: { kind: "fixed", unit: "B" },
    process: "process",
    channel: null,
    depth: null,
    summable: false,
  },
];

/** The table that names the counters: number, name and type. */
export const COUNTER_TABLE = { schema: "gpu-counter-info", id: "counter-id", name: "name", type: "type" } as const;

/** Elements whose text is a number. The others that are read are texts. */
const NUMBER_TAGS: readonly string[] = [
  "duration",
  "fixed-decimal",
  "percent",
  "uint32",
  "uint64",
  "metal-nesting-level",
  "size-in-bytes",
];

const TEXT_TAGS: readonly string[] = [
  "formatted-label",
  "process",
  "gpu-channel-name",
  "gpu-counter-name",
  "gpu-performance-state",
  "gpu-state",
  "metal-object-label",
  "string",
];

/** Elements that columns may refer to by number; what is no column's is not kept. */
export const KEPT_TAGS: ReadonlyMap<string, { readonly code: number; readonly kind: "number" | "text" }> = new Map(
  [...NUMBER_TAGS, ...TEXT_TAGS].map((tag, index) => {
    return [tag, { code: index + 1, kind: index < NUMBER_TAGS.length ? "number" : "text" }] as const;
  }),
);

/** Columns of a table that are read. */
export function columnsRead(spec: TableSpec): readonly string[] {
  const unit = spec.unit.kind === "label" ? spec.unit.column : null;
  return [spec.label, spec.value, spec.process, spec.channel, spec.depth, unit].filter((name) => name !== null);
}
