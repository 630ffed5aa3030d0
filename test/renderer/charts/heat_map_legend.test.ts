/** The numbers beside the colours of a saved heat map, and the words around it. */
import { describe, expect, it } from "vitest";
import { legendTicks, wrapped } from "../../../renderer/charts/heat_map_legend.ts";
import { pictureOf } from "../../../renderer/pages/parity/map_picture.ts";

describe("the legend", () => {
  it("names both ends and the decades between them, at their places", () => {
    const ticks = legendTicks({ low: 1e-10, high: 1e-6, log: true }, false);
    expect(ticks.map(({ place, words }) => `${place.toFixed(2)} ${words}`)).toEqual([
      "0.00 ≤ 1.00e-10",
      "0.25 1e−9",
      "0.50 1e−8",
      "0.75 1e−7",
      "1.00 ≥ 1.00e-6",
    ]);
    expect(legendTicks({ low: 0.5, high: 1.5, log: false }, false).map(({ words }) => words)).toEqual([
      "≤ 5.00e-1",
      "1",
      "≥ 1.50e+0",
    ]);
  });

  it("of signed values runs from the negative to the positive end, around the low one", () => {
    const ticks = legendTicks({ low: 1e-10, high: 1e-6, log: true }, true);
    expect(ticks.map(({ place, words }) => `${place.toFixed(2)} ${words}`)).toEqual([
      "0.00 ≤ −1.00e-6",
      "0.38 −1e−9",
      "0.50 ± 1.00e-10",
      "0.63 1e−9",
      "1.00 ≥ 1.00e-6",
    ]);
  });

  it("breaks lines between words, and a word that is too long where it must", () => {
    const measure = (text: string): number => text.length;
    expect(wrapped("of a run on a device", 8, measure)).toEqual(["of a run", "on a", "device"]);
    expect(wrapped("gqa_decode/h32 f32", 6, measure)).toEqual(["gqa_de", "code/h", "32 f32"]);
  });
});

it("a picture says what it shows, of which case, route and run, where it was executed, and how to read it", () => {
  const known = { by: "assumed", source: "a test" } as const;
  const device = { name: { value: "Emulated M3 Max", ...known }, os: { value: "macOS 26.4", ...known } };
  const run = { execution: "emulated", device: { ...device, chip: { value: "M3 Max", ...known } } };
  const props = {
    run,
    subject: { id: "one.lockstep", case: "gqa_decode/h2kv1d4/L1/spread/f32", route: "naive" },
    extents: { tokens: 1, heads: 2, width: 4 },
    axis: "dim",
    measure: "abs",
    limit: { value: 1e-6, where: "head 1" },
    selected: 5,
  } as unknown as Parameters<typeof pictureOf>[0];
  const group = { kind: "group", title: "a KV head", edges: Int32Array.of(1), labels: [] } as const;
  const map = {
    ...{ rows: 2, columns: 2, sourceRows: 2, sourceColumns: 4, rowEdges: [group], columnEdges: [] },
    notFinite: { nan: 3, infinite: 0, firstNan: 1, firstInfinite: null },
  } as unknown as Parameters<typeof pictureOf>[1];
  const range = { low: 1e-9, high: 1e-6, log: true };
  expect(pictureOf(props, map, { range, nan: true, inf: true })).toEqual({
    title: "|error|: head × dim",
    lines: [
      "Case gqa_decode/h2kv1d4/L1/spread/f32, route naive",
      "Run one.lockstep, against the float64 oracle",
      "Execution: emulated, on Emulated M3 Max, chip M3 Max (assumed), macOS 26.4 (assumed). An emulated result is about the kernel's source and supports no chip",
    ],
    ...{ rowTitle: "head (index)", columnTitle: "dim (index)", rows: 2, columns: 4, range, signed: false },
    measure: "|error|, in units of the output; logarithmic scale",
    marks: [{ color: "--nan", words: "NaN (3)" }],
    notes: [
      "2 × 4 places, each one element; 2 × 2 cells show the largest of what they cover. A pixel shows the largest magnitude beneath it.",
      "Limit of the gate: 1.00e-6 (head 1).",
      "Lines, where there is room for them, dotted: a KV head.",
      "Framed: h 1, d 1, the selected element.",
    ],
  });
  expect(pictureOf(props, map, { range: null, nan: false, inf: true })).toMatchObject({
    measure: "|error|: every finite element equals the oracle",
    marks: [],
  });
});
