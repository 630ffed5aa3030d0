/** The matrix kernel of the checker's figures: C = A B on 8x8 simdgroup matrices, half to float (`test/bench/gemm.metal`). */
import fs from "node:fs";
import path from "node:path";
import { packParams } from "../../kernels/params.ts";
import type { Device, Dispatch, Flavour } from "../../native/device.ts";

const SIZE = 192;
const BLOCK = 32;
const THREADS = 128;

export const MATRIX_TITLE = `matrix product ${SIZE}x${SIZE}x${SIZE} f16`;

/** Halves whose products and sums are exact in float: multiples of 1/8 up to 1. */
function operand(multiplier: number): { readonly halves: Uint8Array; readonly values: Float64Array } {
  const patterns = [0x0000, 0x3000, 0x3400, 0x3600, 0x3800, 0x3900, 0x3a00, 0x3b00, 0x3c00];
  const halves = new Uint16Array(SIZE * SIZE);
  const values = new Float64Array(SIZE * SIZE);
  for (let i = 0; i < SIZE * SIZE; i++) {
    const step = (i * multiplier) % 17;
    const magnitude = Math.abs(step - 8);
    halves[i] = patterns[magnitude]! | (step < 8 ? 0x8000 : 0);
    values[i] = (step - 8) / 8;
  }
  return { halves: new Uint8Array(halves.buffer), values };
}

/** Throws Error unless `got` is the product exactly. */
function compare(got: Float32Array, a: Float64Array, b: Float64Array): void {
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      let sum = 0;
      for (let k = 0; k < SIZE; k++) sum += a[y * SIZE + k]! * b[k * SIZE + x]!;
      const value = got[y * SIZE + x]!;
      if (value !== sum) throw new Error(`The matrix product has ${value} at (${y}, ${x}); it is ${sum}.`);
    }
  }
}

export interface MatrixWork {
  readonly submit: (flavour: Flavour) => Promise<void>;
  readonly release: () => void;
}

/** Builds the kernel in `flavours`, and compares its result with float64 once. Throws Error where they differ. */
export async function matrixWork(device: Device, root: string, flavours: readonly Flavour[]): Promise<MatrixWork> {
  const text = fs.readFileSync(path.join(root, "test", "bench", "gemm.metal"), "utf8");
  const library = await device.compile({ path: "gemm.metal", text }, { mathMode: "safe" });
  const dispatches = new Map<Flavour, Dispatch>();
  const [a, b] = [operand(5), operand(7)];
  const buffers = { a: device.allocate(a.halves.length, "a"), b: device.allocate(b.halves.length, "b") };
  const c = device.allocate(4 * SIZE * SIZE, "c");
  const release = () => {
    for (const buffer of [buffers.a, buffers.b, c]) buffer.release();
  };
  buffers.a.write(0, a.halves);
  buffers.b.write(0, b.halves);
  const params = packParams(["m", "n", "k"].map((name) => ({ name, type: "u32", value: SIZE })));
  for (const flavour of flavours) {
    dispatches.set(flavour, {
      label: "gemm_8x8",
      pipeline: await device.pipeline(library, "gemm_8x8", { flavour }),
      threadgroups: [SIZE / BLOCK, SIZE / BLOCK, 1],
      threadsPerThreadgroup: [THREADS, 1, 1],
      arguments: [
        { index: 0, buffer: buffers.a },
        { index: 1, buffer: buffers.b },
        { index: 2, buffer: c },
        { index: 3, bytes: params },
      ],
    });
  }
  const submit = async (flavour: Flavour): Promise<void> => {
    c.poison();
    const { check } = await device.submit([dispatches.get(flavour)!], { workers: 1 });
    const [report] = check?.reports ?? [];
    if (report !== undefined) throw new Error(`The matrix product was reported: ${report.message}`);
  };
  try {
    await submit(flavours[0]!);
    const bytes = c.read(0, c.bytes);
    compare(new Float32Array(bytes.buffer, bytes.byteOffset, SIZE * SIZE), a.values, b.values);
  } catch (error) {
    release();
    throw error;
  }
  return { submit, release };
}
