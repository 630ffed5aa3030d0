/** Compiles one kernel of a source and runs it on given bytes: what the tests of the execution part share. */
import type { Device, DispatchArgument, Flavour, Size3, SubmitOptions } from "../../../native/device.ts";

export type Elements = Float32Array | Uint32Array | Int32Array | Uint16Array | Uint8Array;

export interface KernelRun {
  readonly source: string;
  readonly kernel: string;
  readonly threads: Size3;
  readonly threadgroups?: Size3;
  /** Bound from index 1 on; index 0 is the output. */
  readonly inputs?: readonly Elements[];
  /** Bytes of the output, which comes poisoned. */
  readonly outputBytes: number;
  readonly threadgroupMemory?: readonly { readonly index: number; readonly bytes: number }[];
  readonly flavour?: Flavour;
  readonly defines?: Readonly<Record<string, string | number>>;
  readonly submit?: SubmitOptions;
}

const HEAD = "#include <metal_stdlib>\nusing namespace metal;\n#line 1\n";

/** The output's bytes after the kernel ran once. */
export async function runKernel(device: Device, run: KernelRun): Promise<ArrayBuffer> {
  const library = await device.compile(
    { path: "test.metal", text: HEAD + run.source },
    { ...(run.defines ? { defines: run.defines } : {}), mathMode: "safe" },
  );
  const pipeline = await device.pipeline(library, run.kernel, { flavour: run.flavour ?? "fast" });
  const output = device.allocate(run.outputBytes, "out");
  const inputs = (run.inputs ?? []).map((elements, i) => {
    const buffer = device.allocate(elements.byteLength, `in${i + 1}`);
    buffer.write(0, new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength));
    return buffer;
  });
  try {
    const bound: DispatchArgument[] = [output, ...inputs].map((buffer, index) => ({ index, buffer }));
    await device.submit(
      [
        {
          label: run.kernel,
          pipeline,
          threadgroups: run.threadgroups ?? [1, 1, 1],
          threadsPerThreadgroup: run.threads,
          arguments: bound,
          ...(run.threadgroupMemory ? { threadgroupMemory: run.threadgroupMemory } : {}),
        },
      ],
      run.submit,
    );
    return output.read(0, run.outputBytes).slice().buffer;
  } finally {
    for (const buffer of [output, ...inputs]) buffer.release();
  }
}

const f32 = new Float32Array(1);
const u32 = new Uint32Array(f32.buffer);

/** `value` rounded to half, to nearest even. */
export function toHalf(value: number): number {
  if (!Number.isFinite(value) || value === 0) return value;
  const magnitude = Math.abs(value);
  const exponent = Math.max(Math.floor(Math.log2(magnitude)), -14);
  const step = 2 ** (exponent - 10);
  const steps = magnitude / step;
  const low = Math.floor(steps);
  const rest = steps - low;
  const rounded = (rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low) * step;
  return Math.sign(value) * (rounded > 65504 ? Number.POSITIVE_INFINITY : rounded);
}

/** `value` (a float) rounded to bfloat, to nearest even. */
export function toBfloat(value: number): number {
  f32[0] = value;
  const bits = u32[0]!;
  u32[0] = ((bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000) >>> 0;
  return f32[0];
}

export function bfloatBits(value: number): number {
  f32[0] = value;
  return u32[0]! >>> 16;
}

/** Bits of a half from a value that is one. */
export function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude === 0) return sign;
  const exponent = Math.max(Math.floor(Math.log2(magnitude)), -15);
  if (exponent < -14) return sign | Math.round(magnitude / 2 ** -24);
  return sign | ((exponent + 15) << 10) | Math.round((magnitude / 2 ** exponent - 1) * 1024);
}

/** A fixed stream of numbers in [-1, 1) with 12 significant bits, so that sums of products are exact in a double. */
export function stream(count: number, seed: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return ((state >>> 20) - 2048) / 2048;
  });
}
