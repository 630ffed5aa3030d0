/** Single changes of a question that might flip its route. Pure; the workbench says which of them do. */
import type { Asked } from "./asked.ts";
import { FIELDS, type FieldId, type Texts } from "./shape_form.ts";

export interface Variation {
  readonly label: string;
  readonly changes: Texts;
}

/** A value on the other side of what a predicate asks for. */
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

/** Each change taken back, then those of the table that change something. */
export function variationsOf(asked: Asked): readonly Variation[] {
  const { shape, texts, baseTexts, changed } = asked;
  const back = FIELDS[shape.operator]
    .filter(({ id }) => changed.includes(id))
    .map(({ id, label }): Variation => {
      const own = baseTexts[id] ?? "";
      return { label: `${label} back to ${own}`, changes: { [id]: own } };
    });
  const table = shape.operator === "gqa_decode" ? DECODE : PREFILL;
  const away = table.filter(({ changes }) =>
    Object.entries(changes).some(([id, text]) => texts[id as FieldId] !== text),
  );
  return [...back, ...away];
}
