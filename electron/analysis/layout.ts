/** Where an element of an output is: flat index, and token, head and dimension. Outputs are `[tokens, heads, width]`. */
import type { CaseShape } from "../../kernels/route.ts";

/** Extents of an output. Decode has one query token. */
export interface OutputExtents {
  readonly tokens: number;
  readonly heads: number;
  /** Elements of a row: output dimensions of a head. */
  readonly width: number;
}

export interface Address {
  /** Query token, counted through the whole batch; 0 for decode. */
  readonly token: number;
  readonly head: number;
  readonly dim: number;
}

export function extentsOf(shape: CaseShape): OutputExtents {
  if (shape.operator === "gqa_decode") return { tokens: 1, heads: shape.heads, width: shape.dim };
  return { tokens: shape.cuSeqlensQ.at(-1) ?? 0, heads: shape.heads, width: shape.value };
}

export function elementsOf({ tokens, heads, width }: OutputExtents): number {
  return tokens * heads * width;
}

function inRange(what: string, value: number, end: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= end) {
    throw new RangeError(
      end === 0 ? `${what} is ${value}, and the output is empty` : `${what} is ${value}; it must be 0 to ${end - 1}`,
    );
  }
}

/** The axis that position means for an operator: the query token of a prefill, the output dimension of a decode. */
export function positionAxis(operator: CaseShape["operator"]): "token" | "dim" {
  return operator === "mla_prefill" ? "token" : "dim";
}

/** Flat index of an element. Throws RangeError outside the output. */
export function indexOf(extents: OutputExtents, { token, head, dim }: Address): number {
  inRange("token", token, extents.tokens);
  inRange("head", head, extents.heads);
  inRange("dim", dim, extents.width);
  return (token * extents.heads + head) * extents.width + dim;
}

/** The inverse of `indexOf`. Throws RangeError outside the output. */
export function addressOf(extents: OutputExtents, index: number): Address {
  inRange("index", index, elementsOf(extents));
  const row = Math.floor(index / extents.width);
  return { token: Math.floor(row / extents.heads), head: row % extents.heads, dim: index % extents.width };
}

/** `head 11 dim 77`, and for prefill `token 833 head 11 dim 77`: the words of gates and records. */
export function addressWords(shape: CaseShape, { token, head, dim }: Address): string {
  return `${shape.operator === "mla_prefill" ? `token ${token} ` : ""}head ${head} dim ${dim}`;
}

/** The sequence of a prefill batch that a query token belongs to, and its place in it. */
export interface SequencePlace {
  readonly sequence: number;
  /** Query row within the sequence. */
  readonly row: number;
}

/** Throws RangeError for a token that no sequence holds. */
export function sequenceOf(cuSeqlensQ: readonly number[], token: number): SequencePlace {
  for (let b = 0; b + 1 < cuSeqlensQ.length; b++) {
    if (token >= cuSeqlensQ[b]! && token < cuSeqlensQ[b + 1]!) return { sequence: b, row: token - cuSeqlensQ[b]! };
  }
  throw new RangeError(`token ${token} lies in no sequence; the batch has ${cuSeqlensQ.at(-1) ?? 0} query tokens`);
}
