import { describe, expect, it } from "vitest";
import { cellValue, encoderLabel, readCounters } from "../../../electron/attachments/counters_csv.ts";
import { COUNTERS_CSV, COUNTERS_TEXT } from "./exports.ts";

const read = (text: string) => readCounters("app Counters.csv", Buffer.from(text));

describe("the whole Counters tab as CSV", () => {
  it("gives each counter of each encoder label, without a unit and without sums", () => {
    const { series, tables, notes, tool } = read(COUNTERS_CSV);
    expect(tool).toEqual({ name: "Xcode Metal debugger", version: null });
    expect(tables).toMatchObject([{ name: "Counters, all", rows: 3 }]);
    expect(series).toContainEqual({
      table: 0,
      label: "partial",
      process: null,
      channel: null,
      depth: null,
      quantity: "ALU Utilization",
      unit: null,
      count: 2,
      sum: null,
      min: 1.59,
      median: 2,
      max: 2.41,
    });
    expect(series.map(({ label, quantity }) => `${label} ${quantity}`)).toHaveLength(4);
    expect(notes).toEqual([
      "The file states no units: a counter's name is all that says what it counts",
      "1 names stand twice in the header with the same values; each counts once",
      "1 counters are 0 in every row and are not listed",
    ]);
  });

  it("refuses a name that stands for two counters", () => {
    const text = COUNTERS_CSV.replace("2.41,0.00,0.00,", "2.41,0.00,7.00,");
    expect(() => read(text)).toThrow(
      'app Counters.csv, line 3: the header has "Depth Load Utilization" as columns 7 and 8, which differ here: one name, two counters',
    );
  });

  it("keeps what is no number as text, evaluates nothing and says where it stands", () => {
    const { series, notes } = read(COUNTERS_CSV.replace("1.59", '"=HYPERLINK(""http://x"")"').replace("2.41", "NaN"));
    expect(series.some(({ label, quantity }) => label === "partial" && quantity === "ALU Utilization")).toBe(false);
    expect(notes.at(-1)).toBe(
      '2 cells are no number and stay text: line 2, ALU Utilization: "=HYPERLINK("http://x")"; line 3, ALU Utilization: "NaN"',
    );
  });
});

describe("one list of the tab as text", () => {
  it("keeps the units of the cells, one series a unit", () => {
    const { series, tables } = read(COUNTERS_TEXT);
    expect(tables).toMatchObject([{ name: "Counters, one list", rows: 2 }]);
    expect(series.map(({ quantity, unit, count, sum }) => [quantity, unit, count, sum])).toEqual([
      ["Kernel Invocations", null, 2, 19355],
      ["Bytes Read", "Bytes", 1, 512],
      ["Execution Cost", "%", 2, null],
      ["Bytes Read", "MiB", 1, 2.21],
    ]);
    expect(new Set(series.map(({ label }) => label))).toEqual(new Set(["partial"]));
  });

  it("is not guessed at where the region's decimal sign is a comma, or not known", () => {
    const comma = COUNTERS_TEXT.replace("3.520%", "3,520 %");
    expect(() => read(comma)).toThrow(
      'app Counters.csv, line 2: "3,520 %" has a decimal comma; export it with a region',
    );
    const unknown = COUNTERS_TEXT.replace("3.520%", "3%").replace("4.917%", "5%");
    const { series, notes } = read(unknown);
    expect(series.map(({ quantity, count }) => [quantity, count])).toEqual([
      ["Bytes Read", 1],
      ["Execution Cost", 2],
    ]);
    expect(notes.at(-1)).toContain('3 cells are no number and stay text: line 2, Kernel Invocations: "8,058"');
  });
});

it("reads figures as they are printed, and nothing else", () => {
  expect(["1.59", "8,058 ", "0.00%", "2.21 MiB", "-3", "157.45 GB/s"].map((cell) => cellValue(cell))).toEqual([
    { value: 1.59, unit: null },
    { value: 8058, unit: null },
    { value: 0, unit: "%" },
    { value: 2.21, unit: "MiB" },
    { value: -3, unit: null },
    { value: 157.45, unit: "GB/s" },
  ]);
  for (const cell of [
    "",
    "-",
    "NaN",
    "inf",
    "1,59",
    "=1+1",
    "+1",
    "@x",
    "0x10",
    "1e999",
    "9007199254740993",
    "1.2.3",
  ]) {
    expect(cellValue(cell)).toBeUndefined();
  }
  expect(encoderLabel("three_stage.partial 0x79f00c8c0", false)).toBe("three_stage.partial");
  expect(encoderLabel("546 Compute Encoder 0 0x79f00c8c0", true)).toBe("Compute Encoder 0");
});

describe("what is refused, with the line", () => {
  const cases: readonly (readonly [string, string | Buffer, string])[] = [
    ["another header", "a,b\n1,2\n", 'line 1: the header begins "a, b"'],
    ["a row of another length", COUNTERS_CSV.replace("\n2,", "\n2,7,"), "line 3: Invalid Record Length"],
    ["a quote that does not end", `${COUNTERS_CSV}"x`, "line 5: Quote Not Closed"],
    ["a gigantic row", COUNTERS_CSV.replace("1.59", `"${"x".repeat(2 << 20)}"`), "Max Record Size"],
    [
      "too many columns",
      `Index,Encoder FunctionIndex,CommandBuffer Label,Encoder Label,${"x,".repeat(3000)}\n`,
      "columns; the limit is 2048",
    ],
    ["no label", "Index,Encoder FunctionIndex,x\n1,2,3\n", 'no column "Encoder Label"'],
    ["no UTF-8", Buffer.concat([Buffer.from(COUNTERS_CSV), Buffer.of(0xff)]), "bytes that are no UTF-8"],
  ];
  it.each(cases)("%s", (_, text, words) => {
    expect(() => readCounters("c.csv", Buffer.from(text as string))).toThrow(words);
  });
});
