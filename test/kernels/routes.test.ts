import { expect, test } from "vitest";
import { findRoute, OPERATORS, routesFor } from "../../kernels/routes.ts";

test("names are unique within an operator", () => {
  for (const operator of OPERATORS) {
    const names = routesFor(operator).map((route) => route.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(findRoute(operator, name).operator).toBe(operator);
  }
});

test("an unknown route and a shape of another operator are errors", () => {
  expect(() => findRoute("mla_prefill", "three_stage")).toThrow(
    'mla_prefill has no route "three_stage": use one of matrix_16x16, simdgroup_8x8, naive',
  );
  const shape = {
    operator: "gqa_decode",
    heads: 1,
    kvHeads: 1,
    dim: 32,
    live: 1,
    capacity: 1,
    scale: 1,
    dtype: "f32",
  } as const;
  expect(() => findRoute("mla_prefill", "naive").plan(shape)).toThrow("naive is a route of mla_prefill");
});
