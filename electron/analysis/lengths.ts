/** Error by length over the cases of a run, from its record alone. */
import type { CaseShape } from "../../kernels/route.ts";

/** One result: a point of the chart. */
export interface LengthPoint {
  readonly case: string;
  readonly route: string;
  readonly dtype: "f32" | "f16" | "bf16";
  /** What the inputs are: the variant of a generated case, else the name of the case's file and tensors. */
  readonly origin: string;
  /** Keys of the case: live tokens of a decode, all keys of a prefill batch. */
  readonly length: number;
  readonly verdict: "pass" | "fail" | "not_run";
  /** Null where the route gave no output. */
  readonly maxAbs: number | null;
  readonly nmse: number | null;
  /** Limit of the gate max_abs where its value came closest to it; null where that gate does not apply. */
  readonly limit: number | null;
}

/** What is used of a record. */
export interface LengthRecord {
  readonly cases: readonly {
    readonly key: string;
    readonly shape: CaseShape;
    readonly source:
      | { readonly kind: "generator"; readonly variant: string }
      | { readonly kind: "tensors" | "scores"; readonly file: string; readonly prefix: string };
  }[];
  readonly results: readonly {
    readonly case: string;
    readonly route: string;
    readonly verdict: LengthPoint["verdict"];
    readonly metrics: { readonly maxAbs: number; readonly nmse: number | null } | null;
    readonly gates: readonly { readonly id: string; readonly limit: number | null }[];
  }[];
}

/** Points of an operator, by length, then in the record's order. Results without a case in the record are left out. */
export function lengthPoints(record: LengthRecord, operator: "gqa_decode" | "mla_prefill"): readonly LengthPoint[] {
  const cases = new Map(record.cases.map((entry) => [entry.key, entry]));
  return record.results
    .flatMap((result): readonly LengthPoint[] => {
      const entry = cases.get(result.case);
      if (entry === undefined || entry.shape.operator !== operator) return [];
      const { shape, source } = entry;
      return [
        {
          case: result.case,
          route: result.route,
          dtype: shape.dtype,
          origin: source.kind === "generator" ? source.variant : [source.file, source.prefix].filter(Boolean).join(" "),
          length: shape.operator === "gqa_decode" ? shape.live : (shape.cuSeqlensK.at(-1) ?? 0),
          verdict: result.verdict,
          maxAbs: result.metrics?.maxAbs ?? null,
          nmse: result.metrics?.nmse ?? null,
          limit: result.gates.find((gate) => gate.id === "max_abs")?.limit ?? null,
        },
      ];
    })
    .sort((a, b) => a.length - b.length);
}
