/** The corpus is read strictly, and a report that is missing, wrong or too many is found. */
import { describe, expect, it } from "vitest";
import type { CheckReport } from "../../native/check.ts";
import { CorpusError, readCorpusFile } from "./format.ts";
import { complaints, shown } from "./judge.ts";

const HEADER = [
  "// case: one",
  "// why: Something is wrong",
  "//   on two lines.",
  "// from: ml-explore/mlx#2340, ggml-org/llama.cpp#3057",
  "// run: one threads 32x2 groups 3 memory 256,64 padding 16,0",
  "// buffer: out float 64 output",
  "// buffer: in half 8 1,-inf,2.5 first 6",
  "// must: error race A write, B read of tile at 128 size 4 times 64",
];
const CODE = ["kernel void one() {", "  write(); // A", "  read(); // B", "}", ""];

function textWith(change: (header: string[]) => readonly string[] = (header) => header): string {
  return [...change([...HEADER]), ...CODE].join("\n");
}

function errorOf(text: string): string {
  try {
    readCorpusFile("k.metal", text);
  } catch (error) {
    if (error instanceof CorpusError) return error.message;
    throw error;
  }
  return "none";
}

describe("the headers", () => {
  it("say how a kernel runs and what it gives", () => {
    const [one] = readCorpusFile("k.metal", textWith()).cases;
    expect(one).toMatchObject({
      name: "one",
      line: 1,
      why: "Something is wrong on two lines.",
      from: ["ml-explore/mlx#2340", "ggml-org/llama.cpp#3057"],
      runs: [{ kernel: "one", threads: [32, 2, 1], groups: [3, 1, 1], memory: [256, 64], padding: [16, 0] }],
      buffers: [
        { name: "out", type: "float", elements: 64, written: 0, isOutput: true },
        { name: "in", type: "half", values: [1, Number.NEGATIVE_INFINITY, 2.5], written: 6, isOutput: false },
      ],
      flavours: ["check"],
      math: "safe",
      order: "serial",
      may: [],
    });
    expect(one?.must).toEqual([
      expect.objectContaining({
        severity: "error",
        kind: "race",
        sides: [
          { access: "write", line: 10 },
          { access: "read", line: 11 },
        ],
        buffer: "tile",
        offset: 128,
        size: 4,
        count: 64,
      }),
    ]);
  });

  it("may share their code", () => {
    const second = ["", "// case: two", "// why: Again.", "// run: one threads 32", "// silent:"];
    const { cases } = readCorpusFile(
      "k.metal",
      textWith((header) => [...header, ...second]),
    );
    expect(cases.map(({ name, must }) => [name, must.length])).toEqual([
      ["one", 1],
      ["two", 0],
    ]);
  });

  it.each<[string, (header: string[]) => readonly string[], string]>([
    ["no reason", (header) => header.filter((line) => !/why|on two/.test(line)), "1: case one does not say why"],
    ["nothing to run", (header) => header.filter((line) => !line.includes("run:")), "1: case one runs nothing"],
    ["no expectation", (header) => header.slice(0, -1), "1: case one needs either lines must or one line silent"],
    ["both", (header) => [...header, "// silent:"], "1: case one needs either lines must or one line silent"],
    ["a word that is no key", (header) => [...header, "// must be"], '9: "// must be" is no line of a header'],
    ["an unknown kind", (header) => [...header, "// must: error rase A write"], "9: rase is none of race, device_race"],
    ["an unknown access", (header) => [...header, "// must: error race A wrote"], "9: wrote is none of read, write"],
    ["a marker that is not there", (header) => [...header, "// must: error race C read"], "9: there is no marker C"],
    ["a marker that nobody uses", (header) => [...header.slice(0, -1), "// silent:"], "10: no expectation refers to"],
    ["two lines of one key", (header) => [...header, "// order: serial", "// order: serial"], "10: case one has two"],
    ["an unknown flavour", (header) => [...header, "// flavours: fast"], "9: fast is none of check, check+lockstep"],
    ["a run without threads", (header) => [...header, "// run: one"], "9: one is no run"],
    ["an unknown type", (header) => [...header, "// buffer: x double 4 0"], "9: double is none of float"],
    ["a fill that is no number", (header) => [...header, "// buffer: x float 4 zero"], "9: zero is no number"],
    [
      "rest behind an expectation",
      (header) => [...header, "// must: error race A read at 4"],
      "9: error race A read at 4",
    ],
  ])("with %s is refused", (_, change, message) => {
    expect(errorOf(textWith(change))).toContain(`k.metal:${message}`);
  });

  it("refuse a marker that is there twice, or before any case, and a header without code", () => {
    expect(errorOf(textWith().replace("// B", "// A"))).toContain("k.metal:11: marker A is there twice");
    expect(errorOf(`f(); // A\n${textWith()}`)).toContain("k.metal:1: marker A stands before the first case");
    expect(errorOf(HEADER.join("\n"))).toContain("k.metal:1: no code follows this header");
  });
});

describe("the judgement", () => {
  const side = (access: CheckReport["first"]["access"], line: number): CheckReport["first"] => ({
    access,
    location: { path: "k.metal", line, column: 3 },
    threadgroup: [0, 0, 0],
    simdgroup: 0,
    lane: 0,
    thread: 0,
  });
  const race: CheckReport = {
    kind: "race",
    severity: "error",
    dispatch: "one",
    message: "",
    first: side("write", 10),
    second: side("read", 11),
    addressSpace: "threadgroup",
    buffer: { name: "tile", index: null, bytes: 256 },
    offset: 128,
    size: 4,
    count: 64,
    mechanism: "",
    blindSpot: "",
  };
  const [one] = readCorpusFile("k.metal", textWith()).cases;
  const wrong = (...reports: readonly CheckReport[]): readonly string[] => complaints(one!, reports);

  it("takes what was expected, in either order of the sides", () => {
    expect(wrong(race)).toEqual([]);
    expect(wrong({ ...race, first: race.second!, second: race.first })).toEqual([]);
  });

  it("misses what did not come", () => {
    expect(wrong()).toEqual(["missing: error race A write, B read of tile at 128 size 4 times 64"]);
  });

  it.each<[string, Partial<CheckReport>]>([
    ["kind", { kind: "device_race" }],
    ["severity", { severity: "warning" }],
    ["line", { first: side("write", 9) }],
    ["access", { first: side("read", 10) }],
    ["buffer", { buffer: { name: "tiles", index: null, bytes: 256 } }],
    ["offset", { offset: 132 }],
    ["size", { size: 8 }],
    ["count", { count: 63 }],
  ])("tells another %s apart", (_, change) => {
    const other = { ...race, ...change };
    expect(wrong(other)).toHaveLength(2);
    expect(wrong(race, other)).toEqual([`unexpected: ${shown(other)}`]);
  });

  it("allows what may come and does not ask for it", () => {
    const may = { must: [], may: one!.must };
    expect(complaints(may, [])).toEqual([]);
    expect(complaints(may, [race])).toEqual([]);
    expect(complaints({ must: [], may: [] }, [race])).toEqual([`unexpected: ${shown(race)}`]);
  });
});
