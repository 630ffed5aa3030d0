/** What the prefill routes promise to cost. */
import type { RouteContract } from "../contract.ts";
import type { PrefillShape } from "../route.ts";
import { checkedProduct } from "../sizes.ts";
import { prefillExtent } from "./shape.ts";

/** The contract of a prefill route; undefined for a name that is none, and for the route without a kernel. */
export function prefillContract(shape: PrefillShape, route: string): RouteContract | undefined {
  if (route === "simdgroup_8x8") {
    return {
      route,
      kernels: [
        {
          kernel: "mla_prefill_8x8",
          threads: 128,
          staticBytes: 0,
          // Three threadgroups of 16,384 bytes fit the 57,344 that were measured on one M5 core.
          dynamicBytes: { relation: "≤", value: 16_384 },
          reason: "four simdgroups of eight query rows share the staged keys and values",
        },
      ],
      scratchBytes: 0,
      scratchFormula: "the online softmax keeps its state in registers",
    };
  }
  if (route !== "naive") return undefined;
  const { queries, maxKeys } = prefillExtent(shape);
  return {
    route,
    kernels: [
      {
        kernel: "mla_prefill_naive",
        threads: 128,
        staticBytes: 32,
        dynamicBytes: { relation: "=", value: 0 },
        reason: "one threadgroup owns a query row of a head",
      },
    ],
    scratchBytes: Math.max(4, checkedProduct("scores", [queries, shape.heads, maxKeys, 4])),
    scratchFormula: `${queries} queries x ${shape.heads} heads x ${maxKeys} scores x 4`,
  };
}
