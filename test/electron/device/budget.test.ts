/** The memory budget: formulas by hand, the range of the limit, what fits, what may and what does not and by how much. */
import { describe, expect, it } from "vitest";
import {
  type BudgetQuestion,
  binaryText,
  bytesPerToken,
  elementsPerToken,
  GIB,
  longestContext,
  MAX_CONTEXT,
  MEMORY_SIZES_GIB,
  memoryBudget,
  routeScratch,
  weightBytes,
  windowedBytes,
  workingSetLimit,
} from "../../../electron/device/budget.ts";
import { BUDGET_MODELS, budgetModel } from "../../../electron/device/models.ts";

const gemma = budgetModel("gemma");
const deepseek = budgetModel("deepseek");

function question(over: Partial<BudgetQuestion> = {}): BudgetQuestion {
  const memoryBytes = over.memoryBytes ?? 128 * GIB;
  return {
    memoryBytes,
    limit: workingSetLimit(memoryBytes),
    weightBytes: weightBytes(gemma.parameters, gemma.bitsPerWeight),
    weightsFrom: "parameters",
    cache: gemma.caches[0]!,
    dtype: "f32",
    layers: gemma.layers,
    windowed: gemma.windowed,
    runtimeBytes: 2 * GIB,
    context: 65_536,
    ...over,
  };
}

describe("the limit", () => {
  it("is the API's where a device reports it", () => {
    expect(workingSetLimit(64 * GIB, 50 * GIB)).toMatchObject({ low: 50 * GIB, high: 50 * GIB, by: "api" });
  });

  it("gives back what Macs have reported", () => {
    const mib = (gib: number): readonly number[] => {
      const { low, high } = workingSetLimit(gib * GIB);
      return [low, high].map((bytes) => Number((bytes / 2 ** 20).toFixed(2)));
    };
    expect(mib(16)).toEqual([10_922.67, 10_922.67]);
    expect(mib(32)).toEqual([21_845.33, 21_845.33]);
    expect(mib(64)).toEqual([49_152, 49_152]);
    expect(mib(96)).toEqual([73_728, 73_728]);
    expect(mib(128)).toEqual([96 * 1024, 110_100.48]);
  });

  it("is an estimate with a rule and a source for every size, below the memory", () => {
    for (const gib of MEMORY_SIZES_GIB) {
      const { low, high, by, rule, source } = workingSetLimit(gib * GIB);
      expect(by).toBe("estimate");
      expect(low).toBeLessThanOrEqual(high);
      expect(high).toBeLessThan(gib * GIB);
      expect(rule.length * source.length).toBeGreaterThan(0);
    }
  });
});

describe("what is needed", () => {
  it("counts the elements of a token by the form of the cache", () => {
    expect(elementsPerToken({ form: "gqa", heads: 32, kvHeads: 4, dim: 512 })).toBe(4096);
    expect(elementsPerToken(deepseek.caches[0]!)).toBe(16 * (128 + 128) + 64);
    expect(elementsPerToken({ form: "mla_latent", rank: 512, rope: 64 })).toBe(576);
  });

  it("is 16 KiB a token and layer for the production decode shape: 1 GiB at 65,536 tokens", () => {
    expect(bytesPerToken(gemma.caches[0]!, "f32", 1)).toBe(16_384);
    expect(bytesPerToken(gemma.caches[0]!, "f32", 1) * 65_536).toBe(GIB);
    expect(bytesPerToken(gemma.caches[0]!, "bf16", 10)).toBe(81_920);
  });

  it("rounds weights up to whole bytes", () => {
    expect(weightBytes(31e9, 4.5)).toBe(17_437_500_000);
    expect(weightBytes(3, 3)).toBe(2);
  });

  it("stops growing with the window, and is less before it", () => {
    const whole = 50 * 2 * 16 * 256 * 4 * 1024;
    expect(windowedBytes(gemma.windowed, "f32", 1024)).toBe(whole);
    expect(windowedBytes(gemma.windowed, "f32", 1_000_000)).toBe(whole);
    expect(windowedBytes(gemma.windowed, "f32", 256)).toBe(whole / 4);
    expect(windowedBytes(null, "f32", 256)).toBe(0);
  });

  it("takes the scratch of the route from its plan: 8 MiB of scores and 1 MiB of partials at 65,536", () => {
    expect(routeScratch(gemma.caches[0]!, "f32", 65_536)).toEqual({ route: "three_stage", bytes: 9 * 2 ** 20 });
    expect(routeScratch(deepseek.caches[0]!, "f16", 4096)).toMatchObject({ route: "simdgroup_8x8", bytes: 0 });
    expect(routeScratch(deepseek.caches[1]!, "f16", 4096)).toMatchObject({ route: null });
  });

  it("says why a scratch is not known", () => {
    const scratch = routeScratch({ form: "gqa", heads: 32, kvHeads: 5, dim: 512 }, "f32", 1024);
    expect("reason" in scratch ? scratch.reason : "").toContain("multiple of the KV heads");
  });
});

describe("the budget", () => {
  it("fits, says what is left, and its parts add up to the memory", () => {
    const asked = question();
    const budget = memoryBudget(asked);
    expect(budget.state).toBe("fits");
    expect(budget.sentence).toBe("Fits: 29.8 GiB needed, limit 96.0 GiB to 108 GiB. 66.2 GiB left");
    expect(budget.parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(asked.memoryBytes);
    expect(budget.parts.map((part) => part.id)).toEqual([
      "weights",
      "runtime",
      "scratch",
      "windowed",
      "kv",
      "left",
      "system",
    ]);
    expect(budget.bytesPerToken).toBe(163_840);
  });

  it("does not fit, and says by how much", () => {
    const budget = memoryBudget(question({ memoryBytes: 24 * GIB, limit: workingSetLimit(24 * GIB) }));
    expect(budget.state).toBe("does_not_fit");
    expect(budget.sentence).toBe("Does not fit: 29.8 GiB needed, limit 16.0 GiB. 13.8 GiB over");
    expect(budget.parts.some((part) => part.id === "left")).toBe(false);
    expect(budget.parts.at(-1)).toMatchObject({ id: "system", bytes: 0 });
    expect(budget.longest.low).toEqual({ tokens: 0, endedBy: "memory" });
  });

  it("may not fit between the ends of an estimated limit", () => {
    const budget = memoryBudget(question({ weightBytes: 90 * GIB, runtimeBytes: 0 }));
    expect(budget.state).toBe("may_fit");
    expect(budget.sentence).toContain("May not fit: 102 GiB needed, limit between 96.0 GiB and 108 GiB");
    expect(budget.longest.high.tokens).toBeGreaterThan(65_536);
    expect(budget.longest.low.tokens).toBeLessThan(65_536);
  });

  it("finds the longest context exactly: it fits, one token more does not", () => {
    for (const memoryBytes of [32, 48, 64].map((gib) => gib * GIB)) {
      const asked = question({ memoryBytes, limit: workingSetLimit(memoryBytes) });
      const { tokens, endedBy } = longestContext(asked, asked.limit.low);
      expect(endedBy).toBe("memory");
      expect(memoryBudget({ ...asked, context: tokens }).state).toBe("fits");
      expect(memoryBudget({ ...asked, context: tokens + 1 }).state).not.toBe("fits");
    }
    expect(longestContext(question(), 10 ** 15)).toEqual({ tokens: MAX_CONTEXT, endedBy: "search" });
  });

  it("says of weights whether they follow from parameters or were given", () => {
    expect(memoryBudget(question()).parts[0]).toMatchObject({ id: "weights", by: "formula" });
    expect(memoryBudget(question({ weightsFrom: "bytes" })).parts[0]).toMatchObject({
      by: "chosen",
      how: "bytes as given",
    });
  });

  it("does not take a figure that is no size", () => {
    expect(() => memoryBudget(question({ weightBytes: Number.NaN }))).toThrow("weightBytes is NaN");
    expect(() => memoryBudget(question({ context: -1 }))).toThrow("context is -1");
  });

  it("writes bytes with three digits", () => {
    expect([0, 1023, 1024, 9 * 2 ** 20, 1000 * GIB].map(binaryText)).toEqual([
      "0 B",
      "1023 B",
      "1.00 KiB",
      "9.00 MiB",
      "0.977 TiB",
    ]);
  });
});

describe("the models", () => {
  it("name a source for every figure, and an unknown id is the first of them", () => {
    for (const model of BUDGET_MODELS) {
      for (const source of [model.parametersSource, model.bitsSource, model.layersSource, model.cacheSource]) {
        expect(source).not.toBe("");
      }
    }
    expect(budgetModel("nothing")).toBe(BUDGET_MODELS[0]);
  });
});
