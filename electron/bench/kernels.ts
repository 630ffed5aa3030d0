/** Emulated kernels beside the native float64 oracle on the same inputs and the same number of threads. */
import type { CaseShape, DecodeShape, PrefillShape, RoutePlan } from "../../kernels/route.ts";
import { findRoute } from "../../kernels/routes.ts";
import type { Addon } from "../../native/addon.ts";
import type { Device, DeviceBuffer } from "../../native/device.ts";
import { Builder, execute, type ReadSource, WorkPool } from "../runs/execute.ts";
import { decodeInput, prefillInput } from "../runs/reference.ts";
import { sideBySide } from "./measure.ts";
import type { BenchRow } from "./row.ts";

export interface KernelBench {
  readonly title: string;
  readonly shape: CaseShape;
  readonly route: string;
  readonly workers: number;
  /** Milliseconds that the first prototype of the emulator needed on two cores, where it was measured. */
  readonly target: number | null;
  readonly rounds: number;
}

/** The project's decode shape with `live` tokens. */
export function decode(live: number): DecodeShape {
  return { operator: "gqa_decode", heads: 32, kvHeads: 4, dim: 512, live, capacity: live, scale: 1, dtype: "f32" };
}

const RAGGED = [0, 77, 333, 366];

export const PREFILL: PrefillShape = {
  operator: "mla_prefill",
  heads: 16,
  nope: 128,
  rope: 64,
  value: 128,
  cuSeqlensQ: RAGGED,
  cuSeqlensK: RAGGED,
  qOffset: [0, 0, 0],
  scale: 0.1147213867929261,
  dtype: "f16",
};

export const KERNEL_BENCHES: readonly KernelBench[] = [
  { title: "decode L=8192", shape: decode(8192), route: "fused_split_kv_p32", workers: 1, target: 150, rounds: 5 },
  { title: "decode L=8192", shape: decode(8192), route: "fused_split_kv_p32", workers: 2, target: 75, rounds: 5 },
  { title: "decode L=8192", shape: decode(8192), route: "three_stage", workers: 2, target: null, rounds: 3 },
  { title: "decode L=8192", shape: decode(8192), route: "three_stage_staged", workers: 2, target: null, rounds: 3 },
  { title: "decode L=8192", shape: decode(8192), route: "naive", workers: 2, target: null, rounds: 3 },
  { title: "decode L=65536", shape: decode(65536), route: "fused_split_kv_p32", workers: 2, target: 600, rounds: 2 },
  {
    title: "prefill 16 heads 77/256/33 f16",
    shape: PREFILL,
    route: "simdgroup_8x8",
    workers: 2,
    target: 65,
    rounds: 5,
  },
  { title: "prefill 16 heads 77/256/33 f16", shape: PREFILL, route: "naive", workers: 2, target: null, rounds: 2 },
];

/** Fills every input of the plan with generated values; f16 inputs get patterns of small finite numbers. */
export async function fillInputs(device: Device, addon: Addon, plan: RoutePlan): Promise<Map<string, DeviceBuffer>> {
  const inputs = new Map<string, DeviceBuffer>();
  let tensor = 0;
  for (const { name, role, dtype, bytes, shape } of plan.buffers) {
    if (role !== "input") continue;
    const buffer = device.allocate(bytes, name);
    const count = shape.reduce((product, extent) => product * extent, 1);
    const multiplier = name === "q" ? 0.125 : 1;
    if (dtype === "f32") {
      const options = { seed: 0x5eed0001, tensor: tensor++, bits: 24 as const, multiplier, start: 0, count };
      await addon.generate(buffer.memory, 0, options);
    } else if (dtype !== "i32") {
      buffer.write(0, smallHalves(count));
    }
    inputs.set(name, buffer);
  }
  return inputs;
}

/** f16 patterns between 0.5 and 1 of either sign, from a small multiplicative sequence. */
function smallHalves(count: number): Uint8Array {
  const values = new Uint16Array(count);
  let state = 1;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 48271) >>> 0) % 0x7fffffff;
    values[i] = ((state & 1) << 15) | 0x3800 | ((state >>> 8) & 0x3ff);
  }
  return new Uint8Array(values.buffer);
}

function writeInt32(buffer: DeviceBuffer | undefined, values: readonly number[]): void {
  buffer?.write(0, new Uint8Array(new Int32Array(values).buffer));
}

/** Fills the inputs that say where sequences begin. */
export function writeSequences(inputs: ReadonlyMap<string, DeviceBuffer>, shape: PrefillShape): void {
  writeInt32(inputs.get("cu_seqlens_q"), shape.cuSeqlensQ);
  writeInt32(inputs.get("cu_seqlens_k"), shape.cuSeqlensK);
  writeInt32(inputs.get("q_offset"), shape.qOffset);
}

/** The native oracle on the same buffers. */
function oracleOf(
  addon: Addon,
  shape: CaseShape,
  inputs: ReadonlyMap<string, DeviceBuffer>,
  threads: number,
): () => Promise<unknown> {
  return shape.operator === "gqa_decode"
    ? () => addon.gqaDecode({ ...decodeInput(shape, inputs), threads })
    : () => addon.mlaPrefill({ ...prefillInput(shape, inputs), threads });
}

/** Runs one bench. The compared side is the native float64 oracle with as many threads. */
export async function benchKernel(
  bench: KernelBench,
  device: Device,
  addon: Addon,
  readSource: ReadSource,
): Promise<BenchRow> {
  const { shape, workers } = bench;
  const plan = findRoute(shape.operator, bench.route).plan(shape);
  const prepared = await new Builder(device, readSource).prepare(plan, "fast");
  const inputs = await fillInputs(device, addon, plan);
  if (shape.operator === "mla_prefill") writeSequences(inputs, shape);
  const pool = new WorkPool(device);
  try {
    const kernel = () => execute(device, prepared, inputs, pool, { workers });
    const { a, b } = await sideBySide(kernel, oracleOf(addon, shape, inputs, workers), bench.rounds);
    return {
      name: `${bench.title}, ${bench.route}, ${workers} ${workers === 1 ? "worker" : "workers"}`,
      value: a,
      unit: "ms",
      target: bench.target,
      comparedWith: `float64 oracle, ${workers} ${workers === 1 ? "thread" : "threads"}`,
      compared: b,
    };
  } finally {
    pool.release();
    for (const buffer of inputs.values()) buffer.release();
  }
}
