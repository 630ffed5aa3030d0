/** npm start without a display: the browser's door at once, with the reason; Ctrl-C ends it in order. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratchFolder, WHERE } from "../electron/runs/harness.ts";

let folder: string;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

interface Started {
  readonly child: ChildProcess;
  /** What it has said so far. */
  readonly out: () => string;
  readonly err: () => string;
}

function start(...words: readonly string[]): Started {
  const env = { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "" };
  const child = spawn(process.execPath, [path.join(WHERE.root, "build", "start.mjs"), ...words], { cwd: folder, env });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  return { child, out: () => out, err: () => err };
}

describe("npm start", () => {
  it("explains itself, and refuses what it does not know", async () => {
    const help = start("--help");
    expect(await once(help.child, "close")).toEqual([0, null]);
    for (const word of ["--browser", "--no-open", "--evidence DIR", "--fetch"]) expect(help.out()).toContain(word);
    const unknown = start("--brower");
    expect(await once(unknown.child, "close")).toEqual([2, null]);
    expect(unknown.err()).toContain("there is no option --brower");
    const nowhere = start("--evidence", "--no-open");
    expect(await once(nowhere.child, "close")).toEqual([2, null]);
    expect(nowhere.err()).toContain("names no folder");
  });

  it("opens the browser's door where there is no display, and says so; Ctrl-C ends it in order", async () => {
    // Elsewhere there is always a display.
    const linux = process.platform === "linux";
    const started = start("--evidence", path.join(folder, "runs"), ...(linux ? [] : ["--no-open"]));
    await once(started.child.stdout!, "data");
    expect(started.out()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=\S+\n$/);
    if (linux) expect(started.err()).toContain("no desktop app: there is no display");
    started.child.kill("SIGINT");
    expect(await once(started.child, "close")).toEqual([0, null]);
    expect(started.err()).toContain("Ending; a run is cancelled");
  });
});
