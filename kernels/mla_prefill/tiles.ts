/** How the 8x8 route stages rows in threadgroup memory: which chunks, which stride, how many bytes. */
import type { KernelDtype } from "../route.ts";
import { ELEMENT_BYTES } from "../sizes.ts";

export const SIMDGROUPS = 4;
export const PREFILL_THREADS = SIMDGROUPS * 32;
/** Rows of a fragment, and of a sub-tile of the keys and values. */
export const FRAGMENT_ROWS = 8;
/** Query rows of a threadgroup. */
export const QUERY_ROWS = SIMDGROUPS * FRAGMENT_ROWS;
/** Key and value rows that are staged at a time: four sub-tiles of eight. */
export const KV_ROWS = 32;
/** Bytes behind a staged row, against bank conflicts. */
export const ROW_PADDING_BYTES = 16;

/** Bytes that staging aims at: three threadgroups fit the 57,344 bytes that were measured on one M5 core. */
export const STAGE_TARGET_BYTES = 16_384;
/** Widest key row whose query fragments stay in registers: 64 floats a lane. */
const RESIDENT_KEY_DIM = 256;

export interface StagePlan {
  /** Columns of [nope | rope] staged at a time; divides their sum. */
  readonly keyChunk: number;
  /** Columns of the values staged at a time; divides their width. */
  readonly valueChunk: number;
  readonly queryResident: boolean;
  /** Dynamic threadgroup bytes. */
  readonly bytes: number;
}

/** Largest divisor of `width` that is a multiple of 16 and at most `most` (16 if there is none smaller). */
function largestChunk(width: number, most: number): number {
  for (let chunk = width; chunk > 16; chunk -= 16) {
    if (width % chunk === 0 && chunk <= most) return chunk;
  }
  return 16;
}

/** Stages for keys of `keyDim` = nope + rope and values of `valueDim` columns, both multiples of 16. */
export function stagePlan(keyDim: number, valueDim: number, dtype: KernelDtype): StagePlan {
  const element = ELEMENT_BYTES[dtype];
  const padding = ROW_PADDING_BYTES / element;
  const queryResident = keyDim <= RESIDENT_KEY_DIM;
  // Resident queries pass through the same area once; others are staged behind the keys with every block.
  const keyRows = queryResident ? Math.max(KV_ROWS, QUERY_ROWS) : KV_ROWS + QUERY_ROWS;
  const columns = (rows: number): number => Math.floor(STAGE_TARGET_BYTES / (rows * element)) - padding;
  const keyChunk = largestChunk(keyDim, columns(keyRows));
  const valueChunk = largestChunk(valueDim, columns(KV_ROWS));
  const elements = Math.max(keyRows * (keyChunk + padding), KV_ROWS * (valueChunk + padding));
  return { keyChunk, valueChunk, queryResident, bytes: elements * element };
}
