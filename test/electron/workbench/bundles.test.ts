/** What a window does with bundles: verify with progress, open from elsewhere, export, diff, notes. Over the contract, with real threads. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PIECE_BYTES } from "../../../electron/contract.ts";
import { sha256File, walk } from "../../../electron/evidence/bag.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import type { VerifyMessage } from "../../../electron/evidence/verify_messages.ts";
import { exportZip } from "../../../electron/evidence/zip.ts";
import { Verifications } from "../../../electron/workbench/verifications.ts";
import { fixtureBundle, temporary } from "../evidence/fixture.ts";
import { WHERE } from "../runs/harness.ts";
import { type OpenedWindow, openWindow } from "./fixture.ts";

let opened: OpenedWindow;
let elsewhere: string;
/** A bundle that is not of the evidence folder. */
let foreign: string;

beforeAll(() => {
  opened = openWindow();
  fixtureBundle(opened.evidence);
  fixtureBundle(opened.evidence, { error: 0.5 });
  elsewhere = temporary();
  foreign = fixtureBundle(elsewhere).path;
});

afterAll(async () => {
  await opened.close();
  fs.rmSync(elsewhere, { recursive: true, force: true });
});

const GOOD = "fixture.lockstep";
const BAD = "fixture-2.lockstep";

interface Sent {
  readonly path: string;
  readonly data: Uint8Array;
}

/** Sends files as a window does. `edit` changes what is announced. */
async function send(purpose: "bundle" | "zip" | "inputs", name: string, files: readonly Sent[], piece = PIECE_BYTES) {
  const { window } = opened;
  const announced = files.map((file) => ({ path: file.path, bytes: file.data.byteLength }));
  const { upload } = await window.call("upload.begin", { purpose, name, files: announced });
  for (const [index, { data }] of files.entries()) {
    for (let at = 0; at < data.byteLength; at += piece) {
      await window.call("upload.write", { upload, file: index, data: data.slice(at, at + piece) });
    }
  }
  return window.call("upload.finish", { upload });
}

function filesOf(folder: string): readonly Sent[] {
  return walk(folder).files.map((file) => ({
    path: file.path,
    data: new Uint8Array(fs.readFileSync(path.join(folder, file.path))),
  }));
}

async function openedList(window = opened.window) {
  for await (const list of window.stream("bundle.opened", {})) return list;
  throw new Error("the list comes at once");
}

/** Temporary folders of opened bundles on this machine. */
function areas(): readonly string[] {
  return fs.readdirSync(path.dirname(elsewhere)).filter((name) => name.startsWith("lockstep-opened-"));
}

describe("verification", () => {
  it("says how far it is, then the same result as in one thread", async () => {
    const seen: VerifyMessage[] = [];
    for await (const item of opened.window.stream("evidence.verifying", { id: GOOD })) seen.push(item as VerifyMessage);
    const last = seen.at(-1);
    const { result, identity, checks, notes } = verifyBundle(path.join(opened.evidence, GOOD));
    expect(last).toEqual({ type: "done", verification: { result, identity, checks, notes } });
    const steps = seen.flatMap((item) => (item.type === "progress" ? [item.step] : []));
    expect(steps.length).toBeGreaterThan(0);
    expect([...steps].sort((a, b) => a - b)).toEqual(steps);
    expect(seen.some((item) => item.type === "progress" && item.totalBytes > 0)).toBe(true);
  });

  it("is shared by windows that ask at once, and ends when nobody waits", async () => {
    const verifications = new Verifications(WHERE.verifier);
    const folder = path.join(opened.evidence, GOOD);
    const { signal } = new AbortController();
    const [a, b] = await Promise.all([verifications.run(folder, signal), verifications.run(folder, signal)]);
    expect(a).toEqual(b);
    const leaving = new AbortController();
    const left = verifications.run(folder, leaving.signal);
    leaving.abort();
    await expect(left).rejects.toThrow("was stopped");
    // One who leaves does not take it from one who stays.
    const first = new AbortController();
    const gone = verifications.run(folder, first.signal);
    const stays = verifications.run(folder, signal);
    first.abort();
    await expect(gone).rejects.toThrow("was stopped");
    expect((await stays).result).toBe("valid");
    verifications.close();
  });

  it("that cannot be carried out is said so, and is no result", async () => {
    const verifications = new Verifications(path.join(elsewhere, "no_thread.mjs"));
    const asked = verifications.run(path.join(opened.evidence, GOOD), new AbortController().signal);
    await expect(asked).rejects.toThrow("The bundle counts as unverified");
  });

  it("of many bundles at once comes to its end for each", async () => {
    const verifications = new Verifications(WHERE.verifier);
    const { signal } = new AbortController();
    const folders = Array.from({ length: 5 }, () => fixtureBundle(elsewhere).path);
    const results = await Promise.all(folders.map((folder) => verifications.run(folder, signal)));
    expect(results.map((entry) => entry.result)).toEqual(folders.map(() => "valid"));
    for (const folder of folders) fs.rmSync(folder, { recursive: true });
  });
});

describe("a bundle from elsewhere", () => {
  it("is opened where it stands, apart from this folder, with everything that works on a bundle", async () => {
    const { window } = opened;
    const { id } = await window.call("bundle.open", { path: foreign });
    expect(id).toBe("fixture-3.lockstep");
    const { bundles, shown } = await openedList();
    expect([bundles.length, shown]).toEqual([1, null]);
    expect(bundles[0]).toMatchObject({ from: foreign, entry: { state: "kept", id, outcome: "passed" } });
    expect((await window.call("runs.list", {})).runs.map((entry) => entry.id).sort()).toEqual([BAD, GOOD]);
    expect((await window.call("evidence.verify", { id: id! })).result).toBe("valid");
    expect(await window.call("runs.diff", { a: GOOD, b: id! })).toMatchObject({ same: 2, config: [] });
    const [result] = (await window.call("runs.record", { id: id! })).results;
    const output = result!.outputs[0]!;
    expect((await window.call("runs.array", { id: id!, path: output.path })).data.length).toBe(64);
    await expect(window.call("notes.write", { id: id!, text: "x", was: null })).rejects.toThrow("read-only");
    // Twice the same is once.
    expect((await window.call("bundle.open", { path: foreign })).id).toBe(id);
    expect(await window.call("bundle.close", { id: id! })).toEqual({ closed: true });
    expect(await window.call("bundle.close", { id: id! })).toEqual({ closed: false });
    expect(fs.existsSync(foreign)).toBe(true);
    await expect(window.call("runs.record", { id: id! })).rejects.toThrow("is not in");
  });

  it("comes as its files, piece by piece, and goes with everything temporary", async () => {
    const { window } = opened;
    const sent = await send("bundle", "From A Friend.lockstep", filesOf(foreign), 1000);
    if (sent.kind !== "bundle") throw new Error("a bundle was sent");
    expect(sent.id).toBe("from-a-friend.lockstep");
    expect((await window.call("evidence.verify", { id: sent.id })).identity).toBe(verifyBundle(foreign).identity);
    const { path: folder } = await window.call("evidence.reveal", { id: sent.id });
    await window.call("bundle.close", { id: sent.id });
    expect(fs.existsSync(folder)).toBe(false);
  });

  it("comes as a zip, by path or by drop", async () => {
    const { window } = opened;
    const zip = path.join(elsewhere, "sent.zip");
    exportZip(foreign, zip);
    const { id } = await window.call("bundle.open", { path: zip });
    expect((await window.call("evidence.verify", { id: id! })).result).toBe("valid");
    const sent = await send("zip", "sent.zip", [{ path: "sent.zip", data: new Uint8Array(fs.readFileSync(zip)) }]);
    if (sent.kind !== "bundle") throw new Error("a bundle was sent");
    expect(sent.id).not.toBe(id);
    expect((await openedList()).bundles.map((entry) => entry.from)).toEqual([zip, "sent.zip"]);
    for (const name of [id!, sent.id]) await window.call("bundle.close", { id: name });
  });

  it("of this very folder is not opened twice", async () => {
    expect(await opened.window.call("bundle.open", { path: path.join(opened.evidence, GOOD) })).toEqual({ id: GOOD });
    expect((await openedList()).bundles).toEqual([]);
  });

  it("that is none is refused in words and leaves nothing", async () => {
    const { window } = opened;
    const text = path.join(elsewhere, "text.txt");
    fs.writeFileSync(text, "text");
    const empty = path.join(elsewhere, "empty");
    fs.mkdirSync(empty);
    await expect(window.call("bundle.open", { path: text })).rejects.toThrow("no folder and no zip");
    await expect(window.call("bundle.open", { path: empty })).rejects.toThrow("neither bagit.txt nor data/");
    await expect(window.call("bundle.open", { path: path.join(elsewhere, "absent") })).rejects.toThrow("is not there");
    await expect(window.call("bundle.open", { path: null })).rejects.toThrow("no desktop");
    const data = new Uint8Array(Buffer.from("PK, but no zip"));
    await expect(send("zip", "x.zip", [{ path: "x.zip", data }])).rejects.toThrow(/^x\.zip: .*Nothing was unpacked/);
    await expect(send("bundle", "x", [{ path: "readme.txt", data }])).rejects.toThrow("neither bagit.txt");
    expect((await openedList()).bundles).toEqual([]);
    const area = areas().map((name) => fs.readdirSync(path.join(path.dirname(elsewhere), name)));
    expect(area.flat()).toEqual([]);
  });

  it("is opened by the shell, and the window that comes then is told to go there, once", async () => {
    const other = openWindow();
    await other.open(foreign);
    const { bundles, shown } = await openedList(other.window);
    expect(shown).toBe(bundles[0]!.entry.id);
    expect((await openedList(other.window)).shown).toBeNull();
    await other.close();
  });
});

describe("what a window announces", () => {
  const begin = (
    files: readonly { readonly path: string; readonly bytes: number }[],
    purpose: "bundle" | "zip" | "inputs" = "bundle",
  ) => opened.window.call("upload.begin", { purpose, name: "x", files: [...files] });

  it("leads nowhere outside and stays within the limits of a bundle", async () => {
    for (const file of [
      "../x",
      "/etc/passwd",
      "data/../../x",
      "data\\x",
      "Data/x",
      "data//x",
      "data/./x",
      "c:/x",
      "data/\u0000",
      ".x",
      "\u00e9",
    ]) {
      await expect(
        begin([
          { path: "bagit.txt", bytes: 1 },
          { path: file, bytes: 1 },
        ]),
      ).rejects.toThrow("leading nowhere else");
    }
    await expect(begin([{ path: `${"a/".repeat(9)}x`, bytes: 1 }])).rejects.toThrow("deep; the limit is 8");
    await expect(
      begin([
        { path: "a", bytes: 1 },
        { path: "a", bytes: 1 },
      ]),
    ).rejects.toThrow("is there twice");
    await expect(
      begin([
        { path: "a", bytes: 1 },
        { path: "a/b", bytes: 1 },
      ]),
    ).rejects.toThrow("a file and the folder");
    await expect(begin([{ path: "a", bytes: 2 ** 28 }])).rejects.toThrow("the limit is 134,217,728 bytes");
    const half = 120 * 1024 * 1024;
    await expect(begin(Array.from({ length: 5 }, (_, n) => ({ path: `a${n}`, bytes: half })))).rejects.toThrow(
      "536,870,912",
    );
    await expect(begin(Array.from({ length: 4097 }, (_, n) => ({ path: `a${n}`, bytes: 0 })))).rejects.toThrow(
      "4097 files",
    );
    await expect(begin([{ path: "x.zip", bytes: 2 ** 29 }], "zip")).rejects.toThrow("268,435,456");
    await expect(begin([{ path: "x", bytes: 2 ** 33 }], "inputs")).rejects.toMatchObject({
      mend: "run it by its path: lockstep parity --inputs FILE",
    });
    await expect(begin([], "inputs")).rejects.toThrow();
    await expect(begin([{ path: "x", bytes: 1.5 }], "inputs")).rejects.toThrow();
  });

  it("is what it sends: in order, no more, no less, and whole", async () => {
    const { window } = opened;
    const data = new Uint8Array(4);
    const files = [
      { path: "bagit.txt", bytes: 8 },
      { path: "data/x", bytes: 0 },
      { path: "data/y", bytes: 4 },
    ];
    const more = await begin(files);
    await window.call("upload.write", { upload: more.upload, file: 0, data });
    await expect(
      window.call("upload.write", { upload: more.upload, file: 0, data: new Uint8Array(5) }),
    ).rejects.toThrow("9 bytes came, 8 bytes were announced");
    await expect(window.call("upload.write", { upload: more.upload, file: 0, data })).rejects.toThrow("is over");
    const order = await begin(files);
    await expect(window.call("upload.write", { upload: order.upload, file: 2, data })).rejects.toThrow(
      "file 0 of 3 is due",
    );
    const less = await begin(files);
    await window.call("upload.write", { upload: less.upload, file: 0, data: new Uint8Array(8) });
    await expect(window.call("upload.finish", { upload: less.upload })).rejects.toThrow("2 of 3 files have come whole");
    const large = await begin([{ path: "x.zip", bytes: 2 ** 20 }], "zip");
    await expect(
      window.call("upload.write", { upload: large.upload, file: 0, data: new Uint8Array(PIECE_BYTES + 1) }),
    ).rejects.toThrow("at most");
    await window.call("upload.cancel", { upload: large.upload });
    await expect(window.call("upload.finish", { upload: large.upload })).rejects.toThrow("is over");
  });

  it("is not more than a few uploads at once", async () => {
    const { window } = opened;
    const going = await Promise.all(Array.from({ length: 4 }, () => begin([{ path: "a", bytes: 1 }])));
    await expect(begin([{ path: "a", bytes: 1 }])).rejects.toThrow("4 uploads are going on");
    for (const { upload } of going) await window.call("upload.cancel", { upload });
  });

  it("as inputs must be a safetensors file", async () => {
    const data = new Uint8Array(Buffer.from("no tensors in here"));
    await expect(send("inputs", "../../x.safetensors", [{ path: "x", data }])).rejects.toThrow("safetensors");
    const golden = path.join(WHERE.golden, "gqa_merge_L13_d17.safetensors");
    const bytes = new Uint8Array(fs.readFileSync(golden));
    const sent = await send("inputs", "../My file?.safetensors", [{ path: "x", data: bytes }]);
    if (sent.kind !== "inputs") throw new Error("inputs were sent");
    expect(path.basename(sent.path)).toBe("My_file_.safetensors");
    expect([sha256File(sent.path), sent.tensors > 0]).toEqual([sha256File(golden), true]);
  });
});

describe("an export", () => {
  it("comes in pieces that make the file of the command line", async () => {
    const parts: Uint8Array[] = [];
    let total = 0;
    for await (const item of opened.window.stream("evidence.export", { id: GOOD })) {
      expect(item.data.byteLength).toBeLessThanOrEqual(PIECE_BYTES);
      parts.push(item.data as Uint8Array);
      total = item.totalBytes;
    }
    const zip = path.join(elsewhere, "same.zip");
    exportZip(path.join(opened.evidence, GOOD), zip);
    expect(Buffer.concat(parts).equals(fs.readFileSync(zip))).toBe(true);
    expect(total).toBe(fs.statSync(zip).size);
    await expect(opened.window.call("evidence.save", { id: GOOD })).rejects.toThrow("no desktop");
  });
});

describe("notes", () => {
  it("stand beside the bundle, which stays as it is", async () => {
    const { window, evidence } = opened;
    const before = verifyBundle(path.join(evidence, GOOD)).identity;
    const { note } = await window.call("notes.write", {
      id: GOOD,
      text: "  looked at the edge of tile 4 \n",
      was: null,
    });
    expect(note).toMatchObject({ id: GOOD, text: "looked at the edge of tile 4" });
    expect(JSON.parse(fs.readFileSync(path.join(evidence, `${GOOD}.notes.json`), "utf8"))).toEqual({
      schema: "lockstep.notes/1",
      text: note!.text,
      changedAt: note!.changedAt,
    });
    expect(await window.call("notes.list", {})).toEqual({ notes: [note] });
    expect(verifyBundle(path.join(evidence, GOOD)).identity).toBe(before);
    expect((await window.call("runs.list", {})).runs).toHaveLength(2);
    const again = await window.call("notes.write", { id: GOOD, text: "more", was: note!.changedAt });
    // Another window has written meanwhile.
    await expect(window.call("notes.write", { id: GOOD, text: "mine", was: note!.changedAt })).rejects.toThrow(
      "changed meanwhile",
    );
    await expect(window.call("notes.write", { id: GOOD, text: "mine", was: null })).rejects.toThrow(
      "changed meanwhile",
    );
    expect(await window.call("notes.write", { id: GOOD, text: " ", was: again.note!.changedAt })).toEqual({
      note: null,
    });
    expect(fs.existsSync(path.join(evidence, `${GOOD}.notes.json`))).toBe(false);
  });

  it("that cannot be read hide nothing and are not written over", async () => {
    const { window, evidence } = opened;
    const file = path.join(evidence, `${BAD}.notes.json`);
    for (const text of [
      "{",
      '{"schema":"lockstep.notes/2","text":"x","changedAt":"2026-01-01T00:00:00Z"}',
      '{"text":"a","text":"b"}',
    ]) {
      fs.writeFileSync(file, text);
      expect(await window.call("notes.list", {})).toEqual({ notes: [] });
      await expect(window.call("notes.write", { id: BAD, text: "x", was: null })).rejects.toThrow();
      expect(fs.readFileSync(file, "utf8")).toBe(text);
    }
    fs.rmSync(file);
    await expect(window.call("notes.write", { id: "absent.lockstep", text: "x", was: null })).rejects.toThrow(
      "is not in",
    );
    await expect(window.call("notes.write", { id: GOOD, text: "x".repeat(20_000), was: null })).rejects.toThrow();
  });
});

describe("a diff and a log", () => {
  it("are asked for by id", async () => {
    const { window } = opened;
    const diff = await window.call("runs.diff", { a: GOOD, b: BAD });
    expect(diff).toMatchObject({ schema: "lockstep.diff/1", verdicts: [{ change: "broke" }] });
    await expect(window.call("runs.diff", { a: GOOD, b: "absent.lockstep" })).rejects.toThrow("is not in");
    // Bundles without a log have none, which is no failure.
    expect(await window.call("runs.log", { id: GOOD })).toEqual({ lines: null });
  });
});
