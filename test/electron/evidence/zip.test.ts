/** A zip of a bundle: the same bytes everywhere, what comes out is what went in, and every archive that is not plain is refused. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attach, verifyAttachments } from "../../../electron/attachments/store.ts";
import { attachedBeside, sha256File, walk } from "../../../electron/evidence/bag.ts";
import { looksZipped, unzipBundle } from "../../../electron/evidence/unzip.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import { exportZip, planZip, zipPieces } from "../../../electron/evidence/zip.ts";
import { INTERVALS_XML } from "../attachments/exports.ts";
import { fixtureBundle, temporary } from "./fixture.ts";

let folder: string;
let bundle: string;
let counter = 0;

beforeAll(() => {
  folder = temporary();
  bundle = fixtureBundle(folder).path;
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function fresh(name: string): string {
  return path.join(folder, `${counter++}-${name}`);
}

interface Part {
  readonly name: string;
  readonly data?: Buffer;
  readonly method?: number;
  readonly flags?: number;
  readonly mode?: number;
  /** In place of the true figures. */
  readonly bytes?: number;
  readonly packed?: number;
  readonly crc?: number;
  readonly localName?: string;
  readonly offset?: number;
}

/** An archive of any kind, for those that must be refused. `tail` lies behind the end, `head` before the first entry. */
function archive(
  parts: readonly Part[],
  extra: { readonly head?: Buffer; readonly tail?: Buffer; readonly count?: number } = {},
): string {
  const locals: Buffer[] = [extra.head ?? Buffer.alloc(0)];
  const centrals: Buffer[] = [];
  let offset = locals[0]!.length;
  for (const part of parts) {
    const data = part.data ?? Buffer.from("x");
    const method = part.method ?? 0;
    const packed = method === 8 ? deflateRawSync(data) : data;
    const head = Buffer.alloc(30);
    const local = Buffer.from(part.localName ?? part.name);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(method, 8);
    head.writeUInt16LE(local.length, 26);
    const central = Buffer.alloc(46);
    const name = Buffer.from(part.name);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(part.flags ?? 0, 8);
    central.writeUInt16LE(method, 10);
    central.writeUInt32LE(part.crc ?? crc32(data), 16);
    central.writeUInt32LE(part.packed ?? packed.length, 20);
    central.writeUInt32LE(part.bytes ?? data.length, 24);
    central.writeUInt16LE(name.length, 28);
    central.writeUInt32LE(((part.mode ?? 0o100644) << 16) >>> 0, 38);
    central.writeUInt32LE(part.offset ?? offset, 42);
    locals.push(head, local, packed);
    centrals.push(central, name);
    offset += 30 + local.length + packed.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(extra.count ?? parts.length, 8);
  end.writeUInt16LE(extra.count ?? parts.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  const file = fresh("made.zip");
  fs.writeFileSync(file, Buffer.concat([...locals, directory, end, extra.tail ?? Buffer.alloc(0)]));
  return file;
}

/** Words with which an archive is refused; nothing may be left of it. */
function refusal(file: string): string {
  const target = fresh("unpacked");
  const before = fs.readdirSync(folder);
  let words = "was taken";
  try {
    unzipBundle(file, target);
  } catch (error) {
    expect(error).toMatchObject({ name: "BundleError" });
    words = (error as Error).message;
    expect(words).toContain("Nothing was unpacked");
    expect(fs.readdirSync(folder)).toEqual(before);
  }
  return words;
}

const GOOD: Part = { name: "b.lockstep/bagit.txt" };

describe("an export", () => {
  it("gives the same bytes for the same files, whatever their times and place", () => {
    const copy = path.join(temporary(), path.basename(bundle));
    fs.cpSync(bundle, copy, { recursive: true });
    for (const file of walk(copy).files) fs.utimesSync(path.join(copy, file.path), 0, 0);
    const [first, second] = [fresh("a.zip"), fresh("b.zip")];
    const { bytes } = exportZip(bundle, first);
    exportZip(copy, second);
    expect(sha256File(first)).toBe(sha256File(second));
    expect(fs.statSync(first).size).toBe(bytes);
    expect(planZip(bundle).bytes).toBe(bytes);
    expect([...zipPieces(planZip(bundle))].every((piece) => piece.constructor === Uint8Array)).toBe(true);
    fs.rmSync(path.dirname(copy), { recursive: true });
  });

  it("unpacks to the same bundle, here and with unzip", () => {
    const file = fresh("a.zip");
    exportZip(bundle, file);
    expect(looksZipped(file)).toBe(true);
    const target = fresh("unpacked");
    expect(unzipBundle(file, target)).toEqual({ name: "fixture.lockstep" });
    expect(walk(target)).toEqual(walk(bundle));
    expect(verifyBundle(target)).toMatchObject({ result: "valid", identity: verifyBundle(bundle).identity });
    if (spawnSync("unzip", ["-v"]).status === 0) {
      const out = fresh("by-unzip");
      expect(spawnSync("unzip", ["-q", file, "-d", out]).status).toBe(0);
      expect(walk(path.join(out, "fixture.lockstep"))).toEqual(walk(bundle));
    }
  });

  it("takes what is attached along, beside the bundle, and brings it back", async () => {
    const copy = path.join(temporary(), "c.lockstep");
    fs.cpSync(bundle, copy, { recursive: true });
    const plain = planZip(copy).bytes;
    const source = fresh("gpu.xml");
    fs.writeFileSync(source, INTERVALS_XML);
    const { id } = await attach({ bundle: copy, file: source, kind: null, importedBy: "test", now: new Date(0) });
    fs.mkdirSync(path.join(attachedBeside(copy), ".partial-0123456789abcdef-1"));
    fs.writeFileSync(path.join(attachedBeside(copy), ".partial-0123456789abcdef-1/original.gz"), "half");
    expect(planZip(copy).bytes).toBeGreaterThan(plain);
    const file = fresh("attached.zip");
    exportZip(copy, file);
    const target = fresh("unpacked");
    expect(unzipBundle(file, target)).toEqual({ name: "c.lockstep" });
    expect(walk(target)).toEqual(walk(bundle));
    expect(await verifyAttachments(target)).toMatchObject({ attachments: [{ id, reasons: [] }], reasons: [] });
    fs.writeFileSync(path.join(attachedBeside(copy), "other.txt"), "");
    expect(() => planZip(copy)).toThrow("does not belong to its attachments");
    fs.rmSync(path.dirname(copy), { recursive: true });
  });

  it("replaces nothing unless asked, and leaves nothing where it fails", () => {
    const file = fresh("there.zip");
    fs.writeFileSync(file, "mine");
    expect(() => exportZip(bundle, file)).toThrow("is there already");
    expect(fs.readFileSync(file, "utf8")).toBe("mine");
    exportZip(bundle, file, { replace: true });
    expect(looksZipped(file)).toBe(true);
    expect(() => exportZip(bundle, path.join(folder, "nowhere/x.zip"))).toThrow("cannot be written");
    expect(() => exportZip(temporary(), fresh("x.zip"))).toThrow("holds no file");
    expect(fs.readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
  });

  it("does not pack a file that changes meanwhile, nor a link", () => {
    const copy = path.join(temporary(), "c.lockstep");
    fs.cpSync(bundle, copy, { recursive: true });
    const plan = planZip(copy);
    fs.appendFileSync(path.join(copy, "data/command.txt"), "x");
    expect(() => [...zipPieces(plan)]).toThrow("changed while it was exported");
    fs.symlinkSync("/etc/hostname", path.join(copy, "data/link.txt"));
    expect(() => planZip(copy)).toThrow("a symbolic link");
    fs.rmSync(path.dirname(copy), { recursive: true });
  });
});

describe("an archive from elsewhere", () => {
  it("is taken with or without the bundle's folder, stored or deflated", () => {
    for (const prefix of ["", "b.lockstep/"]) {
      const target = fresh("unpacked");
      const deflated = { name: `${prefix}data/command.txt`, method: 8, data: Buffer.from("lockstep\n") };
      const parts = [{ name: `${prefix}bagit.txt` }, deflated, { name: `${prefix}data/`, data: Buffer.alloc(0) }];
      expect(unzipBundle(archive(parts), target)).toEqual({ name: prefix === "" ? null : "b.lockstep" });
      expect(fs.readFileSync(path.join(target, "data/command.txt"), "utf8")).toBe("lockstep\n");
    }
  });

  it("may hold attachments beside the bundle, listed first as well, and nothing else there", () => {
    const id = "0".repeat(64);
    const good = { name: `b.lockstep.attachments/${id}/original.gz` };
    const target = fresh("unpacked");
    expect(unzipBundle(archive([good, GOOD]), target)).toEqual({ name: "b.lockstep" });
    expect(fs.existsSync(path.join(attachedBeside(target), id, "original.gz"))).toBe(true);
    for (const name of [`${id}/more`, "x/original.gz", "../x", `${id}/../../x`, "attachment.json"]) {
      expect(refusal(archive([GOOD, { name: `b.lockstep.attachments/${name}` }]))).toMatch(/no path of an attachment/);
    }
    expect(refusal(archive([GOOD, good, good]))).toContain("is there twice");
    expect(refusal(archive([GOOD, { name: `c.lockstep.attachments/${id}/original.gz` }]))).toContain(
      "lies beside the folder",
    );
  });

  it("leads nowhere outside", () => {
    for (const name of [
      "../x",
      "/etc/x",
      "b/../../x",
      "C:/x",
      "b\\x",
      "b.lockstep/./x",
      "b.lockstep//x",
      "b.lockstep/X",
      "b.lockstep/\u00e9",
      "b.lockstep/.x",
      "b.lockstep/x\u0000y",
    ]) {
      expect([name, refusal(archive([GOOD, { name }]))]).toEqual([name, expect.not.stringContaining("was taken")]);
    }
    expect(refusal(archive([{ name: "../bagit.txt" }]))).toContain("leading nowhere else");
    expect(refusal(archive([{ name: "bagit.txt" }, { name: "../x" }]))).toContain("leading nowhere else");
    expect(refusal(archive([GOOD, { name: "__MACOSX/x" }]))).toContain("lies beside the folder");
    expect(refusal(archive([GOOD, { name: `b.lockstep/${"a/".repeat(9)}x` }]))).toContain("deep; the limit is 8");
    expect(refusal(archive([GOOD, { name: `b.lockstep/${"a".repeat(181)}` }]))).toContain("the limit is 180");
    expect(refusal(archive([GOOD, { name: "b.lockstep/link", mode: 0o120777 }]))).toContain("a symbolic link");
  });

  it("has each file once, where and as its directory says", () => {
    expect(refusal(archive([GOOD, GOOD]))).toContain("is there twice");
    expect(refusal(archive([GOOD, { name: "b.lockstep/x", offset: 0, localName: "b.lockstep/bagit.txt" }]))).toContain(
      "another name",
    );
    expect(refusal(archive([GOOD, { ...GOOD, name: "b.lockstep/bagit.txt", offset: 0 }]))).toContain("overlaps");
    expect(refusal(archive([GOOD, { name: "b.lockstep/x", localName: "b.lockstep/y" }]))).toContain("another name");
    expect(refusal(archive([{ ...GOOD, offset: 7 }]))).toContain("is not where the directory says");
    expect(refusal(archive([{ ...GOOD, offset: 0xfffffff0 }]))).toContain("is not where the directory says");
    expect(refusal(archive([{ ...GOOD, packed: 5000, bytes: 5000 }]))).toContain("runs into the directory");
    expect(refusal(archive([GOOD], { head: Buffer.from("MZ") }))).toContain("bytes lie before");
    expect(refusal(archive([GOOD], { tail: Buffer.from("x") }))).toContain("no zip file that ends with its directory");
    expect(refusal(archive([GOOD], { count: 2 }))).toContain("cut off");
    expect(refusal(archive([GOOD, GOOD], { count: 1 }))).toContain("longer than its entries");
  });

  it("is not encrypted, not packed otherwise, and no bomb", () => {
    expect(refusal(archive([{ ...GOOD, flags: 1 }]))).toContain("is encrypted");
    expect(refusal(archive([{ ...GOOD, method: 12 }]))).toContain("method 12");
    expect(refusal(archive([{ ...GOOD, bytes: 2 }]))).toContain("two sizes");
    expect(refusal(archive([{ ...GOOD, crc: 1 }]))).toContain("another checksum");
    const zeros = { name: "b.lockstep/zeros", method: 8, data: Buffer.alloc(1 << 20) };
    expect(refusal(archive([GOOD, zeros]))).toContain("100 to 1");
    // States less than it unpacks to: it must not be unpacked further than that.
    expect(refusal(archive([GOOD, { ...zeros, bytes: 1000 }]))).toContain("does not unpack to the 1000 bytes");
    expect(refusal(archive([GOOD, { name: "b.lockstep/x", method: 8, data: Buffer.from("abc"), bytes: 9 }]))).toContain(
      "unpacks to 3 bytes and states 9",
    );
    expect(
      refusal(
        archive([GOOD, { name: "b.lockstep/x", method: 8, packed: 200 * 1024 * 1024, bytes: 200 * 1024 * 1024 }]),
      ),
    ).toContain("the limit is 134217728");
    const many = Array.from({ length: 4097 }, (_, index) => ({ name: `b.lockstep/${index}` }));
    expect(refusal(archive(many))).toContain("4097 entries; the limit is 4096");
  });

  it("is a zip at all", () => {
    for (const text of ["", "PK", "no zip, but long enough to hold an end record of 22 bytes"]) {
      const file = fresh("other.zip");
      fs.writeFileSync(file, text);
      expect(looksZipped(file)).toBe(false);
      expect(refusal(file)).toContain("no zip file");
    }
    expect(refusal(archive([]))).toContain("it holds no file");
    const cut = fs.readFileSync(archive([GOOD, { name: "b.lockstep/x", method: 8, data: Buffer.from("abcabc") }]));
    for (let bytes = 0; bytes < cut.length; bytes++) {
      const file = fresh("cut.zip");
      fs.writeFileSync(file, cut.subarray(0, bytes));
      expect([bytes, refusal(file)]).toEqual([bytes, expect.not.stringContaining("was taken")]);
      fs.rmSync(file);
    }
  });
});
