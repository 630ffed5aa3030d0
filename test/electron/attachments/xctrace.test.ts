import { describe, expect, it } from "vitest";
import { XctraceReader } from "../../../electron/attachments/xctrace.ts";
import { plainLabel } from "../../../electron/attachments/xctrace_rows.ts";
import { exportXml, INTERVAL_ROWS, INTERVALS_XML, intervalsOf, schemaXml, TOC_XML } from "./exports.ts";

/** Reads a text in pieces of `size` bytes. */
function read(text: string, size = 1 << 20) {
  const reader = new XctraceReader("gpu.xml");
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size));
  return reader.end();
}

describe("an export of GPU intervals", () => {
  it("gives count, sum, smallest, median and largest of each label, in nanoseconds", () => {
    const { series, tables, tool } = read(INTERVALS_XML);
    expect(tool).toEqual({ name: "xctrace", version: null });
    expect(tables).toMatchObject([
      { name: "metal-gpu-intervals", rows: 3, place: "//trace-toc[1]/run[1]/data[1]/table[1]" },
    ]);
    expect(series).toEqual([
      {
        table: 0,
        label: "Command Buffer 0:partial",
        process: "node (42)",
        channel: "Compute",
        depth: 0,
        quantity: "duration",
        unit: "ns",
        count: 2,
        sum: 6343830,
        min: 13830,
        median: 3171915,
        max: 6330000,
      },
      expect.objectContaining({ label: "merge", count: 1, sum: 2000, median: 2000 }),
    ]);
  });

  it("reads the same in pieces of any size, also where they cut a character", () => {
    const whole = read(INTERVALS_XML);
    for (const size of [1, 7, 64]) expect(read(INTERVALS_XML, size)).toEqual(whole);
  });

  it("leaves out of a label what Instruments prints behind it: process and submission", () => {
    expect(plainLabel("GPU Execution      ( WindowServer (181) )  0x47e7a1bb")).toBe("GPU Execution");
    expect(plainLabel("Command Buffer 0:score   ( node (42) )")).toBe("Command Buffer 0:score");
    for (const label of ["score", "score (2)", "a ( b ) c", "0x10"]) expect(plainLabel(label)).toBe(label);
    const row = (submission: string) =>
      `<row><duration>5</duration><formatted-label fmt="Execution  ( a (1) )  ${submission}">Execution  ( a (1) )  ${submission}</formatted-label></row>`;
    const columns = [
      ["duration", "duration"],
      ["event-label", "formatted-label"],
      ["process", "process"],
      ["channel-name", "gpu-channel-name"],
      ["event-depth", "metal-nesting-level"],
    ] as const;
    const ends = "<sentinel/><sentinel/><sentinel/></row>";
    const rows = [row("0x1"), row("0x2")].map((text) => text.replace("</row>", ends)).join("");
    const { series } = read(exportXml(schemaXml("metal-gpu-intervals", columns) + rows));
    expect(series).toMatchObject([{ label: "Execution", count: 2, process: null, depth: null }]);
  });

  it("keeps nested intervals apart from those that they lie in", () => {
    const nested = INTERVAL_ROWS.replaceAll(
      '<metal-nesting-level ref="6"/><formatted-label ref="7"/>',
      '<metal-nesting-level id="20">1</metal-nesting-level><formatted-label ref="7"/>',
    );
    const { series } = read(intervalsOf(nested));
    expect(series.map(({ label, depth, count }) => [label, depth, count])).toEqual([
      ["Command Buffer 0:partial", 1, 1],
      ["Command Buffer 0:partial", 0, 1],
      ["merge", 0, 1],
    ]);
  });

  it("takes a second node of the same table without its schema, and none after two different schemas", () => {
    const two = exportXml(
      `${schemaXml("metal-gpu-state-intervals", [
        ["duration", "duration"],
        ["state", "gpu-state"],
      ])}<row><duration id="1">5</duration><gpu-state id="2" fmt="Active">Active</gpu-state></row>`,
      '<row><duration ref="1"/><gpu-state ref="2"/></row>',
    );
    expect(read(two).series.map(({ table, sum }) => [table, sum])).toEqual([
      [0, 5],
      [1, 5],
    ]);
    const three = exportXml(
      schemaXml("tick", [["time", "sample-time"]]),
      schemaXml("os-log", [["time", "event-time"]]),
      "<row><event-time>1</event-time></row>",
    );
    expect(() => read(three)).toThrow("gpu.xml, line 5: a row without the schema of its table, after those of several");
  });

  it("lists a table that it does not read, with its rows", () => {
    const { tables, series } = read(
      exportXml(`${schemaXml("os-log", [["time", "event-time"]])}<row><event-time id="1">7</event-time></row>`),
    );
    expect(tables).toMatchObject([
      { name: "os-log", rows: 1, read: null, reason: "holds no GPU work that is read here" },
    ]);
    expect(series).toEqual([]);
  });
});

describe("GPU counters", () => {
  const columns = [
    ["name", "gpu-counter-name"],
    ["label", "formatted-label"],
    ["value", "fixed-decimal"],
  ] as const;
  const row = (name: string, label: string, value: string) =>
    `<row><gpu-counter-name fmt="${name}">${name}</gpu-counter-name><formatted-label fmt="${label}"/><fixed-decimal fmt="${value}">${value}</fixed-decimal></row>`;

  it("have the unit that stands behind the printed figure, where that figure is the value", () => {
    const rows =
      row("Kernel Occupancy", "41.7% (share of ...)", "41.6684") +
      row("Read Bandwidth", "2 GB/s", "2") +
      row("Read Bandwidth", "512 MB/s", "0.5");
    const { series, notes } = read(exportXml(schemaXml("metal-gpu-counter-intervals", columns) + rows));
    expect(series.map(({ label, unit, sum, max }) => [label, unit, sum, max])).toEqual([
      ["Kernel Occupancy", "%", null, 41.6684],
      ["Read Bandwidth", "GB/s", null, 2],
      ["Read Bandwidth", null, null, 0.5],
    ]);
    expect(notes).toContain("1 values of counters have no unit: none is printed behind the value");
  });

  const values = `${schemaXml("gpu-counter-value", [
    ["counter-id", "uint32"],
    ["value", "fixed-decimal"],
  ])}<row><uint32 id="1" fmt="3">3</uint32><fixed-decimal id="2" fmt="12.5">12.5</fixed-decimal></row><row><uint32 ref="1"/><fixed-decimal id="4" fmt="0.5">0.5</fixed-decimal></row>`;

  it("have their name where the file holds the table of names, also behind the values", () => {
    const info = `${schemaXml("gpu-counter-info", [
      ["counter-id", "uint32"],
      ["name", "gpu-counter-name"],
      ["type", "string"],
    ])}<row><uint32 ref="1"/><gpu-counter-name id="5" fmt="ALU Limiter">ALU Limiter</gpu-counter-name><string id="6" fmt="Percentage">Percentage</string></row>`;
    expect(read(exportXml(values, info)).series).toMatchObject([
      { label: "ALU Limiter (counter 3)", unit: "%", count: 2, median: 6.5 },
    ]);
    const { series, notes } = read(exportXml(values));
    expect(series).toMatchObject([{ label: "counter 3", unit: null }]);
    expect(notes.join()).toContain("Counters have numbers only");
  });
});

describe("a table of contents", () => {
  it("says what the recording was, and nothing of the environment or the arguments", () => {
    const summary = read(TOC_XML);
    expect(summary.tool.version).toBe("27.2 (27B5019j)");
    expect(summary.facts).toEqual([
      { label: "device", value: "Mac Studio, macOS, 26.4 (25E246)" },
      { label: "process", value: "node (42)" },
      { label: "recording began", value: "2026-11-29T02:18:16.751+03:00" },
      { label: "recorded seconds", value: "6.075493" },
      { label: "template", value: "Metal System Trace" },
    ]);
    expect(summary.tables.map((table) => table.name)).toEqual(["metal-gpu-intervals", "tick"]);
    expect(JSON.stringify(summary)).not.toMatch(/secret|private/i);
  });
});

describe("what is refused, with the line and what was expected", () => {
  const first =
    '<row><start-time>1</start-time><duration id="2">5</duration><gpu-channel-name id="3">Compute</gpu-channel-name><sentinel/><sentinel/><sentinel/><sentinel/><sentinel/><sentinel/></row>\n';
  const cases: readonly (readonly [string, string, string])[] = [
    ["entities", `<!DOCTYPE x [<!ENTITY a "aaaa">]>\n${INTERVALS_XML.slice(22)}`, "a document type"],
    ["an entity that nobody declared", intervalsOf("<row>&lol;</row>"), "undefined entity"],
    ["a file that ends early", INTERVALS_XML.slice(0, -40), "the file ends within <row>"],
    ["no export", "<plist><dict/></plist>", "<plist>; <trace-query-result> of xctrace export is expected"],
    [
      "an export of nothing",
      '<?xml version="1.0"?><trace-query-result></trace-query-result>',
      "no table: the --xpath of the export found nothing",
    ],
    [
      "another encoding",
      '<?xml version="1.0" encoding="ISO-8859-1"?><trace-query-result/>',
      "encoding ISO-8859-1; UTF-8 is expected",
    ],
    [
      "a row with too few values",
      intervalsOf(`${first}<row><start-time>1</start-time></row>`),
      "line 4: a row of 1 values; its schema has 9 columns",
    ],
    [
      "a row with too many",
      intervalsOf(first.replace("</row>", "<sentinel/></row>")),
      "a row with more than the 9 columns",
    ],
    [
      "a value that is no number",
      intervalsOf(first.replace(">5<", ">NaN<")),
      '<duration> holds "NaN"; a number is expected',
    ],
    ["a hexadecimal number", intervalsOf(first.replace(">5<", ">0x10<")), 'holds "0x10"'],
    ["an infinite number", intervalsOf(first.replace(">5<", ">1e999<")), 'holds "1e999"'],
    ["a number beyond 2^53", intervalsOf(first.replace(">5<", ">9007199254740993<")), "duration is beyond 2^53"],
    [
      "a value in another column",
      intervalsOf(first.replace("<sentinel/>", "<process>x</process>")),
      "<process> in the column frame-number; <gpu-frame-number> is expected",
    ],
    [
      "a reference to nothing",
      intervalsOf(first + first.replace('<duration id="2">5</duration>', '<duration ref="9"/>').replace(' id="3"', "")),
      "refers to id 9, which no value before it has",
    ],
    [
      "a reference to another element",
      intervalsOf(first + first.replace('<duration id="2">5</duration>', '<duration ref="3"/>').replace(' id="3"', "")),
      "refers to id 3, which is the value of another element",
    ],
    ["an id twice", intervalsOf(first + first), "id 2 is given twice"],
    ["an id beyond the limit", intervalsOf(first.replace('id="2"', 'id="999999999"')), "is no number below"],
    ["a schema without columns", exportXml('<schema name="metal-gpu-intervals"></schema>'), "has no mnemonic"],
    ["deep nesting", intervalsOf(`<row>${"<a>".repeat(40)}${"</a>".repeat(40)}</row>`), "deep; the limit is 32"],
    [
      "a row of very many values",
      intervalsOf(`<row>${"<start-time>1</start-time>".repeat(200_000)}</row>`),
      "<start-time> in the column duration",
    ],
    [
      "a gigantic cell",
      intervalsOf(`<row><start-time><b>${"<a>x</a>".repeat(200_000)}</b></start-time></row>`),
      "a row of more than",
    ],
    [
      "a gigantic text",
      intervalsOf(`<row><start-time>${"x".repeat(3 << 20)}</start-time></row>`),
      "characters without an element",
    ],
    ["a broken tag", INTERVALS_XML.replace("</row>", "</rwo>"), "no XML: "],
  ];
  it.each(cases)("%s", (_, text, words) => {
    expect(() => read(text, 1 << 16)).toThrow(words);
    expect(() => read(text, 1 << 16)).toThrow(/^gpu\.xml, line \d+: /);
  });

  it("bytes that are no UTF-8", () => {
    const reader = new XctraceReader("gpu.xml");
    expect(() => reader.write(Uint8Array.of(0x3c, 0xff, 0x3e))).toThrow("bytes that are no UTF-8");
  });
});
