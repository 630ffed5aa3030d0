/** The checklist and the fuses as data: whole, in order, and each checker with something that it must refuse. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { FUSES, fuseProblems } from "../../../electron/shell/fuses.mjs";
import { DOCUMENTS } from "../../../electron/shell/menu.ts";
import { CHECKLIST, isDocument, isWindowUrl, mayLoad, WEB_PREFERENCES } from "../../../electron/shell/security.ts";
import { securityHeaders } from "../../../electron/window_files.ts";
import { WHERE } from "../runs/harness.ts";

function source(file: string): string {
  return fs.readFileSync(path.join(WHERE.root, file), "utf8");
}

describe("the checklist", () => {
  it("has the twenty items in their order, each with a file that is there", () => {
    expect(CHECKLIST.map(({ item }) => item)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    for (const { where } of CHECKLIST) expect(fs.existsSync(path.join(WHERE.root, where)), where).toBe(true);
  });

  it("is what the settings say", () => {
    expect(WEB_PREFERENCES).toMatchObject({
      contextIsolation: true,
      sandbox: true,
      webSecurity: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      webviewTag: false,
      spellcheck: false,
    });
    expect(WEB_PREFERENCES).not.toHaveProperty("enableBlinkFeatures");
    const { devDependencies } = JSON.parse(source("package.json")) as { devDependencies: Record<string, string> };
    expect(devDependencies.electron).toMatch(/^\d+\.\d+\.\d+$/);
    const shell = fs
      .readdirSync(path.join(WHERE.root, "electron/shell"))
      .map((name) => source(`electron/shell/${name}`));
    for (const text of shell) expect(text).not.toMatch(/loadFile|ignore-certificate|disable-web-security|no-sandbox/);
  });

  it("the policy allows no source but the window's own", () => {
    const policy = securityHeaders("'none'")["content-security-policy"] ?? "";
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(policy.split("; ")).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'none'"]),
    );
  });
});

describe("addresses", () => {
  it("of the window are under its own scheme and host", () => {
    expect(isWindowUrl("app://lockstep/#/run")).toBe(true);
    for (const url of [
      "app://lockstep.example/",
      "app://x@other/",
      "https://lockstep/",
      "file:///lockstep",
      "",
      "lockstep",
    ]) {
      expect(isWindowUrl(url), url).toBe(false);
    }
    expect(mayLoad("devtools://devtools/bundled/inspector.html", true)).toBe(true);
    expect(mayLoad("devtools://devtools/bundled/inspector.html", false)).toBe(false);
  });

  it("of documents are on the list, over https", () => {
    for (const { url } of DOCUMENTS) expect(isDocument(url), url).toBe(true);
    for (const url of [
      "http://developer.apple.com/",
      "https://developer.apple.com.example.org/",
      "https://example.org/?developer.apple.com",
      "https://user:word@developer.apple.com/",
      "https://developer.apple.com:8443/",
      "file://developer.apple.com/",
      "javascript:alert(1)",
      "not a url",
    ]) {
      expect(isDocument(url), url).toBe(false);
    }
  });
});

describe("fuses", () => {
  const [on, off] = ["1".charCodeAt(0), "0".charCodeAt(0)];
  const wire = Object.fromEntries(FUSES.map(({ index, wanted }) => [String(index), wanted === false ? off : on]));

  it("are all decided, each with a reason", () => {
    expect(FUSES.map(({ index }) => index)).toEqual(FUSES.map((_, index) => index));
    for (const { name, reason } of FUSES) expect(reason.length, name).toBeGreaterThan(10);
    expect(FUSES.find(({ name }) => name === "RunAsNode")?.wanted).toBe(false);
    expect(FUSES.find(({ name }) => name === "OnlyLoadAppFromAsar")?.wanted).toBe(true);
    expect(fuseProblems({ version: "1", ...wire })).toEqual([]);
  });

  it("that are wrong, missing or unknown are told", () => {
    expect(fuseProblems({ ...wire, 0: on })).toEqual(["the fuse RunAsNode is on; it must be off"]);
    const { 4: _, ...without } = wire;
    expect(fuseProblems(without)).toEqual(["the fuse EnableEmbeddedAsarIntegrityValidation is missing; it must be on"]);
    expect(fuseProblems({ ...wire, 9: on })).toEqual([expect.stringContaining("has a fuse 9")]);
  });
});
