/**
 * Exact traffic of a route, as the checker counted it on the small case of its pipelines, beside the logical bytes that the
 * formulas of the kernels derive for the same case. Pure.
 */
import type { CallOutput } from "../../../electron/contract.ts";
import { trafficFor } from "../../../kernels/contracts.ts";
import { countText } from "../../parts/text.ts";

export type Checks = CallOutput<"checks.list">["checks"];
export type Check = Checks[number];
type Dispatch = Check["result"]["traffic"]["dispatches"][number];
type Line = Dispatch["lines"][number];

/** The set of pipelines that computed a result, and its exact counts; undefined where the bundle has none. */
export function checkOfResult(checks: Checks, caseKey: string, route: string): Check | undefined {
  return checks.find(({ results }) => results.some((result) => result.case === caseKey && result.route === route));
}

/** Bytes between one dispatch and one buffer, in one direction. */
export interface ExactBytes {
  readonly dispatch: string;
  readonly buffer: string;
  readonly space: Dispatch["buffers"][number]["addressSpace"];
  readonly access: "read" | "written";
  readonly requested: number;
  readonly distinct: number;
  readonly accesses: number;
  readonly simdAccesses: number;
  /** Logical bytes of the formulas on the same case; null where they leave this buffer out. */
  readonly derived: number | null;
}

/** Rows of a set in the order of its dispatches; a direction in which nothing moves is left out. */
export function exactBytes({ shape, route, result }: Pick<Check, "shape" | "route" | "result">): readonly ExactBytes[] {
  const formulas = shape === null ? [] : (trafficFor(shape, route)?.entries ?? []);
  const derivedOf = (stage: string, buffer: string, field: "readBytes" | "writtenBytes"): number | null => {
    const own = formulas.filter((entry) => entry.stage === stage && entry.buffer === buffer && entry[field] > 0);
    return own.length === 0 ? null : own.reduce((sum, entry) => sum + entry[field], 0);
  };
  return result.traffic.dispatches.flatMap(({ dispatch, buffers }) =>
    buffers.flatMap(({ name, addressSpace, read, written }) =>
      (
        [
          ["read", read, "readBytes"],
          ["written", written, "writtenBytes"],
        ] as const
      ).flatMap(([access, bytes, field]) =>
        bytes.accesses === 0
          ? []
          : [
              {
                dispatch,
                buffer: name,
                space: addressSpace,
                access,
                ...bytes,
                derived: derivedOf(dispatch, name, field),
              },
            ],
      ),
    ),
  );
}

/** Rows of device and constant memory: what leaves the core. */
export function deviceBytes(rows: readonly ExactBytes[]): readonly ExactBytes[] {
  return rows.filter(({ space }) => space !== "threadgroup");
}

/** Sums of a count over rows. */
export function totalOf(rows: readonly ExactBytes[], field: "requested" | "distinct"): number {
  return rows.reduce((sum, row) => sum + row[field], 0);
}

/** Source lines of a set, busiest first. */
export interface ExactLine extends Pick<Line, "location" | "access" | "buffer" | "addressSpace" | "bytes" | "model"> {
  readonly dispatch: string;
}

export function exactLines({ result }: Pick<Check, "result">): readonly ExactLine[] {
  return result.traffic.dispatches
    .flatMap(({ dispatch, lines }) => lines.map((line) => ({ dispatch, ...line })))
    .sort((a, b) => b.bytes.requested - a.bytes.requested);
}

/** `model: 64 bank cycles, ideal 32`. */
export function modelText({ model }: Pick<ExactLine, "model">): string {
  const unit = model.kind === "banks_32x4" ? "bank cycles" : "lines of 128";
  return `model: ${countText(model.units)} ${unit}, ideal ${countText(model.ideal)}`;
}

export function linePlace({ location }: Pick<ExactLine, "location">): string {
  return location === null ? "no source line" : `${location.path.split("/").at(-1)}:${location.line}`;
}

/** A small case in a few words: `h32kv4d512 L299`, `generated T58`. */
export function smallText({ case: key }: Pick<Check, "case">): string {
  return key.split("/").slice(1, 3).join(" ");
}

/** What the counts are: `exact, after optimisation, emulated; on the small case ...`. */
export function exactNote({ result, case: key }: Check): string {
  const { exact, exactReason, stage } = result.traffic;
  return `${exact ? "exact" : `not exact (${exactReason})`}, ${stage}, emulated; on the small case ${key}`;
}

/** The same where there is little room. */
export function exactFoot(check: Check): string {
  const { exact, stage } = check.result.traffic;
  return `${exact ? "exact" : "not exact"}, ${stage}, emulated; small case ${smallText(check)}`;
}

export const EXACT_HEAD = [
  "route",
  "small case",
  "dispatch",
  "buffer",
  "address space",
  "access",
  "path",
  "line",
  "column",
  "requested bytes",
  "distinct bytes",
  "accesses",
  "SIMD accesses",
  "derived logical bytes",
  "model",
  "model units",
  "model ideal",
  "model worst",
] as const;

/** Buffers, then lines, for a file of figures. */
export function exactFields(check: Check): readonly (readonly (string | number)[])[] {
  const head = [check.route, check.case] as const;
  return [
    ...exactBytes(check).map((row) => [
      ...head,
      row.dispatch,
      row.buffer,
      row.space,
      row.access,
      "",
      "",
      "",
      row.requested,
      row.distinct,
      row.accesses,
      row.simdAccesses,
      row.derived ?? "",
      "",
      "",
      "",
      "",
    ]),
    ...exactLines(check).map(({ dispatch, buffer, addressSpace, access, location, bytes, model }) => [
      ...head,
      dispatch,
      buffer,
      addressSpace,
      access === "read" ? "read" : "written",
      location?.path ?? "",
      location?.line ?? "",
      location?.column ?? "",
      bytes.requested,
      bytes.distinct,
      bytes.accesses,
      bytes.simdAccesses,
      "",
      model.kind,
      model.units,
      model.ideal,
      model.worst,
    ]),
  ];
}
