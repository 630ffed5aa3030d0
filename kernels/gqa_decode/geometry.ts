/** The constants of the decode kernels. The `.metal` sources hold the same numbers; a test compares the two. */

export const SIMD_WIDTH = 32;

/** Score stage: tokens staged at a time, and tokens of one threadgroup. */
export const SCORE_TILE = 4;
export const SCORE_BLOCK = 64;

/** Normalise stage: threads of the threadgroup that owns a query head. */
export const NORMALISE_THREADS = 1024;

/** Value stage: dimension tiles of 32 x 16 sequence partitions x KV heads; 1,024 threadgroups in the production shape. */
export const VALUE_TILE_DIM = 32;
export const VALUE_PARTITIONS = 16;
export const VALUE_THREADS = 256;
export const STAGED_TOKENS = 128;

/** Reduce stage: one thread per output element. */
export const REDUCE_THREADS = 256;

/** Fused route: tokens staged at a time, threads, and the partition counts that are candidates. */
export const FUSED_TILE = 4;
export const FUSED_THREADS = 256;
export const FUSED_PARTITIONS = [32, 64, 128, 256] as const;

export const NAIVE_THREADS = 256;

/** K and V rows of one fused tile, in f32: 16,384 bytes at D = 512. */
export function fusedTileBytes(dim: number): number {
  return FUSED_TILE * dim * 2 * 4;
}

/** Static threadgroup bytes of each kernel, as declared in its source. */
export const STATIC_BYTES = {
  gqa_score: (dim: number): number => SCORE_TILE * dim * 4,
  gqa_normalise: (): number => (NORMALISE_THREADS / SIMD_WIDTH) * 4,
  gqa_value: (group: number): number => valueSumBytes(group),
  gqa_value_staged: (group: number): number => valueSumBytes(group) + STAGED_TOKENS * Math.ceil(group / 4) * 16,
  gqa_fused_merge: (): number => (FUSED_THREADS / SIMD_WIDTH) * 4 + FUSED_THREADS * 4,
  gqa_naive: (dim: number): number => (NAIVE_THREADS / SIMD_WIDTH) * (4 + dim * 4),
} as const;

function valueSumBytes(group: number): number {
  return (VALUE_THREADS / SIMD_WIDTH) * group * VALUE_TILE_DIM * 4;
}
