/** The index of the runs: read instead of the records, and never against them. */
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { History } from "../../../electron/workbench/history.ts";
import { INDEX_FILE, INDEX_FROM } from "../../../electron/workbench/history_index.ts";
import { fixtureBundle, temporary } from "../evidence/fixture.ts";

let folder: string;

beforeEach(() => {
  folder = temporary();
});

afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

function bundles(count: number): void {
  fixtureBundle(folder);
  const first = path.join(folder, "fixture.lockstep");
  for (let index = 1; index < count; index++) {
    fs.cpSync(first, path.join(folder, `copy${index}.lockstep`), { recursive: true });
  }
}

/** Passed results by bundle, as a workbench that starts now lists them. */
async function listed(): Promise<ReadonlyMap<string, number | string>> {
  const entries = await new History(folder).list();
  return new Map(entries.map((entry) => [entry.id, entry.state === "kept" ? entry.passed : entry.state]));
}

/** Changes the index by hand, as a test for whether it is read at all. */
function forge(change: (text: string) => string): void {
  const file = path.join(folder, INDEX_FILE);
  fs.writeFileSync(file, change(fs.readFileSync(file, "utf8")));
}

it("is read at the next start, and no longer once a file of the bundle is written again", async () => {
  bundles(INDEX_FROM);
  expect([...new Set((await listed()).values())]).toEqual([2]);
  forge((text) => text.replaceAll('"passed":2', '"passed":77'));
  expect([...new Set((await listed()).values())]).toEqual([77]);
  // The same bytes, the same size, and the time of the last write set back.
  const record = path.join(folder, "copy3.lockstep", "data", "record.json");
  const { atime, mtime } = fs.statSync(record);
  fs.writeFileSync(record, fs.readFileSync(record));
  fs.utimesSync(record, atime, mtime);
  const after = await listed();
  expect(after.get("copy3.lockstep")).toBe(2);
  expect(after.get("copy4.lockstep")).toBe(77);
  // What was read is in the index now.
  expect((await listed()).get("copy3.lockstep")).toBe(2);
});

it("follows bundles that come, go and break", async () => {
  bundles(INDEX_FROM);
  await listed();
  fs.rmSync(path.join(folder, "copy1.lockstep"), { recursive: true });
  fs.writeFileSync(path.join(folder, "copy2.lockstep", "data", "record.json"), "{}");
  fs.cpSync(path.join(folder, "fixture.lockstep"), path.join(folder, "more.lockstep"), { recursive: true });
  const after = await listed();
  expect(after.has("copy1.lockstep")).toBe(false);
  expect(after.get("copy2.lockstep")).toBe("bad");
  expect(after.get("more.lockstep")).toBe(2);
});

it("is no loss where it is broken, of another version, a link or not to be written", async () => {
  bundles(INDEX_FROM);
  await listed();
  const whole = [...new Set((await listed()).values())];
  for (const text of ["", "{", '{"schema":"lockstep.index/2","bundles":{}}', '{"schema":"lockstep.index/1"}']) {
    forge(() => text);
    expect([...new Set((await listed()).values())]).toEqual(whole);
  }
  fs.rmSync(path.join(folder, INDEX_FILE));
  fs.mkdirSync(path.join(folder, INDEX_FILE));
  expect([...new Set((await listed()).values())]).toEqual(whole);
  expect(fs.readdirSync(folder).filter((name) => name.startsWith(`${INDEX_FILE}.`))).toEqual([]);
});

it("is not made for a few bundles", async () => {
  bundles(3);
  await listed();
  expect(fs.existsSync(path.join(folder, INDEX_FILE))).toBe(false);
});
