/** Reports as rows: merged over sets of pipelines, in order, filtered; the sentence above them. */
import { describe, expect, it } from "vitest";
import type { CheckReport, CheckResult } from "../../../../native/check.ts";
import {
  type CheckedSet,
  filterRows,
  headlineOf,
  REPORT_HEAD,
  reportFields,
  rowsOf,
  setsText,
  shortPlace,
} from "../../../../renderer/pages/kernels/report_rows.ts";
import { bytesByLine, lineBytesText, marksOf } from "../../../../renderer/pages/kernels/source_marks.ts";

const FILE = "gqa_decode/x.metal";

function site(access: "read" | "write", line: number, path = FILE): CheckReport["first"] {
  return {
    access,
    location: { path, line, column: 3 },
    threadgroup: [0, 1, 0],
    simdgroup: 1,
    lane: 2,
    thread: 34,
  };
}

function report(change: Partial<CheckReport> = {}): CheckReport {
  return {
    kind: "race",
    severity: "error",
    dispatch: "partial",
    message: "Two simdgroups access tile.",
    first: site("write", 60),
    second: site("read", 68),
    addressSpace: "threadgroup",
    buffer: { name: "tile", index: 0, bytes: 64 },
    offset: 4,
    size: 4,
    count: 3,
    mechanism: "shadow memory",
    blindSpot: "other paths",
    ...change,
  };
}

function resultOf(reports: readonly CheckReport[], change: Partial<CheckResult> = {}): CheckResult {
  return {
    reports,
    dropped: 0,
    complete: true,
    traffic: { stage: "after optimisation", exact: true, exactReason: "counted right", dispatches: [] },
    ...change,
  };
}

function set(name: string, reports: readonly CheckReport[], change: Partial<CheckedSet> = {}): CheckedSet {
  return {
    name,
    on: "case",
    flavour: "check",
    pinned: false,
    counted: true,
    result: resultOf(reports),
    error: null,
    ...change,
  };
}

const BENIGN = report({ kind: "same_value_write", severity: "info", first: site("write", 5) });
const WARNING = report({ kind: "written_twice", severity: "warning", first: site("write", 7) });

describe("rows", () => {
  it("are one of a place, with every set that gave it and the sum of the counts", () => {
    const rows = rowsOf([set("p32", [report()]), set("p64", [report({ count: 5, offset: 8 })])]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ number: 1, count: 8, counted: true });
    expect(setsText(rows[0]!)).toBe("2 routes");
    expect(shortPlace(rows[0]!.report, true)).toBe("x.metal:60, 68");
    expect(shortPlace(report({ second: site("read", 9, "other.h") }), true)).toBe("x.metal:60");
  });

  it("stand errors first, then by kind and line; what does not count comes last", () => {
    const late = report({ first: site("write", 9) });
    const apart = set("k", [report({ first: site("write", 1) })], { counted: false });
    const rows = rowsOf([apart, set("p32", [BENIGN, WARNING, report(), late])]);
    expect(rows.map((row) => [row.report.kind, row.report.first.location?.line])).toEqual([
      ["race", 9],
      ["race", 60],
      ["written_twice", 7],
      ["same_value_write", 5],
      ["race", 1],
    ]);
  });

  it("are filtered by words of kind, title, place, memory and route", () => {
    const rows = rowsOf([set("p32", [report(), BENIGN])]);
    const kinds = (text: string): readonly string[] => filterRows(rows, text).map((row) => row.report.kind);
    expect(kinds("race simdgroups")).toEqual(["race"]);
    expect(kinds("x.metal:5")).toEqual(["same_value_write"]);
    expect(kinds("TILE p32")).toEqual(["race", "same_value_write"]);
    expect(kinds("p64")).toEqual([]);
  });

  it("have as many fields in a file as it has heads", () => {
    const [row] = rowsOf([set("p32", [report({ second: undefined } as Partial<CheckReport>)])]);
    expect(reportFields(row!)).toHaveLength(REPORT_HEAD.length);
  });
});

describe("the sentence", () => {
  const said = (sets: readonly CheckedSet[]): string => {
    const { glyph, word, sentence } = headlineOf(sets, rowsOf(sets), "run");
    return `${glyph}: ${word} ${sentence}`;
  };

  it("says what was looked at where there is no report", () => {
    expect(said([set("a", []), set("b", [])])).toBe("pass: No report: 2 sets of pipelines on their small cases");
  });

  it("counts errors, warnings and benign ones apart", () => {
    expect(said([set("a", [report(), WARNING, BENIGN])])).toBe(
      "fail: 1 error with 1 warning, 1 benign in 1 set of pipelines on its small case",
    );
    expect(said([set("a", [BENIGN])])).toBe("pass: No error 1 benign in 1 set of pipelines on its small case");
  });

  it("is no pass where a check came to no whole result", () => {
    expect(said([set("a", [], { result: resultOf([], { complete: false }) })])).toMatch(/^notrun: No verdict/);
    expect(said([set("a", [], { result: resultOf([], { dropped: 2 }) })])).toMatch(/^notrun: No verdict/);
    expect(said([set("a", [], { result: null, error: "timed out" })])).toMatch(/timed out$/);
  });

  it("says that a kernel is pinned to lockstep", () => {
    expect(said([set("a", [], { pinned: true, flavour: "check+lockstep" })])).toMatch(/; pinned to lockstep$/);
  });
});

describe("beside the lines", () => {
  it("stand both sides of a report, each in its own file", () => {
    const marks = marksOf(report({ second: site("read", 9, "other.h") }), FILE);
    expect(marks.map(({ side, line, access }) => [side, line, access])).toEqual([["first", 60, "write"]]);
    expect(marksOf(report(), FILE).map(({ side }) => side)).toEqual(["first", "second"]);
  });

  it("stand the bytes that a line requests, device memory before threadgroup memory", () => {
    const bytes = { requested: 2048, distinct: 1024, accesses: 512, simdAccesses: 16 };
    const line = (number: number, addressSpace: "device" | "threadgroup") => ({
      location: { path: FILE, line: number, column: 1 },
      access: "read" as const,
      buffer: "k",
      index: 0,
      addressSpace,
      bytes,
      model: { kind: "lines_128" as const, units: 8, ideal: 8, worst: 1 },
    });
    const result = resultOf([]);
    const traffic = {
      ...result.traffic,
      dispatches: [
        {
          dispatch: "partial",
          buffers: [],
          lines: [line(3, "device"), line(3, "threadgroup"), line(4, "threadgroup")],
        },
      ],
    };
    const lines = bytesByLine({ ...result, traffic }, FILE);
    expect([...lines].map(([number, each]) => [number, lineBytesText(each)])).toEqual([
      [3, "2.00 KiB"],
      [4, "tg 2.00 KiB"],
    ]);
    expect(lines.get(3)?.title).toContain("read k: 2,048 B requested, 1,024 distinct");
    expect(bytesByLine({ ...result, traffic }, "other.h").size).toBe(0);
  });
});
