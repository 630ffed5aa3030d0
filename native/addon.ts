/**
 * The typed surface of the Node-API addon (`out/lockstep.node`): shared memory, the fast float64 oracle and the native
 * generator. Only `electron/host` and tests load it.
 */
import { createRequire } from "node:module";
import type { NativeMemory, SharedNativeMemory } from "./memory.ts";
import type { Metal } from "./metal/binding.ts";

/** A slice of the counter-based generator; see `oracle/generator.ts` for the definition. */
export interface GenerateOptions {
  readonly seed: number;
  readonly tensor: number;
  readonly bits: 8 | 24;
  readonly multiplier: number;
  /** First element index of the stream. */
  readonly start: number;
  readonly count: number;
}

/** A tensor in native memory: f32, or f16 / bf16 that is widened exactly. Contiguous, row-major. */
export interface NativeTensor {
  readonly memory: NativeMemory;
  readonly dtype: "f32" | "f16" | "bf16";
}

export type InstructionSet = "avx512" | "avx2" | "portable";

/** How the oracle computes; what it computes does not depend on the number of threads. */
export interface NativeComputeOptions {
  /** Default: one for each core. */
  readonly threads?: number;
  /** Default: the best that the CPU has. Rejects where the CPU lacks it. */
  readonly instructionSet?: InstructionSet;
}

export interface NativeDecodeInput extends NativeComputeOptions {
  readonly q: NativeTensor;
  readonly k: NativeTensor;
  readonly v: NativeTensor;
  readonly heads: number;
  readonly kvHeads: number;
  readonly dim: number;
  readonly live: number;
  readonly scale: number;
}

export interface NativePrefillInput extends NativeComputeOptions {
  readonly qNope: NativeTensor;
  readonly qRope: NativeTensor;
  readonly kNope: NativeTensor;
  readonly kRope: NativeTensor;
  readonly v: NativeTensor;
  readonly heads: number;
  readonly nope: number;
  readonly rope: number;
  readonly value: number;
  readonly cuSeqlensQ: Int32Array;
  readonly cuSeqlensK: Int32Array;
  readonly qOffset: Int32Array;
  readonly scale: number;
}

/**
 * Float64 results, the same fields as `AttentionResult` in `oracle/attention.ts`. Rows are query heads (decode) or
 * `row * heads + head` (prefill); `out` and `absolute` have a value for each element of the output, the others one for
 * each row. `conditioning` is the largest finite scale * sum_d |q_d k_d| over the live keys of the row; `absolute` is
 * sum_j p_j |v_j|, the size of the terms that the output is a sum of.
 */
export interface NativeAttentionResult {
  readonly out: Float64Array;
  readonly m: Float64Array;
  readonly s: Float64Array;
  readonly lse: Float64Array;
  readonly conditioning: Float64Array;
  readonly absolute: Float64Array;
}

export interface Addon {
  allocate(bytes: number): SharedNativeMemory;
  /** Metal, on macOS; null elsewhere. */
  readonly metal: Metal | null;
  /** Writes f32 values of the stream to the start of `memory` plus `byteOffset`. */
  generate(memory: NativeMemory, byteOffset: number, options: GenerateOptions): Promise<void>;
  gqaDecode(input: NativeDecodeInput): Promise<NativeAttentionResult>;
  mlaPrefill(input: NativePrefillInput): Promise<NativeAttentionResult>;
  /** The low-precision twin of `oracle/twin.ts`, the same bits: every value is exact in `dtype`. */
  gqaDecodeTwin(input: NativeDecodeInput, dtype: NativeTensor["dtype"]): Promise<Float32Array>;
  mlaPrefillTwin(input: NativePrefillInput, dtype: NativeTensor["dtype"]): Promise<Float32Array>;
  /** Instruction sets of the oracle's kernels that this CPU runs, the best first. */
  readonly instructionSets: readonly InstructionSet[];
}

/** True where `LOCKSTEP_METAL=off` leaves Metal out, so that a Mac has the emulated device alone. */
export function isMetalOff(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return environment.LOCKSTEP_METAL === "off";
}

/** Loads the addon that `build/bootstrap.mjs` built. Throws with the mend if it is missing. */
export function loadAddon(path: string): Addon {
  try {
    const addon = createRequire(import.meta.url)(path) as Addon;
    return isMetalOff() ? { ...addon, metal: null } : addon;
  } catch (error) {
    throw new Error(
      `The native addon at ${path} could not be loaded (${error instanceof Error ? error.message : String(error)}). ` +
        "Run `node build/bootstrap.mjs` to build it.",
    );
  }
}
