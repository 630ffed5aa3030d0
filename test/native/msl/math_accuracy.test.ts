/** Accuracy of the math functions in ulp, at every 4,099th float, all halves and bfloats, and the edges. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildMathProgram,
  type MathProgram,
  type MathResult,
  mathRows,
  mathViolations,
  runMathProgram,
} from "../../../native/msl/math_accuracy.ts";
import { MATH_FUNCTIONS, type MathFunction } from "../../../native/msl/math_bounds.ts";
import { testToolchain } from "./workbench.ts";

/** Odd, so that every low bit of the pattern takes part. */
const STRIDE = 4099;
const launcher = process.env.LOCKSTEP_TEST_LAUNCHER;
const OPTIONS = {
  stride: STRIDE,
  pairs: 30_000,
  processes: 1,
  ...(launcher === undefined ? {} : { launcher }),
};

function measure(program: MathProgram): Promise<readonly MathResult[]> {
  return runMathProgram(program, 0, program.rows.length - 1, OPTIONS);
}

describe("math functions", () => {
  let program: MathProgram | undefined;
  let results: readonly MathResult[] = [];

  beforeAll(async () => {
    program = await buildMathProgram(await testToolchain(), mathRows());
    results = await measure(program);
  }, 300_000);
  afterAll(() => program?.remove());

  it("stay within the bounds of the specification's tables, edges included", () => {
    expect(mathViolations(results)).toEqual([]);
  });

  it("are measured everywhere they should be", () => {
    expect(results).toHaveLength(mathRows().length);
    for (const { row, tested } of results) {
      const patterns = row.format === "float" ? 2 ** 32 / STRIDE : 2 ** 16;
      expect(tested, row.key).toBeGreaterThan(row.entry.arguments === 1 ? patterns : OPTIONS.pairs);
    }
  });

  it("exp, exp2 and exp10 stay within the 1.5 ulp that their own code claims", () => {
    const own = results.filter(({ row }) => /^float\.exp(2|10)?$/.test(row.key));
    expect(own.map(({ worst }) => worst > 0.5 && worst <= 1.5)).toEqual([true, true, true]);
  });
});

describe("a function that is wrong", () => {
  const wrong = (name: string, call: string): MathFunction => {
    const entry = MATH_FUNCTIONS.find((one) => one.name === name);
    if (entry === undefined) throw new Error(`no function ${name}`);
    return { ...entry, call };
  };

  it.each([
    ["by a factor of 1 + 1e-6", wrong("exp", "T(exp(x) * 1.000001f)"), ["float.exp"]],
    ["at one argument", wrong("log", "x == T(1.0f) ? T(NAN) : log(x)"), ["float.log", "half.log"]],
    ["in its rounding", wrong("rint", "round(x)"), ["float.rint", "half.rint", "bfloat.rint"]],
    [
      "in its rounding of ties",
      wrong("add", "T(x + y) + T(x == T(1.0f) && y > T(0.0f) && y < T(0.5f) ? y : T(0.0f))"),
      ["float.add"],
    ],
    ["where it should be a NaN", wrong("sqrt", "sqrt(fabs(x))"), ["float.sqrt", "half.sqrt", "bfloat.sqrt"]],
    [
      "rounded twice",
      wrong("fma", "[&] { const T product = x * y; return T(product + z); }()"),
      ["half.fma", "bfloat.fma"],
    ],
    ["only by the bound of fast math", wrong("log2", "log2(x) * 1.0000002f"), ["float.log2: "]],
  ])("%s is found out", async (_, entry, keys) => {
    const program = await buildMathProgram(await testToolchain(), mathRows([entry]));
    try {
      const found = mathViolations(await measure(program));
      for (const key of keys)
        expect(
          found.some((line) => line.startsWith(key)),
          `${key} in ${found.join("; ")}`,
        ).toBe(true);
    } finally {
      program.remove();
    }
  });
});
