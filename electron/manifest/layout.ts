/**
 * Where an element of a tensor lies in a buffer: axes outermost first, each whole or split (`dim/8`, `dim%8`), with room
 * for more elements than the case has, and keys through a page table (`page`, `slot`).
 */
import { raw, stream } from "../../oracle/generator.ts";
import { UsageError } from "../runs/usage.ts";
import { type Expression, type Sizes, sizeOf } from "./expression.ts";
import type { AxisName, LogicalTensor } from "./problem.ts";

/** Keys of pages: key j lies in page `table[j / size]`. */
export interface Paging {
  readonly size: number;
  /** Physical page of every logical one. */
  readonly table: readonly number[];
  /** Pages altogether, spare ones among them. */
  readonly pages: number;
}

interface PlacedAxis {
  readonly text: string;
  /** Index of the axis in the tensor. */
  readonly of: number;
  readonly place: (coordinate: number) => number;
  readonly extent: number;
}

export interface Placement {
  /** Elements of the whole buffer. */
  readonly elements: number;
  /** Element of the buffer for each of the tensor's elements, in their order. */
  readonly indices: Uint32Array;
}

interface LayoutText {
  readonly name: string;
  readonly axes: readonly string[];
  readonly extents?: Readonly<Record<string, Expression>> | undefined;
}

/**
 * Places a tensor. Throws `UsageError` where axes are missing, named twice or not the tensor's, where an extent is smaller
 * than the case needs, or where pages are named without a page table.
 */
export function place(
  tensor: LogicalTensor["axes"],
  layout: LayoutText,
  sizes: Sizes,
  paging: Paging | undefined,
): Placement {
  const what = `buffer "${layout.name}"`;
  const placed = layout.axes.map((text) => placedAxis(text, tensor, layout, sizes, paging));
  const named = new Set(layout.axes);
  if (named.size !== layout.axes.length)
    throw new UsageError(`${what} names an axis twice: ${layout.axes.join(", ")}.`);
  tensor.forEach(({ name, size }, of) => {
    if (size > 1 && !covers(placed.filter((axis) => axis.of === of).map((axis) => axis.text))) {
      throw new UsageError(
        `${what} leaves out "${name}" (${size} elements), or has one half of it: its axes are ${layout.axes.join(", ")}.`,
      );
    }
  });
  for (const name of Object.keys(layout.extents ?? {})) {
    if (!named.has(name)) throw new UsageError(`${what} gives an extent of "${name}", which is none of its axes.`);
  }
  const elements = placed.reduce((product, axis) => product * axis.extent, 1);
  if (elements > 2 ** 32 - 1) throw new UsageError(`${what} has ${elements} elements; the limit is ${2 ** 32 - 1}.`);
  return { elements, indices: indicesOf(tensor, placed) };
}

/** One axis whole, or its two halves. */
function covers(texts: readonly string[]): boolean {
  if (texts.length === 1) return !/[/%]/.test(texts[0]!) && texts[0] !== "page" && texts[0] !== "slot";
  const [a, b] = [...texts].sort();
  if (a === "page" && b === "slot") return true;
  return texts.length === 2 && a!.replace("%", "/") === b;
}

function placedAxis(
  text: string,
  tensor: LogicalTensor["axes"],
  layout: LayoutText,
  sizes: Sizes,
  paging: Paging | undefined,
): PlacedAxis {
  const what = `buffer "${layout.name}", axis ${text}`;
  const [, base = "", sign, parts] = /^(\w+?)(?:([/%])(\d+))?$/.exec(text) ?? [];
  const paged = base === "page" || base === "slot";
  if (paged && paging === undefined) throw new UsageError(`${what}: the manifest has no "pages".`);
  if (paged && sign !== undefined) throw new UsageError(`${what}: pages and slots cannot be split.`);
  const name = (paged ? "key" : base) as AxisName;
  const of = tensor.findIndex((axis) => axis.name === name);
  if (of < 0) {
    throw new UsageError(`${what}: the tensor has the axes ${tensor.map((axis) => axis.name).join(", ")}.`);
  }
  const { size } = tensor[of]!;
  const split = Number(parts);
  const [place, needed]: [PlacedAxis["place"], number] = paged
    ? base === "page"
      ? [(key) => paging!.table[Math.floor(key / paging!.size)]!, paging!.pages]
      : [(key) => key % paging!.size, paging!.size]
    : sign === "/"
      ? [(at) => Math.floor(at / split), Math.ceil(size / split)]
      : sign === "%"
        ? [(at) => at % split, split]
        : [(at) => at, size];
  const given = layout.extents?.[text];
  const extent = given === undefined ? needed : sizeOf(given, sizes, `${what}: its extent`, 1);
  if (extent < needed) throw new UsageError(`${what}: its extent is ${extent}; the case needs ${needed}.`);
  return { text, of, place, extent };
}

function indicesOf(tensor: LogicalTensor["axes"], placed: readonly PlacedAxis[]): Uint32Array {
  // The contribution of every coordinate of every axis of the tensor.
  const tables = tensor.map(({ size }) => new Float64Array(size));
  let stride = 1;
  for (const axis of [...placed].reverse()) {
    const table = tables[axis.of]!;
    for (let at = 0; at < table.length; at++) table[at]! += axis.place(at) * stride;
    stride *= axis.extent;
  }
  const count = tensor.reduce((product, { size }) => product * size, 1);
  const indices = new Uint32Array(count);
  const coordinate = tensor.map(() => 0);
  for (let i = 0; i < count; i++) {
    let index = 0;
    for (let a = 0; a < tables.length; a++) index += tables[a]![coordinate[a]!]!;
    indices[i] = index;
    for (let a = tables.length - 1; a >= 0; a--) {
      coordinate[a]! += 1;
      if (coordinate[a]! < tables[a]!.length) break;
      coordinate[a] = 0;
    }
  }
  return indices;
}

/** Number of the stream that pages are ordered by, apart from those of tensors. */
const PAGE_ORDER = 16;

/** A page table for `keys` keys: physical pages in an order that a seed shuffles, among `spare` more. */
export function pagingOf(keys: number, size: number, spare: number, seed: number): Paging {
  const used = Math.ceil(keys / size);
  const pages = used + spare;
  const order = Array.from({ length: pages }, (_, page) => page);
  // Fisher-Yates: any order does, as long as it is the same.
  const keysOfOrder = stream(seed, PAGE_ORDER);
  for (let i = pages - 1; i > 0; i--) {
    const j = raw(keysOfOrder, i) % (i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return { size, table: order.slice(0, used), pages };
}
