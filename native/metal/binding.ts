/**
 * What the Objective-C++ in this folder offers JavaScript through the addon: plain values and promises, nothing decided.
 * `device.ts` makes a `Device` of it; only `native/metal` uses it.
 *
 * Whatever Metal refuses is a value with Metal's own words, never an exception: exceptions mean a wrong argument, which is a
 * defect of the caller. Calls that may block run on threads of their own.
 */
import type { Size3 } from "../device.ts";
import type { NativeMemory } from "../memory.ts";

/** An NSError, word for word. */
export interface MetalError {
  readonly words: string;
  readonly domain: string;
  readonly code: number;
}

/** One MTLDevice, as read. What the running macOS is too old to tell is null. */
export interface MetalDeviceFacts {
  /** `registryID` in decimal: 64 bits do not fit a JavaScript number. */
  readonly registryId: string;
  readonly name: string;
  /** True for `MTLCreateSystemDefaultDevice`. */
  readonly isDefault: boolean;
  /** `architecture.name`; macOS 14. */
  readonly architecture: string | null;
  /** Raw values of MTLGPUFamily, out of `FAMILY_VALUES`, for which `supportsFamily:` says yes. */
  readonly families: readonly number[];
  readonly hasUnifiedMemory: boolean;
  readonly recommendedMaxWorkingSetBytes: number;
  readonly maxBufferBytes: number;
  readonly maxThreadgroupMemoryBytes: number;
  readonly maxThreadsPerThreadgroup: Size3;
  /** Names of the counter sets; null where Metal offers none. */
  readonly counterSets: readonly string[] | null;
  readonly samplesAtStageBoundary: boolean;
  readonly samplesAtDispatchBoundary: boolean;
  /** `queryTimestampFrequency`, ticks a second; macOS 26. */
  readonly timestampFrequencyHz: number | null;
  /** `gpu-core-count` of the IO registry, or why it is not known. */
  readonly gpuCores: { readonly count: number } | { readonly problem: string };
}

/** What decides how results of this machine are to be read. */
export interface MetalSystemFacts {
  /** `machdep.cpu.brand_string`. */
  readonly cpuBrand: string | null;
  /** `hw.model`. */
  readonly model: string | null;
  /** `kern.hv_vmm_present`: the system runs in a virtual machine. */
  readonly virtualMachine: boolean | null;
  /** `NSProcessInfo.operatingSystemVersion`: `26.1.0`. */
  readonly osVersion: string;
  /** `kern.osversion`: `25B78`. */
  readonly osBuild: string | null;
  /** `__MAC_OS_X_VERSION_MAX_ALLOWED` of the SDK that the addon was built with: `260100`. */
  readonly sdkVersion: number;
}

/** What `supportsFamily:` is asked. By raw value, so that an older SDK can ask for newer families. */
export const FAMILY_VALUES = [1005, 1006, 1007, 1008, 1009, 1010, 1011, 5001, 5002] as const;

/** Handles are objects of the addon; JavaScript only passes them on. */
export interface MetalLibraryHandle {
  readonly kind: "library";
}
export interface MetalPipelineHandle {
  readonly kind: "pipeline";
}

export interface MetalCompileRequest {
  readonly text: string;
  /** Raw MTLLanguageVersion: major << 16 | minor. */
  readonly languageVersion: number;
  readonly mathMode: "safe" | "relaxed" | "fast";
  /** `preprocessorMacros`; values as they would stand in the source. */
  readonly macros: readonly (readonly [string, string])[];
  /** `enableLogging`; macOS 15. */
  readonly logging: boolean;
}

export interface MetalLibraryFunction {
  readonly name: string;
  readonly constants: readonly {
    readonly name: string;
    readonly index: number;
    /** Raw MTLDataType. */
    readonly type: number;
    readonly required: boolean;
  }[];
}

export type MetalCompileReply =
  | {
      readonly ok: true;
      readonly library: MetalLibraryHandle;
      readonly functions: readonly MetalLibraryFunction[];
      /** Warnings come as an error beside a library. */
      readonly warnings: string | null;
      /** How the math mode was set: macOS 15 has `mathMode`, older ones only `fastMathEnabled`. */
      readonly mathModeBy: "mathMode" | "fastMathEnabled";
      readonly ms: number;
    }
  | { readonly ok: false; readonly error: MetalError };

export interface MetalConstant {
  readonly index: number;
  /** Raw MTLDataType. */
  readonly type: number;
  /** The value in the type's own bytes, little endian. */
  readonly bytes: Uint8Array;
}

export interface MetalPipelineRequest {
  readonly function: string;
  readonly constants: readonly MetalConstant[];
  /** `maxTotalThreadsPerThreadgroup` of the descriptor; null leaves it to Metal. */
  readonly maxTotalThreadsPerThreadgroup: number | null;
  /** macOS 26: a pipeline with cooperative tensors must state it. */
  readonly requiredThreadsPerThreadgroup: Size3 | null;
  /** A binary archive to look in first and to add to: absolute path of the file. */
  readonly archive: string | null;
}

export interface MetalArgument {
  readonly name: string;
  readonly kind: "buffer" | "threadgroup" | "other";
  readonly index: number;
  /** Raw MTLBindingAccess: 0 read only, 1 read and write, 2 write only. */
  readonly access: number;
  readonly used: boolean;
  /** `bufferDataSize` or `threadgroupMemoryDataSize`. */
  readonly dataBytes: number;
  readonly alignment: number;
}

export type MetalPipelineReply =
  | {
      readonly ok: true;
      readonly pipeline: MetalPipelineHandle;
      /** `threadExecutionWidth`. */
      readonly simdWidth: number;
      readonly maxTotalThreadsPerThreadgroup: number;
      /** `staticThreadgroupMemoryLength`: without what `setThreadgroupMemoryLength` adds. */
      readonly staticThreadgroupMemoryBytes: number;
      /** Null where reflection is not available. */
      readonly arguments: readonly MetalArgument[] | null;
      /** Whether the binary archive had the pipeline. `problem`: it could not be read or written, and why. */
      readonly archive: "hit" | "added" | "none" | { readonly problem: string };
      readonly ms: number;
    }
  | { readonly ok: false; readonly error: MetalError };

export type MetalBinding =
  | { readonly index: number; readonly memory: NativeMemory; readonly offset: number }
  | { readonly index: number; readonly bytes: Uint8Array };

export interface MetalDispatch {
  readonly label: string;
  readonly pipeline: MetalPipelineHandle;
  readonly threadgroups: Size3;
  readonly threadsPerThreadgroup: Size3;
  readonly bindings: readonly MetalBinding[];
  readonly threadgroupMemory: readonly { readonly index: number; readonly bytes: number }[];
}

/** Times of one dispatch, each in a command buffer and an encoder of its own. */
export interface MetalTiming {
  /** `GPUStartTime` and `GPUEndTime` of the command buffer, seconds. */
  readonly gpuStart: number;
  readonly gpuEnd: number;
  /** Stage-boundary samples of the encoder, nanoseconds between them; null where not sampled, and why. */
  readonly counterNs: number | null;
  readonly counterProblem: string | null;
}

/** A line that a kernel logged. */
export interface MetalLogLine {
  readonly level: number;
  readonly subsystem: string;
  readonly category: string;
  readonly message: string;
}

export interface MetalSubmitOptions {
  /** Sample the timestamp counter at stage boundaries where the device can. */
  readonly counters: boolean;
  /** After each dispatch, with its index. */
  readonly onDispatch?: (index: number) => void;
  /** The connection was opened with `logging`. Lines that Metal delivers after `done` are dropped. */
  readonly onLog?: (line: MetalLogLine) => void;
}

export type MetalSubmitReply =
  | { readonly ok: true; readonly timings: readonly MetalTiming[] }
  /** `cancel` came before the dispatch with this index; those before it have completed. */
  | { readonly ok: false; readonly cancelledBefore: number }
  /** The command buffer of the dispatch with this index failed. */
  | {
      readonly ok: false;
      readonly failed: number;
      readonly error: MetalError;
      /** MTLCommandBufferEncoderInfo: `label: completed | affected | pending | faulted | unknown`. */
      readonly encoders: readonly string[];
    };

export interface MetalSubmission {
  readonly done: Promise<MetalSubmitReply>;
  /** No further dispatch is committed; the one at hand runs to its end, for Metal cannot stop it. */
  cancel(): void;
}

/** A device and a command queue of it. */
export interface MetalConnection {
  compile(request: MetalCompileRequest): Promise<MetalCompileReply>;
  pipeline(library: MetalLibraryHandle, request: MetalPipelineRequest): Promise<MetalPipelineReply>;
  /**
   * Shared memory of the GPU between sentinels, not poisoned. Throws Error with both sides where Metal gives none. Buffers of
   * 16 MiB and more come out of heaps and are resident as long as they are there (residency sets, macOS 15).
   */
  allocate(bytes: number, label: string): NativeMemory;
  /** Submissions of a connection run one after another, in the order in which they came. */
  submit(dispatches: readonly MetalDispatch[], options: MetalSubmitOptions): MetalSubmission;
  /** Writes what is submitted until `stopCapture` to a `.gputrace`. The process needs MTL_CAPTURE_ENABLED=1. */
  startCapture(path: string): { readonly ok: true } | { readonly ok: false; readonly error: MetalError };
  stopCapture(): void;
  /** Bytes that Metal has allocated for this process (`currentAllocatedSize`). */
  allocatedBytes(): number;
  close(): void;
}

/** What the addon exports as `metal` on macOS. */
export interface Metal {
  system(): MetalSystemFacts;
  devices(): Promise<readonly MetalDeviceFacts[]>;
  /** Rejects where no device has this id. `logging` takes what kernels log (macOS 15); a process that captures must not. */
  open(registryId: string, options: { readonly logging: boolean }): Promise<MetalConnection>;
}
