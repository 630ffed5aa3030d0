/**
 * The accuracy that the Metal Shading Language Specification promises, function by function, and what each is measured
 * against. Read from version 4 of 2025-10-23, section 8.4: table 8.1 (float), 8.2 (float, fast math), 8.3 (half) and
 * 8.4, 8.5 (bfloat); version 4.1 of 2026-06-04 has the same tables.
 */

/** `limit` is C++ in `x`, `y`, `exact` and `ulp`: the largest error in ulp, NaN where nothing is promised. */
export interface Bound {
  readonly words: string;
  readonly limit: string;
}

export type MathFormat = "float" | "half" | "bfloat";

export interface MathFunction {
  /** As it is called in MSL, without its namespace. */
  readonly name: string;
  readonly set:
    | "exponential"
    | "trigonometric"
    | "inverse"
    | "hyperbolic"
    | "roots"
    | "rounding"
    | "two or three arguments";
  readonly arguments: 1 | 2 | 3;
  readonly symmetry: "odd" | "even" | "none";
  /** MSL expression of the function under test in `x`, `y`, `z` of type `T`. */
  readonly call: string;
  /** Double-precision C++ in `x`, `y`, `z` and the format `F`. */
  readonly reference: string;
  readonly precise: Bound;
  readonly fast: Bound;
  readonly half: Bound;
  /** The tables give bfloat basic arithmetic only; the rest is what this library claims. */
  readonly bfloat: Bound;
  /** MSL statement for the fast variant where it has code of its own. */
  readonly fastCall?: string;
}

const UNPROMISED = "measure::NOT_A_NUMBER";
const CORRECT: Bound = { words: "correctly rounded", limit: "0.5" };
const EXACT: Bound = { words: "0 ulp", limit: "0" };
const UNDEFINED: Bound = { words: "undefined", limit: UNPROMISED };

function ulps(count: number): Bound {
  return { words: `${count} ulp`, limit: String(count) };
}

/** The same promise, only where `condition` (C++ in `x` and `y`) holds. */
function where(bound: Bound, condition: string, words: string): Bound {
  return { words: `${bound.words} ${words}`, limit: `(${condition}) ? ${bound.limit} : ${UNPROMISED}` };
}

/** An absolute error inside a domain, nothing outside it. */
function absolute(exponent: number, condition: string, words: string): Bound {
  return { words: `absolute 2^${exponent} ${words}`, limit: `(${condition}) ? 0x1p${exponent} / ulp : ${UNPROMISED}` };
}

/** The fast variant is given by a formula, which has no bound of its own. */
function formula(words: string): Bound {
  return { words: `as ${words}`, limit: UNPROMISED };
}

const FAST_EXP: Bound = { words: "3 + floor(|2x|) ulp", limit: "3.0 + floor(fabs(2.0 * x))" };
const IN_PI: Bound = absolute(-13, "fabs(x) <= measure::PI", "in [-pi, pi]");
const IN_ONE: Bound = absolute(-13, "fabs(x) <= 1.0", "in [-1, 1]");

function logarithm(exponent: number, ulp: number): Bound {
  return {
    words: `absolute 2^${exponent} in [0.5, 2], else ${ulp} ulp`,
    limit: `x >= 0.5 && x <= 2.0 ? 0x1p${exponent} / ulp : (x > 0.0 ? ${ulp} : ${UNPROMISED})`,
  };
}

type Extra = Partial<Pick<MathFunction, "symmetry" | "call" | "reference" | "half" | "bfloat" | "fastCall">>;

function unary(set: MathFunction["set"], name: string, precise: Bound, fast: Bound, extra: Extra = {}): MathFunction {
  return {
    name,
    set,
    arguments: 1,
    symmetry: "none",
    call: `${name}(x)`,
    reference: `${name}(x)`,
    precise,
    fast,
    half: ulps(1),
    bfloat: ulps(1),
    ...extra,
  };
}

/** A function whose result is a float in any case: the same bound in every format. */
function same(set: MathFunction["set"], name: string, bound: Bound, extra: Extra = {}): MathFunction {
  return unary(set, name, bound, bound, { half: bound, bfloat: bound, ...extra });
}

function binary(
  name: string,
  precise: Bound,
  fast: Bound,
  half: Bound,
  bfloat: Bound,
  extra: Extra = {},
): MathFunction {
  return {
    name,
    set: "two or three arguments",
    arguments: 2,
    symmetry: "none",
    call: `${name}(x, y)`,
    reference: `${name}(x, y)`,
    precise,
    fast,
    half,
    bfloat,
    ...extra,
  };
}

const ODD = { symmetry: "odd" } as const;
const EVEN = { symmetry: "even" } as const;
const FINITE = "fabs(x) < measure::INF && x != 0.0";
/** Spelled with `<`, so that a NaN is not of the domain. */
const POSITIVE = "x > 0.0 && x < measure::INF && fabs(y) < measure::INF";

/** Table 8.3 has no pow: what this library claims. */
const OWN_POWER: Bound = where(ulps(1), POSITIVE, "for x > 0, not in the table");

export const MATH_FUNCTIONS: readonly MathFunction[] = [
  unary("exponential", "exp", ulps(4), FAST_EXP),
  unary("exponential", "exp2", ulps(4), FAST_EXP),
  unary("exponential", "exp10", ulps(4), formula("exp2(x log2(10))"), { reference: "pow(10.0, x)" }),
  unary("exponential", "log", ulps(4), logarithm(-21, 3)),
  unary("exponential", "log2", ulps(4), logarithm(-22, 2)),
  unary("exponential", "log10", ulps(4), formula("log2(x) log10(2)")),

  unary("trigonometric", "sin", ulps(4), IN_PI, ODD),
  unary("trigonometric", "cos", ulps(4), IN_PI, EVEN),
  unary("trigonometric", "tan", ulps(6), formula("sin(x) (1 / cos(x))"), ODD),
  unary("trigonometric", "sinpi", ulps(4), IN_ONE, { ...ODD, reference: "measure::sin_pi(x)" }),
  unary("trigonometric", "cospi", ulps(4), IN_ONE, { ...EVEN, reference: "measure::cos_pi(x)" }),
  unary("trigonometric", "tanpi", ulps(6), formula("tan(x pi)"), { ...ODD, reference: "measure::tan_pi(x)" }),
  unary("trigonometric", "sincos_sine", ulps(4), IN_PI, {
    ...ODD,
    call: "[&] { T c; return sincos(x, c); }()",
    reference: "sin(x)",
  }),
  unary("trigonometric", "sincos_cosine", ulps(4), IN_PI, {
    ...EVEN,
    call: "[&] { T c; sincos(x, c); return c; }()",
    reference: "cos(x)",
  }),

  unary(
    "inverse",
    "asin",
    ulps(4),
    where(ulps(5), "fabs(x) <= 1.0 && fabs(x) >= 0x1p-125", "in [-1, 1], |x| >= 2^-125"),
    ODD,
  ),
  unary("inverse", "acos", ulps(4), where(ulps(5), "fabs(x) <= 1.0", "in [-1, 1]")),
  unary("inverse", "atan", ulps(5), ulps(5), ODD),

  unary("hyperbolic", "sinh", ulps(4), formula("0.5 (exp(x) - exp(-x))"), ODD),
  unary("hyperbolic", "cosh", ulps(4), formula("0.5 (exp(x) + exp(-x))"), EVEN),
  unary("hyperbolic", "tanh", ulps(5), formula("(t - 1) / (t + 1), t = exp(2x)"), ODD),
  unary("hyperbolic", "asinh", ulps(4), formula("log(x + sqrt(x x + 1))"), ODD),
  unary("hyperbolic", "acosh", ulps(4), formula("log(x + sqrt(x x - 1))")),
  unary("hyperbolic", "atanh", ulps(5), formula("0.5 log((1 + x) / (1 - x))"), ODD),

  unary("roots", "sqrt", CORRECT, formula("x rsqrt(x)"), { half: CORRECT, bfloat: CORRECT }),
  unary("roots", "rsqrt", CORRECT, ulps(2), {
    half: CORRECT,
    bfloat: CORRECT,
    reference: "measure::inverse_root(x)",
    fastCall: "fast::rsqrt(x)",
  }),
  unary(
    "roots",
    "reciprocal",
    CORRECT,
    where(ulps(1), "fabs(x) >= 0x1p-126 && fabs(x) <= 0x1p126", "for 2^-126 to 2^126"),
    {
      ...ODD,
      half: CORRECT,
      bfloat: CORRECT,
      call: "T(T(1.0f) / x)",
      reference: "1.0 / x",
    },
  ),

  same("rounding", "ceil", CORRECT),
  same("rounding", "floor", CORRECT),
  same("rounding", "trunc", CORRECT, ODD),
  same("rounding", "round", CORRECT, ODD),
  same("rounding", "rint", CORRECT, ODD),
  same("rounding", "fract", CORRECT, { reference: "measure::fraction(x, F)" }),
  same("rounding", "fabs", EXACT, EVEN),
  same("rounding", "frexp_mantissa", EXACT, {
    ...ODD,
    call: "[&] { int e; return frexp(x, e); }()",
    reference: "measure::mantissa_of(x)",
  }),
  same("rounding", "frexp_exponent", where(EXACT, FINITE, "finite, not 0"), {
    ...EVEN,
    call: "[&] { int e; frexp(x, e); return e; }()",
    reference: "measure::whole_exponent(x)",
  }),
  same("rounding", "ilogb", where(EXACT, FINITE, "finite, not 0"), {
    ...EVEN,
    reference: "measure::whole_exponent(x) - 1.0",
  }),
  same("rounding", "modf_fraction", EXACT, {
    ...ODD,
    call: "[&] { T whole; return modf(x, whole); }()",
    reference: "fabs(x) == measure::INF ? 0.0 : x - trunc(x)",
  }),
  same("rounding", "modf_whole", EXACT, {
    ...ODD,
    call: "[&] { T whole; modf(x, whole); return whole; }()",
    reference: "trunc(x)",
  }),

  binary("pow", ulps(16), formula("exp2(y log2(x))"), OWN_POWER, OWN_POWER),
  binary("powr", where(ulps(16), POSITIVE, "x > 0"), formula("exp2(y log2(x))"), OWN_POWER, OWN_POWER, {
    reference: "pow(x, y)",
  }),
  binary("atan2", ulps(6), formula("atan(y / x), shifted by quadrant"), ulps(1), ulps(1)),
  binary("fmod", EXACT, UNDEFINED, EXACT, EXACT),
  binary("fdim", CORRECT, CORRECT, CORRECT, CORRECT),
  binary("fmax", EXACT, EXACT, EXACT, EXACT, { reference: "x != x ? y : (y != y ? x : (x < y ? y : x))" }),
  binary("fmin", EXACT, EXACT, EXACT, EXACT, { reference: "x != x ? y : (y != y ? x : (y < x ? y : x))" }),
  binary("copysign", EXACT, EXACT, EXACT, EXACT),
  binary(
    "divide",
    CORRECT,
    where(ulps(2.5), "fabs(y) >= 0x1p-126 && fabs(y) <= 0x1p126", "for y of 2^-126 to 2^126"),
    CORRECT,
    CORRECT,
    {
      reference: "x / y",
    },
  ),
  binary("nextafter", EXACT, EXACT, EXACT, EXACT, { reference: "measure::next_after(x, y, F)" }),
  binary("ldexp", CORRECT, CORRECT, CORRECT, CORRECT, {
    call: "ldexp(x, y == y && fabs(y) < 400 ? int(y) : 3)",
    reference: "ldexp(x, y == y && fabs(y) < 400 ? static_cast<int>(y) : 3)",
  }),
  binary("add", CORRECT, CORRECT, CORRECT, CORRECT, {
    call: "T(x + y)",
    reference: "measure::rounded_to_odd_sum(x, y)",
  }),
  binary("subtract", CORRECT, CORRECT, CORRECT, CORRECT, {
    call: "T(x - y)",
    reference: "measure::rounded_to_odd_sum(x, -y)",
  }),
  binary("multiply", CORRECT, CORRECT, CORRECT, CORRECT, { call: "T(x * y)", reference: "x * y" }),
  {
    ...binary("fma", EXACT, EXACT, EXACT, EXACT, { call: "fma(x, y, z)", reference: "measure::fused(x, y, z, F)" }),
    arguments: 3,
  },
];

/** The bound that a format is held to. */
export function boundOf(entry: MathFunction, format: MathFormat): Bound {
  return format === "float" ? entry.precise : entry[format];
}
