import path from "node:path";
import { describe, expect, it } from "vitest";
import { boundarySet } from "../../../electron/cases/boundary.ts";
import { caseSlug } from "../../../electron/cases/case.ts";
import { chunkCase, SUITES, suiteCases } from "../../../electron/cases/suites.ts";
import { openSafetensors } from "../../../oracle/safetensors.ts";

const golden = path.resolve(import.meta.dirname, "../../golden");

describe("suites", () => {
  it("have distinct keys and distinct folders", () => {
    for (const suite of SUITES) {
      const keys = suiteCases(suite, { golden }).map((entry) => entry.key);
      expect(new Set(keys).size).toBe(keys.length);
      expect(new Set(keys.map(caseSlug)).size).toBe(keys.length);
    }
  });

  it("contain every generator case of the golden set", () => {
    const file = openSafetensors(path.join(golden, "gqa_decode_d512_long_f64.safetensors"));
    const stored = JSON.parse(file.metadata.cases!) as string[];
    const decodes = (suite: "standard" | "full") =>
      suiteCases(suite, { golden }).filter(
        ({ source, shape }) => source.kind === "generator" && shape.operator === "gqa_decode",
      );
    const full = decodes("full");
    expect(full.map((entry) => entry.alias).sort()).toEqual(stored.sort());
    const standard = decodes("standard");
    expect(standard.map((entry) => entry.alias).sort()).toEqual(
      stored.filter((name) => !/^L(65536|131072)\./.test(name)).sort(),
    );
  });

  it("standard holds the whole boundary set", () => {
    const cases = suiteCases("standard", { golden });
    for (const [operator, dtype] of [
      ["gqa_decode", "f32"],
      ["mla_prefill", "f32"],
      ["mla_prefill", "f16"],
      ["mla_prefill", "bf16"],
    ] as const) {
      const found = cases.filter(
        (entry) => entry.boundary && entry.shape.operator === operator && entry.shape.dtype === dtype,
      );
      expect(found.map((entry) => entry.alias).sort()).toEqual([...boundarySet(operator, dtype)].sort());
    }
  });

  it("standard and full hold rows that see no key, in every dtype; quick does not", () => {
    const blind = (suite: (typeof SUITES)[number]) =>
      suiteCases(suite, { golden, seed: 7 })
        .filter(({ alias }) => alias.startsWith("blind_rows."))
        .map(({ key }) => key);
    const keys = ["f32", "f16", "bf16"].flatMap((dtype) => [
      `mla_prefill/h2n128r64v128/T46of40/blind_rows.before_keys-seed7/${dtype}`,
      `mla_prefill/h2n128r64v128/T38of33/blind_rows.no_keys-seed7/${dtype}`,
    ]);
    expect([blind("quick"), blind("standard"), blind("full")]).toEqual([[], keys, keys]);
  });

  it("quick holds every kind of source, both operators and all dtypes", () => {
    const cases = suiteCases("quick", { golden });
    expect(new Set(cases.map((entry) => entry.source.kind))).toEqual(new Set(["generator", "tensors", "scores"]));
    expect(new Set(cases.map((entry) => `${entry.shape.operator} ${entry.shape.dtype}`)).size).toBe(4);
  });

  it("another seed gives other keys and no stored reference", () => {
    const [entry] = suiteCases("quick", { golden, seed: 7 });
    expect(entry).toMatchObject({ key: "gqa_decode/h32kv4d512/L1/spread-seed7/f32", path: "" });
  });
});

describe("chunks", () => {
  it("are the last rows of every sequence against all its keys", () => {
    const whole = suiteCases("standard", { golden }).find((entry) => entry.alias === "mla_prefill_ragged_h3_f32")!;
    const { shape, key } = chunkCase(whole, 8);
    expect(key).toBe("mla_prefill/h3n128r64v128/T72of270/mla_prefill_ragged_h3_f32.chunk8/f32");
    // Lengths 1, 7, 8, 9, 15, 16, 17, 33, 64, 100; the first two are shorter than a chunk.
    expect(shape).toMatchObject({
      cuSeqlensQ: [0, 1, 8, 16, 24, 32, 40, 48, 56, 64, 72],
      qOffset: [0, 0, 0, 1, 7, 8, 9, 25, 56, 92],
    });
  });
});
