/**
 * What every mutant is tried on: small generated cases, few and chosen so that each kind of mistake shows on one of them.
 * The checker looks at the small case of each set of pipelines besides.
 */

import type { Operator, PrefillShape } from "../../kernels/route.ts";
import { type Case, DEFAULT_SEED, decodeShape, prefillShape } from "../cases/case.ts";
import { generated } from "../cases/file.ts";

/** Cases of the golden set by name, beside the generated ones. */
const NAMED: Readonly<Record<Operator, readonly string[]>> = {
  gqa_decode: [
    // Large scores, rows without any finite score, an empty cache, a scale other than 1, one KV head of 512.
    "softmax_stress.increasing_steep",
    "softmax_stress.rows_fully_masked",
    "softmax_stress.ragged_live.row0",
    "attention_stress.gqa.first_and_last",
    "gqa_decode_d512_l1023_h8kv1_bf16",
  ],
  mla_prefill: ["attention_stress.mla.first_last", "mla_prefill_t77_h4_x16.chunk13", "mla_prefill_ragged_h3_f32"],
};

/** Cases that the suites do not have: odd lengths whose last token is heavy; values narrower than keys. */
export function trialCases(operator: Operator, suite: readonly Case[]): readonly Case[] {
  const named = NAMED[operator].flatMap((name) => suite.filter(({ alias }) => alias === name).slice(0, 1));
  if (operator === "gqa_decode") {
    const production = { heads: 32, kvHeads: 4, dim: 512, scale: 0.5 } as const;
    return [
      generated(decodeShape({ ...production, live: 259 }), "tail4", DEFAULT_SEED),
      // Every one of 32 partitions is full, and its first and last token are heavy.
      generated(decodeShape({ ...production, live: 352 }), "edges32", DEFAULT_SEED),
      generated(decodeShape({ ...production, live: 0 }), "spread", DEFAULT_SEED),
      ...named,
    ];
  }
  const narrow = prefillShape({
    heads: 3,
    nope: 128,
    rope: 64,
    value: 64,
    scale: 0.2,
    cuSeqlens: [0, 41, 41, 110],
    dtype: "f32",
  });
  // More queries than keys: the first rows of both sequences see nothing, and must be 0.
  const blind = { ...narrow, value: 128, cuSeqlensQ: [0, 9, 46], cuSeqlensK: [0, 4, 40], qOffset: [-5, -1] };
  return [generatedPrefill("narrow_values", narrow), generatedPrefill("blind_rows", blind), ...named];
}

function generatedPrefill(name: string, shape: PrefillShape): Case {
  return {
    key: `mla_prefill/generated/${name}/f32`,
    alias: name,
    shape,
    source: { kind: "generator", generator: "lockstep.fmix32/1", seed: DEFAULT_SEED, variant: "spread" },
    path: "",
    boundary: false,
  };
}
