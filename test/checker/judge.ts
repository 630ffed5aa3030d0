/** Runs a case of the corpus and holds what the checker reports against what it must report. */
import type { CheckReport, SiteAccess } from "../../native/check.ts";
import type { Device, Dispatch, Flavour, Library } from "../../native/device.ts";
import { halfBits, toHalf } from "../native/emulator/run_kernel.ts";
import { bufferBytes, type CorpusBuffer, type CorpusCase, type ExpectedReport, type ExpectedSide } from "./format.ts";

/** Reports of one run of the case. The library is its file, compiled in its math mode. */
export async function reportsOf(
  device: Device,
  library: Library,
  one: CorpusCase,
  flavour: Flavour,
): Promise<readonly CheckReport[]> {
  const pipelines = await Promise.all(one.runs.map(({ kernel }) => device.pipeline(library, kernel, { flavour })));
  const buffers = one.buffers.map((buffer) => {
    const allocated = device.allocate(bufferBytes(buffer), buffer.name);
    if (buffer.written > 0) allocated.write(0, contentOf(buffer));
    return allocated;
  });
  try {
    const dispatches = one.runs.map((run, index): Dispatch => {
      const pipeline = pipelines[index]!;
      // A kernel takes the buffers that have the names of its parameters.
      const bound = (pipeline.function.arguments ?? []).flatMap(({ kind, name, index: slot }) => {
        const buffer = buffers.find(({ label }) => label === name);
        if (kind !== "buffer") return [];
        if (buffer === undefined) throw new Error(`case ${one.name} has no buffer for parameter ${name}`);
        return [{ index: slot, buffer }];
      });
      return {
        label: run.kernel,
        pipeline,
        threadgroups: run.groups,
        threadsPerThreadgroup: run.threads,
        arguments: bound,
        threadgroupMemory: run.memory.map((bytes, slot) => ({ index: slot, bytes })),
        threadgroupPadding: run.padding.map((bytes, slot) => ({ index: slot, bytes })),
      };
    });
    const outputs = buffers.filter((_, index) => one.buffers[index]!.isOutput);
    const { check } = await device.submit(dispatches, { check: { outputs, order: one.order } });
    if (check === undefined) throw new Error(`flavour ${flavour} did not report`);
    if (!check.complete || check.dropped > 0) throw new Error("the reports are not complete");
    return check.reports;
  } finally {
    for (const buffer of buffers) buffer.release();
  }
}

function contentOf({ type, values, written }: CorpusBuffer): Uint8Array {
  const value = (index: number): number => (values === "ramp" ? index + 1 : values[index % values.length]!);
  const all = Array.from({ length: written }, (_, index) => value(index));
  const typed = {
    float: () => Float32Array.from(all),
    int: () => Int32Array.from(all),
    uint: () => Uint32Array.from(all),
    half: () =>
      Uint16Array.from(all.map((one) => (Number.isFinite(one) ? halfBits(toHalf(one)) : one < 0 ? 0xfc00 : 0x7c00))),
    short: () => Int16Array.from(all),
    ushort: () => Uint16Array.from(all),
    uchar: () => Uint8Array.from(all),
    ulong: () => BigUint64Array.from(all.map(BigInt)),
  }[type]();
  return new Uint8Array(typed.buffer);
}

/** What is wrong with the reports, one line each: expected ones that did not come, and others that did. */
export function complaints(one: Pick<CorpusCase, "must" | "may">, reports: readonly CheckReport[]): readonly string[] {
  const isKnown = new Set<CheckReport>();
  const missing: string[] = [];
  for (const expected of one.must) {
    const fitting = reports.filter((report) => fits(expected, report));
    if (fitting.length === 0) missing.push(`missing: ${expected.text}`);
    for (const report of fitting) isKnown.add(report);
  }
  for (const report of reports) {
    if (one.may.some((expected) => fits(expected, report))) isKnown.add(report);
  }
  const unexpected = reports.filter((report) => !isKnown.has(report)).map((report) => `unexpected: ${shown(report)}`);
  return [...missing, ...unexpected];
}

function fits(expected: ExpectedReport, report: CheckReport): boolean {
  const { offset, size, count } = expected;
  return (
    expected.severity === report.severity &&
    expected.kind === report.kind &&
    expected.buffer === (report.buffer?.name ?? null) &&
    (offset === undefined || offset === report.offset) &&
    (size === undefined || size === report.size) &&
    (count === undefined || count === report.count) &&
    sidesFit(expected.sides, report.second ? [report.first, report.second] : [report.first])
  );
}

function sidesFit(expected: readonly ExpectedSide[], found: readonly SiteAccess[]): boolean {
  const inOrder = (sides: readonly SiteAccess[]): boolean =>
    sides.every((side, index) => {
      const wanted = expected[index];
      return wanted?.access === side.access && wanted.line === (side.location?.line ?? null);
    });
  return expected.length === found.length && (inOrder(found) || inOrder(found.toReversed()));
}

/** A report in the words of an expectation, with line numbers for markers. */
export function shown(report: CheckReport): string {
  const side = (at: SiteAccess): string => `${at.location?.line ?? "-"} ${at.access}`;
  const sides = [report.first, ...(report.second ? [report.second] : [])].map(side).join(", ");
  const object = report.buffer ? ` of ${report.buffer.name} at ${report.offset} size ${report.size}` : "";
  return `${report.severity} ${report.kind} ${sides}${object} times ${report.count}`;
}
