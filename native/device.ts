/**
 * The interface of a device: the one way in which anything above `native/` compiles and runs a kernel.
 *
 * Implementations: `native/emulator` (an Apple family emulated on the CPU) and `native/metal`; later `native/nvidia`. All
 * of them are asynchronous where they block, and none lets a kernel take the process down.
 */
import type { CheckResult } from "./check.ts";
import type { NativeMemory } from "./memory.ts";

/** Where a result was computed. Travels with every record; `imported` results were computed elsewhere. */
export type Execution = "metal" | "emulated" | "nvidia" | "imported";

/** Families that a device may report. Kernels of this project need apple7; a virtual GPU reports apple5. */
export const APPLE_FAMILIES = ["apple5", "apple6", "apple7", "apple8", "apple9", "apple10", "apple11"] as const;
export type AppleFamily = (typeof APPLE_FAMILIES)[number];

/** Families that can be emulated: those that the chip table knows. */
export const EMULATED_FAMILIES = ["apple7", "apple8", "apple9", "apple10"] as const satisfies readonly AppleFamily[];
export type EmulatedFamily = (typeof EMULATED_FAMILIES)[number];

/** How a fact about a device is known. `assumed` and `inferred` facts never support a claim. */
export type KnownBy = "api" | "probe" | "table" | "inferred" | "assumed";

/** A value together with how it is known and where it was read. */
export interface Known<T> {
  readonly value: T;
  readonly by: KnownBy;
  readonly source: string;
}

/** Limits that decide whether a dispatch is legal. Units are in the names. */
export interface DeviceLimits {
  readonly simdWidth: number;
  readonly maxThreadsPerThreadgroup: number;
  readonly maxThreadgroupMemoryBytes: number;
  readonly threadgroupMemoryAlignmentBytes: number;
  readonly bufferSlots: number;
  readonly setBytesMax: number;
}

/** What a device is. The emulated device states the OS and Metal version that it assumes. */
export interface DeviceProfile {
  /** Stable name used on the command line: `emulated:apple9`, `metal:0`. */
  readonly id: string;
  readonly execution: Exclude<Execution, "imported">;
  readonly name: Known<string>;
  readonly chip: Known<string>;
  readonly architecture: Known<string>;
  readonly family: Known<AppleFamily>;
  readonly metalVersion: Known<string>;
  readonly os: Known<string>;
  readonly gpuCores: Known<number | undefined>;
  readonly limits: Known<DeviceLimits>;
  readonly toolchain: Known<string>;
  /** What else is known of the device, in the order in which it is shown. Absent on emulated devices. */
  readonly facts?: readonly DeviceFact[];
  /** True: a GPU that the hypervisor lends to a virtual machine. Its results are marked and support no chip. */
  readonly virtualGpu?: Known<boolean>;
}

/** A fact that nothing decides by, or the reason why it is not known. */
export interface DeviceFact {
  readonly id: string;
  readonly label: string;
  readonly value: string | null;
  readonly by: KnownBy;
  readonly source: string;
  readonly reason: string | null;
}

/** Id of the fact that is `recommendedMaxWorkingSetSize` of a Metal device; its value is bytes in decimal. */
export const WORKING_SET_FACT = "recommended_working_set_bytes";

/** An entry of `listDevices()`: a device that can be opened, or the reason why it is not there. */
export type DeviceEntry =
  | { readonly kind: Exclude<Execution, "imported">; readonly available: true; readonly profile: DeviceProfile }
  | {
      readonly kind: Exclude<Execution, "imported">;
      readonly available: false;
      readonly reason: string;
      readonly mend: string;
    };

/** A `.metal` file: its path as shown in diagnostics, and its text. */
export interface MetalSource {
  readonly path: string;
  readonly text: string;
}

export interface CompileOptions {
  /** Preprocessor macros, as `MTLCompileOptions.preprocessorMacros`. */
  readonly defines?: Readonly<Record<string, string | number>>;
  /** Files that the source includes by name: Metal's run-time compiler has no include path, so they are inlined. */
  readonly includes?: readonly MetalSource[];
  /** MSL version, for example `3.1`. */
  readonly languageVersion?: string;
  /** `safe` keeps NaN and infinity; parity runs always use it. */
  readonly mathMode?: "safe" | "relaxed" | "fast";
}

/** A message of the compiler, in the coordinates of the `.metal` file that the user wrote (1-based). */
export interface Diagnostic {
  readonly severity: "error" | "warning" | "note";
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** One argument of a kernel as reflected from its signature. */
export interface KernelArgument {
  readonly name: string;
  readonly kind: "buffer" | "threadgroup";
  readonly index: number;
  /** Absent where the device does not tell: Metal does not. */
  readonly addressSpace?: "device" | "constant" | "threadgroup";
  /** True if the pointee is `const`; on Metal, if the kernel only reads it. */
  readonly readOnly: boolean;
  /** Absent where the device does not tell: Metal does not. */
  readonly type?: string;
  /** Bytes of one pointee; what is bound must have as many. Absent where the device does not tell. */
  readonly pointeeBytes?: number;
  /** What an offset into the buffer must be a multiple of. Absent where the device does not tell. */
  readonly alignmentBytes?: number;
}

export interface KernelFunction {
  readonly name: string;
  /** Absent where they are not known: Metal tells those of a pipeline, not those of a library. */
  readonly arguments?: readonly KernelArgument[];
  /** `[[max_total_threads_per_threadgroup(n)]]`, if stated. */
  readonly maxTotalThreadsPerThreadgroup?: number;
}

export interface FunctionConstant {
  readonly name: string;
  readonly index: number;
  readonly type: string;
}

/** A compiled source. `id` is the digest of everything that went into it. */
export interface Library {
  readonly id: string;
  readonly source: MetalSource;
  readonly options: CompileOptions;
  readonly functions: readonly KernelFunction[];
  readonly functionConstants: readonly FunctionConstant[];
  readonly warnings: readonly Diagnostic[];
}

/**
 * How an emulated pipeline is built from the same source. `fast` runs lanes as far as they go between
 * rendezvous; `lockstep` adds a rendezvous of the simdgroup at every threadgroup access; `check` looks at every access
 * and reports (`check.ts`); `check+lockstep` does both. The dispatches of a submission are all of check flavours or none.
 */
export type Flavour = "fast" | "lockstep" | "check" | "check+lockstep";

/** True for the flavours that report. */
export function isCheckFlavour(flavour: Flavour): boolean {
  return flavour === "check" || flavour === "check+lockstep";
}

export interface PipelineDescriptor {
  /** Values of function constants, by index or by name. */
  readonly constants?: Readonly<Record<string, number | boolean>>;
  /** Emulated devices only; others accept `fast` alone. */
  readonly flavour?: Flavour;
  /**
   * Most threads of a threadgroup that it is ever dispatched with, as the attribute `max_total_threads_per_threadgroup`: the
   * compiler may then use more registers a thread, and must leave room for as many threads.
   */
  readonly maxTotalThreadsPerThreadgroup?: number;
  /**
   * Threads per threadgroup of every dispatch. Metal needs it for cooperative tensors (matmul2d, macOS 26) and builds for
   * it; the emulated device builds as without it. On both a dispatch with others is refused.
   */
  readonly requiredThreadsPerThreadgroup?: Size3;
}

/** Recorded facts about a pipeline. */
export interface ResourceReceipt {
  readonly function: string;
  readonly simdWidth: Known<number>;
  readonly maxTotalThreadsPerThreadgroup: Known<number>;
  readonly staticThreadgroupMemoryBytes: Known<number>;
  /** 32-bit registers of a thread, as far as the maximum of threads tells them (Apple7 and Apple8). */
  readonly registers?: Known<{ readonly least: number; readonly most: number }>;
  /** MSL version and math mode that it was compiled with, and how they were set. Absent on emulated devices. */
  readonly language?: Known<string>;
  readonly mathMode?: Known<string>;
  /** SHA-256 of source, macros, constants, flags and compiler. */
  readonly digest: string;
  readonly compileMs: number;
  readonly cached: boolean;
}

export interface Pipeline {
  readonly id: string;
  readonly function: KernelFunction;
  readonly flavour: Flavour;
  /** As in the descriptor. */
  readonly requiredThreadsPerThreadgroup?: Size3;
  readonly receipt: ResourceReceipt;
}

/**
 * A buffer of an exact byte size. It comes poisoned (every 32-bit word is `POISON_WORD`, a quiet NaN), and what lies
 * behind its end is watched: a guard page at 16-byte alignment and a checked sentinel in the gap (emulated), or
 * sentinels (metal, nvidia).
 */
export interface DeviceBuffer {
  readonly label: string;
  readonly bytes: number;
  /** The memory behind it, for the native oracle and generator. */
  readonly memory: NativeMemory;
  /** Copies `data` to byte `offset`. Throws RangeError outside the buffer. */
  write(offset: number, data: Uint8Array): void;
  /** Copies `length` bytes from byte `offset`. Throws RangeError outside the buffer. */
  read(offset: number, length: number): Uint8Array;
  /** Sets every word to `POISON_WORD` again. */
  poison(): void;
  /** True while nothing has written between the end of the buffer and its guard. */
  sentinelIntact(): boolean;
  release(): void;
}

/** A quiet NaN in f32, and in both halves of f16 and bf16, with a payload that no arithmetic produces. */
export const POISON_WORD = 0x7fed7fed;

export type Size3 = readonly [number, number, number];

export type DispatchArgument =
  | { readonly index: number; readonly buffer: DeviceBuffer; readonly offset?: number }
  | { readonly index: number; readonly bytes: Uint8Array };

/** One `dispatchThreadgroups`. */
export interface Dispatch {
  readonly label: string;
  readonly pipeline: Pipeline;
  readonly threadgroups: Size3;
  readonly threadsPerThreadgroup: Size3;
  readonly arguments: readonly DispatchArgument[];
  /** Dynamic threadgroup memory by index, in bytes. */
  readonly threadgroupMemory?: readonly { readonly index: number; readonly bytes: number }[];
  /**
   * Bytes behind a dynamic threadgroup array that the kernel may touch although its host does not ask for them. They are
   * there in every flavour; check flavours do not report them.
   */
  readonly threadgroupPadding?: readonly { readonly index: number; readonly bytes: number }[];
}

/** What check flavours are asked beyond what they always look at. */
export interface CheckOptions {
  /** Every byte of these must be written exactly once in the submission. */
  readonly outputs?: readonly DeviceBuffer[];
  /**
   * How dispatches of a submission are ordered. `serial` (default): as in a serial compute encoder, each sees what the
   * ones before it wrote. `concurrent`: they may overlap, and memory that two of them share is a race.
   */
  readonly order?: "serial" | "concurrent";
}

export interface Progress {
  readonly dispatch: number;
  readonly label: string;
  readonly threadgroupsDone: number;
  readonly threadgroups: number;
}

export interface SubmitOptions {
  /** Milliseconds for the whole submission; then it is killed and `timed_out`. Default 120,000. */
  readonly timeoutMs?: number;
  /** Threads on the emulated device. Default: one per core. Check flavours use one, whatever is asked for. */
  readonly workers?: number;
  readonly check?: CheckOptions;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Takes what kernels log with `os_log` (MSL 6.19) while they run, at most 1,000 lines a submission. */
  readonly onLog?: (line: LogLine) => void;
  /** Called once if more was logged: how many lines were left out. */
  readonly onLogOverflow?: (lines: number) => void;
}

export const LOG_LEVELS = ["debug", "info", "default", "error", "fault"] as const;

/** A message that a kernel logged, cut at 511 bytes. */
export interface LogLine {
  readonly level: (typeof LOG_LEVELS)[number];
  /** Of the dispatch. On Metal, which does not tell it, `one of` those of the submission. */
  readonly label: string;
  readonly message: string;
  /** Absent for `os_log_default`. */
  readonly subsystem?: string;
  readonly category?: string;
  /** Who logged it: position of the threadgroup, of the thread in it, and its index there. Metal does not tell. */
  readonly threadgroup?: Size3;
  readonly position?: Size3;
  readonly thread?: number;
}

export interface DispatchTiming {
  readonly label: string;
  /** Device time in nanoseconds; on the emulated device wall time of the emulation, never evidence about a chip. */
  readonly ns: number;
  /** What the time was read from; absent on emulated devices. */
  readonly clock?: "stage_boundary_counters" | "command_buffer";
  /** `GPUEndTime` less `GPUStartTime` of the command buffer in nanoseconds, beside a time of the counters. */
  readonly commandBufferNs?: number;
  /** Why the counters were not read, where Metal says so. */
  readonly clockReason?: string;
}

export interface SubmitResult {
  readonly timings: readonly DispatchTiming[];
  /** What the process that ran the kernels was not allowed to do, in words; absent where a device has no such process. */
  readonly rights?: string;
  /** What the check flavours saw; absent for the others. */
  readonly check?: CheckResult;
}

/** Why a device did not do what was asked. `message` names both sides and the mend. */
export type DeviceErrorCode =
  | "compile_failed"
  | "pipeline_refused"
  | "dispatch_refused"
  | "timed_out"
  | "crashed"
  | "cancelled"
  | "unavailable";

export class DeviceError extends Error {
  override readonly name = "DeviceError";
  readonly code: DeviceErrorCode;
  readonly diagnostics: readonly Diagnostic[];
  /** What a check flavour had seen when the run ended early. */
  readonly check: CheckResult | undefined;
  constructor(code: DeviceErrorCode, message: string, diagnostics: readonly Diagnostic[] = [], check?: CheckResult) {
    super(message);
    this.code = code;
    this.diagnostics = diagnostics;
    this.check = check;
  }
}

/** A device that is open. Every method rejects with `DeviceError`. */
export interface Device {
  readonly profile: DeviceProfile;
  /**
   * Front end: reflection and diagnostics. Refuses what Metal refuses where that is known. Rejects with `cancelled` where
   * `signal` aborts: compilers of the emulated device are ended before, Metal's cannot be and its result is dropped.
   */
  compile(source: MetalSource, options?: CompileOptions, signal?: AbortSignal): Promise<Library>;
  /**
   * Builds one function. Cached by the digest of source, macros, constants, flags and compiler. `signal` as in `compile`;
   * what another request waits for as well is built to its end.
   */
  pipeline(
    library: Library,
    functionName: string,
    descriptor?: PipelineDescriptor,
    signal?: AbortSignal,
  ): Promise<Pipeline>;
  /** Allocates `bytes` (at least 1), poisoned. */
  allocate(bytes: number, label: string): DeviceBuffer;
  /** Runs the dispatches in order. Illegal ones are refused before anything runs, with the limit and the value. */
  submit(dispatches: readonly Dispatch[], options?: SubmitOptions): Promise<SubmitResult>;
  /**
   * Writes what `work` submits to a new `.gputrace` at `path` and gives what `work` gives. Metal alone, in a process with
   * MTL_CAPTURE_ENABLED=1 and without logging; absent on other devices. Rejects with `unavailable` and Metal's words where
   * it cannot capture, before `work` begins.
   */
  capture?<T>(path: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
