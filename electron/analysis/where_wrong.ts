/** Where the wrong elements of an output lie: the smallest part of it that holds them all. Pure. */
import type { FragmentMap } from "../../kernels/fragments.ts";
import { ownerOf } from "../../kernels/fragments.ts";
import type { CaseShape } from "../../kernels/route.ts";
import type { ErrorArrays } from "./errors.ts";
import { addressOf, elementsOf, extentsOf, sequenceOf } from "./layout.ts";

export interface WrongPlaces {
  /** Elements beyond the limit or not finite. */
  readonly count: number;
  readonly of: number;
  /** `all in lane 13`; null where no part of the output holds them all. */
  readonly words: string | null;
}

function listed(noun: string, numbers: readonly number[]): string {
  return numbers.length === 1
    ? `${noun} ${numbers[0]}`
    : `${noun}s ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}

/** Parts that are named where at most so many of them hold everything. */
const FEW = 2;

/** `map`: where the output is held in matrix fragments. */
export function wrongPlaces(
  errors: ErrorArrays,
  shape: CaseShape,
  map: FragmentMap | undefined,
  limit: number,
): WrongPlaces {
  const extents = extentsOf(shape);
  const of = elementsOf(extents);
  const seen = { token: new Set<number>(), head: new Set<number>(), dim: new Set<number>(), kv: new Set<number>() };
  const lanes = new Set<number>();
  const sequences = new Set<number>();
  const group = shape.operator === "gqa_decode" ? shape.heads / shape.kvHeads : 1;
  let count = 0;
  for (let i = 0; i < of; i++) {
    if (errors.flags[i] === 0 && errors.abs[i]! <= limit) continue;
    count++;
    const { token, head, dim } = addressOf(extents, i);
    seen.token.add(token);
    seen.head.add(head);
    seen.dim.add(dim);
    seen.kv.add(Math.floor(head / group));
    if (shape.operator !== "mla_prefill") continue;
    const { sequence, row } = sequenceOf(shape.cuSeqlensQ, token);
    sequences.add(sequence);
    if (map !== undefined) lanes.add(ownerOf(map, { row: row % map.side, column: dim % map.side }).lane);
  }
  // From the smallest part to the largest; a part that is the whole output says nothing.
  const parts: readonly (readonly [noun: string, members: ReadonlySet<number>, all: number])[] = [
    ["lane", lanes, map?.lanes ?? 0],
    ["dimension", seen.dim, extents.width],
    ["query", seen.token, extents.tokens],
    ["head", seen.head, extents.heads],
    ["KV head", group === 1 ? new Set() : seen.kv, extents.heads / group],
    ["sequence", sequences, shape.operator === "mla_prefill" ? shape.cuSeqlensQ.length - 1 : 0],
  ];
  // An element by itself lies in one part of every kind.
  const found =
    count < 2
      ? []
      : parts.filter(([, members, all]) => members.size > 0 && members.size <= FEW && all > 2 * members.size);
  const words = found.slice(0, 2).map(([noun, members]) =>
    listed(
      noun,
      [...members].sort((a, b) => a - b),
    ),
  );
  return { count, of, words: words.length === 0 ? null : `all in ${words.join(", ")}` };
}
