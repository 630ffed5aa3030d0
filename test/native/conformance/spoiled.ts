/** How tests spoil a device: one thing of it is replaced, and all else is the device itself. */
import {
  type Device,
  type DeviceBuffer,
  DeviceError,
  type Diagnostic,
  type Dispatch,
  type Library,
  type MetalSource,
  type Pipeline,
  type ResourceReceipt,
  type SubmitOptions,
  type SubmitResult,
} from "../../../native/device.ts";

export interface FaultyDevice {
  readonly name: string;
  /** Ids of the checks that must fail, and no others. */
  readonly fails: readonly string[];
  readonly spoil: (device: Device) => Device;
}

/** `device` with some methods replaced. Its own are called on it, for it keeps private state. */
export function withChanges(device: Device, changes: Partial<Device>): Device {
  return {
    profile: device.profile,
    compile: (source, options) => device.compile(source, options),
    pipeline: (library, name, descriptor) => device.pipeline(library, name, descriptor),
    allocate: (bytes, label) => device.allocate(bytes, label),
    submit: (dispatches, options) => device.submit(dispatches, options),
    close: () => device.close(),
    ...changes,
  };
}

export function buffers(change: (buffer: DeviceBuffer) => void): FaultyDevice["spoil"] {
  return (device) =>
    withChanges(device, {
      allocate: (bytes, label) => {
        const buffer = device.allocate(bytes, label);
        change(buffer);
        return buffer;
      },
    });
}

/** Replaces a method of one buffer; the device still knows it as its own. */
export function replace<K extends keyof DeviceBuffer>(buffer: DeviceBuffer, name: K, value: DeviceBuffer[K]): void {
  Object.defineProperty(buffer, name, { value });
}

export function libraries(
  change: (library: Library) => Partial<Library>,
  read: (source: MetalSource) => MetalSource = (source) => source,
): FaultyDevice["spoil"] {
  return (device) => {
    const real = new WeakMap<Library, Library>();
    return withChanges(device, {
      compile: async (source, options) => {
        const library = await device.compile(read(source), options);
        const changed = { ...library, source, ...change(library) };
        real.set(changed, library);
        return changed;
      },
      pipeline: (library, name, descriptor) => device.pipeline(real.get(library) ?? library, name, descriptor),
    });
  };
}

export function pipelines(change: (pipeline: Pipeline) => Partial<Pipeline>): FaultyDevice["spoil"] {
  return (device) => {
    const real = new WeakMap<Pipeline, Pipeline>();
    return withChanges(device, {
      pipeline: async (library, name, descriptor) => {
        const pipeline = await device.pipeline(library, name, descriptor);
        const changed = { ...pipeline, ...change(pipeline) };
        real.set(changed, pipeline);
        return changed;
      },
      submit: (dispatches, options) =>
        device.submit(
          dispatches.map((one) => ({ ...one, pipeline: real.get(one.pipeline) ?? one.pipeline })),
          options,
        ),
    });
  };
}

export function receipts(change: (receipt: ResourceReceipt) => Partial<ResourceReceipt>): FaultyDevice["spoil"] {
  return pipelines(({ receipt }) => ({ receipt: { ...receipt, ...change(receipt) } }));
}

type Submit = (dispatches: readonly Dispatch[], options?: SubmitOptions) => Promise<SubmitResult>;

export function submits(
  change: (submit: Submit, ...given: Parameters<Submit>) => Promise<SubmitResult>,
): FaultyDevice["spoil"] {
  return (device) =>
    withChanges(device, {
      submit: (dispatches, options) => change((all, more) => device.submit(all, more), dispatches, options),
    });
}

/** What `compile` and `pipeline` reject with, changed. */
export function errors(change: (error: DeviceError) => unknown): FaultyDevice["spoil"] {
  const changed = async <T>(promise: Promise<T>): Promise<T> => {
    try {
      return await promise;
    } catch (error) {
      throw error instanceof DeviceError ? change(error) : error;
    }
  };
  return (device) =>
    withChanges(device, {
      compile: (source, options) => changed(device.compile(source, options)),
      pipeline: (library, name, descriptor) => changed(device.pipeline(library, name, descriptor)),
      submit: (dispatches, options) => changed(device.submit(dispatches, options)),
    });
}

export function diagnostics(change: (diagnostic: Diagnostic) => Diagnostic): FaultyDevice["spoil"] {
  return errors(({ code, message, diagnostics: all }) => new DeviceError(code, message, all.map(change)));
}

/** Swaps the first two. */
export function swapped<T>(list: readonly T[]): readonly T[] {
  const [first, second, ...rest] = list;
  return first === undefined || second === undefined ? list : [second, first, ...rest];
}

export function refusalOf(error: unknown): error is DeviceError {
  return error instanceof DeviceError && error.code === "dispatch_refused";
}
