/** Questions about real runs on the emulated device: inputs made again, the native oracle, kernels with and without faults. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Inspector } from "../../../electron/analysis/inspector.ts";
import {
  type AnswerOf,
  type InspectError,
  type InspectWhat,
  inspectAnswerSchema,
  inspectRequestSchema,
} from "../../../electron/analysis/messages.ts";
import { casesFromFile } from "../../../electron/cases/file.ts";
import { suiteCases } from "../../../electron/cases/suites.ts";
import { hostFacts } from "../../../electron/host/facts.ts";
import type { RunEvent } from "../../../electron/runs/events.ts";
import { planImported, runImported } from "../../../electron/runs/imported.ts";
import { recordSchema } from "../../../electron/runs/record.ts";
import { gqaDecode, mlaPrefill } from "../../../oracle/attention.ts";
import { generateDecode } from "../../../oracle/generator.ts";
import { openSafetensors, readTensor } from "../../../oracle/safetensors.ts";
import { widenToF64 } from "../../../oracle/tensor.ts";
import { applyFault, FAULTS } from "../../kernels/faults.ts";
import { type Bench, openBench, planOf, runHere, scratchFolder, WHERE, withoutLockstep } from "../runs/harness.ts";
import { bundleOf } from "./bundles.ts";

const DECODE = "gqa_decode/h32kv4d512/L33/spread/f32";
const PREFILL = "mla_prefill/h4n128r64v128/T77/mla_prefill_t77_h4_x16/f16";
const FUSED = "fused_split_kv_p32";

let folder: string;
let bench: Bench;
let good: string;
let faulty: string;
let inspector: Inspector;

beforeAll(async () => {
  folder = scratchFolder();
  bench = await openBench();
  const plan = withoutLockstep(planOf([{ case: DECODE, route: "naive" }, { case: PREFILL }]));
  const both = withoutLockstep(planOf([{ case: DECODE, route: FUSED }]));
  const cases = plan.cases.map((entry) => ({
    ...entry,
    routes: [
      ...entry.routes,
      ...both.cases.filter((other) => other.case.key === entry.case.key).flatMap((o) => o.routes),
    ],
  }));
  good = bundleOf(folder, "good", await runHere(bench, { ...plan, cases }));
  const fault = FAULTS.find((entry) => entry.name === "fused_last_token_dropped")!;
  const patch = (file: string, text: string) => (file === fault.file ? applyFault(fault, text) : text);
  faulty = bundleOf(folder, "faulty", await runHere(bench, both, { patch }));
  inspector = new Inspector({ addon: () => bench.addon, golden: WHERE.golden });
});

afterAll(async () => {
  inspector?.release();
  await bench?.device.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

interface Subject {
  readonly bundle: string;
  readonly case: string;
  readonly route: string;
}

async function ask<Kind extends InspectWhat["kind"]>(
  subject: Subject,
  what: Extract<InspectWhat, { kind: Kind }>,
  inputs: string | null = null,
): Promise<AnswerOf<Kind>> {
  const answer = await inspector.inspect(inspectRequestSchema.parse({ ...subject, inputs, what }));
  expect(inspectAnswerSchema.safeParse(answer).error?.issues).toBeUndefined();
  return answer as AnswerOf<Kind>;
}

async function refusal(subject: Subject, what: InspectWhat = { kind: "summary" }, inputs: string | null = null) {
  const error = await inspector.inspect({ ...subject, inputs, what }).then(
    () => undefined,
    (thrown: InspectError) => thrown,
  );
  return { code: error?.code, message: error?.message, mend: error?.mend };
}

const decode = (): Subject => ({ bundle: good, case: DECODE, route: FUSED });
const prefill = (): Subject => ({ bundle: good, case: PREFILL, route: "simdgroup_8x8" });
const wrong = (): Subject => ({ bundle: faulty, case: DECODE, route: FUSED });

describe("a decode case", () => {
  it("is summed up as its record has it", async () => {
    const summary = await ask(decode(), { kind: "summary" });
    expect(summary).toMatchObject({
      dtype: "f32",
      extents: { tokens: 1, heads: 32, width: 512 },
      positionAxis: "dim",
      notFinite: { nan: 0, infinite: 0 },
      unwritten: 0,
      sequences: [],
      oracle: { asRecorded: true },
    });
    const record = recordSchema.parse(JSON.parse(fs.readFileSync(path.join(good, "data/record.json"), "utf8")));
    const result = record.results.find((entry) => entry.case === DECODE && entry.route === FUSED)!;
    expect(result.verdict).toBe("pass");
    expect(summary.whole.maxAbs).toBe(result.metrics!.maxAbs);
    expect(summary.whole.nmse).toBeCloseTo(result.metrics!.nmse, 20);
    expect(summary.heads).toHaveLength(32);
    const { above, below, identical } = summary.ulp;
    expect([...above, ...below].reduce((a, b) => a + b) + identical).toBe(32 * 512);
  });

  it("shows the worst element with its operands, which make the oracle's value", async () => {
    const worst = await ask(decode(), { kind: "worst", measure: "abs", count: 5 });
    const index = worst.index[0]!;
    const element = await ask(decode(), { kind: "element", index, measure: "abs", key: null, top: 4 });
    expect(element.rank).toEqual({ rank: 1, of: 32 * 512, previous: null, next: worst.index[1] });
    expect(element.words).toBe(worst.words[0]);
    expect(element.abs).toBe(worst.abs[0]);

    const shape = { heads: 32, kvHeads: 4, dim: 512, live: 33, scale: 1 };
    const inputs = generateDecode({ seed: 0x5eed0001, variant: "spread", ...shape });
    const oracle = gqaDecode({ ...inputs, ...shape });
    const { head, dim } = element.address;
    const kvHead = Math.floor(head / 8);
    expect(element.kvHead).toBe(kvHead);
    expect(element.rebuilt.f64).toBe(oracle.out[index]);
    expect(element.sum.f64).toBe(oracle.s[head]);
    expect(element.max.f64).toBe(oracle.m[head]);
    expect(element.oracle).toBeCloseTo(oracle.out[index]!, 13);
    expect(element.row.m).toBeCloseTo(oracle.m[head]!, 12);
    expect(element.row.outputLse).toBeCloseTo(oracle.lse[head]!, 4);
    expect(element.query).toEqual([{ name: "q", values: inputs.q.slice(head * 512, (head + 1) * 512) }]);
    expect(element.values[32]).toBe(inputs.v[(32 * 4 + kvHead) * 512 + dim]);
    const heaviest = element.top[0]!;
    expect(element.key!.term).toEqual(heaviest);
    const from = (heaviest.key * 4 + kvHead) * 512;
    expect(element.key!.parts).toEqual([{ name: "k", values: inputs.k.slice(from, from + 512) }]);
    expect(element.trace.partitions.begin).toHaveLength(32);
    expect(element.trace.merged.out.f64).toBeCloseTo(element.oracle, 13);
    expect(element.edges.map((set) => set.kind)).toEqual(["partition"]);
    expect(element).toMatchObject({
      keys: 33,
      firstKey: 0,
      sequence: null,
      owner: null,
      window: { begin: 0, end: 33 },
    });
    expect(Number.parseInt(element.bits, 16)).toBe(new Uint32Array(Float32Array.of(element.output).buffer)[0]);
    const seventh = await ask(decode(), { kind: "element", index, measure: "abs", key: 7, top: 0 });
    expect(seventh.key!.term.key).toBe(7);
  });

  it("is drawn along its dimensions and heads", async () => {
    const profile = await ask(decode(), { kind: "profile", axis: "head", measure: "ulp", fixed: {} });
    expect(profile).toMatchObject({ axis: "head", length: 32, edges: [{ kind: "group" }] });
    const map = await ask(decode(), {
      kind: "heat_map",
      measure: "abs",
      rowAxis: "head",
      columnAxis: "dim",
      fixed: {},
      rows: 32,
      columns: 100,
    });
    expect(map).toMatchObject({ rows: 32, columns: 100, sourceRows: 32, sourceColumns: 512 });
    const summary = await ask(decode(), { kind: "summary" });
    expect(Math.max(...map.values)).toBe(Math.fround(summary.whole.maxAbs));
    expect(map.range.high).toBe(summary.whole.maxAbs);
  });

  it("has no lanes, and says why", async () => {
    expect(await ask(decode(), { kind: "lanes", measure: "abs" })).toEqual({
      kind: "lanes",
      lanes: null,
      reason: `${FUSED} holds its output in no simdgroup matrices`,
    });
  });
});

describe("a prefill case in f16 from a file", () => {
  it("is drawn along its tokens, with blocks and sequences", async () => {
    const summary = await ask(prefill(), { kind: "summary" });
    expect(summary).toMatchObject({
      dtype: "f16",
      positionAxis: "token",
      extents: { tokens: 77, heads: 4, width: 128 },
    });
    expect(summary.sequences).toMatchObject([{ label: "sequence 0", queries: 77, keys: 77 }]);
    const profile = await ask(prefill(), { kind: "profile", axis: "token", measure: "abs", fixed: { head: 2 } });
    expect(profile.max).toHaveLength(77);
    expect(profile.edges.map((set) => [set.kind, set.edges.length])).toEqual([
      ["tile", 9],
      ["block", 2],
    ]);
    expect(Math.max(...profile.max)).toBe(summary.heads[2]!.maxAbs);
  });

  it("shows operands that make the oracle's value, and the owner", async () => {
    const file = openSafetensors(path.join(WHERE.golden, "mla_prefill_t77_h4_x16.safetensors"));
    const tensor = (name: string) => widenToF64(readTensor(file, name));
    const record = recordSchema.parse(JSON.parse(fs.readFileSync(path.join(good, "data/record.json"), "utf8")));
    const { shape } = record.cases.find((entry) => entry.key === PREFILL)!;
    if (shape.operator !== "mla_prefill") throw new Error("not a prefill");
    const oracle = mlaPrefill({
      ...shape,
      qNope: tensor("q_nope"),
      qRope: tensor("q_rope"),
      kNope: tensor("k_nope"),
      kRope: tensor("k_rope"),
      v: tensor("v"),
    });
    for (const [token, head, dim] of [
      [0, 0, 0],
      [33, 3, 127],
      [76, 1, 64],
    ] as const) {
      const index = (token * 4 + head) * 128 + dim;
      const element = await ask(prefill(), { kind: "element", index, measure: "ulp", key: 0, top: 1 });
      expect(element.address).toEqual({ token, head, dim });
      expect(element.rebuilt.f64).toBe(oracle.out[index]);
      expect(element.absolute).toBe(oracle.absolute[index]);
      expect(element.keys).toBe(token + 1);
      expect(element.query.map((part) => [part.name, part.values.length])).toEqual([
        ["q_nope", 128],
        ["q_rope", 64],
      ]);
      expect(element.key!.parts.map((part) => part.name)).toEqual(["k_nope", "k_rope"]);
      expect(element.owner).toMatchObject({ map: "8x8", simdgroup: Math.floor((token % 32) / 8) });
      expect(element.trace.begin).toHaveLength(Math.ceil((token + 1) / 32));
      expect(element.bits).toMatch(/^0x[0-9a-f]{4}$/);
    }
  });

  it("has errors by lane", async () => {
    const { lanes } = await ask(prefill(), { kind: "lanes", measure: "abs" });
    const summary = await ask(prefill(), { kind: "summary" });
    expect(lanes!.max).toHaveLength(64);
    expect(Math.max(...lanes!.max)).toBe(summary.whole.maxAbs);
  });

  it("is compared between routes", async () => {
    const compared = await ask(prefill(), { kind: "compare", other: { bundle: null, route: "naive" } });
    expect(compared.word).toBe("within_gates");
    expect(compared.differing).toBeGreaterThan(0);
    expect(compared.aCloser + compared.bCloser + compared.equallyClose).toBe(77 * 4 * 128);
    expect(compared.profile.max).toHaveLength(77);
    const self = await ask(prefill(), { kind: "compare", other: { bundle: good, route: "simdgroup_8x8" } });
    expect(self).toMatchObject({ word: "identical", differing: 0, maxUlp: 0 });
  });
});

describe("a kernel that drops the last token", () => {
  it("is wrong beside the sound one of another bundle, and its last key carries the error", async () => {
    const compared = await ask(wrong(), { kind: "compare", other: { bundle: good, route: FUSED } });
    expect(compared).toMatchObject({ word: "a_wrong", notFinite: 0 });
    expect(compared.bCloser).toBeGreaterThan(compared.aCloser);
    expect(compared.sentence).toContain(`${FUSED} failed`);

    const worst = await ask(wrong(), { kind: "worst", measure: "abs", count: 1 });
    const element = await ask(wrong(), { kind: "element", index: worst.index[0]!, measure: "abs", key: 32, top: 1 });
    const { weight, value } = element.key!.term;
    // Without key 32 the weights of the others grow by 1 / (1 - weight).
    const without = (element.rebuilt.f64 - weight * value) / (1 - weight);
    expect(element.output).toBeCloseTo(without, 5);
    expect(Math.abs(element.output - element.oracle)).toBeGreaterThan(1e-4);
  });
});

describe("imported outputs", () => {
  it("are looked at like any other, without edges that nobody knows", async () => {
    const outputs = path.join(WHERE.golden, "mla_prefill_ragged_h2_x16.safetensors");
    const items = planImported(outputs, casesFromFile(outputs), {});
    const events: RunEvent[] = [];
    const staging = scratchFolder();
    const outcome = await runImported({
      addon: bench.addon,
      items,
      outputs,
      producer: { engine: "e", chip: "c", os: "o", toolchain: "t", build: "b", command: "x" },
      suite: null,
      staging,
      host: hostFacts(),
      signal: new AbortController().signal,
      emit: (event) => events.push(event),
    });
    const bundle = bundleOf(folder, "imported", { staging, events, outcome });
    for (const { case: judged, route } of items) {
      const subject = { bundle, case: judged.key, route };
      const summary = await ask(subject, { kind: "summary" });
      expect(summary).toMatchObject({ dtype: judged.shape.dtype, unwritten: null, notFinite: { nan: 0 } });
      expect(summary.sequences.map((sequence) => sequence.queries)).toEqual([1, 7, 8, 9, 15, 16, 17, 33, 64, 100]);
      const profile = await ask(subject, { kind: "profile", axis: "token", measure: "abs", fixed: {} });
      expect(profile.edges.map((set) => set.kind)).toEqual(["sequence"]);
    }
    const first = { bundle, case: items[0]!.case.key, route: items[0]!.route };
    const element = await ask(first, { kind: "element", index: 69_119, measure: "abs", key: null, top: 3 });
    expect(element.sequence).toEqual({ sequence: 9, row: 99 });
    expect([element.firstKey, element.keys]).toEqual([170, 100]);
    expect(element.trace.words).toContain("not known");
  });
});

describe("refused", () => {
  /** A copy of a bundle, to spoil. */
  function copy(bundle: string): string {
    const target = path.join(fs.mkdtempSync(path.join(folder, "copy-")), path.basename(bundle));
    fs.cpSync(bundle, target, { recursive: true });
    return target;
  }

  function outputFile(bundle: string): string {
    const record = recordSchema.parse(JSON.parse(fs.readFileSync(path.join(bundle, "data/record.json"), "utf8")));
    const result = record.results.find((entry) => entry.case === DECODE && entry.route === FUSED)!;
    return path.join(bundle, result.outputs.find((output) => output.name === "out")!.path);
  }

  it("an output with one bit changed, even when its answers were kept", async () => {
    const bundle = copy(good);
    const subject = { ...decode(), bundle };
    await ask(subject, { kind: "summary" });
    const file = outputFile(bundle);
    const bytes = fs.readFileSync(file);
    bytes[100]! ^= 1;
    fs.writeFileSync(file, bytes);
    const refused = await refusal(subject);
    expect(refused).toMatchObject({ code: "changed", mend: "verify the bundle" });
    expect(refused.message).toMatch(/changed after the run: data\/parity\/.*out\.f32 has the digest/);
    // The other route of the case is as it was.
    await ask({ ...subject, route: "naive" }, { kind: "summary" });
    expect(
      (await refusal({ ...subject, route: "naive" }, { kind: "compare", other: { bundle: null, route: FUSED } })).code,
    ).toBe("changed");
  });

  it("a record other than the manifest's, and an output that is a link", async () => {
    const bundle = copy(good);
    const record = path.join(bundle, "data/record.json");
    fs.writeFileSync(record, fs.readFileSync(record, "utf8").replace('"passed"', '"failed"'));
    expect(await refusal({ ...decode(), bundle })).toMatchObject({ code: "changed" });
    const linked = copy(good);
    const file = outputFile(linked);
    fs.renameSync(file, path.join(folder, "elsewhere"));
    fs.symlinkSync(path.join(folder, "elsewhere"), file);
    expect((await refusal({ ...decode(), bundle: linked })).message).toContain("is a link that leads elsewhere");
  });

  it("inputs that are not there, or not those of the run", async () => {
    const absent = await refusal(prefill(), { kind: "summary" }, path.join(folder, "absent.safetensors"));
    expect(absent).toMatchObject({ code: "input", mend: "name the file that holds them" });
    // Another file of the same layout: the digests of its tensors tell.
    const other = path.join(WHERE.golden, "mla_prefill_t77_h4_f32.safetensors");
    await ask(decode(), { kind: "summary" });
    const swapped = await refusal(prefill(), { kind: "summary" }, other);
    expect(swapped).toMatchObject({ code: "input", message: expect.stringContaining("would become") });
    const stress = path.join(WHERE.golden, "softmax_stress.safetensors");
    const missing = await refusal(prefill(), { kind: "summary" }, stress);
    expect(missing.message).toContain('has no tensor "q_nope"');
    expect(await refusal(prefill(), { kind: "summary" }, path.join(good, "bagit.txt"))).toMatchObject({
      code: "input",
    });
    await ask(prefill(), { kind: "summary" });
  });

  it("what the bundle does not have", async () => {
    expect((await refusal({ ...decode(), case: "gqa_decode/none" })).message).toContain('no case "gqa_decode/none"');
    const route = await refusal({ ...decode(), route: "three_stage" });
    expect(route).toMatchObject({ code: "usage" });
    expect(route.message).toContain(`there are naive, ${FUSED}`);
    expect(await refusal({ ...decode(), bundle: path.join(folder, "gone.lockstep") })).toMatchObject({ code: "io" });
    const outside = await refusal(decode(), { kind: "element", index: 32 * 512, measure: "abs", key: null, top: 0 });
    expect(outside).toMatchObject({ code: "usage", message: "index is 16384; it must be 0 to 16383" });
    const key = await refusal(decode(), { kind: "element", index: 0, measure: "abs", key: 33, top: 0 });
    expect(key.message).toBe("key is 33; the row sees 33 keys");
    const other = await refusal(decode(), { kind: "compare", other: { bundle: null, route: "nothing" } });
    expect(other.code).toBe("usage");
  });

  it("a heat map of more cells than an answer carries", () => {
    const what = { kind: "heat_map", measure: "abs", rowAxis: "head", columnAxis: "dim", fixed: {}, rows: 1024 };
    const request = { ...decode(), inputs: null };
    expect(inspectRequestSchema.safeParse({ ...request, what: { ...what, columns: 512 } }).success).toBe(true);
    const refused = inspectRequestSchema.safeParse({ ...request, what: { ...what, columns: 513 } });
    expect(refused.error?.issues[0]?.message).toContain("524,288 cells at most");
  });
});

describe("every quick case", () => {
  it("has inputs that can be made again without its run", () => {
    // What `caseOf` rests on: key, shape and source of a case say everything about its inputs.
    for (const entry of suiteCases("quick", { golden: WHERE.golden })) {
      expect(entry.source.kind === "generator" || fs.existsSync(path.join(WHERE.golden, entry.source.file))).toBe(true);
    }
  });
});
