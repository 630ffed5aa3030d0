/** What a window does with attachments, over the contract. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attachedBeside } from "../../../electron/evidence/bag.ts";
import { exportZip } from "../../../electron/evidence/zip.ts";
import { COUNTERS_CSV, INTERVALS_XML } from "../attachments/exports.ts";
import { fixtureBundle, temporary } from "../evidence/fixture.ts";
import { type OpenedWindow, openWindow } from "./fixture.ts";

let opened: OpenedWindow;
let elsewhere: string;

beforeAll(() => {
  opened = openWindow();
  fixtureBundle(opened.evidence);
  elsewhere = temporary();
});

afterAll(async () => {
  await opened.close();
  fs.rmSync(elsewhere, { recursive: true, force: true });
});

const ID = "fixture.lockstep";

async function send(name: string, text: string) {
  const data = new Uint8Array(Buffer.from(text));
  const files = [{ path: name, bytes: data.byteLength }];
  const { upload } = await opened.window.call("upload.begin", { purpose: "attachment", name, files });
  await opened.window.call("upload.write", { upload, file: 0, data });
  const sent = await opened.window.call("upload.finish", { upload });
  if (sent.kind !== "attachment") throw new Error(sent.kind);
  return sent;
}

describe("an attachment through the window", () => {
  it("is sent, kept under its own name, listed, verified and taken away", async () => {
    const { window } = opened;
    expect(await window.call("attachments.list", { id: ID })).toMatchObject({ attachments: [], readOnly: null });
    const sent = await send("GPU intervals.xml", INTERVALS_XML);
    const asked = { id: ID, path: sent.path, name: sent.name, kind: null };
    const { attachment } = await window.call("attachments.attach", asked);
    expect(fs.existsSync(sent.path)).toBe(false);
    const { attachments, labels } = await window.call("attachments.list", { id: ID });
    expect(attachments).toMatchObject([
      { id: attachment, reasons: [], attachment: { original: { name: "GPU intervals.xml" } } },
    ]);
    expect(labels).toEqual([{ label: "attention", results: 2, routes: ["naive"] }]);
    const verified = await window.call("evidence.verify", { id: ID });
    expect(verified).toMatchObject({
      result: "valid",
      attached: { attachments: [{ id: attachment, reasons: [] }], reasons: [] },
    });
    expect(await window.call("attachments.remove", { id: ID, attachment })).toEqual({ removed: true });
    expect((await window.call("evidence.verify", { id: ID })).attached).toBeUndefined();
  });

  it("is named by path where the window knows it; that file stays where it is", async () => {
    const file = path.join(elsewhere, "app Counters.csv");
    fs.writeFileSync(file, COUNTERS_CSV);
    const { attachment } = await opened.window.call("attachments.attach", {
      id: ID,
      path: file,
      name: null,
      kind: null,
    });
    expect(fs.existsSync(file)).toBe(true);
    const { attachments } = await opened.window.call("attachments.list", { id: ID });
    expect(attachments).toMatchObject([
      { attachment: { kind: "counters_csv", original: { name: "app Counters.csv" } } },
    ]);
    await opened.window.call("attachments.remove", { id: ID, attachment });
  });

  it("is refused with the line, and what was sent is thrown away", async () => {
    const sent = await send("bad.xml", INTERVALS_XML.slice(0, -60));
    const asked = { id: ID, path: sent.path, name: sent.name, kind: null };
    await expect(opened.window.call("attachments.attach", asked)).rejects.toThrow(
      /^bad\.xml, line \d+: the file ends within/,
    );
    expect(fs.existsSync(sent.path)).toBe(false);
  });

  it("is broken in a verification without making the bundle invalid", async () => {
    const file = path.join(elsewhere, "gpu.xml");
    fs.writeFileSync(file, INTERVALS_XML);
    const { attachment } = await opened.window.call("attachments.attach", {
      id: ID,
      path: file,
      name: null,
      kind: null,
    });
    fs.rmSync(path.join(attachedBeside(path.join(opened.evidence, ID)), attachment, "original.gz"));
    const verified = await opened.window.call("evidence.verify", { id: ID });
    expect(verified).toMatchObject({
      result: "valid",
      attached: { attachments: [{ reasons: ["original.gz is missing"] }] },
    });
    await opened.window.call("attachments.remove", { id: ID, attachment });
  });

  it("comes with a zip from elsewhere, which is read-only", async () => {
    const { window, evidence } = opened;
    const file = path.join(elsewhere, "gpu.xml");
    fs.writeFileSync(file, INTERVALS_XML);
    await window.call("attachments.attach", { id: ID, path: file, name: null, kind: null });
    const zip = path.join(elsewhere, "other.lockstep.zip");
    exportZip(path.join(evidence, ID), zip, { name: "other.lockstep" });
    const { id } = await window.call("bundle.open", { path: zip });
    const listed = await window.call("attachments.list", { id: id! });
    expect(listed).toMatchObject({ attachments: [{ reasons: [] }], readOnly: "opened from elsewhere, read-only" });
    const asked = { id: id!, path: file, name: null, kind: null };
    await expect(window.call("attachments.attach", asked)).rejects.toThrow("read-only");
    const remove = { id: id!, attachment: listed.attachments[0]!.id };
    await expect(window.call("attachments.remove", remove)).rejects.toThrow("read-only");
  });
});
