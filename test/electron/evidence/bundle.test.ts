import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { walk } from "../../../electron/evidence/bag.ts";
import {
  bundleName,
  closeBundle,
  discardStaging,
  openStaging,
  roleOf,
  writeFailure,
  writePayload,
} from "../../../electron/evidence/bundle.ts";
import { BUNDLE_PATH } from "../../../electron/runs/record.ts";
import { shellQuote } from "../../../electron/words.ts";
import { fixtureBundle, fixtureDraft, temporary } from "./fixture.ts";

let out: string;

beforeEach(() => {
  out = temporary();
});

afterEach(() => fs.rmSync(out, { recursive: true, force: true }));

describe("a bundle", () => {
  it("is a BagIt bag that sha256sum can check", () => {
    const { path: bundle } = fixtureBundle(out);
    const files = walk(bundle).files.map((file) => file.path);
    expect(files).toMatchInlineSnapshot(`
      [
        "bag-info.txt",
        "bagit.txt",
        "data/command.txt",
        "data/env/device.json",
        "data/env/host.json",
        "data/gates/gates.json",
        "data/kernels/gqa_decode/naive.metal",
        "data/parity/case0/naive/lse.f32",
        "data/parity/case0/naive/metrics.json",
        "data/parity/case0/naive/out.f32",
        "data/parity/case1/naive/lse.f32",
        "data/parity/case1/naive/metrics.json",
        "data/parity/case1/naive/out.f32",
        "data/receipts/gqa_naive.fast.0123456789ab.json",
        "data/record.json",
        "data/report/index.html",
        "data/report/junit.xml",
        "data/report/summary.csv",
        "manifest-sha256.txt",
        "tagmanifest-sha256.txt",
      ]
    `);
    for (const manifest of ["manifest-sha256.txt", "tagmanifest-sha256.txt"]) {
      const [program = "", ...options] =
        process.platform === "darwin" ? ["shasum", "-a", "256", "--check"] : ["sha256sum", "--check", "--strict"];
      const check = spawnSync(program, [...options, manifest], { cwd: bundle });
      expect(check.status).toBe(0);
    }
    expect(fs.readFileSync(path.join(bundle, "data/command.txt"), "utf8")).toBe("lockstep parity --case 'a b'\n");
  });

  it("appears whole: nothing else is left in the folder, and what no result names is removed", () => {
    const staging = openStaging(out, "x.lockstep");
    expect(fs.existsSync(staging.target)).toBe(false);
    const draft = fixtureDraft(staging.folder);
    writePayload(staging.folder, "data/parity/interrupted/naive/out.f32", "half");
    fs.writeFileSync(path.join(staging.folder, "data/parity/case0/naive/lse.f32.partial"), "half");
    closeBundle(staging, draft);
    expect(fs.readdirSync(out)).toEqual(["x.lockstep"]);
    expect(walk(staging.target).files.some((file) => /interrupted|partial/.test(file.path))).toBe(false);
  });

  it("is not left half-written when its record is refused", () => {
    const staging = openStaging(out, "x.lockstep");
    const draft = fixtureDraft(staging.folder);
    expect(() => closeBundle(staging, { ...draft, startedAt: "yesterday" })).toThrow("Nothing was kept");
    expect(fs.readdirSync(out)).toEqual([]);
  });

  it("can be discarded", () => {
    discardStaging(openStaging(out, "x.lockstep"));
    expect(fs.readdirSync(out)).toEqual([]);
  });

  it("never replaces another one: it takes the next free name, unless it was named", () => {
    const names = [fixtureBundle(out), fixtureBundle(out)].map((bundle) => path.basename(bundle.path));
    expect(names).toEqual(["fixture.lockstep", "fixture-2.lockstep"]);
    expect(() => openStaging(path.join(out, "fixture.lockstep"), "x.lockstep")).toThrow("is there already");
  });

  it("is kept where another run took its name in the meantime", () => {
    const [first, second] = [openStaging(out, "x.lockstep"), openStaging(out, "x.lockstep")];
    const paths = [first, second].map((staging) => closeBundle(staging, fixtureDraft(staging.folder)).path);
    expect(paths.map((file) => path.basename(file))).toEqual(["x.lockstep", "x-2.lockstep"]);
    expect(fs.readdirSync(out)).toHaveLength(2);
  });

  it("takes what killed runs left behind away, and nothing else", () => {
    const gone = spawnSync("true").pid;
    const machine = os.hostname().replace(/[^A-Za-z0-9-]/g, "-");
    const others = [
      `.y.lockstep.elsewhere.${gone}.1.partial`,
      `.y.lockstep.${machine}.${process.pid}.9.partial`,
      ".git",
    ];
    for (const name of [`.y.lockstep.${machine}.${gone}.1.partial`, ...others])
      fs.mkdirSync(path.join(out, name, "data"), { recursive: true });
    discardStaging(openStaging(out, "x.lockstep"));
    expect(fs.readdirSync(out).sort()).toEqual([...others].sort());
  });

  it("does not come back to life when it was given up", () => {
    const staging = openStaging(out, "x.lockstep");
    discardStaging(staging);
    expect(() => writePayload(staging.folder, "data/command.txt", "x")).toThrow("the run was given up");
    expect(fs.readdirSync(out)).toEqual([]);
  });

  it("goes to a folder that is made, or to the very name given", () => {
    expect(openStaging(path.join(out, "a/b"), "x.lockstep").target).toBe(path.join(out, "a/b/x.lockstep"));
    expect(openStaging(path.join(out, "c.lockstep"), "x.lockstep").target).toBe(path.join(out, "c.lockstep"));
    expect(openStaging(`${out}/d.lockstep/`, "x.lockstep").target).toBe(path.join(out, "d.lockstep"));
  });

  it("says why a folder cannot be written", () => {
    fs.writeFileSync(path.join(out, "file"), "");
    expect(() => openStaging(path.join(out, "file"), "x.lockstep")).toThrow("cannot be written");
    expect(() => openStaging("/proc/nowhere", "x.lockstep")).toThrow("cannot be written");
    const full = Object.assign(new Error("write"), { code: "ENOSPC" });
    expect(writeFailure("/evidence", full)).toBe(
      "No space left for the bundle in /evidence. Nothing was kept there; free some space or name another --out.",
    );
  });

  it("takes no path outside its own rules", () => {
    const staging = openStaging(out, "x.lockstep");
    for (const file of [
      "data/Out.f32",
      "../x",
      "data/../x",
      "data/other.txt",
      "data/parity/a/b/out.f64",
      "record.json",
    ]) {
      expect(() => writePayload(staging.folder, file, "")).toThrow("is no path of a bundle");
    }
    expect(roleOf("data/parity/a/b/out.bf16")).toBe("output");
  });
});

describe("names", () => {
  it("sort by time and are lower case", () => {
    const name = bundleName("2026-01-02T03:04:05.678Z", "mla_Prefill x16", "emulated:apple9");
    expect(name).toBe("2026-01-02t030405z-mla_prefill-x16-emulated-apple9.lockstep");
    expect(name).toMatch(BUNDLE_PATH);
  });

  it("quotes words for a shell", () => {
    expect(["plain-1.2/x", "a b", "it's", ""].map(shellQuote)).toEqual(["plain-1.2/x", "'a b'", "'it'\\''s'", "''"]);
  });
});
