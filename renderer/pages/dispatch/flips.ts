/** Single changes of a question that might flip its route. Pure; the workbench says which of them do. */
import type { CaseShape } from "../../../kernels/route.ts";
import { type FieldId, type Texts, textsOf } from "./shape_form.ts";

export interface Variation {
  readonly label: string;
  readonly changes: Texts;
}

/** Changes by field: a value on the other side of what a predicate asks for. */
const DECODE: readonly Variation[] = [
  { label: "Head width to 500, no multiple of 32", changes: { dim: "500" } },
  { label: "Head width to 1,024", changes: { dim: "1024" } },
  { label: "KV heads to 1, 32 heads each", changes: { kv: "1", heads: "32" } },
  { label: "KV heads to 3, which divide nothing", changes: { kv: "3", heads: "32" } },
];

const PREFILL: readonly Variation[] = [
  { label: "QK nope to 120, no multiple of 16", changes: { nope: "120" } },
  { label: "V to 1,024", changes: { value: "1024" } },
  { label: "QK rope to 0", changes: { rope: "0" } },
];

/** The variations that change something of `shape`. */
export function variationsOf(shape: CaseShape): readonly Variation[] {
  const own = textsOf(shape);
  const table = shape.operator === "gqa_decode" ? DECODE : PREFILL;
  return table.filter(({ changes }) => Object.entries(changes).some(([id, text]) => own[id as FieldId] !== text));
}
