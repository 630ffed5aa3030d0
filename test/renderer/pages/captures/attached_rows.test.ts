import { describe, expect, it } from "vitest";
import {
  ATTACHED_HEAD,
  attachedRow,
  attachedTable,
  orderedSeries,
  tableText,
} from "../../../../renderer/pages/captures/attached_rows.ts";

const series = (label: string, change = {}) => ({
  table: 0,
  label,
  process: "node (42)",
  channel: "Compute",
  depth: 0,
  quantity: "duration",
  unit: "ns",
  count: 2,
  sum: 34_749_000,
  min: 20_103,
  median: 53_198.5,
  max: 89_927,
  ...change,
});
const labels = [{ label: "score", results: 2, routes: ["three_stage"] }];

describe("the table of an attachment", () => {
  it("says a match by name as one, and keeps figures unscaled", () => {
    expect(attachedRow(series("Command Buffer 0:score"), labels)).toEqual([
      "Command Buffer 0:score",
      "score, by name",
      "duration, Compute, node (42)",
      "ns",
      "2",
      "34,749,000",
      "20,103",
      "53,198.5",
      "89,927",
    ]);
    expect(attachedRow(series("other", { unit: null, sum: null, depth: 1 }), labels).slice(1, 6)).toEqual([
      "",
      "duration, Compute, node (42), level 1",
      "not stated",
      "2",
      "none",
    ]);
  });

  it("says once what every row says, and leaves nothing out", () => {
    const rows = [series("a"), series("b")].map((each) => attachedRow(each, labels));
    const table = attachedTable(rows);
    expect(table).toMatchObject({
      head: ["label", "count", "sum", "min", "median", "max"],
      common: "what: duration, Compute, node (42); unit: ns",
      texts: 1,
    });
    expect(table.rows[1]).toEqual(["b", "2", "34,749,000", "20,103", "53,198.5", "89,927"]);
    const shares = ["a", "b"].map((label) => attachedRow(series(label, { unit: "%", sum: null }), labels));
    expect(attachedTable(shares).common).toMatch(/; unit: %; sum: none$/);
    const mixed = attachedTable(
      [series("score"), series("b", { unit: "%", sum: null })].map((each) => attachedRow(each, labels)),
    );
    expect(mixed).toMatchObject({ head: ATTACHED_HEAD.filter((title) => title !== "what"), texts: 3 });
  });

  it("puts what is called like a dispatch first", () => {
    const attachment = { summary: { series: [series("x"), series("score")] } } as never;
    expect(orderedSeries(attachment, labels).map(({ label }) => label)).toEqual(["score", "x"]);
  });

  it("says of a table what was read, or why not", () => {
    const table = { name: "os-log", place: null, rows: 1, columns: [], read: null, reason: "holds no GPU work" };
    expect(tableText(table)).toBe("os-log, 1 row: not read, holds no GPU work");
  });
});
