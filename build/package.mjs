// @ts-check
/**
 * `npm run package`: the app for this platform, in `out/package`. On a Mac a disk image and a zip, signed with a Developer ID
 * if the keychain has one, else ad hoc; on Linux a folder.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { say, stop } from "./compiler.mjs";
import { ARCHIVED, packageConfig } from "./package_config.mjs";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** @param {string} file @returns {Record<string, unknown>} */
function readJson(file) {
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

/** The commit of the checkout; null outside one, or where git is not there. */
function commitOf() {
  const run = spawnSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" });
  return run.status === 0 ? run.stdout.trim() : null;
}

/** True where the keychain of this Mac has an identity that Apple's notary takes. */
function hasIdentity() {
  if (process.platform !== "darwin") return false;
  const run = spawnSync("security", ["find-identity", "-v", "-p", "codesigning"], { encoding: "utf8" });
  return process.env.CSC_LINK !== undefined || (run.stdout ?? "").includes("Developer ID Application");
}

/**
 * Copies what becomes the archive into `app`: electron-builder reads each file twice, and a build that goes on meanwhile must not
 * come between.
 * @param {string} app
 */
function stage(app) {
  fs.rmSync(app, { recursive: true, force: true });
  for (const name of ARCHIVED) {
    fs.cpSync(path.join(ROOT, "out", name), path.join(app, "out", name), { recursive: true });
  }
  const { name, version, description, license, type, main } = readJson(path.join(ROOT, "package.json"));
  const manifest = {
    name,
    version,
    description,
    license,
    author: "The Lockstep authors",
    type,
    main,
    commit: commitOf(),
  };
  fs.writeFileSync(path.join(app, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * Packages the app into the folder `output`. `kinds` are electron-builder's targets, its defaults without them.
 * @param {{ platform: "mac" | "linux", kinds?: readonly string[], arch: "arm64" | "x64", output: string, signing: import("./package_config.mjs").Signing, electronDist?: string }} options
 */
export async function packageApp({ platform, kinds = [], arch, output, signing, electronDist }) {
  const { Arch, build, Platform } = await import("electron-builder");
  const app = path.resolve(output, "app");
  stage(app);
  await build({
    projectDir: ROOT,
    targets: Platform[platform === "mac" ? "MAC" : "LINUX"].createTarget([...kinds], Arch[arch]),
    config: packageConfig({
      app,
      output,
      electronVersion: String(readJson(path.join(ROOT, "node_modules/electron/package.json")).version),
      signing,
      ...(electronDist === undefined ? {} : { electronDist }),
    }),
    publish: "never",
  });
  fs.rmSync(app, { recursive: true, force: true });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const mac = process.platform === "darwin";
  if (!mac && process.platform !== "linux") stop(`there is no package for ${process.platform}: macOS and Linux are`);
  if (mac && process.arch !== "arm64") stop("the app is for Apple silicon: package it there, with Node for arm64");
  const signing = mac ? (hasIdentity() ? "developer" : "ad hoc") : "none";
  if (signing === "ad hoc")
    say("no Developer ID in the keychain: the app's signature is ad hoc, for this machine alone");
  await packageApp({
    signing,
    platform: mac ? "mac" : "linux",
    arch: mac || process.arch === "arm64" ? "arm64" : "x64",
    output: path.join("out", "package"),
    ...(process.env.ELECTRON_OVERRIDE_DIST_PATH ? { electronDist: process.env.ELECTRON_OVERRIDE_DIST_PATH } : {}),
  }).catch((error) => stop(error instanceof Error ? error.message : String(error)));
}
