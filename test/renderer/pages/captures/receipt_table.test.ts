import { describe, expect, it } from "vitest";
import { checkContract, type PipelineFacts } from "../../../../kernels/contract.ts";
import { contractFor } from "../../../../kernels/contracts.ts";
import type { DecodeShape } from "../../../../kernels/route.ts";
import { findRoute } from "../../../../kernels/routes.ts";
import {
  bracketFrom,
  byText,
  compileRows,
  contractText,
  moreLines,
  receiptLines,
  receiptRows,
  registersRow,
} from "../../../../renderer/pages/captures/receipt_table.ts";
import { factsOf } from "../../../../renderer/pages/captures/use_capture.ts";

const SHAPE: DecodeShape = {
  operator: "gqa_decode",
  heads: 32,
  kvHeads: 4,
  dim: 512,
  live: 1023,
  capacity: 1023,
  scale: 1,
  dtype: "f32",
};

function facts(name: string, staticBytes: number): PipelineFacts {
  const by = (value: number, how: string) => ({ value, by: how, source: "a test" });
  return {
    function: name,
    simdWidth: by(32, "table"),
    maxTotalThreadsPerThreadgroup: by(1024, "assumed"),
    staticThreadgroupMemoryBytes: by(staticBytes, "probe"),
  };
}

function checkOf(receipts: readonly PipelineFacts[]) {
  const route = "fused_split_kv_p32";
  return checkContract(contractFor(SHAPE, route)!, findRoute("gqa_decode", route).plan(SHAPE), receipts);
}

const CHECK = checkOf([facts("gqa_fused_partial", 0), facts("gqa_fused_merge", 1056)]);

describe("rows", () => {
  it("stand in the order of the requirements, with both sides and how each is known", () => {
    const rows = receiptRows(CHECK);
    const cells = (id: string) => rows.find((row) => row.id === id)!;
    expect(cells("dynamic_bytes")).toMatchObject({ contract: "= 16,384; 0", by: "plan" });
    expect(cells("dynamic_bytes").cells.map(({ text, held }) => [text, held])).toEqual([
      ["16,384", true],
      ["0", true],
    ]);
    expect(cells("launchable_threads")).toMatchObject({ contract: "≥ 256", by: "assumed" });
    expect(cells("threadgroup_bytes").by).toBe("probe, plan");
    expect(cells("scratch_bytes")).toMatchObject({ contract: "= 2,105,344", cells: [{ text: "2,105,344" }] });
  });

  it("show what breaks and what nobody can tell", () => {
    const rows = receiptRows(checkOf([facts("gqa_fused_partial", 20_000)]));
    const row = rows.find(({ id }) => id === "threadgroup_bytes")!;
    expect(row.cells.map(({ text, held }) => [text, held])).toEqual([
      ["36,384", false],
      ["not known", null],
    ]);
    expect(row.cells[0]!.title).toContain("36,384, required ≤ 32,768");
  });

  it("write the relation once, and each where they differ", () => {
    const [first] = CHECK.dispatches[0]!.requirements;
    expect(contractText([])).toBe("none");
    expect(contractText([first!, { ...first!, relation: "≤", required: 8 }])).toBe("= 32; ≤ 8");
    expect(byText("api")).toBe("API");
  });

  it("have registers only where a bracket is known", () => {
    const told = { low: 57, high: 64, source: "832 threads", by: "inferred" } as const;
    const row = registersRow([told, undefined]);
    expect(row.cells.map(({ text }) => text)).toEqual(["57 to 64", "not known"]);
    expect(row.by).toBe("inferred");
    expect(registersRow([{ ...told, low: 1, high: 52 }]).cells[0]!.text).toBe("up to 52");
    expect(registersRow([undefined]).by).toBe("not known");
  });

  it("take the receipt's own bracket before what the threads tell, with how it is known", () => {
    const own = { registers: { value: { least: 33, most: 40 }, by: "table" as const, source: "896 threads" } };
    const told = { low: 57, high: 64, source: "832 threads" };
    expect(bracketFrom(own, told)).toEqual({ low: 33, high: 40, by: "table", source: "896 threads" });
    expect(bracketFrom({}, told)).toEqual({ ...told, by: "inferred" });
    expect(bracketFrom(undefined, undefined)).toBeUndefined();
  });

  it("say with what a pipeline was compiled, where a receipt says it", () => {
    const stated = { language: { value: "MSL 3.1", by: "api", source: "MTLCompileOptions" } } as const;
    expect(compileRows([undefined, {}])).toEqual([]);
    const [row, ...more] = compileRows([stated, undefined]);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ id: "language", by: "API" });
    expect(row!.cells.map(({ text }) => text)).toEqual(["MSL 3.1", "not known"]);
    expect(moreLines([row!], [{ stage: "partial", kernel: "k" }])[0]).toEqual([
      "partial",
      "k",
      "language",
      "none",
      "none",
      "MSL 3.1",
      "not asked",
      "API",
      "API: MTLCompileOptions",
    ]);
  });
});

describe("files and receipts", () => {
  it("list every requirement of every dispatch", () => {
    const lines = receiptLines(CHECK);
    expect(lines).toHaveLength(14);
    expect(lines[0]).toEqual(["partial", "gqa_fused_partial", "simd_width", "=", 32, 32, "held", "table", "a test"]);
  });

  it("take no receipt of another flavour or of other definitions", () => {
    const receipt = {
      schema: "lockstep.receipt/1" as const,
      source: "gqa_decode/fused_split_kv.metal",
      defines: { HEADS_PER_KV: 8, HEAD_DIM: 512 },
      flavour: "fast" as const,
      function: "gqa_fused_partial",
      digest: "",
      simdWidth: { value: 32, by: "table" as const, source: "" },
      maxTotalThreadsPerThreadgroup: { value: 1024, by: "assumed" as const, source: "" },
      staticThreadgroupMemoryBytes: { value: 0, by: "probe" as const, source: "" },
    };
    const wanted = { HEAD_DIM: 512, HEADS_PER_KV: 8 };
    expect(factsOf([receipt], wanted)).toHaveLength(1);
    expect(factsOf([{ ...receipt, flavour: "lockstep" }], wanted)).toEqual([]);
    expect(factsOf([{ ...receipt, flavour: "lockstep" }], wanted, "lockstep")).toHaveLength(1);
    expect(factsOf([receipt], { ...wanted, HEAD_DIM: 256 })).toEqual([]);
  });
});
