/** Turns what the runner saw (code addresses, indices) into reports and traffic of the author's lines and names. */
import {
  CHECK_KINDS,
  type CheckReport,
  type CheckResult,
  type SiteAccess,
  type TrafficBuffer,
  type TrafficBytes,
  type TrafficDispatch,
  type TrafficLine,
} from "../check.ts";
import type { Dispatch } from "../device.ts";
import { REPORT_WORDS } from "./check_words.ts";
import type { ModuleLocations } from "./locations.ts";
import type { RunnerReport, RunnerSide, RunnerTraffic } from "./protocol.ts";
import type { RunnerChecks } from "./runner.ts";

const SIMD_WIDTH = 32;
const SEVERITIES: readonly CheckReport["severity"][] = ["error", "warning", "info"];

/** Whether this compiler's counts can be called exact, and why. */
export interface Exactness {
  readonly exact: boolean;
  readonly reason: string;
}

/** @param locations of each dispatch's module, in the order of the dispatches */
export function checkResult(
  checks: RunnerChecks,
  dispatches: readonly Dispatch[],
  locations: readonly ModuleLocations[],
  exactness: Exactness,
): CheckResult {
  const namer = new Namer(dispatches, locations);
  const reports = joined(checks.reports, namer);
  const unseen = locations.find((one) => one.unseen !== undefined)?.unseen;
  const cutShort = exactnessOf(checks, exactness, unseen);
  return {
    reports: reports.sort(
      (a, b) =>
        SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
        CHECK_KINDS.indexOf(a.kind) - CHECK_KINDS.indexOf(b.kind),
    ),
    dropped: checks.dropped,
    complete: checks.complete,
    traffic: {
      stage: "after optimisation",
      exact: cutShort.exact,
      exactReason: cutShort.reason,
      dispatches: dispatches.map((dispatch, index) =>
        readTraffic(
          dispatch.label,
          checks.traffic.filter((row) => row.dispatch === index),
          namer,
        ),
      ),
    },
  };
}

function exactnessOf(checks: RunnerChecks, exactness: Exactness, unseen: string | undefined): Exactness {
  if (!exactness.exact) return exactness;
  if (unseen !== undefined) {
    const reason = `the source keeps ${unseen} in memory, and accesses of three components or of 32 bytes at once are not all seen`;
    return { exact: false, reason };
  }
  if (!checks.complete) return { exact: false, reason: "the run ended early" };
  if (checks.lost > 0) return { exact: false, reason: `${checks.lost} lines found no room to be counted` };
  return exactness;
}

interface ReportedObject {
  readonly addressSpace: CheckReport["addressSpace"];
  readonly buffer: CheckReport["buffer"];
  /** Offset in that buffer or array. */
  readonly offset: number;
  /** As sentences call it. */
  readonly words: string;
}

/** Names of buffers, arrays and positions by dispatch. */
class Namer {
  readonly #dispatches: readonly Dispatch[];
  readonly #locations: readonly ModuleLocations[];

  constructor(dispatches: readonly Dispatch[], locations: readonly ModuleLocations[]) {
    this.#dispatches = dispatches;
    this.#locations = locations;
  }

  label(dispatch: number): string {
    return this.#dispatches[dispatch]?.label ?? "";
  }

  location(dispatch: number, site: number): SiteAccess["location"] {
    return this.#locations[dispatch]?.at(site) ?? null;
  }

  before(dispatch: number, site: number): SiteAccess["location"] {
    return this.#locations[dispatch]?.before(site) ?? null;
  }

  object(dispatch: number, at: Pick<RunnerReport, "space" | "index" | "bytes" | "offset">): ReportedObject {
    const { space, index, bytes, offset } = at;
    const parameters = this.#dispatches[dispatch]?.pipeline.function.arguments ?? [];
    if (space === "buffer" || space === "bytes") {
      const parameter = parameters.find((one) => one.kind === "buffer" && one.index === index);
      const argument = this.#dispatches[dispatch]?.arguments.find((one) => one.index === index);
      const name =
        argument !== undefined && "buffer" in argument ? argument.buffer.label : (parameter?.name ?? "bytes");
      const addressSpace = parameter?.addressSpace === "constant" ? "constant" : "device";
      return { addressSpace, buffer: { name, index, bytes }, offset, words: `${name} (buffer ${index})` };
    }
    if (space === "dynamic") {
      const name = parameters.find((one) => one.kind === "threadgroup" && one.index === index)?.name ?? "threadgroup";
      const words = `${name} (threadgroup ${index})`;
      return { addressSpace: "threadgroup", buffer: { name, index, bytes }, offset, words };
    }
    if (space === "static") {
      const array = this.#locations[dispatch]?.staticArray(offset);
      const name = array?.name ?? "static threadgroup memory";
      const buffer = { name, index: null, bytes: array?.bytes ?? bytes };
      return {
        addressSpace: "threadgroup",
        buffer,
        offset: offset - (array?.offset ?? 0),
        words: `${name} (threadgroup)`,
      };
    }
    return { addressSpace: space === "stack" ? "thread" : null, buffer: null, offset, words: "" };
  }
}

/** One report for all copies of a line that the compiler made: the first of them, with the counts of all. */
function joined(found: readonly RunnerReport[], namer: Namer): CheckReport[] {
  const known = new Map<string, CheckReport>();
  const place = ({ location, access }: SiteAccess): string =>
    location ? `${location.path}:${location.line}:${location.column} ${access}` : access;
  for (const [index, one] of found.entries()) {
    const report = readReport(one, namer);
    const { kind, severity, dispatch, buffer, first, second } = report;
    // Which side of a race came first is a matter of the order of execution.
    const sides = second ? [place(first), place(second)].sort() : [place(first)];
    const isLocated = first.location !== null || (second?.location ?? null) !== null;
    const key = isLocated ? [kind, one.detail, severity, dispatch, buffer, sides] : [index];
    const before = known.get(JSON.stringify(key));
    known.set(JSON.stringify(key), before ? { ...before, count: before.count + report.count } : report);
  }
  return [...known.values()];
}

function readReport(report: RunnerReport, namer: Namer): CheckReport {
  const { kind, size } = report;
  const dispatch = report.first.dispatch;
  const object = namer.object(dispatch, report);
  const inObject = { ...report, offset: object.offset, bytes: object.buffer?.bytes ?? report.bytes };
  const entry = REPORT_WORDS[kind];
  const words = entry.words({
    report: inObject,
    object: object.words,
    isThreadgroup: object.addressSpace === "threadgroup",
  });
  const known = withLine(readSide(report.first, namer), report, namer);
  const first = nearLine(known, report.first, namer);
  const knownSecond = report.second && readSide(report.second, namer);
  const second = knownSecond && report.second && nearLine(knownSecond, report.second, namer);
  const isNear = first.location !== known.location || second?.location !== knownSecond?.location;
  const note = isNear ? " (The compiler moved or merged an access: a line is that of the code before it.)" : "";
  return {
    kind,
    severity: words.severity,
    message: words.message + note,
    dispatch: namer.label(dispatch),
    first,
    ...(second ? { second } : {}),
    addressSpace: object.addressSpace,
    buffer: object.buffer,
    offset: object.buffer === null ? null : object.offset,
    size,
    count: Math.max(1, report.count),
    mechanism: entry.mechanism,
    blindSpot: entry.blindSpot,
  };
}

/** Arithmetic inside a function of the library has no line; the call that was made last has. */
function withLine(side: SiteAccess, report: RunnerReport, namer: Namer): SiteAccess {
  if (side.location !== null || (report.kind !== "nan_created" && report.kind !== "infinity_created")) return side;
  return { ...side, location: namer.location(report.first.dispatch, Number(report.a)) };
}

/** The side with the line of the code before it, where the compiler left it without one. */
function nearLine(side: SiteAccess, { dispatch, site }: RunnerSide, namer: Namer): SiteAccess {
  return side.location === null ? { ...side, location: namer.before(dispatch, site) } : side;
}

function readSide(side: RunnerSide, namer: Namer): SiteAccess {
  return {
    access: side.access,
    location: namer.location(side.dispatch, side.site),
    threadgroup: side.threadgroup,
    simdgroup: Math.floor(side.thread / SIMD_WIDTH),
    lane: side.thread % SIMD_WIDTH,
    thread: side.thread,
  };
}

const NOTHING: TrafficBytes = { requested: 0, distinct: 0, accesses: 0, simdAccesses: 0 };

function sum(a: TrafficBytes, b: TrafficBytes): TrafficBytes {
  return {
    requested: a.requested + b.requested,
    distinct: a.distinct + b.distinct,
    accesses: a.accesses + b.accesses,
    simdAccesses: a.simdAccesses + b.simdAccesses,
  };
}

function readTraffic(label: string, rows: readonly RunnerTraffic[], namer: Namer): TrafficDispatch {
  const buffers = new Map<string, TrafficBuffer>();
  const lines = new Map<string, TrafficLine>();
  for (const row of rows) {
    // Static arrays are counted together: one line may reach several.
    const object = namer.object(row.dispatch, { ...row, offset: 0 });
    const isStatic = row.space === "static";
    const name = isStatic ? "static threadgroup memory" : (object.buffer?.name ?? "");
    const index = object.buffer?.index ?? null;
    const addressSpace =
      object.addressSpace === "thread" || object.addressSpace === null ? "device" : object.addressSpace;
    const bytes: TrafficBytes = {
      requested: row.requested,
      distinct: row.distinct,
      accesses: row.accesses,
      simdAccesses: row.simdAccesses,
    };
    const key = `${row.space} ${row.index}`;
    const buffer = buffers.get(key) ?? { name, index, addressSpace, bytes: row.bytes, read: NOTHING, written: NOTHING };
    const direction = row.access === "write" ? "written" : "read";
    buffers.set(key, { ...buffer, [direction]: sum(buffer[direction], bytes) });

    const location = namer.location(row.dispatch, row.site);
    const place = location ? `${location.path}:${location.line}:${location.column}` : `site ${row.site}`;
    const lineKey = `${place} ${row.access} ${key}`;
    const line = lines.get(lineKey);
    lines.set(lineKey, {
      location,
      access: row.access,
      buffer: name,
      index,
      addressSpace,
      bytes: sum(line?.bytes ?? NOTHING, bytes),
      model: {
        kind: addressSpace === "threadgroup" ? "banks_32x4" : "lines_128",
        units: (line?.model.units ?? 0) + row.units,
        ideal: (line?.model.ideal ?? 0) + row.ideal,
        worst: Math.max(line?.model.worst ?? 0, row.worst),
      },
    });
  }
  const inOrder = [...lines.values()].sort(
    (a, b) =>
      (a.location?.path ?? "").localeCompare(b.location?.path ?? "") ||
      (a.location?.line ?? 0) - (b.location?.line ?? 0) ||
      (a.location?.column ?? 0) - (b.location?.column ?? 0),
  );
  return { dispatch: label, buffers: [...buffers.values()], lines: inOrder };
}
