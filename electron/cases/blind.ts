/**
 * Prefill cases with rows that see no key: more queries than keys, so that the first rows stand before them; sequences without
 * keys; an empty sequence. Such a row is exactly 0, and its lse is minus infinity. Generated, and small.
 */
import type { KernelDtype, PrefillShape } from "../../kernels/route.ts";
import { boundarySet } from "./boundary.ts";
import { type Case, caseKey, DEFAULT_SEED, prefillShape } from "./case.ts";

type Bounds = Pick<PrefillShape, "cuSeqlensQ" | "cuSeqlensK" | "qOffset">;

const BLIND: readonly (readonly [alias: string, bounds: Bounds])[] = [
  // The first 5 rows of 9 and the first one of 37 stand before their keys.
  ["blind_rows.before_keys", { cuSeqlensQ: [0, 9, 46], cuSeqlensK: [0, 4, 40], qOffset: [-5, -1] }],
  // Five queries without any key, a sequence without either, and one as usual behind them.
  ["blind_rows.no_keys", { cuSeqlensQ: [0, 5, 5, 38], cuSeqlensK: [0, 0, 0, 33], qOffset: [-5, 0, 0] }],
];

const DTYPES: readonly KernelDtype[] = ["f32", "f16", "bf16"];

/** A generated prefill. Values are multiples of 2^-7: the same in every dtype. */
function generatedPrefill(alias: string, shape: PrefillShape, seed: number): Case {
  const origin = seed === DEFAULT_SEED ? alias : `${alias}-seed${seed.toString(16)}`;
  return {
    key: caseKey(shape, origin),
    alias,
    shape,
    source: { kind: "generator", generator: "lockstep.fmix32/1", seed, variant: "spread" },
    path: "",
    boundary: boundarySet(shape.operator, shape.dtype).includes(alias),
  };
}

/** The cases in every dtype. */
export function blindCases(seed: number): readonly Case[] {
  const geometry = { heads: 2, nope: 128, rope: 64, value: 128, scale: 0.2 } as const;
  return DTYPES.flatMap((dtype) =>
    BLIND.map(([alias, bounds]) => {
      const shape = { ...prefillShape({ ...geometry, cuSeqlens: bounds.cuSeqlensK, dtype }), ...bounds };
      return generatedPrefill(alias, shape, seed);
    }),
  );
}
