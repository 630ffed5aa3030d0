/**
 * Packages the app on a stand-in for Electron and reads it back: archive, resources, property list, integrity, fuses. Then the
 * packaged host, from the packaged resources alone, runs a case.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { extractAll, extractFile, getRawHeader, listPackage } from "@electron/asar";
import { type FuseConfig, flipFuses, getCurrentFuseWire } from "@electron/fuses";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEPLOYMENT_TARGET } from "../../build/native.mjs";
import { packageApp } from "../../build/package.mjs";
import { entitlementsOf, packageConfig, RESOURCES, withoutDictionary } from "../../build/package_config.mjs";
import { COMMANDS } from "../../electron/actions.ts";
import { HostClient } from "../../electron/host/client.ts";
import { appCommit, appVersion, findRoot, PACKAGED, places } from "../../electron/host/root.ts";
import { FUSES, fuseProblems } from "../../electron/shell/fuses.mjs";
import { scratchFolder, WHERE } from "../electron/runs/harness.ts";
import { missingFrom, TRACED, type Traced, traceCommands } from "./runtime_files.ts";
import { writeStandIn } from "./stand_in.ts";

const VERSION = "45.5.0";

let folder: string;
let app: string;
let resources: string;

beforeAll(async () => {
  folder = scratchFolder();
  const electronDist = path.join(folder, "electron");
  writeStandIn(electronDist, "mac", VERSION);
  await packageApp({
    platform: "mac",
    kinds: ["dir"],
    arch: "arm64",
    output: path.join(folder, "out"),
    signing: "none",
    electronDist,
  });
  app = path.join(folder, "out", "mac-arm64", "Lockstep.app");
  resources = path.join(app, "Contents", "Resources");
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function entryOf(plist: string, key: string): string | undefined {
  return new RegExp(`<key>${key}</key>\\s*<(?:string>([^<]*)<|(true|false))`).exec(plist)?.slice(1).find(Boolean);
}

describe("the packaged app", () => {
  it("has the bundles and the window in its archive, and nothing else", () => {
    const files = listPackage(path.join(resources, "app.asar"), { isPack: false }).map((name) =>
      name.replace(/^\//, ""),
    );
    const expected = ["package.json", "out/main.mjs", "out/preload.cjs", "out/host.mjs", "out/renderer/index.html"];
    expect(files).toEqual(expect.arrayContaining(expected));
    expect(files.filter((name) => /node_modules|\.map$|\.ts$|electron\/|bench|cli|serve/.test(name))).toEqual([]);
    expect(fs.existsSync(path.join(resources, "app"))).toBe(false);
  });

  it("says what it is, what it opens, and what its archive's bytes must be", () => {
    const plist = fs.readFileSync(path.join(app, "Contents", "Info.plist"), "utf8");
    expect(entryOf(plist, "CFBundleName")).toBe("Lockstep");
    expect(entryOf(plist, "CFBundleIdentifier")).toBe("dev.lockstep.workbench");
    expect(entryOf(plist, "CFBundleShortVersionString")).toBe(appVersion(WHERE.root));
    expect(entryOf(plist, "CFBundleIconFile")).toBe("icon.icns");
    expect(plist).toMatch(/<key>CFBundleTypeExtensions<\/key>\s*<array>\s*<string>lockstep<\/string>/);
    expect(entryOf(plist, "LSTypeIsPackage")).toBe("true");
    expect(plist).not.toContain("NSAppTransportSecurity");
    expect(entryOf(plist, "LSMinimumSystemVersion")).toBe(DEPLOYMENT_TARGET);
    expect(entryOf(plist, "NSHighResolutionCapable")).toBe("true");
    // A capture is made by a process whose environment allows it, never by the app that a user starts.
    expect(plist).not.toContain("MetalCaptureEnabled");
    expect(plist.match(/<dict>/g)?.length).toBe(plist.match(/<\/dict>/g)?.length);
    const { headerString } = getRawHeader(path.join(resources, "app.asar"));
    const digest = createHash("sha256").update(headerString).digest("hex");
    expect(plist).toMatch(/<key>ElectronAsarIntegrity<\/key>\s*<dict>\s*<key>Resources\/app\.asar<\/key>/);
    expect(entryOf(plist, "algorithm")).toBe("SHA256");
    expect(entryOf(plist, "hash")).toBe(digest);
  });

  it("has every fuse as the table has it", async () => {
    expect(fuseProblems(await getCurrentFuseWire(app))).toEqual([]);
  });

  it("is refused where Electron's binary has a fuse that the table lacks", async () => {
    const newer = path.join(folder, "newer");
    writeStandIn(newer, "linux", VERSION, "1100110010");
    const program = path.join(newer, "lockstep");
    fs.renameSync(path.join(newer, "electron"), program);
    const { afterPack } = packageConfig({ app: "a", output: "o", electronVersion: VERSION, signing: "none" });
    const packager = {
      appInfo: { productFilename: "Lockstep" },
      addElectronFuses: (_context: unknown, fuses: FuseConfig) => flipFuses(program, fuses),
    };
    const context = { appOutDir: newer, electronPlatformName: "linux", packager };
    await expect((afterPack as (given: unknown) => Promise<void>)(context)).rejects.toThrow("has a fuse 9");
  });

  it("runs a case in its own host, with what lies beside its archive and nothing of the checkout", async () => {
    // Node reads no archive; Electron does. Its files stand where the archive would.
    const installed = path.join(folder, "installed");
    fs.mkdirSync(installed);
    fs.symlinkSync(path.join(resources, RESOURCES), path.join(installed, RESOURCES));
    extractAll(path.join(resources, "app.asar"), path.join(installed, "app.asar"));
    const host = path.join(installed, "app.asar", "out", "host.mjs");
    const root = findRoot(path.dirname(host));
    expect(root).toBe(path.join(installed, PACKAGED));
    expect(places(root)).toMatchObject({ host, window: path.join(installed, "app.asar", "out", "renderer") });
    for (const [name, place] of Object.entries(places(root))) expect(fs.existsSync(place), name).toBe(true);
    expect(appVersion(root)).toBe(appVersion(WHERE.root));
    const manifest = extractFile(path.join(resources, "app.asar"), "package.json").toString();
    expect(appCommit(root)).toBe((JSON.parse(manifest) as { readonly commit: unknown }).commit);

    process.env.LOCKSTEP_CACHE = path.join(folder, "cache");
    const client = new HostClient({ path: host });
    const staging = path.join(folder, "staging");
    fs.mkdirSync(staging);
    const nothing = {
      inputs: null,
      outputs: null,
      producer: null,
      operator: null,
      device: null,
      chip: null,
      validation: false,
      seed: null,
    };
    const request = { ...nothing, suite: "quick" as const, route: "naive", timeoutMs: null, workers: null, staging };
    try {
      const end = await client.run({ ...request, case: "gqa_decode/h32kv4d512/L33/spread/f32" }, () => {});
      expect(end).toEqual({ type: "finished", outcome: "passed", reason: null });
    } finally {
      await client.close();
      delete process.env.LOCKSTEP_CACHE;
    }
  });
});

describe("what the commands read while they run", () => {
  let traced: Traced;
  let scratch: string;

  beforeAll(async () => {
    scratch = scratchFolder();
    traced = await traceCommands(scratch);
  }, 300_000);
  afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

  it("was found by running every command of the table, each to its end", () => {
    for (const { id } of COMMANDS) expect(TRACED[id], id).toBeDefined();
    const ended = /no bundle|DEFECT|defect of the program|Cannot find/;
    for (const [words, said] of traced.said) expect(said, words).not.toMatch(ended);
    const said = (start: string): string => [...traced.said].find(([words]) => words.startsWith(start))?.[1] ?? "";
    expect(said("parity")).toContain("Pass");
    expect(said("run")).toContain("Pass");
    expect(said("verify")).toContain("valid");
    expect(traced.paths).toEqual(
      expect.arrayContaining([
        "native/chips.json",
        "native/emulator/self_test_traffic.metal",
        "native/msl/include",
        "out/lockstep-runner",
        "out/lockstep.node",
        "kernels",
        "package.json",
      ]),
    );
  });

  it("is all in the app", () => expect(missingFrom(path.join(resources, RESOURCES), traced)).toEqual([]));

  it("is missed where one of it is not packaged", () => {
    const beside = path.join(resources, RESOURCES);
    for (const file of [
      "native/chips.json",
      "native/emulator/self_test_traffic.metal",
      "native/msl/include/metal/exp.h",
    ]) {
      const [here, away] = [path.join(beside, file), path.join(folder, "away")];
      fs.renameSync(here, away);
      expect(missingFrom(beside, traced)).toEqual([file]);
      fs.renameSync(away, here);
    }
  });
});

describe("what is packaged how", () => {
  it("is an app for Apple silicon, as a disk image and a zip", () => {
    const { mac } = packageConfig({ app: "a", output: "o", electronVersion: VERSION, signing: "developer" });
    expect(mac?.target).toEqual([
      { target: "dmg", arch: ["arm64"] },
      { target: "zip", arch: ["arm64"] },
    ]);
  });

  it("gives the runner alone the right to load what was compiled just now", () => {
    const read = (file: string): string => fs.readFileSync(path.join(WHERE.root, file), "utf8");
    const rights = (file: string): string[] =>
      [...read(file).matchAll(/<key>([^<]+)<\/key>\s*<true\/>/g)].map((m) => m[1] ?? "");
    const options = { app: "a", output: "o", electronVersion: VERSION, signing: "developer" as const };
    const { mac, npmRebuild } = packageConfig(options);
    expect(npmRebuild).toBe(false);
    expect(mac).toMatchObject({ hardenedRuntime: true });
    expect(mac).not.toHaveProperty("identity");
    expect(rights(mac?.entitlements ?? "")).toEqual(["com.apple.security.cs.allow-jit"]);
    expect(rights(mac?.entitlementsInherit ?? "")).toEqual(["com.apple.security.cs.allow-jit"]);
    const runner = entitlementsOf("/x/Lockstep.app/Contents/Resources/lockstep/out/lockstep-runner") ?? "";
    expect(rights(runner)).toEqual(["com.apple.security.cs.disable-library-validation"]);
    expect(entitlementsOf("/x/Lockstep.app/Contents/MacOS/Lockstep")).toBeUndefined();
    // Comments in entitlements are not read by every version of macOS.
    for (const file of [mac?.entitlements ?? "", runner]) expect(read(file)).not.toContain("<!--");
    expect(packageConfig({ ...options, signing: "ad hoc" }).mac).toMatchObject({
      identity: "-",
      hardenedRuntime: false,
    });
  });

  it("is what the document on packaging says: fuses, entitlements, minimum macOS", () => {
    const text = fs.readFileSync(path.join(WHERE.root, "docs", "packaging.md"), "utf8");
    const state = (wanted: boolean | null): string => (wanted === null ? "as Electron has it" : wanted ? "on" : "off");
    for (const { name, wanted } of FUSES) expect(text).toContain(`| ${name} | ${state(wanted)} |`);
    for (const file of ["build/entitlements.plist", "build/entitlements.runner.plist"]) {
      const plist = fs.readFileSync(path.join(WHERE.root, file), "utf8");
      const row = text.split("\n").find((line) => line.startsWith(`| \`${file}\``)) ?? "";
      const rights = [...plist.matchAll(/<key>([^<]+)<\/key>/g)].map((match) => `\`${match[1]}\``);
      expect(row.split(" | ")[2]).toBe(rights.join(", "));
    }
    expect(text).toContain(`| \`LSMinimumSystemVersion\` | ${DEPLOYMENT_TARGET} |`);
  });

  it("takes a dictionary out of a property list, with what is in it", () => {
    const text = "<dict><key>A</key><dict><key>B</key><dict></dict></dict><key>C</key><true/></dict>";
    expect(withoutDictionary(text, "A")).toBe("<dict><key>C</key><true/></dict>");
    expect(withoutDictionary(text, "D")).toBe(text);
  });
});
