/** The self-test of a compiler: a kernel with exactly known results, before anything else is built with it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Device, DeviceError, type Flavour } from "../device.ts";
import { nativeFolder } from "../msl/paths.ts";
import { StorageError } from "./cache.ts";

const THREADS = 64;
const VALUES = 8;
const LANES = 32;
const SCALE = 0.5;
const FACTOR = 3;

/** Small whole numbers: every sum and product below is exact. */
function input(index: number): number {
  return (index % 7) - 3;
}

/** What thread `id` writes, computed without the emulator. */
export function expectedValues(id: number): readonly number[] {
  const lane = id % LANES;
  const first = id - lane;
  const lanes = Array.from({ length: LANES }, (_, index) => index);
  const reversed = (thread: number): number => input(63 - thread);
  const group = lanes.map((index) => reversed(first + index));
  const turns = (limit: number): number => lanes.filter((index) => index % 3 > limit).length;
  let divergent = lane % 2 === 1 ? LANES / 2 : LANES - 2;
  for (let turn = 0; turn < lane % 3; turn += 1) divergent += turns(turn);
  const product = (index: number): number => {
    let sum = 1;
    for (let k = 0; k < 8; k += 1) sum += input((index >> 3) * 8 + k) * input((index & 7) * 8 + k);
    return sum;
  };
  return [
    group.reduce((sum, value) => sum + value, 0) * SCALE,
    Math.max(...group) + reversed(id ^ 1) * 100,
    divergent,
    product(lane),
    product(lane + LANES),
    1 + 10 * 2 + 100 * 3 + 1000 * 4,
    2 + 10 * 1 + 100 * 6 + 1000 * 8,
    FACTOR * id,
  ];
}

/** Why the device's compiler must not be used, or undefined if every value is right in both flavours. */
export async function selfTestProblem(device: Device): Promise<string | undefined> {
  const flavours: readonly Flavour[] = ["fast", "lockstep"];
  const problems = await Promise.all(
    flavours.map((flavour) =>
      flavourProblem(device, flavour).catch((error: unknown) => {
        // A full disk says nothing about the compiler.
        if (!(error instanceof DeviceError) || error instanceof StorageError) throw error;
        return `the self-test kernel did not run (${flavour}): ${error.message}`;
      }),
    ),
  );
  return problems.find((problem) => problem !== undefined);
}

async function flavourProblem(device: Device, flavour: Flavour): Promise<string | undefined> {
  const path = join(nativeFolder(), "emulator", "self_test.metal");
  const library = await device.compile({ path: "self_test.metal", text: await readFile(path, "utf8") });
  const pipeline = await device.pipeline(library, "self_test_float", { constants: { factor: FACTOR }, flavour });
  const source = device.allocate(THREADS * 4, "self-test input");
  const output = device.allocate(THREADS * VALUES * 4, "self-test output");
  try {
    source.write(0, bytesOf(Float32Array.from({ length: THREADS }, (_, index) => input(index))));
    await device.submit([
      {
        label: "self-test",
        pipeline,
        threadgroups: [1, 1, 1],
        threadsPerThreadgroup: [THREADS, 1, 1],
        arguments: [
          { index: 0, buffer: source },
          { index: 1, buffer: output },
          { index: 2, bytes: bytesOf(Float32Array.of(SCALE)) },
        ],
        threadgroupMemory: [{ index: 0, bytes: 2 * 64 * 4 }],
      },
    ]);
    const data = output.read(0, output.bytes);
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    for (let id = 0; id < THREADS; id += 1) {
      for (const [index, expected] of expectedValues(id).entries()) {
        const actual = view.getFloat32((id * VALUES + index) * 4, true);
        if (actual !== expected) {
          return `self-test value ${index} of thread ${id} is ${actual}; it must be ${expected} (${flavour})`;
        }
      }
    }
    return undefined;
  } finally {
    source.release();
    output.release();
  }
}

function bytesOf(values: Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
