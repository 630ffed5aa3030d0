/** The operands of an output element out of the memory that the oracle reads: a row at a time, whatever the length. */
import type { CaseShape, KernelDtype } from "../../kernels/route.ts";
import type { DeviceBuffer } from "../../native/device.ts";
import type { NativeMemory } from "../../native/memory.ts";
import { visibleKeys } from "../../oracle/attention.ts";
import { DTYPE_BYTES, tensorFromBytes, widenToF32 } from "../../oracle/tensor.ts";
import { type Address, type SequencePlace, sequenceOf } from "./layout.ts";
import type { OperandPart, OperandSource } from "./operands.ts";

export interface CaseOperands {
  readonly source: OperandSource;
  readonly kvHead: number;
  /** Row of k and v that key 0 is. */
  readonly firstKey: number;
  /** Keys that are there, whether the row sees them or not. */
  readonly available: number;
  readonly sequence: SequencePlace | null;
}

/** `count` elements from element `first` on, widened exactly. */
function reader(memory: NativeMemory, dtype: KernelDtype): (first: number, count: number) => Float32Array {
  const size = DTYPE_BYTES[dtype];
  return (first, count) => {
    const bytes = memory.read(first * size, count * size);
    if (dtype === "f32" && bytes.byteOffset % size === 0)
      return new Float32Array(bytes.buffer, bytes.byteOffset, count);
    return widenToF32(tensorFromBytes(dtype, [count], bytes));
  };
}

/** Keys that a wrong kernel might read instead: those of another KV head, or from another row of k and v on. */
export interface OtherPlace {
  readonly kvHead?: number;
  readonly firstKey?: number;
}

/** Throws Error where an input is missing, RangeError for an address outside the output. */
export function caseOperands(
  shape: CaseShape,
  buffers: ReadonlyMap<string, DeviceBuffer>,
  { token, head, dim }: Address,
  instead: OtherPlace = {},
): CaseOperands {
  const tensor = (name: string, dtype: KernelDtype): ReturnType<typeof reader> => {
    const buffer = buffers.get(name);
    if (buffer === undefined) throw new Error(`The input "${name}" was not made.`);
    return reader(buffer.memory, dtype);
  };
  if (shape.operator === "gqa_decode") {
    const { heads, kvHeads, dim: width, live, scale } = shape;
    const kvHead = instead.kvHead ?? Math.floor(head / (heads / kvHeads));
    const [q, k, v] = [tensor("q", "f32"), tensor("k", "f32"), tensor("v", "f32")];
    const row = (j: number): number => (j * kvHeads + kvHead) * width;
    return {
      source: {
        keys: live,
        scale,
        parts: [{ name: "", query: q(head * width, width), key: (j) => k(row(j), width) }],
        value: (j) => v(row(j) + dim, 1)[0]!,
      },
      kvHead,
      firstKey: 0,
      available: live,
      sequence: null,
    };
  }
  const { heads, nope, rope, value, scale, dtype } = shape;
  const place = sequenceOf(shape.cuSeqlensQ, token);
  const begin = shape.cuSeqlensK[place.sequence]!;
  const firstKey = instead.firstKey ?? begin;
  const available = shape.cuSeqlensK[place.sequence + 1]! - begin;
  const queryRow = token * heads + head;
  const part = (name: string, width: number, keyRow: (j: number) => number): OperandPart => {
    const key = tensor(`k_${name}`, dtype);
    return {
      name,
      query: tensor(`q_${name}`, dtype)(queryRow * width, width),
      key: (j) => key(keyRow(j) * width, width),
    };
  };
  const v = tensor("v", dtype);
  return {
    source: {
      keys: visibleKeys(shape.qOffset[place.sequence]!, place.row, available),
      scale,
      parts: [part("nope", nope, (j) => (firstKey + j) * heads + head), part("rope", rope, (j) => firstKey + j)],
      value: (j) => v(((firstKey + j) * heads + head) * value + dim, 1)[0]!,
    },
    kvHead: head,
    firstKey,
    available,
    sequence: place,
  };
}
