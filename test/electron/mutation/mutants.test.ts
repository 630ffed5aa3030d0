/** Which mutants there are: from the text alone, and planted ones that still fit the kernels. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { kernelFiles } from "../../../electron/host/root.ts";
import { allMutants, sample } from "../../../electron/mutation/campaign.ts";
import { MUTANT_CLASSES } from "../../../electron/mutation/mutant.ts";
import { PLANTED, plantedMutant } from "../../../electron/mutation/planted.ts";
import { siteMutants } from "../../../electron/mutation/sites.ts";
import { mutantTable, summaryLine } from "../../../electron/mutation/table.ts";
import { WHERE } from "../runs/harness.ts";

const read = (file: string): string => fs.readFileSync(path.join(WHERE.kernels, file), "utf8");
const FILES = kernelFiles(WHERE.kernels);

describe("mutants from the text", () => {
  const made = (text: string): readonly (readonly [string, number, string, string])[] =>
    siteMutants("gqa_decode", "f.metal", text).map(({ class: kind, line, was, now }) => [kind, line, was, now]);

  it("remove every barrier and drop every guard, but not those in comments", () => {
    const text = [
      "// threadgroup_barrier(mem_flags::mem_none); if (a) {",
      "kernel void k() {",
      "  if (i >= n) {",
      "    return;",
      "  }",
      "  if (f(i) && (j < 2)) { x = 1; }",
      "  threadgroup_barrier(mem_flags::mem_threadgroup);",
      "  y = i < n ? a[i] : 0.0f;",
      "  return s > 0.0f ? x / s : 0.0f;",
      "}",
    ].join("\n");
    expect(made(text)).toEqual([
      ["guard_dropped", 3, "i >= n", "false"],
      ["guard_dropped", 6, "f(i) && (j < 2)", "true"],
      ["barrier_removed", 7, "threadgroup_barrier(mem_flags::mem_threadgroup);", ";"],
      ["guard_dropped", 8, "i < n ? a[i] : 0.0f", "a[i]"],
      ["guard_dropped", 9, "s > 0.0f ? x / s : 0.0f", "x / s"],
    ]);
  });

  it("change one place and nothing else", () => {
    for (const file of FILES) {
      const text = read(file);
      for (const mutant of siteMutants(file.startsWith("gqa") ? "gqa_decode" : "mla_prefill", file, text)) {
        expect(mutant.text).not.toBe(text);
        expect(mutant.text.split("\n").length, mutant.id).toBeGreaterThan(text.split("\n").length - 3);
      }
    }
  });

  it("are one for each barrier of the kernels", () => {
    const barriers = FILES.flatMap((file) => [
      ...read(file)
        .replace(/\/\/[^\n]*/g, "")
        .matchAll(/_barrier\(/g),
    ]).length;
    const removed = allMutants(FILES, read).filter(({ class: kind }) => kind === "barrier_removed");
    expect(removed.length).toBe(barriers);
  });
});

describe("planted mutants", () => {
  it("fit the kernels, each exactly once, and every class has some", () => {
    for (const fault of PLANTED) expect(plantedMutant(fault, read(fault.file)).text).not.toBe(read(fault.file));
    const classes = new Set(allMutants(FILES, read).map(({ class: kind }) => kind));
    expect([...classes].sort()).toEqual([...MUTANT_CLASSES].sort());
  });

  it("refuse a pattern that has gone", () => {
    expect(() => plantedMutant(PLANTED[0]!, "another text")).toThrow("occurs 0 times");
  });

  it("have ids of their own", () => {
    const ids = allMutants(FILES, read).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

it("a sample is a seeded part in the same order", () => {
  const list = Array.from({ length: 1000 }, (_, i) => i);
  const part = sample(list, 10, 1);
  expect(part).toEqual(sample(list, 10, 1));
  expect(part).not.toEqual(sample(list, 10, 2));
  expect(part).toEqual([...part].sort((a, b) => a - b));
  expect(part.length).toBeGreaterThan(60);
  expect(part.length).toBeLessThan(150);
});

it("the summary and the table keep equivalent mutants apart", () => {
  const { text: _text, ...mutant } = plantedMutant(PLANTED[0]!, read(PLANTED[0]!.file));
  const results = [
    { mutant, fate: { state: "caught", by: "gate", what: "max_abs", where: "x" }, ms: 1 },
    { mutant, fate: { state: "equivalent", reason: "because" }, ms: 1 },
    { mutant, fate: { state: "survived" }, ms: 1 },
  ] as const;
  expect(summaryLine(results, 3)).toBe(
    "3 mutants: 1 caught (1 by gates, 0 by reports, 0 refused or stopped), 1 equivalent, 1 survived, in 3 s",
  );
  expect(mutantTable(results).split("Equivalent, not counted:")[1]).toContain("because");
});
