/** Where npm start opens the window, and why: every way to have no Electron, and a failed download that is remembered. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findElectron, installedElectron, rememberedFailure, runDesktop, whyNoWindow } from "../../build/electron.mjs";
import { scratchFolder } from "../electron/runs/harness.ts";

let folder: string;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

type Situation = Parameters<typeof whyNoWindow>[0];

/** A package `electron` of its own, whose installer is `script`, on a Linux with a display. */
function situation(script: string, change: Partial<Situation> = {}): Situation {
  const home = fs.mkdtempSync(path.join(folder, "home-"));
  fs.writeFileSync(path.join(home, "package.json"), JSON.stringify({ version: "45.5.0" }));
  fs.writeFileSync(path.join(home, "install.js"), script);
  const memory = path.join(home, "electron.json");
  return {
    platform: "linux",
    uid: 1000,
    env: { ...process.env, DISPLAY: ":0" },
    folder: home,
    memory,
    now: 1e12,
    ...change,
  };
}

function program(script: string): string {
  const file = path.join(fs.mkdtempSync(path.join(folder, "dist-")), "electron");
  fs.writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return file;
}

const FAILING = 'process.stderr.write("TypeError: fetch failed\\n    at somewhere\\n"); process.exit(1);';

const INSTALLING = `
const fs = require("node:fs");
fs.mkdirSync(__dirname + "/dist");
fs.writeFileSync(__dirname + "/dist/electron", "");
`;

describe("a window of Electron", () => {
  it("needs a display, a platform and a user that is not root", () => {
    const here = situation("");
    expect(whyNoWindow(here)).toBeUndefined();
    expect(whyNoWindow({ ...here, env: {} })).toContain("no display");
    expect(whyNoWindow({ ...here, env: { WAYLAND_DISPLAY: "wayland-0" } })).toBeUndefined();
    expect(whyNoWindow({ ...here, uid: 0 })).toContain("root");
    expect(whyNoWindow({ ...here, platform: "aix" })).toContain("aix");
    expect(whyNoWindow({ ...here, platform: "darwin", env: {}, uid: 0 })).toBeUndefined();
  });

  it("opens in the program that is there, or in the one that is named", async () => {
    const here = situation(FAILING);
    expect(installedElectron(here)).toBeUndefined();
    fs.mkdirSync(path.join(here.folder, "dist"));
    fs.writeFileSync(path.join(here.folder, "dist", "electron"), "");
    expect(await findElectron(here, false)).toEqual({ program: path.join(here.folder, "dist", "electron") });
    const named = program("");
    const given = { ...here, env: { ...here.env, ELECTRON_OVERRIDE_DIST_PATH: path.dirname(named) } };
    expect(await findElectron(given, false)).toEqual({ program: named });
    const wrong = { ...here, env: { ...here.env, ELECTRON_OVERRIDE_DIST_PATH: folder } };
    expect(await findElectron(wrong, false)).toEqual({ reason: expect.stringContaining("there is no electron") });
  });

  it("opens in the program that was downloaded", async () => {
    const here = situation(INSTALLING);
    expect(await findElectron(here, false)).toEqual({ program: path.join(here.folder, "dist", "electron") });
  });
});

describe("a download that failed", () => {
  it("says why, is remembered for a day and for its version, and is tried again on demand", async () => {
    const here = situation(FAILING);
    expect(await findElectron(here, false)).toEqual({ reason: "its download failed (fetch failed)" });
    // From now on it would succeed.
    fs.writeFileSync(path.join(here.folder, "install.js"), INSTALLING);
    const hour = 60 * 60 * 1000;
    const later = { ...here, now: here.now + 2 * hour };
    expect(await findElectron(later, false)).toEqual({
      reason: "its download failed 2 h ago (fetch failed); npm start -- --fetch tries again",
    });
    expect(rememberedFailure({ ...here, now: here.now + 25 * hour })).toBeUndefined();
    fs.writeFileSync(path.join(here.folder, "package.json"), JSON.stringify({ version: "46.0.0" }));
    expect(rememberedFailure(later)).toBeUndefined();
    fs.writeFileSync(path.join(here.folder, "package.json"), JSON.stringify({ version: "45.5.0" }));
    expect(await findElectron(later, true)).toHaveProperty("program");
    expect(rememberedFailure(later)).toBeUndefined();
  });
});

describe("the desktop app", () => {
  it("gets the checkout and the words, and its exit code is handed on", async () => {
    const told = path.join(folder, "told");
    const words = ["--evidence", "runs", "a b.lockstep"];
    expect(await runDesktop(program(`printf '%s\\n' "$@" > ${told}`), "/checkout", words)).toEqual({ code: 0 });
    expect(fs.readFileSync(told, "utf8")).toBe("/checkout\n--evidence\nruns\na b.lockstep\n");
  });

  it("is no plain Node", async () => {
    process.env.ELECTRON_RUN_AS_NODE = "1";
    try {
      const end = await runDesktop(program('test -z "$ELECTRON_RUN_AS_NODE"'), "/checkout", []);
      expect(end).toEqual({ code: 0 });
    } finally {
      delete process.env.ELECTRON_RUN_AS_NODE;
    }
  });

  it("that ends at once says so, and the browser takes over", async () => {
    expect(await runDesktop(program("exit 127"), "/checkout", [])).toEqual({
      reason: expect.stringMatching(/^it ended with exit code 127 after \d+\.\d s$/),
    });
    expect(await runDesktop(path.join(folder, "absent"), "/checkout", [])).toEqual({
      reason: expect.stringContaining("could not be started"),
    });
  });
});
