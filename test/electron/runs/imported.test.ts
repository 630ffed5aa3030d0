/** Outputs made elsewhere: H200 results are judged; wrong names, dtypes, shapes and producers are refused. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesFromFile } from "../../../electron/cases/file.ts";
import { suiteCases } from "../../../electron/cases/suites.ts";
import { hostFacts } from "../../../electron/host/facts.ts";
import type { RunEvent } from "../../../electron/runs/events.ts";
import { type ImportedItem, planImported, readProducer, runImported } from "../../../electron/runs/imported.ts";
import type { Producer } from "../../../electron/runs/record.ts";
import { loadAddon } from "../../../native/addon.ts";
import { readSafetensors, writeSafetensors } from "../../../oracle/safetensors.ts";
import { narrow, type Tensor } from "../../../oracle/tensor.ts";
import { scratchFolder, WHERE } from "./harness.ts";

const PRODUCER: Producer = { engine: "e", chip: "c", os: "o", toolchain: "t", build: "b", command: "x" };
const H200 = path.join(WHERE.golden, "gqa_decode_d512_long_h200.safetensors");
const FULL = suiteCases("full", { golden: WHERE.golden });

let folder: string;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

async function judged(outputs: string, items: readonly ImportedItem[]) {
  const events: RunEvent[] = [];
  const outcome = await runImported({
    addon: loadAddon(WHERE.addon),
    items,
    outputs,
    producer: PRODUCER,
    suite: null,
    staging: fs.mkdtempSync(path.join(folder, "staging-")),
    host: hostFacts(),
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
  });
  return { outcome, results: events.flatMap((event) => (event.type === "result" ? [event.result] : [])) };
}

function write(name: string, tensors: Record<string, Tensor>): string {
  const file = path.join(folder, name);
  writeSafetensors(file, tensors);
  return file;
}

describe("judged", () => {
  it("f32, bf16 and f16 decode outputs of a GPU pass", async () => {
    const items = planImported(H200, FULL, { case: "L8192" });
    expect(items.map((item) => `${item.case.key} ${item.route}`)).toEqual([
      "gqa_decode/h32kv4d512/L8192/spread/f32 f32_sdpa_math",
      "gqa_decode/h32kv4d512/L8192/spread8/bf16 bf16_sdpa_math",
      "gqa_decode/h32kv4d512/L8192/spread8/f16 f16_sdpa_math",
    ]);
    const { outcome, results } = await judged(H200, items);
    expect(outcome).toBe("passed");
    expect(results[0]?.gates.map((gate) => gate.id)).toEqual([
      "finite",
      "max_abs",
      "nmse_case",
      "nmse_head",
      "nmse_row",
      "slope",
      "stored_reference",
      "oracle_agreement",
    ]);
  });

  it("a class's own eager attention passes in every dtype", async () => {
    const file = path.join(WHERE.golden, "mla_prefill_ragged_h2_x16.safetensors");
    const items = planImported(file, casesFromFile(file), {});
    const { outcome } = await judged(file, items);
    expect(items).toHaveLength(5);
    expect(outcome).toBe("passed");
  });

  it("one wrong element fails, and so does a wrong lse", async () => {
    const stored = readSafetensors(H200).tensors.get("L8192.spread.out_f32_sdpa_math")!;
    const data = Float32Array.from(stored.data);
    data[5000] = data[5000]! + 1e-4;
    const file = write("wrong.safetensors", {
      "L8192.spread.out": { ...stored, data } as Tensor,
      "L8192.spread.lse": narrow(new Float64Array(32), "f32", [32]),
    });
    const { outcome, results } = await judged(file, planImported(file, FULL, {}));
    expect(outcome).toBe("failed");
    const failed = results[0]?.gates.filter((gate) => gate.verdict === "fail").map((gate) => gate.id);
    expect(failed).toEqual(expect.arrayContaining(["max_abs", "lse"]));
  });
});

describe("names", () => {
  it("need no case where one is chosen, and do where several are left", () => {
    const file = write("bare.safetensors", { out: narrow(new Float64Array(32 * 512), "f32", [32, 512]) });
    const [item] = planImported(file, FULL, { case: "L8192.spread" });
    expect(item).toMatchObject({ route: "imported", case: { alias: "L8192.spread" } });
    expect(() => planImported(file, FULL, {})).toThrow("belongs to no case");
  });
});

describe("refused", () => {
  const out = narrow(new Float64Array(32 * 512), "f32", [32, 512]);

  it("outputs of no case, with the nearest", () => {
    const file = write("unknown.safetensors", { "L8192.spred.out": out });
    expect(() => planImported(file, FULL, {})).toThrow(/belongs to no case.*Nearest: L8192\.spread/);
    const none = write("none.safetensors", { weights: out });
    expect(() => planImported(none, FULL, {})).toThrow("holds no output to judge");
  });

  it("a wrong shape, and a dtype in which the inputs are not exact", () => {
    const shape = write("shape.safetensors", { "L33.spread.out": narrow(new Float64Array(512), "f32", [1, 512]) });
    expect(() => planImported(shape, FULL, {})).toThrow("has shape [1, 512]");
    const dtype = write("dtype.safetensors", {
      "L33.spread.out": narrow(new Float64Array(32 * 512), "bf16", [32, 512]),
    });
    expect(() => planImported(dtype, FULL, {})).toThrow("are exact in f32 only");
  });

  it("an lse of another shape or dtype, or of no output", () => {
    const lse = (rows: number, dtype: "f32" | "f64" = "f32") => narrow(new Float64Array(rows), dtype, [rows]);
    const plan = (tensors: Record<string, Tensor>) => () => planImported(write("lse.safetensors", tensors), FULL, {});
    expect(plan({ "L33.spread.out": out, "L33.spread.lse": lse(2) })).toThrow('lse": has shape [2] and');
    expect(plan({ "L33.spread.out": out, "L33.spread.lse": lse(32, "f64") })).toThrow('lse": is f64 and must be');
    expect(plan({ "L33.spread.out_a": out, "L33.spread.lse_b": lse(32) })).toThrow('add "L33.spread.out_b"');
  });

  it("two outputs under one label, and labels that name no folder", () => {
    const plan = (...names: readonly string[]) => {
      const tensors = Object.fromEntries(names.map((name) => [`L33.spread.${name}`, out]));
      return () => planImported(write("label.safetensors", tensors), FULL, {});
    };
    expect(plan("out_a", "out_b")()).toHaveLength(2);
    expect(plan("out_a", "out_A")).toThrow('as tensor "L33.spread.out_A" is: give each a label of its own');
    for (const label of ["a b", "-x", "ü", "x".repeat(65)]) expect(plan(`out_${label}`)).toThrow("has the label");
  });

  it("a selection that leaves nothing, with what the file holds", () => {
    const file = write("left.safetensors", { "L33.spread.out": out });
    expect(() => planImported(file, FULL, { case: "L34" })).toThrow(/no output is left by .*L33\/spread\/f32 imported/);
  });

  it("a producer that is no file, has control characters or says nothing", () => {
    const pipe = path.join(folder, "pipe.json");
    execFileSync("mkfifo", [pipe]);
    for (const file of [pipe, folder, "/dev/zero"]) expect(() => readProducer(file)).toThrow("is no regular file");
    const file = path.join(folder, "odd.json");
    for (const chip of [" ", "M5\u001b[31m", "M5\nM4", "x".repeat(5000)]) {
      fs.writeFileSync(file, JSON.stringify({ ...PRODUCER, chip }));
      expect(() => readProducer(file)).toThrow("chip: ");
    }
    fs.writeFileSync(file, JSON.stringify({ ...PRODUCER, chip: "x".repeat(70_000) }));
    expect(() => readProducer(file)).toThrow("the limit is 65536");
  });

  it("a producer that does not say everything, or says something twice", () => {
    const file = path.join(folder, "producer.json");
    const read = (text: string) => {
      fs.writeFileSync(file, text);
      return () => readProducer(file);
    };
    expect(read(JSON.stringify(PRODUCER))()).toEqual(PRODUCER);
    expect(read(JSON.stringify({ ...PRODUCER, chip: undefined }))).toThrow("chip: ");
    expect(read(JSON.stringify({ ...PRODUCER, chip: "" }))).toThrow("chip: ");
    expect(read(JSON.stringify({ ...PRODUCER, extra: 1 }))).toThrow("extra");
    expect(read('{"chip":"M1","chip":"M5"}')).toThrow('the key "chip" stands twice');
    expect(() => readProducer(path.join(folder, "absent.json"))).toThrow("cannot be read");
  });
});
