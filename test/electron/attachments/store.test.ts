import fs from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { dispatchLabels, matchByName } from "../../../electron/attachments/matches.ts";
import { kindOf } from "../../../electron/attachments/read.ts";
import { attachmentsHold, detach, readAttachments, verifyAttachments } from "../../../electron/attachments/store.ts";
import { attachedBeside, sha256 } from "../../../electron/evidence/bag.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import { fixtureBundle } from "../evidence/fixture.ts";
import { COUNTERS_CSV, INTERVALS_XML, TOC_XML } from "./exports.ts";
import { attachTo, fileIn, freshBundles } from "./fresh.ts";

let out: string;
let bundle: string;

freshBundles((fresh) => {
  ({ out, bundle } = fresh);
});

const file = (name: string, text: string | Uint8Array) => fileIn(out, name, text);

const add = (place: string, kind: "xctrace" | "counters_csv" | null = null) => attachTo(bundle, place, kind);

describe("an attachment", () => {
  it("stands beside the bundle, which stays as it was, and names it by the digest of its manifest", async () => {
    const before = verifyBundle(bundle).identity;
    const { id, attachment } = await add(file("gpu.xml", INTERVALS_XML));
    expect(fs.readdirSync(attachedBeside(bundle))).toEqual([id]);
    expect(fs.readdirSync(path.join(attachedBeside(bundle), id)).sort()).toEqual(["attachment.json", "original.gz"]);
    expect(id).toBe(sha256(fs.readFileSync(path.join(attachedBeside(bundle), id, "attachment.json"))));
    expect(attachment).toMatchObject({
      kind: "xctrace",
      bundle: { name: path.basename(bundle), manifest: before },
      original: { name: "gpu.xml", sha256: sha256(INTERVALS_XML) },
      importedAt: "2026-11-29T10:00:00.000Z",
    });
    expect(verifyBundle(bundle)).toMatchObject({ result: "valid", identity: before });
    const verified = await verifyAttachments(bundle);
    expect(verified).toMatchObject({ attachments: [{ id, reasons: [] }], reasons: [] });
    expect(attachmentsHold(verified)).toBe(true);
  });

  it("is of the kind that its content says, or that the user states", async () => {
    expect((await add(file("a", COUNTERS_CSV))).attachment.kind).toBe("counters_csv");
    expect((await add(file("toc", TOC_XML))).attachment.summary.tool.version).toBe("27.2 (27B5019j)");
    await expect(add(file("b", COUNTERS_CSV.replace("0.50", "0.51")), "xctrace")).rejects.toThrow(
      "b, line 5: no XML: text data outside of root node",
    );
    expect(() => kindOf("x", Buffer.from([0xff, 0xfe, 0x3c, 0]))).toThrow("x: UTF-16");
    expect(() => kindOf("x", Buffer.from("PK"))).toThrow("neither an export of xctrace");
  });

  it("is not attached twice, not without a bundle, and leaves nothing behind where it is refused", async () => {
    await expect(add(file("bad.xml", INTERVALS_XML.slice(0, -50)))).rejects.toThrow("the file ends within");
    await expect(add(path.join(out, "gone"))).rejects.toThrow("is no file");
    expect(fs.existsSync(attachedBeside(bundle))).toBe(false);
    await add(file("gpu.xml", INTERVALS_XML));
    await expect(add(file("again.xml", INTERVALS_XML))).rejects.toThrow("is attached already");
    bundle = out;
    await expect(add(file("gpu.xml", INTERVALS_XML))).rejects.toThrow("give the folder of a bundle");
  });

  it("can be taken away", async () => {
    const { id } = await add(file("gpu.xml", INTERVALS_XML));
    expect(await detach(bundle, "0".repeat(64))).toBe(false);
    expect(await detach(bundle, "../fixture.lockstep")).toBe(false);
    expect(await detach(bundle, id)).toBe(true);
    expect(fs.existsSync(attachedBeside(bundle))).toBe(false);
  });
});

describe("verification of attachments fails", () => {
  let id: string;
  let folder: string;
  beforeEach(async () => {
    ({ id } = await add(file("gpu.xml", INTERVALS_XML)));
    folder = path.join(attachedBeside(bundle), id);
  });

  const reasons = async () => {
    const { attachments, reasons: beside } = await verifyAttachments(bundle);
    return [...beside, ...attachments.flatMap((entry) => entry.reasons)];
  };

  /** Writes another `attachment.json`, under the digest that it then has. */
  const reseal = (change: (text: string) => string) => {
    const text = change(fs.readFileSync(path.join(folder, "attachment.json"), "utf8"));
    fs.writeFileSync(path.join(folder, "attachment.json"), text);
    fs.renameSync(folder, path.join(attachedBeside(bundle), sha256(text)));
  };

  it("where a word of the summary was changed", async () => {
    const json = path.join(folder, "attachment.json");
    fs.writeFileSync(json, fs.readFileSync(json, "utf8").replace("6343830", "43830"));
    expect(await reasons()).toEqual(["attachment.json has another digest than its folder says: it was changed"]);
  });

  it("where it was changed and sealed again: the original says otherwise", async () => {
    reseal((text) => text.replace("6343830", "43830"));
    expect(await reasons()).toEqual(["reading the original again gives another summary"]);
  });

  it("where the original was changed", async () => {
    fs.writeFileSync(path.join(folder, "original.gz"), gzipSync(INTERVALS_XML.replace("13830", "13831")));
    expect(await reasons()).toEqual([
      "the original has another digest than is stated",
      "reading the original again gives another summary",
    ]);
  });

  it("where the original is larger than it states, cut off, no gzip or missing", async () => {
    const packed = path.join(folder, "original.gz");
    const whole = fs.readFileSync(packed);
    fs.writeFileSync(packed, gzipSync(Buffer.alloc(8 << 20, 0x20)));
    expect((await reasons()).join()).toContain("that are stated");
    fs.writeFileSync(packed, whole.subarray(0, -20));
    expect((await reasons()).join()).toContain("the original cannot be read");
    fs.writeFileSync(packed, "plain");
    expect((await reasons()).join()).toContain("the original cannot be read");
    fs.rmSync(packed);
    expect(await reasons()).toEqual(["original.gz is missing"]);
  });

  it("where it belongs to another bundle", async () => {
    const other = fixtureBundle(out, { error: 0.5, outcome: "failed" }).path;
    fs.renameSync(attachedBeside(bundle), attachedBeside(other));
    bundle = other;
    expect((await reasons()).join()).toMatch(/^attached to the bundle [0-9a-f]{12}; this one is [0-9a-f]{12}$/);
    expect(await readAttachments(bundle)).toMatchObject([{ id, reasons: [expect.stringContaining("attached to")] }]);
  });

  it("where something else lies there", async () => {
    fs.writeFileSync(path.join(folder, "more"), "");
    fs.writeFileSync(path.join(attachedBeside(bundle), "notes.txt"), "");
    expect(await reasons()).toEqual([
      "notes.txt: does not belong to the attachments",
      "more does not belong to an attachment",
    ]);
  });

  it("where the schema is another", async () => {
    reseal((text) => text.replace("lockstep.attachment/1", "lockstep.attachment/9"));
    expect((await reasons()).join()).toMatch(/^attachment.json, schema: /);
  });
});

it("matches labels by equal text alone", () => {
  const timing = (label: string) => ({ label, ns: 1 });
  const labels = dispatchLabels({
    results: [
      { route: "three_stage", timings: [timing("partial"), timing("merge"), timing("partial")] },
      { route: "fused", timings: [timing("partial")] },
    ] as never,
  });
  expect(labels).toEqual([
    { label: "partial", results: 2, routes: ["three_stage", "fused"] },
    { label: "merge", results: 1, routes: ["three_stage"] },
  ]);
  expect(matchByName("partial", labels)?.label).toBe("partial");
  expect(matchByName("Command Buffer 0:merge", labels)?.label).toBe("merge");
  for (const other of ["Partial", "partial_2", "x partial", "Compute Command 0", "a:b:merge", ""]) {
    expect(matchByName(other, labels)).toBeNull();
  }
});
