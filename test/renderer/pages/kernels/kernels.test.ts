import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { listKernels } from "../../../../electron/workbench/kernels.ts";
import { OPERATORS, routesFor } from "../../../../kernels/routes.ts";
import { presetOf } from "../../../../renderer/pages/dispatch/shape_form.ts";
import { bindings, dynamicBytes, planFor, sizeText3 } from "../../../../renderer/pages/kernels/plan.ts";
import { findingsOn, kernelLines, sourceLines } from "../../../../renderer/pages/kernels/source_text.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../kernels");
const read = (file: string): string => fs.readFileSync(path.join(ROOT, file), "utf8");
const FILES = listKernels(ROOT).files;

describe("a source", () => {
  it("keeps every character of every line", () => {
    for (const file of FILES) {
      const text = read(file);
      const joined = sourceLines(text).map((pieces) => pieces.map((piece) => piece.text).join(""));
      expect(joined, file).toEqual(text.replace(/\n$/, "").split("\n"));
    }
  });

  it("shows comments over several lines in each of them", () => {
    const lines = sourceLines("int a; /* one\ntwo */ float b = 2.0f;\n");
    expect(lines).toEqual([
      [
        { tone: "keyword", text: "int" },
        { tone: "plain", text: " a; " },
        { tone: "comment", text: "/* one" },
      ],
      [
        { tone: "comment", text: "two */" },
        { tone: "plain", text: " " },
        { tone: "keyword", text: "float" },
        { tone: "plain", text: " b = " },
        { tone: "number", text: "2.0f" },
        { tone: "plain", text: ";" },
      ],
    ]);
  });

  it("has its kernels at the lines where they stand", () => {
    for (const file of FILES) {
      const lines = read(file).split("\n");
      for (const { name, line } of kernelLines(read(file))) expect(lines[line - 1]).toContain(`kernel void ${name}(`);
    }
    expect(kernelLines(read("gqa_decode/stages.h")).map(({ name }) => name)).toEqual([
      "gqa_score",
      "gqa_normalise",
      "gqa_reduce",
    ]);
  });

  it("of a built route holds to the lint, and a name that is none of the language is found on its line", () => {
    const { plan } = planFor(presetOf("gqa_decode").shape, "three_stage");
    const files = [plan!.source, ...plan!.includes].map((file) => ({ path: file, text: read(file) }));
    for (const { path: file } of files) expect(findingsOn(file, files)).toEqual([]);
    const broken = files.map((file) =>
      file.path === plan!.source ? { ...file, text: `${file.text}\nfloat x = warp_sum(1.0f);\n` } : file,
    );
    const found = findingsOn(plan!.source, broken);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ line: read(plan!.source).split("\n").length + 1, column: 11 });
    expect(findingsOn(plan!.includes[0]!, broken)).toEqual([]);
  });
});

describe("the table of a route", () => {
  it("is there for every built route, and names files and buffers that exist", () => {
    for (const operator of OPERATORS) {
      for (const { name, status } of routesFor(operator)) {
        const { plan, refusal } = planFor(presetOf(operator).shape, name);
        if (status === "planned") {
          expect(refusal).toBe("matrix_16x16 has no kernel yet: use simdgroup_8x8");
          continue;
        }
        expect(FILES).toEqual(expect.arrayContaining([plan!.source, ...plan!.includes]));
        const kernels = [plan!.source, ...plan!.includes].flatMap((file) => kernelLines(read(file)));
        for (const { kernel } of plan!.dispatches) expect(kernels.map((entry) => entry.name)).toContain(kernel);
      }
    }
  });

  it("says why there is none for a shape", () => {
    const shape = { ...presetOf("gqa_decode").shape, dim: 500 } as ReturnType<typeof presetOf>["shape"];
    expect(planFor(shape, "three_stage").refusal).toContain("three_stage needs a multiple of 32, 32 to 512");
    expect(planFor(shape, "simdgroup_8x8").refusal).toBe("gqa_decode has no route simdgroup_8x8");
  });

  it("is written with what is bound where", () => {
    const { plan } = planFor(presetOf("gqa_decode").shape, "fused_split_kv_p32");
    const [partial] = plan!.dispatches;
    expect(sizeText3(partial!.threadgroups)).toBe("4 × 32 × 1");
    expect(dynamicBytes(partial!.threadgroupMemory)).toBe(16_384);
    expect(bindings(partial!.buffers, partial!.params).slice(-2)).toEqual(["5 numerators", "6 params, 20 B"]);
    expect(plan!.scratchBytes).toBe(2_105_344);
  });
});
