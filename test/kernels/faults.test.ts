import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findRoute } from "../../kernels/routes.ts";
import { applyFault, FAULTS } from "./faults.ts";

const read = (file: string): string => readFileSync(new URL(`../../kernels/${file}`, import.meta.url), "utf8");

test.each(FAULTS.map((fault) => [fault.name, fault] as const))("%s patches its source in one place", (_, fault) => {
  const text = read(fault.file);
  expect(applyFault(fault, text)).not.toBe(text);
  expect(findRoute(fault.operator, fault.route).status).toBe("built");
});

test("a pattern that occurs twice or never is an error", () => {
  const fault = FAULTS[0]!;
  expect(() => applyFault(fault, "")).toThrow("occurs 0 times");
  expect(() => applyFault(fault, fault.find + fault.find)).toThrow("occurs 2 times");
});

test("names are unique", () => {
  expect(new Set(FAULTS.map((fault) => fault.name)).size).toBe(FAULTS.length);
});
