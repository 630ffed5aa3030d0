/** One route on a device: compile, build pipelines, bind buffers, submit, read back. */
import { createHash } from "node:crypto";
import { resourceMiss } from "../../kernels/contract.ts";
import type { RoutePlan } from "../../kernels/route.ts";
import type { CheckResult } from "../../native/check.ts";
import {
  type Device,
  type DeviceBuffer,
  DeviceError,
  type Dispatch,
  type DispatchTiming,
  type Flavour,
  type Library,
  type Pipeline,
  POISON_WORD,
  type SubmitOptions,
} from "../../native/device.ts";
import type { PipelineReceipt } from "./record.ts";

/** Text of a file below `kernels/`. */
export type ReadSource = (path: string) => string;

/** Set-up of a route's pipelines, in the order of the plan's dispatches. */
export interface PreparedRoute {
  readonly plan: RoutePlan;
  readonly pipelines: readonly Pipeline[];
  readonly receipts: readonly PipelineReceipt[];
  readonly resources: readonly { readonly kernel: string; readonly miss: string | null }[];
}

/**
 * Compiles each source once and builds each pipeline once per flavour; failures are remembered as well, unless the build was
 * cancelled.
 */
export class Builder {
  readonly #device: Device;
  readonly #read: ReadSource;
  readonly #libraries = new Map<string, Promise<Library>>();
  readonly #pipelines = new Map<string, Promise<Pipeline>>();
  readonly #sources = new Map<string, string>();

  constructor(device: Device, read: ReadSource) {
    this.#device = device;
    this.#read = read;
  }

  /** Every source file that was handed to the compiler: path below `kernels/` and text. */
  get sources(): ReadonlyMap<string, string> {
    return this.#sources;
  }

  #source(path: string): { readonly path: string; readonly text: string } {
    const known = this.#sources.get(path);
    const text = known ?? this.#read(path);
    this.#sources.set(path, text);
    return { path, text };
  }

  #library(plan: RoutePlan, signal: AbortSignal | undefined): Promise<Library> {
    const key = libraryKey(plan);
    return once(this.#libraries, key, () => {
      const options = {
        defines: plan.defines,
        includes: plan.includes.map((file) => this.#source(file)),
        mathMode: "safe",
      } as const;
      return this.#device.compile(this.#source(plan.source), options, signal);
    });
  }

  /**
   * Throws `DeviceError` where the source does not compile, the device refuses a pipeline or `signal` aborts; and `cancelled`
   * as well where the signal of another call aborts that began the same build.
   */
  async prepare(plan: RoutePlan, flavour: Flavour, signal?: AbortSignal): Promise<PreparedRoute> {
    const library = await this.#library(plan, signal);
    const pipelines: Pipeline[] = [];
    for (const { kernel } of plan.dispatches) {
      const key = `${libraryKey(plan)}\n${kernel}\n${flavour}`;
      const build = (): Promise<Pipeline> => this.#device.pipeline(library, kernel, { flavour }, signal);
      pipelines.push(await once(this.#pipelines, key, build));
    }
    return {
      plan,
      pipelines,
      receipts: pipelines.map((pipeline) => receiptOf(plan, pipeline)),
      resources: plan.contracts.map((contract) => ({
        kernel: contract.kernel,
        miss: resourceMiss(
          contract,
          pipelines.map(({ receipt }) => receipt),
        ),
      })),
    };
  }
}

/** The promise kept under `key`, or a new one, which stays unless it is cancelled. */
function once<T>(kept: Map<string, Promise<T>>, key: string, start: () => Promise<T>): Promise<T> {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const begun = start();
  kept.set(key, begun);
  begun.catch((error: unknown) => {
    if (error instanceof DeviceError && error.code === "cancelled") kept.delete(key);
  });
  return begun;
}

/** Two plans with the same key use the same pipelines, except for their choice of kernels. */
export function libraryKey(plan: RoutePlan): string {
  return `${plan.source}\n${JSON.stringify(Object.entries(plan.defines).sort())}`;
}

function receiptOf(plan: RoutePlan, pipeline: Pipeline): PipelineReceipt {
  const { receipt } = pipeline;
  return {
    schema: "lockstep.receipt/1",
    source: plan.source,
    defines: { ...plan.defines },
    flavour: pipeline.flavour,
    function: receipt.function,
    simdWidth: receipt.simdWidth,
    maxTotalThreadsPerThreadgroup: receipt.maxTotalThreadsPerThreadgroup,
    staticThreadgroupMemoryBytes: receipt.staticThreadgroupMemoryBytes,
    ...(receipt.registers === undefined ? {} : { registers: receipt.registers }),
    ...(receipt.language === undefined ? {} : { language: receipt.language }),
    ...(receipt.mathMode === undefined ? {} : { mathMode: receipt.mathMode }),
    digest: receipt.digest,
  };
}

/** Scratch and output buffers, reused between routes of equal sizes. */
export class WorkPool {
  readonly #device: Device;
  readonly #kept = new Map<string, DeviceBuffer>();

  constructor(device: Device) {
    this.#device = device;
  }

  /** A poisoned buffer. */
  take(name: string, bytes: number): DeviceBuffer {
    const kept = this.#kept.get(name);
    if (kept !== undefined && kept.bytes === bytes) {
      kept.poison();
      return kept;
    }
    kept?.release();
    this.#kept.delete(name);
    const fresh = this.#device.allocate(bytes, name);
    this.#kept.set(name, fresh);
    return fresh;
  }

  release(): void {
    for (const buffer of this.#kept.values()) buffer.release();
    this.#kept.clear();
  }
}

export interface Execution {
  readonly outputs: ReadonlyMap<string, Uint8Array>;
  /** What a check flavour saw. */
  readonly check: CheckResult | undefined;
  readonly timings: readonly DispatchTiming[];
  readonly brokenSentinels: readonly string[];
}

/**
 * Runs a prepared route once. Scratch and outputs are poisoned before. Throws `DeviceError` where the device refuses,
 * crashes, times out or is cancelled.
 */
export async function execute(
  device: Device,
  prepared: PreparedRoute,
  inputs: ReadonlyMap<string, DeviceBuffer>,
  pool: WorkPool,
  options: SubmitOptions,
): Promise<Execution> {
  const { plan } = prepared;
  const bound = new Map<string, DeviceBuffer>();
  for (const buffer of plan.buffers) {
    const found = buffer.role === "input" ? inputs.get(buffer.name) : pool.take(buffer.name, buffer.bytes);
    if (found === undefined) throw new Error(`The input "${buffer.name}" of ${plan.route} was not made.`);
    bound.set(buffer.name, found);
  }
  const dispatches = plan.dispatches.map((dispatch, index): Dispatch => {
    const buffers = dispatch.buffers.map((name, slot) => {
      const buffer = bound.get(name);
      if (buffer === undefined) throw new Error(`${plan.route}, ${dispatch.stage}: no buffer is called "${name}".`);
      return { index: slot, buffer };
    });
    const params = { index: dispatch.buffers.length, bytes: dispatch.params };
    return {
      label: dispatch.stage,
      pipeline: prepared.pipelines[index]!,
      threadgroups: dispatch.threadgroups,
      threadsPerThreadgroup: dispatch.threadsPerThreadgroup,
      arguments: [...buffers, params],
      threadgroupMemory: dispatch.threadgroupMemory.map((bytes, slot) => ({ index: slot, bytes })),
    };
  });
  const { timings, check } = await device.submit(dispatches, options);
  const outputs = new Map<string, Uint8Array>();
  for (const buffer of plan.buffers) {
    if (buffer.role === "output") outputs.set(buffer.name, bound.get(buffer.name)!.read(0, buffer.bytes));
  }
  const brokenSentinels = [...bound].filter(([, buffer]) => !buffer.sentinelIntact()).map(([name]) => name);
  return { outputs, timings, brokenSentinels, check };
}

/** Bytes that differ between two sets of outputs; a missing output counts whole. */
export function differingBytes(a: ReadonlyMap<string, Uint8Array>, b: ReadonlyMap<string, Uint8Array>): number {
  let count = 0;
  for (const [name, left] of a) {
    const right = b.get(name);
    if (right === undefined || right.length !== left.length) {
      count += left.length;
      continue;
    }
    if (Buffer.compare(left, right) === 0) continue;
    for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) count++;
  }
  return count;
}

/** Elements that still hold the poison pattern. */
export function countPoison(bytes: Uint8Array, dtype: "f32" | "f16" | "bf16"): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const step = dtype === "f32" ? 4 : 2;
  const half = POISON_WORD & 0xffff;
  let count = 0;
  for (let at = 0; at + step <= bytes.length; at += step) {
    const word = step === 4 ? view.getUint32(at, true) : view.getUint16(at, true);
    if (word === (step === 4 ? POISON_WORD : half)) count++;
  }
  return count;
}

/** Short name of a pipeline's receipt in a bundle. */
export function receiptName(receipt: PipelineReceipt): string {
  const tag = createHash("sha256").update(`${receipt.digest}\n${receipt.function}\n${receipt.flavour}`).digest("hex");
  return `data/receipts/${receipt.function.toLowerCase()}.${receipt.flavour}.${tag.slice(0, 12)}.json`;
}
