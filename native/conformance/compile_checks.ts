/** From source to library: diagnostics at the author's positions, options, reflection. */
import type { CompileOptions, Device, DeviceError, Diagnostic, KernelArgument, MetalSource } from "../device.ts";
import {
  argumentsOf,
  build,
  dispatchOf,
  floatsOf,
  mustBe,
  mustEqual,
  mustSay,
  range,
  rejection,
  withBench,
  wordsOf,
} from "./bench.ts";
import { type ConformanceCheck, ConformanceFailure, must } from "./check.ts";
import * as kernels from "./kernels.ts";

async function compiles(device: Device): Promise<string> {
  const { path, text, name } = kernels.COUNT;
  const library = await device.compile({ path, text });
  must(library.source.path === path && library.source.text === text, "the library does not hold the source it is of");
  const names = library.functions.map((one) => one.name);
  must(
    names.length === 1 && names[0] === name,
    `the library has the kernels ${names.join(", ") || "none"}; not ${name}`,
  );
  must(library.warnings.length === 0, `a source without fault has a warning: ${library.warnings[0]?.message}`);
  return `${path}: kernel ${name}, no warnings`;
}

async function libraryIdentity(device: Device): Promise<string> {
  const { path, text } = kernels.MACROS;
  const id = async (source: MetalSource, options: CompileOptions): Promise<string> =>
    (await device.compile(source, options)).id;
  const base: CompileOptions = { defines: { WIDTH: 3, EXPRESSION: "7" } };
  const first = await id({ path, text }, base);
  const again = await id({ path, text }, { defines: { WIDTH: 3, EXPRESSION: "7" } });
  must(first === again, `the same source with the same options has the ids ${first} and ${again}`);
  const others: readonly (readonly [string, string])[] = [
    ["another text", await id({ path, text: `${text}\n// another\nconstant int extra = 1;\n` }, base)],
    ["another macro", await id({ path, text }, { defines: { WIDTH: 4, EXPRESSION: "7" } })],
    ["another math mode", await id({ path, text }, { ...base, mathMode: "fast" })],
  ];
  for (const [what, other] of others) must(other !== first, `${what} has the same library id ${first}`);
  return `equal for equal inputs, different for ${others.map(([what]) => what).join(", ")}`;
}

async function warning(device: Device): Promise<string> {
  const lines = [...kernels.COUNT.text.split("\n")];
  const at = 3;
  lines.splice(at - 1, 0, '#warning "conformance warning"');
  const library = await device.compile({ path: "conformance/warned.metal", text: lines.join("\n") });
  const found = library.warnings.find((one) => one.message.includes("conformance warning"));
  must(found !== undefined, `#warning gave no warning; there are ${library.warnings.length}`);
  must(found.severity === "warning", `#warning came as ${found.severity}`);
  mustLie("the warning", found, { path: "conformance/warned.metal", line: at });
  return `${found.path}:${found.line}: ${found.message}`;
}

function mustLie(what: string, found: Diagnostic, at: { path: string; line: number; column?: number }): void {
  const wanted = `${at.path}:${at.line}${at.column === undefined ? "" : `:${at.column}`}`;
  const actual = `${found.path}:${found.line}${at.column === undefined ? "" : `:${found.column}`}`;
  must(actual === wanted, `${what} is reported at ${actual}; it lies at ${wanted}`);
}

/** The first error of a source that must not build; errors of types and names may come from the pipeline. */
async function buildError(
  device: Device,
  source: MetalSource,
  name: string,
  options: CompileOptions = {},
): Promise<{ readonly error: DeviceError; readonly first: Diagnostic }> {
  try {
    await build(device, { ...source, name }, {}, options);
  } catch (error) {
    const failed = mustBe("a source with an error", error, "compile_failed");
    const first = failed.diagnostics.find((one) => one.severity === "error");
    must(first !== undefined, `the error "${failed.message}" has no diagnostic of severity error`);
    return { error: failed, first };
  }
  throw new ConformanceFailure("a source with an error was built");
}

/** Leading blank, a tab-free line: clang and Apple's compiler both count columns from 1. */
const WRONG_LINE = "  out[i] = undeclared_name + i;";

async function errorPosition(device: Device): Promise<string> {
  const text = `#include <metal_stdlib>
using namespace metal;

kernel void wrong(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
${WRONG_LINE}
}
`;
  const { error, first } = await buildError(device, { path: "conformance/wrong.metal", text }, "wrong");
  must(first.message.includes("undeclared_name"), `the error does not name what is wrong: "${first.message}"`);
  mustLie("the error", first, {
    path: "conformance/wrong.metal",
    line: 5,
    column: WRONG_LINE.indexOf("undeclared") + 1,
  });
  mustSay("a refused source", error.message, ["conformance/wrong.metal"]);
  return `${first.path}:${first.line}:${first.column}: ${first.message}`;
}

async function errorInInclude(device: Device): Promise<string> {
  const header = "conformance/broken_helper.h";
  const text = `#include <metal_stdlib>
using namespace metal;
#include "broken_helper.h"

kernel void fine(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = broken(i);
}
`;
  const lines = [
    "inline uint helps(uint i) { return i; }",
    "",
    "inline uint broken(uint i) {",
    "  return i + missing_name;",
    "}",
    "",
  ];
  const includes = [{ path: header, text: lines.join("\n") }];
  const { first } = await buildError(device, { path: "conformance/fine.metal", text }, "fine", { includes });
  mustLie("the error in the include", first, { path: header, line: 4, column: 14 });
  return `${first.path}:${first.line}:${first.column}: ${first.message}`;
}

async function syntaxError(device: Device): Promise<string> {
  const text = `#include <metal_stdlib>
using namespace metal;

kernel void open(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i] = i + 1
}
`;
  const { first } = await buildError(device, { path: "conformance/open.metal", text }, "open");
  mustLie("the error", first, { path: "conformance/open.metal", line: 5 });
  return `${first.path}:${first.line}:${first.column}: ${first.message}`;
}

async function missingInclude(device: Device): Promise<string> {
  const text = `#include <metal_stdlib>\n#include "not_there.h"\n\n${kernels.COUNT.text}`;
  const { first } = await buildError(device, { path: "conformance/includes.metal", text }, kernels.COUNT.name);
  must(first.message.includes("not_there.h"), `the error does not name the file: "${first.message}"`);
  mustLie("the error", first, { path: "conformance/includes.metal", line: 2 });
  return `${first.path}:${first.line}: ${first.message}`;
}

async function languageVersion(device: Device): Promise<string> {
  const { path, text, name } = kernels.COUNT;
  const library = await device.compile({ path, text }, { languageVersion: "3.0" });
  must(library.functions[0]?.name === name, "MSL 3.0 was asked for, and the library has no kernel");
  const error = await rejection(
    "MSL 9.0",
    device.compile({ path, text }, { languageVersion: "9.0" }),
    "compile_failed",
  );
  mustSay("an unknown language version", error.message, ["9.0"]);
  return `3.0 is taken; ${error.message}`;
}

async function macros(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const options = { defines: { WIDTH: 3, EXPRESSION: "(2 + 5)" } };
    const pipeline = await bench.pipeline(kernels.MACROS, {}, options);
    const out = bench.output(32);
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }])]);
    mustEqual(
      "WIDTH * i + EXPRESSION",
      wordsOf(out),
      range(32).map((i) => 3 * i + 7),
    );
    return "a number and an expression reach the kernel";
  });
}

async function includes(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.INCLUDING, {}, { includes: [kernels.HELPER] });
    const out = bench.output(32);
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }])]);
    mustEqual(
      "helper(i)",
      wordsOf(out),
      range(32).map((i) => 5 * i + 1),
    );
    return `${kernels.HELPER.path} was inlined`;
  });
}

/** What `kernels.SPECIAL` must give for NaN, infinity, minus infinity, the largest number and 1. */
const SPECIAL_VALUES = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3.4028234663852886e38, 1];
const SPECIAL_RESULTS = [
  [1, 0, 1, 0],
  [0, 1, 1, 1],
  [0, 1, 1, 1],
  [0, 0, 0, 1],
  [0, 0, 0, 1],
];

async function safeMath(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.SPECIAL, {}, { mathMode: "safe" });
    const values = Float32Array.from({ length: 32 }, (_, i) => SPECIAL_VALUES[i] ?? 1);
    const out = bench.output(128);
    await device.submit([
      dispatchOf(pipeline, [
        { index: 0, buffer: out },
        { index: 1, buffer: bench.input(values) },
      ]),
    ]);
    const expected = range(32).flatMap((i) => SPECIAL_RESULTS[i] ?? [0, 0, 0, 1]);
    mustEqual("isnan(x), isinf(x), isnan(x - x), x == x", floatsOf(out), expected);
    return "isnan and isinf see them, inf - inf is NaN, NaN is not equal to itself";
  });
}

async function reflection(device: Device): Promise<string> {
  const pipeline = await build(device, kernels.ARGUMENTS);
  const wanted: readonly (Omit<KernelArgument, "type"> & { readonly addressSpace: string })[] = [
    { name: "out", kind: "buffer", index: 0, addressSpace: "device", readOnly: false },
    { name: "in", kind: "buffer", index: 3, addressSpace: "device", readOnly: true },
    { name: "params", kind: "buffer", index: 5, addressSpace: "constant", readOnly: true },
    { name: "shared", kind: "threadgroup", index: 1, addressSpace: "threadgroup", readOnly: false },
  ];
  // Metal does not tell them; the emulated device reads them in the source.
  const isTold = device.profile.execution === "emulated";
  const actual = argumentsOf(pipeline);
  for (const one of wanted) {
    const found = actual.find((argument) => argument.kind === one.kind && argument.index === one.index);
    must(found !== undefined, `there is no ${one.kind} argument at index ${one.index}; it must be '${one.name}'`);
    const { name, addressSpace, type } = found;
    must(name === one.name, `the ${one.kind} at index ${one.index} is called '${name}'; it must be '${one.name}'`);
    must(
      addressSpace === one.addressSpace || (addressSpace === undefined && !isTold),
      `'${name}' lies in ${addressSpace}; it must lie in ${one.addressSpace}`,
    );
    must(type !== "" && (type !== undefined || !isTold), `'${name}' has no type`);
    // A reference into the constant address space cannot be written, whether it says const or not.
    const readOnly = found.readOnly || addressSpace === "constant";
    must(
      readOnly === one.readOnly || one.kind === "threadgroup",
      `'${name}' is ${readOnly ? "" : "not "}read-only; it must be the opposite`,
    );
  }
  must(actual.length === wanted.length, `${actual.length} arguments are reflected; the kernel has ${wanted.length}`);
  return actual.map((one) => `${one.name} ${one.kind} ${one.index}`).join(", ");
}

export const COMPILE_CHECKS: readonly ConformanceCheck[] = [
  {
    id: "compile.library",
    title: "a source becomes a library with its kernels and no warnings",
    needs: [],
    run: compiles,
  },
  {
    id: "compile.identity",
    title: "the id of a library is the digest of what went into it",
    needs: [],
    run: libraryIdentity,
  },
  { id: "compile.warning", title: "a warning comes with the library, at its line", needs: [], run: warning },
  { id: "compile.error", title: "an error has the author's path, line and column", needs: [], run: errorPosition },
  {
    id: "compile.error_include",
    title: "an error in an include has the include's path, line and column",
    needs: [],
    run: errorInInclude,
  },
  { id: "compile.syntax", title: "an error of syntax has its line", needs: [], run: syntaxError },
  {
    id: "compile.missing_include",
    title: "a file that is not there is an error at the line that includes it",
    needs: [],
    run: missingInclude,
  },
  {
    id: "compile.language",
    title: "a known language version is taken, an unknown one refused by name",
    needs: [],
    run: languageVersion,
  },
  { id: "compile.macros", title: "macros of the host reach the kernel", needs: [], run: macros },
  { id: "compile.includes", title: "files that the source includes by name are inlined", needs: [], run: includes },
  { id: "compile.safe_math", title: "math mode safe keeps NaN and infinity", needs: [], run: safeMath },
  {
    id: "compile.arguments",
    title: "arguments are reflected with name, kind, index, address space and access",
    needs: [],
    run: reflection,
  },
];
