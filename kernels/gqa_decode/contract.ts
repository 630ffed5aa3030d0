/** What the decode routes promise to cost. The fused route's numbers are written out: they are the point of it. */
import type { KernelContract, RouteContract } from "../contract.ts";
import type { DecodeShape } from "../route.ts";
import { checkedProduct, checkedSum } from "../sizes.ts";
import { FUSED_PARTITIONS, STATIC_BYTES } from "./geometry.ts";
import { groupSize } from "./shape.ts";

const F32 = 4;

function kernel(
  name: string,
  threads: number,
  staticBytes: number,
  dynamicBytes: number,
  reason: string,
): KernelContract {
  return { kernel: name, threads, staticBytes, dynamicBytes: { relation: "=", value: dynamicBytes }, reason };
}

/**
 * Bytes of a fused tile of `tokens` rows of K and V, f32: 16,384 for 4 tokens of 512. A tile of 8 would take 32,768, all
 * that a threadgroup has.
 */
export function fusedTile(dim: number, tokens = 4): number {
  return checkedProduct("tile", [2, tokens, dim, F32]);
}

/** Maxima, denominators and numerators of P partitions: 4,096 + 4,096 + 2,097,152 for P = 32 and 32 heads of 512. */
function fusedScratch({ heads, dim }: DecodeShape, partitions: number): RouteContract["scratchBytes"] {
  const scalars = checkedProduct("partition scalars", [partitions, heads, F32]);
  return checkedSum("scratch", [scalars, scalars, checkedProduct("numerators", [partitions, heads, dim, F32])]);
}

function fusedContract(shape: DecodeShape, partitions: number): RouteContract {
  const { heads, dim } = shape;
  return {
    route: `fused_split_kv_p${partitions}`,
    kernels: [
      kernel(
        "gqa_fused_partial",
        256,
        0,
        fusedTile(dim),
        "eight simdgroups, one per query head, share four staged rows of K and V",
      ),
      kernel("gqa_fused_merge", 256, STATIC_BYTES.gqa_fused_merge(), 0, "thread p takes the scalars of partition p"),
    ],
    scratchBytes: fusedScratch(shape, partitions),
    scratchFormula: `${partitions} partitions x ${heads} heads x (1 + 1 + ${dim}) x 4`,
  };
}

/** Scores of every head and token; a buffer has 4 bytes at least. */
function scoreBytes({ heads, live }: DecodeShape): number {
  return Math.max(4, checkedProduct("scores", [heads, live, F32]));
}

function stagedContract(shape: DecodeShape, route: "three_stage" | "three_stage_staged"): RouteContract {
  const { heads, dim, live } = shape;
  const group = groupSize(shape);
  const value = route === "three_stage" ? "gqa_value" : "gqa_value_staged";
  return {
    route,
    kernels: [
      kernel("gqa_score", 32 * group, STATIC_BYTES.gqa_score(dim), 0, "one simdgroup per query head of the KV head"),
      kernel("gqa_normalise", 1024, STATIC_BYTES.gqa_normalise(), 0, "one threadgroup owns the row of a query head"),
      kernel(value, 256, STATIC_BYTES[value](group), 0, "eight simdgroups share a dimension tile and a partition"),
      kernel("gqa_reduce", 256, 0, 0, "one thread per output element"),
    ],
    scratchBytes: checkedSum("scratch", [scoreBytes(shape), checkedProduct("partials", [16, heads, dim, F32])]),
    scratchFormula: `${heads} heads x (${live} scores + 16 partials of ${dim}) x 4`,
  };
}

/** The contract of a decode route; undefined for a name that is none. */
export function decodeContract(shape: DecodeShape, route: string): RouteContract | undefined {
  if (route === "three_stage" || route === "three_stage_staged") return stagedContract(shape, route);
  if (route === "naive") {
    return {
      route,
      kernels: [kernel("gqa_naive", 256, STATIC_BYTES.gqa_naive(shape.dim), 0, "one threadgroup owns a query head")],
      scratchBytes: scoreBytes(shape),
      scratchFormula: `${shape.heads} heads x ${shape.live} scores x 4`,
    };
  }
  const partitions = FUSED_PARTITIONS.find((count) => route === `fused_split_kv_p${count}`);
  return partitions === undefined ? undefined : fusedContract(shape, partitions);
}
