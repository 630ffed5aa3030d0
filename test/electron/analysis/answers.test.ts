/** Answers stay within the size of a message: windows of keys, cut traces and edges. */
import { describe, expect, it } from "vitest";
import { arrayBytes, bitsOf, cutEdges, cutTrace, windowAround } from "../../../electron/analysis/answers.ts";
import { keyEdges, keySchedule, planOf } from "../../../electron/analysis/geometry.ts";
import { ANSWER_LIMIT_BYTES, HEAT_MAP_CELLS, WINDOW_KEYS } from "../../../electron/analysis/messages.ts";
import { operandsOf } from "../../../electron/analysis/operands.ts";
import { softmaxTrace } from "../../../electron/analysis/softmax_trace.ts";
import { decodeShape } from "../../../electron/cases/case.ts";

function operands(keys: number) {
  return operandsOf({
    keys,
    scale: 1,
    parts: [{ name: "", query: Float32Array.of(1), key: (j) => Float32Array.of((j % 7) / 7) }],
    value: (j) => j,
  });
}

function fusedPlan(live: number) {
  return planOf(decodeShape({ heads: 32, kvHeads: 4, dim: 512, live, scale: 1 }), "fused_split_kv_p32");
}

describe("the window of keys", () => {
  it("is everything, or a part around a key", () => {
    expect(windowAround(100, 50, 100)).toEqual({ begin: 0, end: 100 });
    expect(windowAround(1000, 0, 100)).toEqual({ begin: 0, end: 100 });
    expect(windowAround(1000, 500, 100)).toEqual({ begin: 450, end: 550 });
    expect(windowAround(1000, 999, 100)).toEqual({ begin: 900, end: 1000 });
  });

  it("cuts the steps of a trace, and neither partitions nor merge", () => {
    const trace = softmaxTrace(operands(1000), keySchedule(fusedPlan(1000), 1000));
    const cut = cutTrace(trace, 450, 550);
    const inside = [...trace.begin.keys()].filter((i) => trace.end[i]! > 450 && trace.begin[i]! < 550);
    expect([...cut.begin]).toEqual(inside.map((i) => trace.begin[i]));
    expect([...cut.m32]).toEqual(inside.map((i) => trace.m32[i]));
    expect([...cut.o]).toEqual(inside.map((i) => trace.o[i]));
    expect(cut.partitions).toEqual(trace.partitions);
    expect(cut.merged).toEqual(trace.merged);
    expect(cutTrace(trace, 0, 1000)).toEqual(trace);
  });

  it("cuts edges with their labels", () => {
    const [, partitions] = keyEdges(fusedPlan(1000), 1000);
    // ceil(1000 / 32) = 32 keys a partition.
    expect(cutEdges(partitions!, 450, 550)).toMatchObject({
      edges: Int32Array.of(480, 512, 544),
      labels: ["partition 15", "partition 16", "partition 17"],
    });
    expect(cutEdges(partitions!, 481, 500)).toMatchObject({ edges: new Int32Array(0), labels: [] });
    expect(cutEdges(partitions!, 999, 1000)).toMatchObject({ edges: new Int32Array(0), labels: [] });
  });
});

describe("the limit of an answer", () => {
  it("holds the largest window with the finest trace, and the largest heat map", () => {
    const made = operands(WINDOW_KEYS);
    const plan = fusedPlan(WINDOW_KEYS);
    const { scores, scores32, weights, weights32, values } = made;
    const trace = softmaxTrace(made, keySchedule(plan, WINDOW_KEYS));
    const bytes = arrayBytes({
      ...{ scores, scores32, weights, weights32, values, trace },
      edges: keyEdges(plan, WINDOW_KEYS),
    });
    expect(bytes).toBeGreaterThan(WINDOW_KEYS * 28);
    expect(bytes).toBeLessThan(ANSWER_LIMIT_BYTES);
    expect(HEAT_MAP_CELLS * (4 + 4 + 1)).toBeLessThan(ANSWER_LIMIT_BYTES);
  });

  it("counts arrays wherever they are", () => {
    expect(arrayBytes({ a: new Float64Array(2), b: [{ c: new Uint8Array(3) }, "text", null, 7] })).toBe(19);
  });
});

describe("bit patterns", () => {
  it("have the digits of the dtype", () => {
    const f32 = new Uint8Array(Float32Array.of(0, -1).buffer);
    const f16 = new Uint8Array(Uint16Array.of(0x3c00, 1).buffer);
    const output = { values: new Float64Array(2), sha256: "" };
    expect(bitsOf({ ...output, dtype: "f32", bytes: f32 }, 1)).toBe("0xbf800000");
    expect(bitsOf({ ...output, dtype: "f16", bytes: f16 }, 1)).toBe("0x0001");
  });
});
