/** Files on their way: what a drop is, and pieces that wait for each other, against the real workbench. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Workbench } from "../../../electron/contract/connect.ts";
import { walk } from "../../../electron/evidence/bag.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import {
  type Dropped,
  type DroppedFile,
  droppedOf,
  fetchZip,
  kindOfFile,
  kindOfFolder,
  sendFiles,
  transfer,
} from "../../../renderer/state/transfer.ts";
import { fixtureBundle, temporary } from "../../electron/evidence/fixture.ts";
import { type OpenedWindow, openWindow } from "../../electron/workbench/fixture.ts";

let opened: OpenedWindow;
let elsewhere: string;
let bundle: string;

beforeAll(() => {
  opened = openWindow();
  elsewhere = temporary();
  bundle = fixtureBundle(elsewhere).path;
});

afterAll(async () => {
  await opened.close();
  fs.rmSync(elsewhere, { recursive: true, force: true });
});

function bundleFiles(): readonly DroppedFile[] {
  return walk(bundle).files.map((file) => ({
    path: file.path,
    file: new Blob([fs.readFileSync(path.join(bundle, file.path))]),
  }));
}

const { signal } = new AbortController();

describe("what was dropped", () => {
  it("is told by its name", async () => {
    expect(
      ["a.safetensors", "b.ZIP", "c.lockstep", "c.lockstep.zip", "k.kernel.json", "d.jpg", "zip"].map(kindOfFile),
    ).toEqual(["inputs", "zip", "zip", "zip", "kernel", undefined, undefined]);
    for (const name of ["gpu.xml", "app Counters.CSV", "counters.txt"]) expect(kindOfFile(name)).toBe("attachment");
    const named = (...paths: readonly string[]): readonly DroppedFile[] =>
      paths.map((name) => ({ path: name, file: new Blob([]) }));
    expect(kindOfFolder(named("a.metal", "a.kernel.json"))).toBe("kernel");
    expect(kindOfFolder(named("bagit.txt", "data/a.kernel.json"))).toBe("bundle");
    expect(kindOfFolder(named("a.metal"))).toBe("bundle");
    expect(await droppedOf([], [new File(["x"], "x.safetensors")])).toMatchObject({
      kind: "inputs",
      name: "x.safetensors",
    });
    expect(await droppedOf([], [new File(["x"], "x.jpg")])).toMatchObject({ kind: "other" });
    expect(await droppedOf([null, null], [])).toMatchObject({
      kind: "other",
      reason: expect.stringContaining("one is taken"),
    });
    expect(await droppedOf([], [])).toEqual({ kind: "other", reason: "No file was dropped" });
  });
});

describe("a transfer", () => {
  it("brings a bundle there and its zip back, and says how far it is", async () => {
    const { window } = opened;
    const seen: number[] = [];
    const stop = transfer.subscribe(() => seen.push(transfer.get()?.done ?? -1));
    const dropped: Extract<Dropped, { kind: "bundle" | "zip" | "inputs" }> = {
      kind: "bundle",
      name: "sent.lockstep",
      files: bundleFiles(),
    };
    const sent = await sendFiles(window, dropped, signal);
    if (sent.kind !== "bundle") throw new Error("a bundle was sent");
    expect((await window.call("evidence.verify", { id: sent.id })).identity).toBe(verifyBundle(bundle).identity);
    expect(seen.length).toBeGreaterThan(10);
    expect(seen.at(-1)).toBe(-1);
    const zip = await fetchZip(window, sent.id);
    const name = "back.lockstep.zip";
    const again = await sendFiles(window, { kind: "zip", name, files: [{ path: name, file: zip }] }, signal);
    if (again.kind !== "bundle") throw new Error("a bundle was sent");
    expect((await window.call("evidence.verify", { id: again.id })).result).toBe("valid");
    stop();
  });

  it("that is stopped leaves nothing, and sends no more", async () => {
    const { window } = opened;
    const calls: string[] = [];
    const controller = new AbortController();
    const watched: Workbench = {
      ...window,
      call: (name, input, options) => {
        calls.push(name);
        if (calls.length === 3) controller.abort();
        return window.call(name, input, options);
      },
    };
    const files = bundleFiles();
    await expect(sendFiles(watched, { kind: "bundle", name: "x", files }, controller.signal)).rejects.toThrow();
    expect(calls).toEqual(["upload.begin", "upload.write", "upload.write", "upload.cancel"]);
    expect(transfer.get()).toBeNull();
  });

  it("that is refused says why", async () => {
    const files = [{ path: "../x", file: new Blob(["x"]) }];
    await expect(sendFiles(opened.window, { kind: "bundle", name: "x", files }, signal)).rejects.toThrow(
      "leading nowhere else",
    );
  });
});
