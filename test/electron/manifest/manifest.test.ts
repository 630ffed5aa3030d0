/** A manifest runs a kernel that is not the project's own: layouts, arguments, geometry, and the oracle's judgement. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { numberOf, type Sizes, sizeOf } from "../../../electron/manifest/expression.ts";
import { pagingOf, place } from "../../../electron/manifest/layout.ts";
import { problemOf } from "../../../electron/manifest/problem.ts";
import { type KernelResult, KernelRun } from "../../../electron/manifest/run.ts";
import { evaluateSizes } from "../../../electron/manifest/sizes.ts";
import { loadManifest, manifestOfTexts, parseManifest } from "../../../electron/manifest/sources.ts";
import { packStruct } from "../../../electron/manifest/struct.ts";
import { raw, stream } from "../../../oracle/generator.ts";
import { roundTo } from "../../../oracle/tensor.ts";
import { type Bench, openBench } from "../runs/harness.ts";

const FOLDER = path.join(import.meta.dirname, "golden");
const MANIFEST = path.join(FOLDER, "attention.kernel.json");

describe("expressions", () => {
  it("divide as arithmetic does and round where they say so", () => {
    const sizes = { N: 10, D: 64 };
    expect(numberOf("1 / sqrt(D)", sizes, "x")).toBe(0.125);
    expect(numberOf("ceil_div(N, 4) * round_up(N, 8)", sizes, "x")).toBe(48);
    expect(numberOf("N % 4 != 0 ? exp2(floor(log2(N))) : -inf", sizes, "x")).toBe(8);
    expect(numberOf("min(N, D) >= 10 && D >> 2 == 16", sizes, "x")).toBe(1);
  });

  it.each([
    ["N / 4", "it must be a whole number"],
    ["N - 11", "of at least 0"],
    ["M + 1", "it names M"],
    ["sin(N)", "it names sin()"],
    ["min(N)", "min() with 1 values"],
    ["N +", "it is no expression"],
    ["constructor", "it names constructor"],
    ["2 ** 3", "it is no expression"],
  ])("refuse %s as a size", (text, why) => {
    expect(() => sizeOf(text, { N: 10 }, "x")).toThrow(why);
  });

  it("sizes use those above them, and the command line sets them", () => {
    expect(evaluateSizes({ N: 4, M: "N * 2" }, { N: 5 })).toEqual({ N: 5, M: 10 });
    expect(() => evaluateSizes({ M: "N * 2", N: 4 })).toThrow("it names N");
    expect(() => evaluateSizes({ N: 4 }, { K: 5 })).toThrow('no size "K" to set; it states N');
  });
});

describe("layouts", () => {
  const tensor = [
    { name: "kvHead", size: 2 },
    { name: "key", size: 5 },
    { name: "dim", size: 4 },
  ] as const;
  const indices = (axes: readonly string[], extents?: Sizes, paging?: ReturnType<typeof pagingOf>): number[] => [
    ...place(tensor, { name: "k", axes, extents }, {}, paging).indices,
  ];

  it("order, pad and split axes", () => {
    expect(indices(["kvHead", "key", "dim"])).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(indices(["key", "kvHead", "dim"])[4]).toBe(8);
    expect(indices(["kvHead", "key", "dim"], { key: 7 })[20]).toBe(28);
    // [kvHead, dim/2, key, dim%2]: element (0, 1, 3) lies at dim/2 = 1, key 1, dim%2 = 1.
    expect(indices(["kvHead", "dim/2", "key", "dim%2"])[7]).toBe(10 + 2 + 1);
  });

  it("put keys into pages, each element at a place of its own", () => {
    const paging = pagingOf(5, 2, 3, 7);
    expect(paging.pages).toBe(6);
    // Fisher-Yates by the project's generator, stream 16.
    const order = [0, 1, 2, 3, 4, 5];
    for (const i of [5, 4, 3, 2, 1]) {
      const j = raw(stream(7, 16), i) % (i + 1);
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    expect(paging.table).toEqual(order.slice(0, 3));
    expect(new Set(paging.table).size).toBe(3);
    const placed = indices(["page", "slot", "kvHead", "dim"], {}, paging);
    expect(new Set(placed).size).toBe(40);
    expect(placed[4 * 4]).toBe((paging.table[2]! * 2 + 0) * 8);
  });

  it.each([
    [["kvHead", "dim"], {}, 'leaves out "key"'],
    [["kvHead", "key", "dim/2"], {}, 'leaves out "dim"'],
    [["kvHead", "key", "dim", "dim"], {}, "names an axis twice"],
    [["kvHead", "key", "dim", "query"], {}, "the tensor has the axes kvHead, key, dim"],
    [["kvHead", "page", "slot", "dim"], {}, 'the manifest has no "pages"'],
    [["kvHead", "key", "dim"], { key: 4 }, "its extent is 4; the case needs 5"],
    [["kvHead", "key", "dim"], { page: 4 }, "none of its axes"],
  ])("refuse %j", (axes, extents, why) => {
    expect(() => indices(axes, extents as unknown as Sizes)).toThrow(why);
  });
});

describe("structs", () => {
  it("lie as in C", () => {
    const bytes = packStruct(
      [
        { type: "i32", value: [1, "N"] },
        { type: "bool", value: 1 },
        { type: "u64", value: 7 },
        { type: "f16", value: 0.5 },
      ],
      { N: -2 },
      "x",
    );
    const view = new DataView(bytes.buffer);
    expect(bytes.length).toBe(32);
    expect([view.getInt32(0, true), view.getInt32(4, true), view.getUint8(8)]).toEqual([1, -2, 1]);
    expect([view.getBigUint64(16, true), view.getUint16(24, true)]).toEqual([7n, 0x3800]);
  });

  it("refuse what a type does not hold", () => {
    expect(() => packStruct([{ name: "n", type: "u8", value: 256 }], {}, "argument 4")).toThrow(
      "argument 4, field n: 256 is 256; u8 holds 0 to 255",
    );
    expect(() => packStruct([{ type: "i32", value: 0.5 }], {}, "x")).toThrow("i32 holds");
  });
});

describe("problems", () => {
  const attention = { operator: "attention", heads: 4, kvHeads: 2, queries: 1, keys: 3, headDim: 4, scale: 1 } as const;

  it("repeat KV heads for the oracle and take v out of k", () => {
    const problem = problemOf({ ...attention, valueDim: 2, valueInKey: true, dtype: "f32" }, {});
    const k = problem.tensors.get("k")!.values;
    const v = problem.tensors.get("v")!.values;
    expect([...v.subarray(0, 4)]).toEqual([k[0], k[1], k[4], k[5]]);
    const oracle = problem.oracle.get("k_nope")!;
    // Row of key 1: heads 0 and 1 share KV head 0.
    expect([...oracle.subarray(16, 20)]).toEqual([...k.subarray(4, 8)]);
    expect([...oracle.subarray(20, 24)]).toEqual([...k.subarray(4, 8)]);
  });

  it("quantise keys and values so that codes, scales and biases give them back exactly, in every dtype", () => {
    for (const [bits, dtype] of [
      [4, "f32"],
      [8, "bf16"],
    ] as const) {
      const given = { ...attention, headDim: 8, keys: 40, quantised: { bits, group: 4 }, dtype };
      const { tensors } = problemOf(given, {});
      for (const name of ["k", "v"]) {
        const [values, codes, scales, biases] = ["", "_codes", "_scales", "_biases"].map(
          (part) => tensors.get(`${name}${part}`)!.values,
        );
        expect(values).toHaveLength(2 * 40 * 8);
        expect(scales).toHaveLength(2 * 40 * 2);
        values!.forEach((value, at) => {
          const group = Math.floor(at / 4);
          expect(value).toBe(scales![group]! * codes![at]! + biases![group]!);
          expect(roundTo(value, dtype)).toBe(value);
          expect(codes![at]! >= 0 && codes![at]! < 2 ** bits).toBe(true);
        });
        // Not one value, and about as many below zero as above.
        expect(new Set(values).size).toBeGreaterThan(20);
        expect(Math.abs(values!.reduce((sum, value) => sum + Math.sign(value), 0)) / values!.length).toBeLessThan(0.4);
      }
    }
  });

  it.each([
    [{ ...attention, headDim: 6, quantised: { bits: 4, group: 4 } as const }, "no multiple of the group of 4"],
    [{ ...attention, valueInKey: true, quantised: { bits: 4, group: 4 } as const }, "exclude each other"],
    [{ ...attention, heads: 3 }, "no multiple of 2 KV heads"],
    [{ ...attention, queries: 4, causal: true }, "4 causal queries are the last of 3 keys"],
    [{ ...attention, valueDim: 8, valueInKey: true }, "wider than headDim 4"],
    [{ ...attention, keys: 1e9 }, "the limit is"],
    [{ ...attention, keys: 0 }, "at least 1"],
  ])("refuse %j", (given, why) => {
    expect(() => problemOf({ ...given, dtype: "f32" }, {})).toThrow(why);
  });
});

describe("files", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-test-"));
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
  const text = fs.readFileSync(MANIFEST, "utf8");

  it.each([
    ["{", "JSON"],
    ["{}", "schema"],
    [text.replace('"attention.metal"', '"/etc/passwd"'), "a path relative to the root"],
    [text.replace('"name": "q"', '"name": "q", "colour": 1'), "buffers.0"],
    [text.replace("lockstep.kernel/1", "lockstep.kernel/9"), "lockstep.kernel/1"],
  ])("refuse %#", (given, why) => {
    expect(() => parseManifest(given, "m.json")).toThrow(why);
  });

  it("stay below the root and name what is missing", () => {
    const file = path.join(folder, "m.kernel.json");
    fs.writeFileSync(file, text.replace('"attention.metal"', '"../attention.metal"'));
    expect(() => loadManifest(file)).toThrow("leads out of");
    fs.writeFileSync(file, text);
    expect(() => loadManifest(file)).toThrow("attention.metal cannot be read (ENOENT)");
    expect(() => loadManifest(path.join(folder, "none.json"))).toThrow("The manifest");
    expect(loadManifest(file, FOLDER).includes.map((include) => include.path)).toEqual(["shape.h"]);
  });
});

describe("a kernel", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench.device.close());
  const run = (overrides: Sizes = {}): Promise<KernelResult> =>
    new KernelRun(loadManifest(MANIFEST), bench.device, bench.addon, overrides).run("fast");
  const failed = (result: KernelResult): readonly string[] =>
    result.gates.filter(({ verdict }) => verdict !== "pass").map(({ id }) => id);

  it("passes in any layout and size", async () => {
    for (const overrides of [{}, { pad: 3 }, { L: 40, N: 1, H: 6 }]) {
      const result = await run(overrides);
      expect(failed(result)).toEqual([]);
      expect(result.verdict).toBe("pass");
    }
  });

  it("fails with a wrong stride and with a wrong scale", async () => {
    const stride = await run({ wrong: -1 });
    expect(stride.verdict).toBe("fail");
    expect(failed(stride)).toContain("max_abs");
    const manifest = loadManifest(MANIFEST);
    const changed = JSON.parse(JSON.stringify(manifest.manifest).replaceAll('"value":"S"', '"value":"S * 1.01"'));
    const scaled = new KernelRun({ ...manifest, manifest: changed }, bench.device, bench.addon);
    expect((await scaled.run("fast")).verdict).toBe("fail");
  });

  it("runs twice and compares the bits, and names the gates that do not apply", async () => {
    const once = new KernelRun(loadManifest(MANIFEST), bench.device, bench.addon);
    const result = await once.run("fast", { repeat: true });
    expect(result.gates.find(({ id }) => id === "repeat")).toMatchObject({ verdict: "pass", value: 0 });
    expect(result.leftOut.map(({ id }) => id)).toEqual(["lockstep", "resources", "lse"]);
    const plain = await once.run("fast");
    expect(plain.leftOut.map(({ id }) => id)).toContain("repeat");
    expect(result.submitted.rights).toMatch(/confined/);
  });

  it("checks with the outputs named: an element that is never written is an error", async () => {
    const manifest = loadManifest(MANIFEST);
    const changed = JSON.parse(
      JSON.stringify(manifest.manifest).replace('"threadgroups":["H"', '"threadgroups":["H - 1"'),
    );
    const short = new KernelRun({ ...manifest, manifest: changed }, bench.device, bench.addon);
    const { submitted, verdict } = await short.run("check");
    expect(verdict).toBe("fail");
    expect(submitted.check?.reports.map(({ kind }) => kind)).toContain("unwritten_output");
  });

  it("lists a wide write of the same value apart: it is benign, and nothing else is reported", async () => {
    const text = `#include <metal_stdlib>
      using namespace metal;
      kernel void same(device float *out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
        threadgroup float4 t[1];
        t[0] = float4(3);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        out[i] = t[0].w;
      }`;
    const manifest = {
      schema: "lockstep.kernel/1",
      name: "same value",
      source: "same.metal",
      buffers: [{ name: "out", scratch: 256 }],
      dispatches: [
        { function: "same", threadgroups: [1], threadsPerThreadgroup: [64], arguments: [{ index: 0, buffer: "out" }] },
      ],
    };
    const loaded = manifestOfTexts("same.json", JSON.stringify(manifest), [{ path: "same.metal", text }]);
    const { submitted } = await new KernelRun(loaded, bench.device, bench.addon).run("check");
    const kinds = new Set(submitted.check?.reports.map(({ kind, severity }) => `${kind} ${severity}`));
    expect([...kinds]).toEqual(["same_value_write info"]);
  });

  it("lends threadgroup memory behind an array, names the overstep, and leaves one beyond it an error", async () => {
    const text = `#include <metal_stdlib>
      using namespace metal;
      kernel void over(device float *out [[buffer(0)]], constant uint &reach [[buffer(1)]],
                       threadgroup float *t [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]]) {
        t[i] = i;
        if (i == 0) t[reach] = 1;
        out[i] = t[i];
      }`;
    const run = (reach: number, padding: number, flavour: "fast" | "check"): Promise<KernelResult> => {
      const manifest = {
        schema: "lockstep.kernel/1",
        name: "overstep",
        source: "over.metal",
        buffers: [{ name: "out", scratch: 128 }],
        dispatches: [
          {
            function: "over",
            threadgroups: [1],
            threadsPerThreadgroup: [32],
            threadgroupMemory: [{ index: 0, bytes: 128 }],
            threadgroupPadding: padding,
            arguments: [
              { index: 0, buffer: "out" },
              { index: 1, struct: [{ type: "u32", value: reach }] },
            ],
          },
        ],
      };
      const loaded = manifestOfTexts("over.json", JSON.stringify(manifest), [{ path: "over.metal", text }]);
      return new KernelRun(loaded, bench.device, bench.addon).run(flavour);
    };
    await expect(run(32, 0, "fast")).rejects.toThrow("out of bounds");
    const lent = await run(32, 64, "fast");
    expect(lent.padding).toEqual([{ dispatch: "over", bytes: 64 }]);
    const bounds = async (reach: number, padding: number): Promise<readonly string[]> =>
      ((await run(reach, padding, "check")).submitted.check?.reports ?? [])
        .filter(({ kind }) => kind === "out_of_bounds")
        .map(({ severity }) => severity);
    expect(await bounds(32, 0)).toEqual(["error"]);
    expect(await bounds(32, 64)).toEqual(["warning"]);
    expect(await bounds(48, 64)).toEqual(["error"]);
  });

  it("feeds packed codes and slices: a kernel that puts them together again is right", async () => {
    const text = fs.readFileSync(path.join(FOLDER, "quantised.metal"), "utf8");
    const manifest = fs.readFileSync(path.join(FOLDER, "quantised.kernel.json"), "utf8");
    const of = (from: string, to: string): Promise<KernelResult> =>
      new KernelRun(
        manifestOfTexts("q.json", manifest.replace(from, to), [{ path: "quantised.metal", text }]),
        bench.device,
        bench.addon,
      ).run("fast");
    expect((await of("", "")).verdict).toBe("pass");
    // The second half of q where the first belongs.
    expect((await of('"dim": [0, 8]', '"dim": [8, 8]')).verdict).toBe("fail");
    await expect(of('"dim": [0, 8]', '"dim": [9, 8]')).rejects.toThrow("slices dim to 17; the case has 16");
    await expect(of('"dim": [0, 8]', '"key": [0, 8]')).rejects.toThrow('slices "key"; the tensor has the axes');
  });

  it("refuses a buffer that is not there and a device's refusal comes through", async () => {
    const manifest = loadManifest(MANIFEST);
    const with_ = (from: string, to: string): Promise<KernelResult> => {
      const changed = JSON.parse(JSON.stringify(manifest.manifest).replaceAll(from, to));
      return new KernelRun({ ...manifest, manifest: changed }, bench.device, bench.addon).run("fast");
    };
    await expect(with_('"buffer":"v"', '"buffer":"w"')).rejects.toThrow('names buffer "w"; there are q, k, v, out');
    await expect(with_('"threadsPerThreadgroup":[1]', '"threadsPerThreadgroup":[2048]')).rejects.toThrow("1,024");
    await expect(with_('"function":"attention"', '"function":"attention_{D}"')).rejects.toThrow("attention_16");
  });
});
