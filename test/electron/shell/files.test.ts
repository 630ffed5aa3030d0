/** What is opened from outside, what dialogs answer, what is shown in the file manager, and what the app is started with. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { bundleArguments, evidenceArgument } from "../../../electron/arguments.ts";
import { desktopOf } from "../../../electron/shell/dialogs.ts";
import { seen } from "../../electron_stub.ts";
import { scratchFolder } from "../runs/harness.ts";

vi.mock("electron", () => import("../../electron_stub.ts"));

let folder: string;
let evidence: string;

beforeAll(() => {
  folder = fs.realpathSync(scratchFolder());
  evidence = path.join(folder, "evidence");
  fs.mkdirSync(path.join(evidence, "a.lockstep"), { recursive: true });
  fs.mkdirSync(path.join(folder, "outside.lockstep"));
  fs.writeFileSync(path.join(folder, "packed.lockstep.zip"), "");
  fs.writeFileSync(path.join(folder, "notes.txt"), "");
  fs.symlinkSync(path.join(folder, "outside.lockstep"), path.join(evidence, "link.lockstep"));
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

describe("bundles among words", () => {
  it("are those that are there, as absolute paths", () => {
    const words = ["--flag=x.lockstep", "notes.txt", "outside.lockstep", "packed.lockstep.zip", "absent.lockstep"];
    const found = ["outside.lockstep", "packed.lockstep.zip"].map((name) => path.join(folder, name));
    expect(bundleArguments(words, folder)).toEqual(found);
    expect(bundleArguments(["--evidence", "outside.lockstep", "packed.lockstep.zip"], folder)).toEqual(found.slice(1));
    expect(bundleArguments(["--open", "notes.txt"], folder)).toEqual([path.join(folder, "notes.txt")]);
  });
});

describe("the desktop", () => {
  it("shows what is inside the evidence folder, links followed, and what was chosen; nothing else", async () => {
    const desktop = desktopOf(() => undefined, evidence);
    await desktop.reveal(path.join(evidence, "a.lockstep"));
    expect(seen.revealed).toEqual([path.join(evidence, "a.lockstep")]);
    for (const [file, words] of [
      [path.join(folder, "outside.lockstep"), "outside the evidence folder"],
      [path.join(evidence, "link.lockstep"), "outside the evidence folder"],
      [path.join(evidence, "..", "notes.txt"), "outside the evidence folder"],
      [path.join(evidence, "absent.lockstep"), "not there"],
    ] as const) {
      await expect(desktop.reveal(file), file).rejects.toThrow(words);
    }
    expect(seen.revealed).toHaveLength(1);

    seen.dialogs.push({ canceled: false, filePaths: [path.join(folder, "outside.lockstep")] });
    expect(await desktop.chooseBundle()).toBe(path.join(folder, "outside.lockstep"));
    await desktop.reveal(path.join(folder, "outside.lockstep"));
    desktop.chose(path.join(folder, "packed.lockstep.zip"));
    await desktop.reveal(path.join(folder, "packed.lockstep.zip"));
    seen.dialogs.push({ canceled: false, filePath: path.join(folder, "export.zip") });
    expect(await desktop.chooseExport("a.lockstep.zip")).toBe(path.join(folder, "export.zip"));
    fs.writeFileSync(path.join(folder, "export.zip"), "");
    await desktop.reveal(path.join(folder, "export.zip"));
    expect(seen.revealed).toHaveLength(4);
  });

  it("answers null where the user thought better of it", async () => {
    const desktop = desktopOf(() => undefined, evidence);
    seen.dialogs.push({ canceled: true, filePaths: [] }, { canceled: true, filePath: "" });
    expect(await desktop.chooseBundle()).toBeNull();
    expect(await desktop.chooseExport("a.zip")).toBeNull();
  });
});

describe("--evidence", () => {
  it("names a folder, from where the words were given", () => {
    expect(evidenceArgument(["electron", "."], folder)).toBeUndefined();
    expect(evidenceArgument([".", "--evidence", "runs"], folder)).toBe(path.join(folder, "runs"));
    expect(() => evidenceArgument([".", "--evidence"], folder)).toThrow("names no folder");
    expect(() => evidenceArgument([".", "--evidence", "--no-open"], folder)).toThrow("names no folder");
  });
});
