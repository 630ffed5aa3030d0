/** Exact counts beside the formulas of the same case: rows, sums, fields of a file. */
import { describe, expect, it } from "vitest";
import { trafficFor } from "../../../../kernels/contracts.ts";
import {
  type Check,
  checkOfResult,
  deviceBytes,
  EXACT_HEAD,
  exactBytes,
  exactFields,
  exactFoot,
  exactLines,
  exactNote,
  modelText,
  totalOf,
} from "../../../../renderer/pages/captures/traffic_exact.ts";

const NONE = { requested: 0, distinct: 0, accesses: 0, simdAccesses: 0 };
const K_BYTES = 4 * 33 * 512 * 4;
const READ = { requested: K_BYTES, distinct: K_BYTES, accesses: K_BYTES / 16, simdAccesses: K_BYTES / 512 };

const CHECK: Check = {
  path: "data/checks/fused_split_kv_p32.json",
  operator: "gqa_decode",
  route: "fused_split_kv_p32",
  case: "gqa_decode/h32kv4d512/L33/spread/f32",
  shape: {
    operator: "gqa_decode",
    heads: 32,
    kvHeads: 4,
    dim: 512,
    live: 33,
    capacity: 37,
    scale: 1,
    dtype: "f32",
  },
  flavour: "check",
  pinned: false,
  defines: null,
  results: [{ case: "gqa_decode/h32kv4d512/L1/spread/f32", route: "fused_split_kv_p32" }],
  result: {
    reports: [],
    dropped: 0,
    complete: true,
    traffic: {
      stage: "after optimisation",
      exact: true,
      exactReason: "counted right",
      dispatches: [
        {
          dispatch: "partial",
          buffers: [
            { name: "k", index: 1, addressSpace: "device", bytes: K_BYTES, read: READ, written: NONE },
            { name: "tile", index: 0, addressSpace: "threadgroup", bytes: 64, read: READ, written: READ },
          ],
          lines: [
            {
              location: { path: "gqa_decode/fused_split_kv.metal", line: 57, column: 9 },
              access: "read",
              buffer: "k",
              index: 1,
              addressSpace: "device",
              bytes: READ,
              model: { kind: "lines_128", units: 64, ideal: 32, worst: 2 },
            },
          ],
        },
      ],
    },
  },
};

describe("exact traffic", () => {
  it("stands beside the logical bytes of the formulas on the same small case", () => {
    const rows = exactBytes(CHECK);
    const formula = trafficFor(CHECK.shape!, CHECK.route)?.entries.find(
      (entry) => entry.stage === "partial" && entry.buffer === "k",
    );
    expect(rows[0]).toMatchObject({ buffer: "k", access: "read", requested: K_BYTES, derived: formula?.readBytes });
    expect(formula?.readBytes).toBe(K_BYTES);
    expect(rows.map(({ buffer, access }) => `${buffer} ${access}`)).toEqual(["k read", "tile read", "tile written"]);
    expect(exactBytes({ ...CHECK, shape: null })[0]?.derived).toBeNull();
  });

  it("is summed over device memory alone", () => {
    expect(totalOf(deviceBytes(exactBytes(CHECK)), "requested")).toBe(K_BYTES);
  });

  it("is that of the pipelines which computed the result", () => {
    const [own] = CHECK.results;
    expect(checkOfResult([CHECK], own!.case, own!.route)).toBe(CHECK);
    expect(checkOfResult([CHECK], own!.case, "naive")).toBeUndefined();
  });

  it("says what the counts are, and that the model is one", () => {
    expect(exactNote(CHECK)).toBe(`exact, after optimisation, emulated; on the small case ${CHECK.case}`);
    expect(exactFoot(CHECK)).toBe("exact, after optimisation, emulated; small case h32kv4d512 L33");
    const { traffic } = CHECK.result;
    const inexact = { ...CHECK, result: { ...CHECK.result, traffic: { ...traffic, exact: false } } };
    expect(exactNote(inexact)).toMatch(/^not exact \(counted right\)/);
    expect(modelText(exactLines(CHECK)[0]!)).toBe("model: 64 lines of 128, ideal 32");
  });

  it("has as many fields in a file as it has heads, for buffers and for lines", () => {
    const fields = exactFields(CHECK);
    expect(fields).toHaveLength(4);
    expect(new Set(fields.map((row) => row.length))).toEqual(new Set([EXACT_HEAD.length]));
  });
});
