/**
 * Measures the math functions of the standard library against double precision: compiles them with the flags of a kernel,
 * the references as plain C++ beside them, and runs the program on shares of all patterns.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileFlags } from "../emulator/flags.ts";
import { type Bound, boundOf, MATH_FUNCTIONS, type MathFormat, type MathFunction } from "./math_bounds.ts";
import { includeFolders, nativeFolder } from "./paths.ts";
import { runProcess } from "./process.ts";
import type { Toolchain } from "./toolchain.ts";

/** One function in one format. */
export interface MathRow {
  /** `float.exp`, `half.sin`, `float.rsqrt.fast`. */
  readonly key: string;
  readonly entry: MathFunction;
  readonly format: MathFormat;
  readonly call: string;
  /** What the result is held to; `fast` in float alone. */
  readonly bound: Bound;
  readonly fast: Bound | undefined;
}

export interface MathResult {
  readonly row: MathRow;
  readonly tested: number;
  /** Largest error in ulp where the bound promises something, and its arguments as hexadecimal floats. */
  readonly worst: number;
  readonly at: readonly string[];
  /** Results outside the bound, and outside the bound of fast math. */
  readonly violations: number;
  readonly fastViolations: number;
}

const UNPROMISED = "measure::NOT_A_NUMBER";

/** Every row of the tables, the fast variants with code of their own apart. */
export function mathRows(functions: readonly MathFunction[] = MATH_FUNCTIONS): readonly MathRow[] {
  return functions.flatMap((entry) => {
    const formats: readonly MathFormat[] = ["float", "half", "bfloat"];
    const rows: MathRow[] = formats.map((format) => ({
      key: `${format}.${entry.name}`,
      entry,
      format,
      call: entry.call,
      bound: boundOf(entry, format),
      fast: format === "float" ? entry.fast : undefined,
    }));
    if (entry.fastCall !== undefined) {
      const key = `float.${entry.name}.fast`;
      rows.push({ key, entry, format: "float", call: entry.fastCall, bound: entry.fast, fast: entry.fast });
    }
    return rows;
  });
}

/** The functions under test, as a kernel would call them. */
function kernelText(rows: readonly MathRow[]): string {
  const functions = rows.map(
    (row, i) => `
extern "C" [[clang::sycl_external]] __attribute__((used)) void run_${i}(const float *a, const float *b, const float *c, float *out, int count) {
  for (int i = 0; i < count; ++i) {
    using T = ${row.format};
    const T x = static_cast<T>(a[i]), y = static_cast<T>(b[i]), z = static_cast<T>(c[i]);
    out[i] = static_cast<float>(${row.call});
  }
}`,
  );
  return `#include "metal/language.h"\n#include "metal/keywords.h"\nusing namespace metal;\n${functions.join("")}\n`;
}

/** References that glibc has as functions of four doubles. */
const VECTOR_REFERENCES: ReadonlyMap<string, string> = new Map<string, string>([
  ...[
    ...["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "log", "log10", "log2"],
    ...["sin", "sinh", "tan", "tanh"],
  ].map((name): readonly [string, string] => [`${name}(x)`, name]),
  ["pow(10.0, x)", "exp10"],
]);

/** References and bounds, with the program that compares. */
function measureText(rows: readonly MathRow[], vectors: boolean): string {
  const constants = { float: "measure::FLOAT", half: "measure::HALF", bfloat: "measure::BFLOAT" } as const;
  const symmetries = { odd: -1, even: 1, none: 0 } as const;
  const declared = rows.map(
    (_, i) => `extern "C" void run_${i}(const float *, const float *, const float *, float *, int);`,
  );
  const table = rows.map((row, i) => {
    const limit = (bound: Bound | undefined): string =>
      `[]([[maybe_unused]] double x, [[maybe_unused]] double y, [[maybe_unused]] double exact, [[maybe_unused]] double ulp) -> double { return ${bound?.limit ?? UNPROMISED}; }`;
    const scalar = `[](const float *a, const float *b, const float *c, double *exact, int count) {
    [[maybe_unused]] constexpr auto F = ${constants[row.format]};
    for (int i = 0; i < count; ++i) {
      [[maybe_unused]] const double x = a[i], y = b[i], z = c[i];
      exact[i] = ${row.entry.reference};
    }
  }`;
    const vector = vectors ? VECTOR_REFERENCES.get(row.entry.reference) : undefined;
    const reference = vector === undefined ? scalar : `by_four<_ZGVdN4v_${vector}>`;
    return `  {"${row.key}", ${constants[row.format]}, ${row.entry.arguments}, ${symmetries[row.entry.symmetry]}, run_${i}, ${reference}, ${limit(row.bound)}, ${limit(row.fast)}},`;
  });
  return `${vectors ? "#define MEASURE_VECTORS\n" : ""}#include "measure.h"\n${declared.join("\n")}\nconst Row rows[] = {\n${table.join("\n")}\n};\n#include "measure.cpp"\n`;
}

/** A program that measures `rows`; `remove` deletes it. */
export interface MathProgram {
  readonly rows: readonly MathRow[];
  readonly path: string;
  remove(): void;
}

/** Compiles the functions of `rows` and their references. Throws with the compiler's messages. */
export async function buildMathProgram(toolchain: Toolchain, rows: readonly MathRow[]): Promise<MathProgram> {
  const folder = mkdtempSync(join(tmpdir(), "lockstep-math-"));
  const object = join(folder, "functions.o");
  const path = join(folder, "measure");
  const include = [...includeFolders(), join(nativeFolder(), "msl", "accuracy")].map((one) => `-I${one}`);
  const kernel = compileFlags(toolchain, "kernel", "fast");
  const compile = async (args: readonly string[], input: string): Promise<void> => {
    const result = await runProcess(toolchain.clang, args, { input, timeoutMs: 600_000 });
    if (result.status !== 0) throw new Error(`The accuracy program does not compile: ${result.stderr.slice(0, 2000)}`);
  };
  try {
    await compile([...kernel, ...include, "-x", "c++", "-c", "-o", object, "-"], kernelText(rows));
    const target = toolchain.target === undefined ? [] : [`--target=${toolchain.target}`];
    const linker = toolchain.linker === undefined ? [] : [`--ld-path=${toolchain.linker}`];
    // No fused products: they would change what the references say of the rounding of sums.
    const plain = ["-std=c++20", "-O2", "-ffp-contract=off", "-fno-math-errno", ...target, ...toolchain.features];
    // Only the program on this machine: what runs another one's programs may lack the library.
    const vectors =
      toolchain.platform === "linux" && toolchain.architecture === "x86_64" && toolchain.target === undefined;
    const link = ["-x", "none", object, ...linker, ...(vectors ? ["-lmvec"] : []), "-lm", "-o", path];
    await compile([...plain, "-Wno-everything", ...include, "-x", "c++", "-", ...link], measureText(rows, vectors));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return { rows, path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface MathRunOptions {
  /** Every how many patterns of float a function of one argument is tested at; half and bfloat always at all. */
  readonly stride: number;
  /** Random arguments of functions of two and three. */
  readonly pairs: number;
  /** Processes that share the work. */
  readonly processes: number;
  /** Program that runs programs of another machine. */
  readonly launcher?: string;
  readonly timeoutMs?: number;
}

/** Measures the rows from index `first` to `last`. */
export async function runMathProgram(
  program: MathProgram,
  first: number,
  last: number,
  options: MathRunOptions,
): Promise<readonly MathResult[]> {
  const shares = await Promise.all(
    Array.from({ length: options.processes }, async (_, share) => {
      const numbers = [first, last, options.stride, share, options.processes, options.pairs].map(String);
      const command = options.launcher === undefined ? program.path : options.launcher;
      const args = options.launcher === undefined ? numbers : [program.path, ...numbers];
      const result = await runProcess(command, args, { timeoutMs: options.timeoutMs ?? 600_000 });
      if (result.status !== 0) throw new Error(`The accuracy program ended with status ${result.status}`);
      return result.stdout.trimEnd().split("\n").map(parseLine);
    }),
  );
  return program.rows.slice(first, last + 1).map((row, i) => {
    const parts = shares.map((share) => share[i]).filter((part) => part !== undefined);
    if (parts.length !== options.processes || parts.some((part) => part.key !== row.key)) {
      throw new Error(`The accuracy program says nothing about ${row.key}`);
    }
    const sum = (pick: (part: Line) => number): number => parts.reduce((total, part) => total + pick(part), 0);
    const worst = parts.reduce((a, b) => (b.worst > a.worst ? b : a));
    return {
      row,
      tested: sum((part) => part.tested),
      worst: worst.worst,
      at: worst.at.slice(0, row.entry.arguments),
      violations: sum((part) => part.violations),
      fastViolations: sum((part) => part.fastViolations),
    };
  });
}

interface Line {
  readonly key: string;
  readonly tested: number;
  readonly worst: number;
  readonly at: readonly string[];
  readonly violations: number;
  readonly fastViolations: number;
}

function parseLine(line: string): Line {
  const [key = "", tested, worst, x = "", y = "", z = "", violations, fastViolations] = line.split(" ");
  return {
    key,
    tested: Number(tested),
    worst: worst === "inf" ? Number.POSITIVE_INFINITY : Number(worst),
    at: [x, y, z],
    violations: Number(violations),
    fastViolations: Number(fastViolations),
  };
}

/** What is outside its bound, one sentence each. */
export function mathViolations(results: readonly MathResult[]): readonly string[] {
  return results.flatMap((result) => {
    const { row } = result;
    const where = `at ${result.at.join(", ")}`;
    const found: string[] = [];
    if (result.violations > 0 || !(result.worst >= 0)) {
      found.push(
        `${row.key}: ${result.violations} results beyond ${row.bound.words}, the worst ${result.worst} ulp ${where}`,
      );
    }
    if (result.fastViolations > 0) {
      found.push(`${row.key}: ${result.fastViolations} results beyond ${row.fast?.words ?? ""} of fast math`);
    }
    return found;
  });
}
