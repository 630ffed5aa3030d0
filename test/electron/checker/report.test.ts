/** How reports read: text with carets, SARIF for editors. */
import { describe, expect, it } from "vitest";
import { excerpt } from "../../../electron/checker/excerpt.ts";
import { CHECK_RULES } from "../../../electron/checker/rules.ts";
import { checkFailure, sarifLog } from "../../../electron/checker/sarif.ts";
import { howLines, inexactLines, reportLines, summaryText, trafficLines } from "../../../electron/checker/text.ts";
import {
  CHECK_KINDS,
  type CheckReport,
  type CheckResult,
  checkReportSchema,
  type TrafficTable,
} from "../../../native/check.ts";

const SOURCES = new Map([["a/k.metal", "kernel void k() {\n\tx[lane] = y;\n  z = x[lane ^ 1];\n}\n"]]);

const TRAFFIC: TrafficTable = { stage: "after optimisation", exact: true, exactReason: "", dispatches: [] };

const RACE: CheckReport = checkReportSchema.parse({
  kind: "race",
  severity: "error",
  dispatch: "score",
  message: "x is written and read with no barrier between: put a threadgroup_barrier between the two lines.",
  first: {
    access: "read",
    location: { path: "a/k.metal", line: 3, column: 7 },
    threadgroup: [2, 0, 0],
    simdgroup: 1,
    lane: 3,
    thread: 35,
  },
  second: {
    access: "write",
    location: { path: "a/k.metal", line: 2, column: 2 },
    threadgroup: [2, 0, 0],
    simdgroup: 0,
    lane: 2,
    thread: 2,
  },
  addressSpace: "threadgroup",
  buffer: { name: "x", index: null, bytes: 4096 },
  offset: 1008,
  size: 4,
  count: 1200,
  mechanism: "shadow cells",
  blindSpot: "paths that did not run",
});

describe("excerpts", () => {
  it("put the caret below the column, with tabs and long lines", () => {
    expect(excerpt(SOURCES, { path: "a/k.metal", line: 2, column: 2 })).toEqual(["2 | x[lane] = y;", "  | ^"]);
    const long = new Map([["l", `${"a".repeat(200)}b`]]);
    const [line, caret] = excerpt(long, { path: "l", line: 1, column: 201 });
    expect(line![caret!.indexOf("^")]).toBe("b");
  });

  it("are left out where the source or the line is not there", () => {
    expect(excerpt(SOURCES, { path: "b", line: 1, column: 1 })).toEqual([]);
    expect(excerpt(SOURCES, { path: "a/k.metal", line: 99, column: 1 })).toEqual([]);
  });
});

describe("text", () => {
  it("names both sides, the memory and how it was seen", () => {
    expect(reportLines(RACE, SOURCES)).toEqual([
      "a/k.metal:3:7: error: race between simdgroups [race]",
      "  x is written and read with no barrier between: put a threadgroup_barrier between the two lines.",
      "  read by threadgroup (2, 0, 0), simdgroup 1, lane 3 (thread 35)",
      "    3 | z = x[lane ^ 1];",
      "      |     ^",
      "  write by threadgroup (2, 0, 0), simdgroup 0, lane 2 (thread 2), a/k.metal:2:2",
      "    2 | x[lane] = y;",
      "      | ^",
      "  threadgroup x, byte 1,008 of 4,096, 4 bytes at a time",
      '  in dispatch "score", 1,200 times; seen by shadow cells; blind to paths that did not run',
    ]);
  });

  it("sums up, and says where a run ended early", () => {
    const traffic = { stage: "after optimisation", exact: true, exactReason: "", dispatches: [] } as const;
    const result: CheckResult = { reports: [RACE], dropped: 0, complete: true, traffic };
    expect(summaryText(result)).toBe("1 error, 0 warnings, 0 benign");
    expect(summaryText({ ...result, dropped: 2, complete: false })).toContain("the run ended early");
  });

  it("says once how each kind was seen, where a report does not say it itself", () => {
    expect(reportLines(RACE, SOURCES, false).at(-1)).toBe('  in dispatch "score", 1,200 times');
    expect(howLines([RACE, RACE])).toEqual([
      "How these were seen:",
      "  race: shadow cells. Blind to paths that did not run",
    ]);
    expect(howLines([])).toEqual([]);
  });

  it("shows traffic by buffer", () => {
    const bytes = { requested: 8192, distinct: 4096, accesses: 2048, simdAccesses: 64 };
    const lines = trafficLines({
      dispatch: "score",
      buffers: [
        {
          name: "k",
          index: 1,
          addressSpace: "device",
          bytes: 4096,
          read: bytes,
          written: { ...bytes, requested: 0, distinct: 0 },
        },
      ],
      lines: [],
    });
    expect(lines.at(-1)).toMatch(/^ {2}k +8,192 +4,096 +0 +0$/);
    const line = {
      location: { path: "a.metal", line: 4, column: 2 },
      access: "read",
      buffer: "k",
      index: 1,
      addressSpace: "device",
      bytes,
      model: { kind: "lines_128", units: 64, ideal: 32, worst: 2 },
    } as const;
    const other = { ...line, location: { path: "a.metal", line: 9, column: 1 }, bytes: { ...bytes, requested: 9000 } };
    // Two rows of one place are one; the busiest stands first.
    const rows = trafficLines({ dispatch: "score", buffers: [], lines: [other, line, line] }).slice(-2);
    expect(rows[0]).toMatch(/a\.metal:4:2 read k +16,384 +8,192 +128 +128 lines of 128, ideal 64$/);
    expect(rows[1]).toMatch(/a\.metal:9:1 read k +9,000 /);
  });
});

it("says where silence proves nothing", () => {
  const check = { reports: [], dropped: 0, complete: true, traffic: TRAFFIC };
  expect(inexactLines(check)).toEqual([]);
  const exactReason = "the source keeps float3 in memory";
  expect(inexactLines({ ...check, traffic: { ...TRAFFIC, exact: false, exactReason } })).toEqual([
    "Not exact: the source keeps float3 in memory. Where accesses are not seen, silence proves nothing.",
  ]);
});

describe("SARIF", () => {
  it("has a rule for each kind that is used, both places and the level", () => {
    const log = JSON.parse(
      JSON.stringify(sarifLog([RACE, { ...RACE, kind: "same_value_write", severity: "info" }], "1.2.3", null)),
    );
    const [run] = log.runs;
    expect(log.version).toBe("2.1.0");
    expect(run.tool.driver.rules.map((rule: { id: string }) => rule.id)).toEqual(["race", "same_value_write"]);
    expect(run.results.map((result: { level: string }) => result.level)).toEqual(["error", "note"]);
    expect(run.results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: "a/k.metal", uriBaseId: "%SRCROOT%" },
      region: { startLine: 3, startColumn: 7 },
    });
    expect(run.results[0].relatedLocations[0].physicalLocation.region.startLine).toBe(2);
    expect(run.results[0].ruleIndex).toBe(0);
    expect(run.results[0].properties.first).toMatchObject({ threadgroup: [2, 0, 0], simdgroup: 1, lane: 3 });
    expect(run.results[0].properties.second).toMatchObject({ access: "write" });
    expect(run.invocations).toEqual([{ executionSuccessful: true }]);
  });

  it("is no clean bill where the checker came to no end", () => {
    expect(checkFailure({ reports: [], dropped: 0, complete: true, traffic: TRAFFIC }, null)).toBeNull();
    const failure = checkFailure(null, "The kernel ran for 2 s: a loop without end?");
    expect(JSON.parse(JSON.stringify(sarifLog([], "1.2.3", failure))).runs[0].invocations).toEqual([
      {
        executionSuccessful: false,
        toolExecutionNotifications: [
          { level: "error", message: { text: "The kernel ran for 2 s: a loop without end?" } },
        ],
      },
    ]);
    expect(checkFailure({ reports: [], dropped: 0, complete: false, traffic: TRAFFIC }, null)).toContain("ended early");
  });
});

it("every kind has a rule", () => {
  expect(Object.keys(CHECK_RULES)).toEqual([...CHECK_KINDS]);
});
