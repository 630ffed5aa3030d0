import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type LintOptions, type LintSource, lint } from "../../kernels/lint.ts";
import { MSL_SURFACE } from "../../kernels/msl_surface.ts";
import type { CaseShape, Operator } from "../../kernels/route.ts";
import { OPERATORS, routesFor } from "../../kernels/routes.ts";
import { MSL_TYPE } from "../../kernels/sizes.ts";

const FOLDER = new URL("../../kernels/", import.meta.url);

function read(path: string): LintSource {
  return { path, text: readFileSync(new URL(path, FOLDER), "utf8") };
}

const SHAPES: Readonly<Record<Operator, CaseShape>> = {
  gqa_decode: {
    operator: "gqa_decode",
    heads: 8,
    kvHeads: 1,
    dim: 512,
    live: 1,
    capacity: 1,
    scale: 1,
    dtype: "f32",
  },
  mla_prefill: {
    operator: "mla_prefill",
    heads: 1,
    nope: 16,
    rope: 16,
    value: 16,
    cuSeqlensQ: [0, 1],
    cuSeqlensK: [0, 1],
    qOffset: [0],
    scale: 1,
    dtype: "f32",
  },
};

/** Every compiled unit: a source with the files it includes. */
const UNITS = OPERATORS.flatMap((operator) =>
  routesFor(operator)
    .filter((route) => route.status === "built")
    .map((route) => route.plan(SHAPES[operator])),
).filter((plan, index, plans) => plans.findIndex((other) => other.source === plan.source) === index);

function messages(text: string, options: LintOptions = {}): string[] {
  return lint([{ path: "seeded.metal", text }], options).findings.map(
    ({ path, line, column, message }) => `${path}:${line}:${column}: ${message}`,
  );
}

describe("the kernels", () => {
  test.each(UNITS.map((plan) => [plan.source, plan] as const))("%s uses nothing outside the table", (_, plan) => {
    const { findings, uses } = lint([plan.source, ...plan.includes].map(read));
    expect(findings).toEqual([]);
    expect(uses.length).toBeGreaterThan(100);
  });

  test("every source and header belongs to a route", () => {
    const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((file) =>
      /\.(metal|h)$/.test(file),
    );
    const listed = UNITS.flatMap((plan) => [plan.source, ...plan.includes]);
    expect([...new Set(listed)].toSorted()).toEqual(files.toSorted());
  });

  test("the table has no entry that nothing uses", () => {
    const used = new Set(
      UNITS.flatMap((plan) => lint([plan.source, ...plan.includes].map(read)).uses.map((u) => u.entry)),
    );
    const asElement = new Set(Object.values(MSL_TYPE));
    const idle = MSL_SURFACE.filter((entry) => !used.has(entry) && !asElement.has(entry.name));
    expect(idle.map((entry) => `${entry.kind} ${entry.name}`)).toEqual([]);
  });
});

describe("a seeded source", () => {
  const valid = `#include <metal_stdlib>
using namespace metal;
kernel void f(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = exp(x[i]);
}
`;

  test("that is fine has no findings", () => {
    expect(messages(valid)).toEqual([]);
    expect(messages(valid.replace("exp(x[i])", "max(x[uint(x[i])], x[x[0]])"))).toEqual([]);
  });

  test.each([
    ["an unknown function", "exp(x[i])", "erf(x[i])", "seeded.metal:4:10: erf is neither declared"],
    ["an unknown type", "device float* x", "device double* x", "seeded.metal:3:22: double is neither declared"],
    ["an unknown attribute", "[[buffer(0)]]", "[[texture(0)]]", "seeded.metal:3:33: the attribute [[texture]]"],
    ["an unknown header", "<metal_stdlib>", "<metal_tensor>", "seeded.metal:1:11: the header metal_tensor"],
    ["an unknown directive", "#include <metal_stdlib>", "#pragma once", "seeded.metal:1:1: the directive pragma"],
    ["a keyword of C++ that MSL has not", "x[i] = exp(x[i]);", "goto done;", "seeded.metal:4:3: goto is neither"],
    ["an unknown enumerator", "exp(x[i])", "mem_flags::mem_texture", "seeded.metal:4:21: mem_flags::mem_texture"],
    ["an unknown member", "exp(x[i])", "x[i].count()", "seeded.metal:4:15: the member .count"],
    [
      "an overload that is not listed",
      "exp(x[i])",
      "exp(x[i], 2)",
      "seeded.metal:4:10: exp is called with 2 arguments",
    ],
    ["a qualified unknown name", "exp(x[i])", "metal::erf(x[i])", "seeded.metal:4:17: erf is neither declared"],
  ])("with %s is refused with file and line", (_, find, replace, message) => {
    expect(valid.split(find).length).toBe(2);
    expect(messages(valid.replace(find, replace)).join("\n")).toContain(message);
  });

  test("with a name newer than the stated version is refused", () => {
    const newer = valid.replace("device float* x", "device bfloat* x");
    expect(messages(newer)).toEqual([]);
    expect(messages(newer, { languageVersion: "3.0" })).toEqual([
      "seeded.metal:3:22: bfloat needs MSL 3.1; the kernels are compiled as 3.0",
    ]);
    expect(messages(valid.replace("exp(x[i])", "simd_sum(x[i])"), { languageVersion: "2.0" })).toEqual([
      "seeded.metal:4:10: simd_sum needs MSL 2.1; the kernels are compiled as 2.0",
    ]);
  });
});
