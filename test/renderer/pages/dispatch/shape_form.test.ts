import { describe, expect, it } from "vitest";
import type { CaseShape } from "../../../../kernels/route.ts";
import {
  changedFields,
  FIELDS,
  mergedTexts,
  PRODUCTION,
  readField,
  shapeOf,
  textsOf,
} from "../../../../renderer/pages/dispatch/shape_form.ts";

const RAGGED: CaseShape = {
  operator: "mla_prefill",
  heads: 3,
  nope: 128,
  rope: 64,
  value: 128,
  cuSeqlensQ: [0, 20, 20, 28],
  cuSeqlensK: [0, 20, 7 + 20, 27 + 50],
  qOffset: [0, 7, 4],
  scale: 0.07216878364870322,
  dtype: "bf16",
};

describe("the texts of a shape", () => {
  it("make the same shape again, whatever its sequences and scale are", () => {
    for (const shape of [RAGGED, ...PRODUCTION.map((preset) => preset.shape)]) {
      expect(shapeOf(shape.operator, textsOf(shape))).toEqual(shape);
    }
    expect(textsOf(RAGGED).seqs).toBe("20 0/7 8/50@4");
  });

  it("take changes from parameters, and leave out what no field takes", () => {
    const base = PRODUCTION[0]!.shape;
    const texts = mergedTexts(base, { live: "4,096", dim: "wide", nope: "16", chip: "M1" });
    expect(texts).toEqual({ ...textsOf(base), live: "4096", capacity: "4100" });
    expect(changedFields(base, texts)).toEqual(["live"]);
  });

  it("the capacity follows the live length until it is set", () => {
    const base = PRODUCTION[0]!.shape;
    const texts = mergedTexts(base, { live: "100", capacity: "90" });
    expect(shapeOf("gqa_decode", texts)).toMatchObject({ live: 100, capacity: 90 });
    expect(changedFields(base, texts)).toEqual(["live", "capacity"]);
  });
});

describe("a field", () => {
  const field = (id: string) =>
    Object.values(FIELDS).flatMap((fields) => fields.filter((entry) => entry.id === id))[0]!;

  it("says what is wrong with a text", () => {
    for (const [id, text] of [
      ["heads", "-1"],
      ["heads", "1.5"],
      ["heads", ""],
      ["scale", "NaN"],
      ["scale", ""],
      ["seqs", ""],
      ["seqs", "20 x"],
      ["seqs", "3/"],
      ["dtype", "f64"],
    ] as const) {
      expect(readField("mla_prefill", field(id), text), `${id} ${text}`).toHaveProperty("fault");
    }
    expect(readField("gqa_decode", field("dtype"), "f16")).toHaveProperty("fault");
  });

  it("is written without its commas and spare blanks", () => {
    expect(readField("gqa_decode", field("live"), " 131,072")).toEqual({ text: "131072" });
    expect(readField("mla_prefill", field("seqs"), " 20,7   13/50 ")).toEqual({ text: "20 7 13/50" });
    expect(readField("mla_prefill", field("scale"), "1e-1")).toEqual({ text: "0.1" });
  });
});
