/** Files that are made to hurt: time, memory, names, and what is left when a process is killed. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { encoderLabel, readCounters } from "../../../electron/attachments/counters_csv.ts";
import { SeriesStore } from "../../../electron/attachments/series.ts";
import { verifyAttachments } from "../../../electron/attachments/store.ts";
import { XctraceReader } from "../../../electron/attachments/xctrace.ts";
import { plainLabel } from "../../../electron/attachments/xctrace_rows.ts";
import { attachedBeside } from "../../../electron/evidence/bag.ts";
import { exportZip } from "../../../electron/evidence/zip.ts";
import { COUNTERS_CSV, exportXml, INTERVALS_XML, schemaXml } from "./exports.ts";
import { attachTo, fileIn, freshBundles } from "./fresh.ts";

let out: string;
let bundle: string;

freshBundles((fresh) => {
  ({ out, bundle } = fresh);
});

const file = (name: string, text: string | Uint8Array) => fileIn(out, name, text);

const add = (place: string) => attachTo(bundle, place);

const reasons = async () => {
  const { attachments, reasons: beside } = await verifyAttachments(bundle);
  return [...beside, ...attachments.flatMap((entry) => entry.reasons)];
};

/** Intervals with label, depth and process of one's own. */
function intervals(rows: readonly (readonly [label: string, depth: string, process: string])[]): string {
  const columns = [
    ["duration", "duration"],
    ["event-depth", "metal-nesting-level"],
    ["event-label", "formatted-label"],
    ["process", "process"],
    ["channel-name", "gpu-channel-name"],
  ] as const;
  const lines = rows.map(
    ([label, depth, process]) =>
      `<row><duration>5</duration><metal-nesting-level>${depth}</metal-nesting-level><formatted-label fmt="${label}"/><process fmt="${process}"/><gpu-channel-name>c</gpu-channel-name></row>`,
  );
  return exportXml(schemaXml("metal-gpu-intervals", columns) + lines.join(""));
}

function read(text: string) {
  const reader = new XctraceReader("gpu.xml");
  reader.write(Buffer.from(text));
  return reader.end();
}

describe("labels of half a megabyte of spaces take no longer than others", () => {
  // A search that takes the square of the length would not come to its end in hours.
  const spaces = " ".repeat(500_000);

  it("in an export", () => {
    expect(plainLabel(`a${spaces}b`)).toBe(`a${spaces}b`);
    expect(plainLabel(`a${spaces}( node (42) )${spaces}0x1f`)).toBe("a");
    expect(plainLabel(`a (${spaces}(${spaces}`)).toBe(`a (${spaces}(${spaces}`);
    expect(read(intervals([[`a${spaces}(${spaces}b`, "0", "p"]])).series).toHaveLength(1);
  });

  it("in counters", () => {
    expect(encoderLabel(`a${spaces}b`, false)).toHaveLength(1000);
    expect(encoderLabel(`a${spaces}0x1f`, false)).toBe("a");
    const text = COUNTERS_CSV.replace("partial 0x79f00c8c0", `"partial${spaces}0x79f00c8c0"`);
    expect(readCounters("a.csv", Buffer.from(text)).series).toHaveLength(4);
  });
});

describe("memory is bounded", () => {
  it("where counters have millions of rows: the rest is not even read", () => {
    const text = `Index,Encoder FunctionIndex,Encoder Label\n${",,\n".repeat(11_000_000)}`;
    expect(() => readCounters("a.csv", Buffer.from(text))).toThrow("a.csv: more than 100,000 rows");
  });

  it("where every value has a label of its own", () => {
    const store = new SeriesStore((words) => {
      throw new Error(words);
    });
    const before = process.memoryUsage().heapUsed;
    const key = { table: 0, channel: null, depth: null, quantity: "q", unit: null, summable: true };
    const long = "\u6f22".repeat(990);
    for (let k = 0; k < 30_000; ++k) store.add({ ...key, label: `${long}${k}`, process: `${long}${k}` }, 1);
    const { series, left } = store.end();
    expect([series.length, left]).toEqual([4096, 30_000 - 4096]);
    // With the names themselves it would be 120 MB and more.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(80 << 20);
  });

  it("of a summary, in bytes and not in characters", async () => {
    const rows = Array.from({ length: 4096 }, (_, k) => [`${"\u6f22".repeat(990)}${k}`, "0", "p"] as const);
    await expect(add(file("a.xml", intervals(rows)))).rejects.toThrow("the limit is 8,388,608: export fewer tables");
  });
});

it("a nesting level that is no whole number is none", () => {
  const { series } = read(
    intervals([
      ["a", "1e300", "p"],
      ["b", "0.5", "p"],
      ["c", "-1", "p"],
      ["d", "2", "p"],
    ]),
  );
  expect(series.map(({ label, depth }) => [label, depth])).toEqual([
    ["a", null],
    ["b", null],
    ["c", null],
    ["d", 2],
  ]);
});

it("a name is cut between characters or not, and reads the same again", async () => {
  await add(file("a.xml", intervals([[`${"x".repeat(996)}\u{1f600}\u{1f600}\u{1f600}`, "0", "\u009b31m\u{1f600}"]])));
  expect(await reasons()).toEqual([]);
});

describe("a process that is killed while it attaches", () => {
  /** What a process that has ended left half written. */
  function leftBehind(): string {
    const gone = execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }).trim();
    const partial = path.join(attachedBeside(bundle), `.partial-${"0".repeat(16)}-${gone}`);
    fs.mkdirSync(partial, { recursive: true });
    return partial;
  }

  it("leaves nothing that is taken for an attachment, and the next one takes it away", async () => {
    const partial = leftBehind();
    const empty = exportZip(bundle, path.join(out, "empty.zip"));
    fs.writeFileSync(path.join(partial, "original.gz"), gzipSync(INTERVALS_XML).subarray(0, 100));
    expect(await reasons()).toEqual([]);
    expect(exportZip(bundle, path.join(out, "half.zip"))).toEqual(empty);
    await add(file("gpu.xml", INTERVALS_XML));
    expect(fs.existsSync(partial)).toBe(false);
    expect(await reasons()).toEqual([]);
  });

  it("is told from one that is at work, and from a name that only begins so", async () => {
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    const partial = path.join(attachedBeside(bundle), `.partial-${"0".repeat(16)}-${other.pid}`);
    fs.mkdirSync(partial, { recursive: true });
    await add(file("gpu.xml", INTERVALS_XML));
    expect(fs.existsSync(partial)).toBe(true);
    other.kill("SIGKILL");
    await once(other, "exit");
    fs.mkdirSync(path.join(attachedBeside(bundle), ".partial-notes"));
    expect(await reasons()).toEqual([".partial-notes: does not belong to the attachments"]);
  });
});

it("of the same bytes at the same moment one is attached", async () => {
  const place = file("gpu.xml", INTERVALS_XML);
  const ended = await Promise.allSettled([add(place), add(place), add(place)]);
  expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const one of ended) {
    if (one.status === "rejected")
      expect(String(one.reason)).toMatch(/is being attached at this moment|is attached already/);
  }
  expect(fs.readdirSync(attachedBeside(bundle))).toHaveLength(1);
  expect(await reasons()).toEqual([]);
});

describe("an original that was tampered with", () => {
  let packed: string;
  beforeEach(async () => {
    const { id } = await add(file("gpu.xml", INTERVALS_XML));
    packed = path.join(attachedBeside(bundle), id, "original.gz");
  });

  it("a payload behind it is found, which gunzip leaves out in silence", async () => {
    fs.appendFileSync(packed, Buffer.alloc(300_000));
    expect(await reasons()).toEqual([
      "the original cannot be read: 300,000 bytes stand behind it that belong to nothing",
    ]);
  });

  it("a file beyond the limit is not unpacked", async () => {
    fs.truncateSync(packed, 3 * 1024 ** 3);
    expect(await reasons()).toEqual(["original.gz has 3,221,225,472 bytes; the limit is 125,829,120"]);
  });

  it("a link in its place, or in the place of its folder, is none", async () => {
    const elsewhere = path.join(out, "elsewhere");
    fs.renameSync(packed, elsewhere);
    fs.symlinkSync(elsewhere, packed);
    expect(await reasons()).toEqual(["original.gz is missing"]);
    const folder = path.dirname(packed);
    fs.renameSync(folder, path.join(out, "folder"));
    fs.symlinkSync(path.join(out, "folder"), folder);
    expect(await reasons()).toEqual([`${path.basename(folder)}: does not belong to the attachments`]);
  });
});

it("a folder of attachments that is a link or a file is refused, and nothing is written through it", async () => {
  const elsewhere = path.join(out, "elsewhere");
  fs.mkdirSync(elsewhere);
  const gpu = file("gpu.xml", INTERVALS_XML);
  fs.symlinkSync(elsewhere, attachedBeside(bundle));
  await expect(add(gpu)).rejects.toThrow("is a symbolic link; attachments stand in a folder of this name");
  expect((await reasons()).join()).toContain("is a symbolic link");
  expect(fs.readdirSync(elsewhere)).toEqual([]);
  fs.rmSync(attachedBeside(bundle));
  fs.writeFileSync(attachedBeside(bundle), "");
  await expect(add(gpu)).rejects.toThrow("is not a folder; attachments stand in a folder of this name");
  expect((await reasons()).join()).toContain("is not a folder");
});
