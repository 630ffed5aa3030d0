/** What the checks share: pipelines and buffers that are released again, arrays as bytes, errors as values. */
import {
  type CompileOptions,
  type Device,
  type DeviceBuffer,
  DeviceError,
  type DeviceErrorCode,
  type Dispatch,
  type DispatchArgument,
  type KernelArgument,
  type Pipeline,
  type PipelineDescriptor,
} from "../device.ts";
import { ConformanceFailure, must } from "./check.ts";
import type { ConformanceKernel } from "./kernels.ts";

/** What buffers are filled with where a check looks whether something wrote: no check but one relies on the poison. */
export const UNTOUCHED = 0x5a5a5a5a;

/** A device with the buffers that one check took from it. */
export interface Bench {
  readonly device: Device;
  /** `words` words of `UNTOUCHED`. */
  output(words: number, label?: string): DeviceBuffer;
  input(values: Float32Array | Uint32Array | Uint16Array, label?: string): DeviceBuffer;
  pipeline(kernel: ConformanceKernel, descriptor?: PipelineDescriptor, options?: CompileOptions): Promise<Pipeline>;
}

/** Runs `body` with a bench and releases its buffers, whatever happens. */
export async function withBench(device: Device, body: (bench: Bench) => Promise<string>): Promise<string> {
  const buffers: DeviceBuffer[] = [];
  const keep = (buffer: DeviceBuffer): DeviceBuffer => {
    buffers.push(buffer);
    return buffer;
  };
  try {
    return await body({
      device,
      output: (words, label = "output") => {
        const buffer = keep(device.allocate(words * 4, label));
        buffer.write(0, bytesOf(new Uint32Array(words).fill(UNTOUCHED)));
        return buffer;
      },
      input: (values, label = "input") => {
        const buffer = keep(device.allocate(values.byteLength, label));
        buffer.write(0, bytesOf(values));
        return buffer;
      },
      pipeline: (kernel, descriptor, options) => build(device, kernel, descriptor, options),
    });
  } finally {
    for (const buffer of buffers) buffer.release();
  }
}

/** Compiles a kernel and builds its pipeline. */
export async function build(
  device: Device,
  kernel: ConformanceKernel,
  descriptor: PipelineDescriptor = {},
  options: CompileOptions = {},
): Promise<Pipeline> {
  const library = await device.compile({ path: kernel.path, text: kernel.text }, options);
  return await device.pipeline(library, kernel.name, descriptor);
}

/** The arguments of a pipeline, which every device knows. */
export function argumentsOf({ function: entry }: Pipeline): readonly KernelArgument[] {
  must(entry.arguments !== undefined, `the pipeline of ${entry.name} does not tell its arguments`);
  return entry.arguments;
}

export function bytesOf(values: Float32Array | Uint32Array | Uint16Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

export function inline(index: number, ...values: readonly number[]): DispatchArgument {
  return { index, bytes: bytesOf(Uint32Array.from(values)) };
}

export function wordsOf(buffer: DeviceBuffer): Uint32Array {
  return new Uint32Array(buffer.read(0, buffer.bytes).slice().buffer);
}

export function floatsOf(buffer: DeviceBuffer): Float32Array {
  return new Float32Array(buffer.read(0, buffer.bytes).slice().buffer);
}

/** One dispatch of a single threadgroup of 32 threads, unless `more` says otherwise. */
export function dispatchOf(
  pipeline: Pipeline,
  given: readonly DispatchArgument[],
  more: Partial<Dispatch> = {},
): Dispatch {
  return {
    label: pipeline.function.name,
    pipeline,
    threadgroups: [1, 1, 1],
    threadsPerThreadgroup: [32, 1, 1],
    arguments: given,
    ...more,
  };
}

/** Throws with the first place at which two arrays differ. Bits are compared, so that NaN equals itself. */
export function mustEqual(what: string, actual: ArrayLike<number>, expected: ArrayLike<number>): void {
  must(actual.length === expected.length, `${what}: ${actual.length} values; ${expected.length} were expected`);
  for (let index = 0; index < expected.length; index += 1) {
    if (!Object.is(actual[index], expected[index])) {
      throw new ConformanceFailure(`${what}: value ${index} is ${actual[index]}; it must be ${expected[index]}`);
    }
  }
}

/** The `DeviceError` with which `promise` rejects; anything else is a failure. */
export async function rejection(what: string, promise: Promise<unknown>, code: DeviceErrorCode): Promise<DeviceError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason ?? new Error("rejected without a reason"),
  );
  must(error !== undefined, `${what} was accepted; it must be refused as ${code}`);
  return mustBe(what, error, code);
}

/** What `action` throws; nothing is a failure. */
export function thrown(what: string, action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    must(error instanceof Error, `${what} threw ${String(error)}, which is no Error`);
    return error;
  }
  throw new ConformanceFailure(`${what} was accepted; it must throw`);
}

export function mustBe(what: string, error: unknown, code: DeviceErrorCode): DeviceError {
  must(error instanceof DeviceError, `${what} gave ${String(error)}, which is no DeviceError`);
  must(error.code === code, `${what} gave ${error.code} ("${error.message}"); it must be ${code}`);
  return error;
}

/** Throws unless the message has each of `parts`, thousands separators aside. */
export function mustSay(what: string, message: string, parts: readonly (string | number)[]): void {
  const plain = message.replaceAll(/(\d),(?=\d{3})/g, "$1");
  const absent = parts.find((part) => !plain.includes(String(part)));
  must(absent === undefined, `${what}: the message "${message}" does not say ${String(absent)}`);
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
