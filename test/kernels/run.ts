/** Runs a route's plan on a device: what the end-to-end tests of the kernels share. */
import { readFileSync } from "node:fs";
import type { DecodeShape, PrefillShape, RoutePlan } from "../../kernels/route.ts";
import { findRoute } from "../../kernels/routes.ts";
import type { Device, DeviceBuffer, Flavour, MetalSource } from "../../native/device.ts";
import { type AttentionResult, gqaDecode, mlaPrefill } from "../../oracle/attention.ts";
import { generateSlice } from "../../oracle/generator.ts";
import { narrow, type Tensor, tensorBytes, tensorFromBytes, widenToF64 } from "../../oracle/tensor.ts";
import { applyFault, type Fault } from "./faults.ts";

/** Input tensors by the names of the operator's buffers. */
export type Tensors = Readonly<Record<string, Tensor>>;

export interface Outputs {
  readonly out: Float64Array;
  readonly lse: Float64Array;
}

export interface RunOptions {
  readonly flavour?: Flavour;
  /** Patches one of the plan's files. */
  readonly fault?: Fault;
}

function source(path: string, fault: Fault | undefined): MetalSource {
  const text = readFileSync(new URL(`../../kernels/${path}`, import.meta.url), "utf8");
  return { path, text: fault?.file === path ? applyFault(fault, text) : text };
}

/** Compiles, binds, submits and reads back. Buffers that no tensor fills stay poisoned. */
export async function runPlan(
  device: Device,
  plan: RoutePlan,
  tensors: Tensors,
  options: RunOptions = {},
): Promise<Outputs> {
  const { flavour = "fast", fault } = options;
  const library = await device.compile(source(plan.source, fault), {
    defines: plan.defines,
    includes: plan.includes.map((path) => source(path, fault)),
    mathMode: "safe",
  });
  const buffers = new Map<string, DeviceBuffer>();
  try {
    for (const { name, bytes, role } of plan.buffers) {
      const buffer = device.allocate(bytes, name);
      buffers.set(name, buffer);
      const tensor = tensors[name];
      if (role === "input" && tensor) buffer.write(0, tensorBytes(tensor));
    }
    const pipelines = await Promise.all(
      plan.dispatches.map((dispatch) => device.pipeline(library, dispatch.kernel, { flavour })),
    );
    await device.submit(
      plan.dispatches.map((dispatch, index) => ({
        label: dispatch.stage,
        pipeline: pipelines[index]!,
        threadgroups: dispatch.threadgroups,
        threadsPerThreadgroup: dispatch.threadsPerThreadgroup,
        arguments: [
          ...dispatch.buffers.map((name, slot) => ({ index: slot, buffer: buffers.get(name)! })),
          { index: dispatch.buffers.length, bytes: dispatch.params },
        ],
        threadgroupMemory: dispatch.threadgroupMemory.map((bytes, slot) => ({ index: slot, bytes })),
      })),
    );
    for (const [name, buffer] of buffers) {
      if (!buffer.sentinelIntact()) throw new Error(`${plan.route} wrote behind the end of ${name}`);
    }
    const read = (name: string): Float64Array => {
      const facts = plan.buffers.find((buffer) => buffer.name === name)!;
      const count = facts.shape.reduce((product, extent) => product * extent, 1);
      const bytes = buffers.get(name)!.read(0, count * (facts.dtype === "f32" ? 4 : 2));
      return widenToF64(tensorFromBytes(facts.dtype, facts.shape, bytes));
    };
    return { out: read("out"), lse: read("lse") };
  } finally {
    for (const buffer of buffers.values()) buffer.release();
  }
}

/** `count` values in [-1, 1) times `multiplier`. */
export function values(seed: number, tensor: number, count: number, multiplier = 1): Float32Array {
  return generateSlice({ seed, tensor, bits: 24, multiplier, start: 0, count });
}

/** A decode case: tensors with `live` rows only, so that the rest of the capacity stays poison. */
export interface DecodeCase {
  readonly shape: DecodeShape;
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
}

/** Random q, k and v; the softmax is neither flat nor one-hot. */
export function decodeCase(heads: number, kvHeads: number, dim: number, live: number): DecodeCase {
  const count = live * kvHeads * dim;
  return {
    shape: { operator: "gqa_decode", heads, kvHeads, dim, live, capacity: live + 3, scale: 24 / dim, dtype: "f32" },
    q: values(1, 0, heads * dim),
    k: values(1, 1, count),
    v: values(1, 2, count),
  };
}

export function decodeReference({ shape, q, k, v }: DecodeCase): AttentionResult {
  const { heads, kvHeads, dim, live, scale } = shape;
  return gqaDecode({ q, k, v, heads, kvHeads, dim, live, scale: Math.fround(scale) });
}

export function runDecode(device: Device, route: string, test: DecodeCase, options?: RunOptions): Promise<Outputs> {
  const { shape } = test;
  const rows = [shape.live, shape.kvHeads, shape.dim];
  const tensors = {
    q: narrow(test.q, "f32", [shape.heads, shape.dim]),
    k: narrow(test.k, "f32", rows),
    v: narrow(test.v, "f32", rows),
  };
  return runPlan(device, findRoute("gqa_decode", route).plan(shape), tensors, options);
}

/** A prefill case; the tensors are already rounded to the shape's dtype. */
export interface PrefillCase {
  readonly shape: PrefillShape;
  readonly tensors: Tensors;
}

export interface PrefillLengths {
  readonly queries: readonly number[];
  readonly keys: readonly number[];
}

/** A ragged batch in which the queries are the last positions of their keys. */
export function prefillCase(
  lengths: PrefillLengths,
  heads: number,
  [nope, rope, value]: readonly [number, number, number],
  dtype: PrefillShape["dtype"],
): PrefillCase {
  const bounds = (list: readonly number[]): number[] => {
    const ends = [0];
    for (const length of list) ends.push(ends.at(-1)! + length);
    return ends;
  };
  const cuSeqlensQ = bounds(lengths.queries);
  const cuSeqlensK = bounds(lengths.keys);
  const qOffset = lengths.keys.map((keys, index) => keys - lengths.queries[index]!);
  const [queries, keys] = [cuSeqlensQ.at(-1)!, cuSeqlensK.at(-1)!];
  const tensor = (id: number, shape: readonly number[]): Tensor => {
    const count = shape.reduce((product, extent) => product * extent, 1);
    return narrow(values(2, id, count), dtype, shape);
  };
  const integers = (list: readonly number[]): Tensor => ({
    dtype: "i32",
    shape: [list.length],
    data: Int32Array.from(list),
  });
  return {
    shape: {
      operator: "mla_prefill",
      heads,
      nope,
      rope,
      value,
      cuSeqlensQ,
      cuSeqlensK,
      qOffset,
      scale: 3 / Math.sqrt(nope + rope),
      dtype,
    },
    tensors: {
      q_nope: tensor(0, [queries, heads, nope]),
      q_rope: tensor(1, [queries, heads, rope]),
      k_nope: tensor(2, [keys, heads, nope]),
      k_rope: tensor(3, [keys, rope]),
      v: tensor(4, [keys, heads, value]),
      cu_seqlens_q: integers(cuSeqlensQ),
      cu_seqlens_k: integers(cuSeqlensK),
      q_offset: integers(qOffset),
    },
  };
}

export function prefillReference({ shape, tensors }: PrefillCase): AttentionResult {
  const wide = (name: string): Float64Array => widenToF64(tensors[name]!);
  return mlaPrefill({
    ...shape,
    scale: Math.fround(shape.scale),
    qNope: wide("q_nope"),
    qRope: wide("q_rope"),
    kNope: wide("k_nope"),
    kRope: wide("k_rope"),
    v: wide("v"),
  });
}

export function runPrefill(device: Device, route: string, test: PrefillCase, options?: RunOptions): Promise<Outputs> {
  return runPlan(device, findRoute("mla_prefill", route).plan(test.shape), test.tensors, options);
}

/** Largest difference in out and lse; infinite where something is not written, not a number, or -inf on one side only. */
export function difference(
  outputs: Outputs,
  reference: AttentionResult,
): { readonly out: number; readonly lse: number } {
  return { out: largest(outputs.out, reference.out), lse: largest(outputs.lse, reference.lse) };
}

function largest(actual: Float64Array, expected: Float64Array): number {
  if (actual.length !== expected.length) return Number.POSITIVE_INFINITY;
  let worst = 0;
  for (const [index, value] of actual.entries()) {
    if (Object.is(value, expected[index])) continue;
    const error = Math.abs(value - expected[index]!);
    worst = Number.isNaN(error) ? Number.POSITIVE_INFINITY : Math.max(worst, error);
  }
  return worst;
}
