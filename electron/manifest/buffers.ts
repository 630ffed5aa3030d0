/** The buffers of a manifest on a device: case tensors in their layouts, outputs, scratch, lists and page tables. */
import { type Device, type DeviceBuffer, DeviceError, POISON_WORD } from "../../native/device.ts";
import { DTYPE_BYTES, type FloatDtype, narrow, tensorFromBytes, widenToF64 } from "../../oracle/tensor.ts";
import { UsageError } from "../runs/usage.ts";
import { type Expression, numberOf, type Sizes, sizeOf } from "./expression.ts";
import { type Paging, type Placement, pagingOf, place } from "./layout.ts";
import type { Manifest, ManifestBuffer } from "./manifest.ts";
import type { LogicalTensor, Problem } from "./problem.ts";
import { packList } from "./struct.ts";

export interface BuiltOutput {
  readonly name: string;
  readonly output: "out" | "lse";
  readonly dtype: FloatDtype;
  readonly buffer: DeviceBuffer;
  /** True where the buffer holds nothing but the output. */
  readonly whole: boolean;
  /** Elements in the tensor's own order, widened; and how many still hold the poison pattern. */
  read(): { readonly values: Float64Array; readonly unwritten: number };
}

export interface BuiltBuffers {
  readonly byName: ReadonlyMap<string, DeviceBuffer>;
  readonly outputs: readonly BuiltOutput[];
  release(): void;
}

/** Longest list that a manifest may compute: each value is an expression of its own. */
const MOST_VALUES = 2 ** 24;

/** Most bytes of all buffers of a manifest together. */
const MOST_BYTES = 8 * 2 ** 30;

/** Makes every buffer. Throws `UsageError` for what does not fit, and releases what it made. */
export function buildBuffers(
  manifest: Manifest,
  problem: Problem | undefined,
  sizes: Sizes,
  device: Device,
): BuiltBuffers {
  const byName = new Map<string, DeviceBuffer>();
  const outputs: BuiltOutput[] = [];
  const release = (): void => {
    for (const buffer of byName.values()) buffer.release();
  };
  try {
    const paging = manifest.pages === undefined ? undefined : pagesOf(manifest.pages, problem, sizes);
    let total = 0;
    for (const given of manifest.buffers) {
      if (byName.has(given.name)) throw new UsageError(`Two buffers have the name "${given.name}".`);
      const built = build(given, problem, sizes, paging, (bytes) => {
        total += bytes;
        if (total > MOST_BYTES) {
          const [have, limit] = [total, MOST_BYTES].map((value) => value.toLocaleString("en-US"));
          throw new UsageError(
            `buffer "${given.name}": the buffers up to it take ${have} bytes; the limit is ${limit}.`,
          );
        }
        const buffer = allocated(device, bytes, given.name);
        byName.set(given.name, buffer);
        return buffer;
      });
      if (built !== undefined) outputs.push(built);
    }
  } catch (error) {
    release();
    throw error;
  }
  return { byName, outputs, release };
}

/** Memory that is not there is an answer, not a defect. */
function allocated(device: Device, bytes: number, name: string): DeviceBuffer {
  try {
    return device.allocate(bytes, name);
  } catch (error) {
    if (error instanceof DeviceError) throw error;
    throw new UsageError(`buffer "${name}": ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function pagesOf(pages: NonNullable<Manifest["pages"]>, problem: Problem | undefined, sizes: Sizes): Paging {
  if (problem === undefined) throw new UsageError('"pages" need a "case", whose keys they hold.');
  const keys = problem.shape.cuSeqlensK.at(-1) ?? 0;
  const spare = pages.spare === undefined ? 0 : sizeOf(pages.spare, sizes, "pages.spare");
  return pagingOf(keys, sizeOf(pages.size, sizes, "pages.size", 1), spare, pages.seed ?? 1);
}

function build(
  given: ManifestBuffer,
  problem: Problem | undefined,
  sizes: Sizes,
  paging: Paging | undefined,
  allocate: (bytes: number) => DeviceBuffer,
): BuiltOutput | undefined {
  const what = `buffer "${given.name}"`;
  if ("scratch" in given) {
    allocate(sizeOf(given.scratch, sizes, `${what}: scratch`, 1));
    return undefined;
  }
  if ("values" in given) {
    const bytes = listBytes(given.values, sizes, what);
    allocate(bytes.length).write(0, bytes);
    return undefined;
  }
  if ("pageTable" in given) {
    if (paging === undefined) throw new UsageError(`${what} is a page table; the manifest has no "pages".`);
    const entries = sizeOf(given.pageTable.entries, sizes, `${what}: entries`, 1);
    if (entries < paging.table.length) {
      throw new UsageError(`${what} has ${entries} entries; the keys need ${paging.table.length} pages.`);
    }
    allocate(entries * 4).write(0, packList("i32", paging.table, what));
    return undefined;
  }
  if (problem === undefined) throw new UsageError(`${what} holds a tensor of a case; the manifest has no "case".`);
  const dtype = given.dtype ?? problem.dtype;
  if ("tensor" in given) {
    const tensor = problem.tensors.get(given.tensor);
    if (tensor === undefined) {
      throw new UsageError(
        `${what}: the case has no tensor "${given.tensor}"; it has ${[...problem.tensors.keys()].join(", ")}.`,
      );
    }
    const part = given.slice === undefined ? tensor : sliced(tensor, given.slice, sizes, what);
    const placement = place(part.axes, given, sizes, paging);
    if (part.codeBits !== undefined) {
      if (given.dtype !== undefined)
        throw new UsageError(`${what} holds codes of ${part.codeBits} bits: leave dtype out.`);
      const packed = packCodes(placement, part.values, part.codeBits);
      allocate(packed.length).write(0, packed);
      return undefined;
    }
    const buffer = allocate(placement.elements * DTYPE_BYTES[dtype]);
    writeElements(buffer, placement, part, dtype);
    return undefined;
  }
  const axes = given.output === "out" ? problem.output : problem.output.filter((axis) => axis.name !== "dim");
  const placement = place(axes, given, sizes, paging);
  const buffer = allocate(placement.elements * DTYPE_BYTES[dtype]);
  const { name, output } = given;
  const whole = placement.elements === placement.indices.length;
  return { name, output, dtype, buffer, whole, read: () => readElements(buffer, placement, dtype) };
}

/** Part of a tensor: of each named axis the elements [first, first + count). */
function sliced(
  tensor: LogicalTensor,
  slices: Readonly<Record<string, readonly [Expression, Expression]>>,
  sizes: Sizes,
  what: string,
): LogicalTensor {
  for (const name of Object.keys(slices)) {
    if (tensor.axes.some((axis) => axis.name === name)) continue;
    const names = tensor.axes.map((axis) => axis.name).join(", ");
    throw new UsageError(`${what} slices "${name}"; the tensor has the axes ${names}.`);
  }
  const ranges = tensor.axes.map(({ name, size }) => {
    const slice = slices[name];
    const first = slice === undefined ? 0 : sizeOf(slice[0], sizes, `${what}: slice of ${name}, first`);
    const count = slice === undefined ? size : sizeOf(slice[1], sizes, `${what}: slice of ${name}, count`, 1);
    if (first + count > size) {
      throw new UsageError(`${what} slices ${name} to ${first + count}; the case has ${size}.`);
    }
    return { first, count, size };
  });
  const values = new Float32Array(ranges.reduce((product, { count }) => product * count, 1));
  values.forEach((_, to) => {
    let rest = to;
    let from = 0;
    let stride = 1;
    for (const { first, count, size } of [...ranges].reverse()) {
      from += (first + (rest % count)) * stride;
      rest = Math.floor(rest / count);
      stride *= size;
    }
    values[to] = tensor.values[from]!;
  });
  return { ...tensor, values, axes: tensor.axes.map((axis, index) => ({ ...axis, size: ranges[index]!.count })) };
}

/** Codes in whole 32-bit words, low bits first; elements that the case does not have are 0. */
function packCodes(placement: Placement, codes: Float32Array, bits: 4 | 8): Uint8Array {
  const perByte = 8 / bits;
  const bytes = new Uint8Array(Math.ceil(placement.elements / perByte / 4) * 4);
  placement.indices.forEach((to, from) => {
    const at = Math.floor(to / perByte);
    bytes[at] = bytes[at]! | (codes[from]! << ((to % perByte) * bits));
  });
  return bytes;
}

function listBytes(
  given: Extract<ManifestBuffer, { values: unknown }>["values"],
  sizes: Sizes,
  what: string,
): Uint8Array {
  const shape = given.shape.map((extent, axis) => sizeOf(extent, sizes, `${what}: shape[${axis}]`, 1));
  const count = shape.reduce((product, extent) => product * extent, 1);
  if (count > MOST_VALUES) throw new UsageError(`${what} has ${count} values; the limit is ${MOST_VALUES}.`);
  const names = given.index ?? [];
  if (names.length > shape.length)
    throw new UsageError(`${what} names ${names.length} indices of ${shape.length} axes.`);
  const values: number[] = [];
  const scope: Record<string, number> = { ...sizes };
  for (let i = 0; i < count; i++) {
    let rest = i;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const name = names[axis];
      if (name !== undefined) scope[name] = rest % shape[axis]!;
      rest = Math.floor(rest / shape[axis]!);
    }
    values.push(numberOf(given.value, scope, `${what}, value ${i}`));
  }
  return packList(given.type, values, what);
}

/** Writes only what the tensor has: the rest of the buffer stays poisoned. */
function writeElements(buffer: DeviceBuffer, placement: Placement, tensor: LogicalTensor, dtype: FloatDtype): void {
  const size = DTYPE_BYTES[dtype];
  const narrowed = narrow(tensor.values, dtype, [tensor.values.length]).data;
  const whole = dtype === "f32" ? new Float32Array(placement.elements) : new Uint16Array(placement.elements);
  const held = new Uint8Array(placement.elements);
  placement.indices.forEach((to, from) => {
    whole[to] = narrowed[from]!;
    held[to] = 1;
  });
  const bytes = new Uint8Array(whole.buffer);
  for (let start = 0; start < held.length; ) {
    if (held[start] === 0) {
      start += 1;
      continue;
    }
    let end = held.indexOf(0, start);
    if (end < 0) end = held.length;
    buffer.write(start * size, bytes.subarray(start * size, end * size));
    start = end;
  }
}

/** Low half of the poison word: what an unwritten element of two bytes holds. */
const POISON_HALF = POISON_WORD & 0xffff;

function readElements(
  buffer: DeviceBuffer,
  placement: Placement,
  dtype: FloatDtype,
): { readonly values: Float64Array; readonly unwritten: number } {
  const bytes = buffer.read(0, placement.elements * DTYPE_BYTES[dtype]);
  const all = widenToF64(tensorFromBytes(dtype, [placement.elements], bytes));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float64Array(placement.indices.length);
  let unwritten = 0;
  placement.indices.forEach((from, to) => {
    values[to] = all[from]!;
    const poisoned =
      dtype === "f32" ? view.getUint32(from * 4, true) === POISON_WORD : view.getUint16(from * 2, true) === POISON_HALF;
    if (poisoned) unwritten += 1;
  });
  return { values, unwritten };
}
