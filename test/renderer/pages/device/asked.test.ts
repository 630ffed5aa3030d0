/** The budget as texts of a form and parameters of a URL: what is taken, what falls away, what counts as changed. */
import { describe, expect, it } from "vitest";
import { GIB, MAX_CONTEXT } from "../../../../electron/device/budget.ts";
import {
  askedOf,
  CLEARED,
  contextOfStep,
  parametersText,
  parseWeights,
  RULES,
  SLIDER,
  stepOfContext,
} from "../../../../renderer/pages/device/asked.ts";

describe("weights as text", () => {
  it("are parameters or bytes by their unit", () => {
    expect(parseWeights("31B")).toEqual({ kind: "parameters", count: 31e9 });
    expect(parseWeights(" 7e9 ")).toEqual({ kind: "parameters", count: 7e9 });
    expect(parseWeights("1,234")).toEqual({ kind: "parameters", count: 1234 });
    expect(parseWeights("18 GiB")).toEqual({ kind: "bytes", bytes: 18 * GIB });
    expect(parseWeights("18 gb")).toEqual({ kind: "bytes", bytes: 18e9 });
  });

  it("are refused where they are neither", () => {
    for (const text of ["", "many", "-3B", "3 apples", "1.2.3", "1e99", "NaN"])
      expect(parseWeights(text)).toBeUndefined();
  });

  it("are written as they are read", () => {
    expect(parametersText(31e9)).toBe("31B");
    expect(parametersText(15.7e9)).toBe("15.7B");
    expect(parametersText(1234)).toBe("1,234");
  });
});

describe("the question of a URL", () => {
  it("is the first model on 128 GiB where it says nothing", () => {
    const { model, memoryGib, question, changed } = askedOf({});
    expect(model.id).toBe("gemma");
    expect(memoryGib).toBe(128);
    expect(question).toMatchObject({ layers: 10, dtype: "f32", context: 65_536, runtimeBytes: 2 * GIB });
    expect(question.weightBytes).toBe(17_437_500_000);
    expect(changed).toEqual([]);
  });

  it("takes every field, and says which are not the model's own", () => {
    const { question, changed } = askedOf({
      model: "deepseek",
      ram: "64",
      weights: "9 GiB",
      layers: "12",
      cache: "mla_latent",
      rank: "256",
      dtype: "bf16",
      runtime: "1.5",
      ctx: "4096",
    });
    expect(question).toMatchObject({
      memoryBytes: 64 * GIB,
      weightBytes: 9 * GIB,
      weightsFrom: "bytes",
      layers: 12,
      cache: { form: "mla_latent", rank: 256, rope: 64 },
      dtype: "bf16",
      runtimeBytes: 1.5 * GIB,
      context: 4096,
      windowed: null,
    });
    expect(changed).toEqual(["weights", "layers", "cache", "dtype", "rank"]);
  });

  it("is as if a parameter that no field takes were not there", () => {
    const odd = {
      ram: "7",
      model: "x",
      weights: "heavy",
      bits: "0",
      layers: "-1",
      cache: "none",
      dtype: "f8",
      ctx: "0",
    };
    expect(askedOf(odd)).toEqual(askedOf({}));
    expect(RULES.ctx.read(String(MAX_CONTEXT + 1))).toBeUndefined();
  });

  it("has the limit that a device reports", () => {
    expect(askedOf({}, 100 * GIB).question.limit).toMatchObject({ by: "api", low: 100 * GIB });
  });

  it("has that limit for the memory of the machine alone, which is taken where none is chosen", () => {
    const here = [48 * GIB, 64 * GIB] as const;
    expect(askedOf({}, ...here)).toMatchObject({ memoryGib: 64, question: { limit: { by: "api", low: 48 * GIB } } });
    expect(askedOf({ ram: "64" }, ...here).question.limit.by).toBe("api");
    expect(askedOf({ ram: "128" }, ...here)).toMatchObject({ memoryGib: 128, question: { limit: { by: "estimate" } } });
    expect(askedOf({}, null, 64 * GIB)).toEqual(askedOf({}));
  });

  it("keeps memory, runtime and context when the model changes", () => {
    expect(Object.keys(CLEARED)).not.toEqual(expect.arrayContaining(["ram"]));
    expect(Object.keys(CLEARED)).toEqual(expect.arrayContaining(["weights", "bits", "layers", "dim", "rank"]));
  });
});

describe("the slider", () => {
  it("goes from 256 tokens to the longest context, doubling in eight steps", () => {
    expect(contextOfStep(0)).toBe(256);
    expect(contextOfStep(8)).toBe(512);
    expect(contextOfStep(SLIDER.steps)).toBe(MAX_CONTEXT);
  });

  it("comes back to the step it was put on", () => {
    for (let step = 0; step <= SLIDER.steps; step++) expect(stepOfContext(contextOfStep(step))).toBe(step);
    expect(stepOfContext(1)).toBe(0);
  });
});
