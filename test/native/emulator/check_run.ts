/** Runs kernels in check flavours and hands back what was reported: what the tests of the checker share. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RoutePlan } from "../../../kernels/route.ts";
import type { CheckReport, CheckResult, TrafficBytes, TrafficDispatch } from "../../../native/check.ts";
import type {
  CheckOptions,
  CompileOptions,
  Device,
  DeviceBuffer,
  Dispatch,
  Flavour,
  MetalSource,
  Size3,
  SubmitResult,
} from "../../../native/device.ts";
import { tensorBytes } from "../../../oracle/tensor.ts";
import type { Tensors } from "../../kernels/run.ts";

const KERNELS = join(import.meta.dirname, "..", "..", "..", "kernels");

/** One dispatch of a kernel whose buffers are all 4-byte elements. */
export interface CheckedKernel {
  readonly source: string;
  readonly kernel: string;
  readonly threads: Size3;
  readonly threadgroups?: Size3;
  /** By index: numbers become floats, `undefined` entries a poisoned buffer of `bytes`. */
  readonly buffers: readonly (Float32Array | Uint32Array | Int32Array | Uint8Array | { readonly bytes: number })[];
  readonly threadgroupMemory?: Dispatch["threadgroupMemory"];
  readonly threadgroupPadding?: Dispatch["threadgroupPadding"];
  readonly flavour?: Flavour;
  readonly options?: CompileOptions;
  /** Indices of buffers that are outputs. */
  readonly outputs?: readonly number[];
  readonly order?: CheckOptions["order"];
  /** How often the dispatch is repeated in one submission. */
  readonly repeats?: number;
  readonly timeoutMs?: number;
}

/** On the first line, so that lines count from 1. */
const HEAD = "using namespace metal; ";

/** Buffers are called `b0`, `b1`, ...; line 1 is the first of `source`. */
export async function checkKernel(device: Device, run: CheckedKernel): Promise<CheckResult> {
  const { check } = await submitKernel(device, run);
  if (check === undefined) throw new Error("the device did not report");
  return check;
}

export async function submitKernel(device: Device, run: CheckedKernel): Promise<SubmitResult> {
  const library = await device.compile({ path: "test.metal", text: HEAD + run.source }, run.options);
  const pipeline = await device.pipeline(library, run.kernel, { flavour: run.flavour ?? "check" });
  const buffers = run.buffers.map((content, index) => {
    const isFilled = ArrayBuffer.isView(content);
    const buffer = device.allocate(isFilled ? content.byteLength : content.bytes, `b${index}`);
    if (isFilled) buffer.write(0, new Uint8Array(content.buffer, content.byteOffset, content.byteLength));
    return buffer;
  });
  const dispatch: Dispatch = {
    label: run.kernel,
    pipeline,
    threadgroups: run.threadgroups ?? [1, 1, 1],
    threadsPerThreadgroup: run.threads,
    arguments: buffers.map((buffer, index) => ({ index, buffer })),
    ...(run.threadgroupMemory ? { threadgroupMemory: run.threadgroupMemory } : {}),
    ...(run.threadgroupPadding ? { threadgroupPadding: run.threadgroupPadding } : {}),
  };
  try {
    return await device.submit(
      Array.from({ length: run.repeats ?? 1 }, () => dispatch),
      {
        ...(run.timeoutMs === undefined ? {} : { timeoutMs: run.timeoutMs }),
        check: {
          outputs: (run.outputs ?? []).flatMap((index) => buffers[index] ?? []),
          ...(run.order ? { order: run.order } : {}),
        },
      },
    );
  } finally {
    for (const buffer of buffers) buffer.release();
  }
}

/** Runs a route of the project. Inputs without a tensor, and rows behind its end, stay poisoned. */
export async function submitPlan(
  device: Device,
  plan: RoutePlan,
  tensors: Tensors,
  flavour: Flavour,
  workers?: number,
): Promise<SubmitResult> {
  const source = (path: string): MetalSource => ({ path, text: readFileSync(join(KERNELS, path), "utf8") });
  const library = await device.compile(source(plan.source), {
    defines: plan.defines,
    includes: plan.includes.map(source),
  });
  const buffers = new Map<string, DeviceBuffer>();
  try {
    for (const { name, bytes, role } of plan.buffers) {
      const buffer = device.allocate(bytes, name);
      buffers.set(name, buffer);
      const tensor = tensors[name];
      if (role === "input" && tensor) buffer.write(0, tensorBytes(tensor));
    }
    const dispatches: Dispatch[] = [];
    for (const dispatch of plan.dispatches) {
      dispatches.push({
        label: dispatch.stage,
        pipeline: await device.pipeline(library, dispatch.kernel, { flavour }),
        threadgroups: dispatch.threadgroups,
        threadsPerThreadgroup: dispatch.threadsPerThreadgroup,
        arguments: [
          ...dispatch.buffers.map((name, slot) => ({ index: slot, buffer: buffers.get(name)! })),
          { index: dispatch.buffers.length, bytes: dispatch.params },
        ],
        threadgroupMemory: dispatch.threadgroupMemory.map((bytes, slot) => ({ index: slot, bytes })),
      });
    }
    const outputs = plan.buffers.filter(({ role }) => role === "output").map(({ name }) => buffers.get(name)!);
    return await device.submit(dispatches, { check: { outputs }, ...(workers === undefined ? {} : { workers }) });
  } finally {
    for (const buffer of buffers.values()) buffer.release();
  }
}

/** `error race test.metal:3:8 read, test.metal:2:9 write b0+12 x4 (32)`: all of a report that does not depend on words. */
export function shownReport(report: CheckReport): string {
  const place = (side: CheckReport["first"]): string => {
    const { location, access } = side;
    return `${location ? `${location.path}:${location.line}:${location.column}` : "?"} ${access}`;
  };
  const second = report.second ? `, ${place(report.second)}` : "";
  const object = report.buffer ? ` ${report.buffer.name}+${report.offset} x${report.size}` : "";
  return `${report.severity} ${report.kind} ${place(report.first)}${second}${object} (${report.count})`;
}

/** Counts of a buffer, by its name, over the dispatches with a label. */
export function trafficOf(
  check: CheckResult,
  label: string,
  name: string,
): { readonly read: TrafficBytes; readonly written: TrafficBytes } {
  const dispatch: TrafficDispatch | undefined = check.traffic.dispatches.find((one) => one.dispatch === label);
  const nothing: TrafficBytes = { requested: 0, distinct: 0, accesses: 0, simdAccesses: 0 };
  const buffer = dispatch?.buffers.find((one) => one.name === name);
  return { read: buffer?.read ?? nothing, written: buffer?.written ?? nothing };
}
