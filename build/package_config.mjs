// @ts-check
/**
 * What the packaged app is made of, for electron-builder.
 *
 * The archive holds the JavaScript and the built window. What must be real files lies beside it in the folder `lockstep`, in
 * the layout of a checkout, so that `electron/host/root.ts` and `native/msl/paths.ts` find it as they do there: the addon and
 * the runner, kernels, headers that kernels are compiled with, reference tensors. The addon is loaded by Node-API and needs no
 * rebuild for Electron.
 *
 * Entitlements. The app has `allow-jit` alone, which V8 needs under the hardened runtime. It loads no foreign library: the addon
 * carries the app's own signature. Metal asks for no entitlement. Kernels of the emulated device are compiled on the user's machine
 * and loaded by the runner, a program of its own: that one, and nothing else, has `disable-library-validation`.
 * docs/packaging.md tells how it is built, signed and notarised, and what of that was ever done.
 */
import fs from "node:fs";
import path from "node:path";
import { FUSES, fuseProblems } from "../electron/shell/fuses.mjs";
import { DEPLOYMENT_TARGET } from "./native.mjs";

/** Folder beside the archive; `PACKAGED` of `electron/host/root.ts`. */
export const RESOURCES = "lockstep";

/** Of `out/`, in the archive: everything that is JavaScript, and the window. */
export const ARCHIVED = ["main.mjs", "preload.cjs", "host.mjs", "verify_worker.mjs", "renderer"];

/** Beside the archive. `filter` as electron-builder has it. */
const BESIDE = [
  { from: "out/lockstep.node", to: "out/lockstep.node" },
  { from: "out/lockstep-runner", to: "out/lockstep-runner" },
  { from: "kernels", to: "kernels", filter: ["**/*.metal", "**/*.h"] },
  { from: "native/chips.json", to: "native/chips.json" },
  { from: "native/msl/include", to: "native/msl/include" },
  { from: "native/emulator", to: "native/emulator", filter: ["self_test*.metal"] },
  { from: "native/emulator/include", to: "native/emulator/include" },
  { from: "native/emulator/runtime", to: "native/emulator/runtime" },
  { from: "test/golden", to: "test/golden", filter: ["**/*.safetensors", "**/*.json"] },
  // Nothing reads them: they are for those who have the app and no checkout.
  { from: "docs", to: "docs" },
  { from: "manifests", to: "manifests" },
  { from: "README.md", to: "README.md" },
  { from: "LICENSE", to: "LICENSE" },
];

/** Entitlements of a file of the app, where they are not the app's own. @param {string} file */
export function entitlementsOf(file) {
  return file.endsWith("/lockstep-runner") ? "build/entitlements.runner.plist" : undefined;
}

/**
 * Signs with the runner's entitlements for the runner.
 * @type {import("app-builder-lib").CustomMacSign}
 */
async function sign(options) {
  const { sign: signApp } = await import("@electron/osx-sign");
  const { optionsForFile } = options;
  await signApp({
    ...options,
    optionsForFile: (file) => {
      const usual = optionsForFile?.(file) ?? {};
      const entitlements = entitlementsOf(file);
      return entitlements === undefined ? usual : { ...usual, entitlements };
    },
  });
}

/**
 * Sets the fuses, before the app is signed, and reads them back. electron-builder's own option would pass over a fuse that it
 * does not know.
 * @param {import("app-builder-lib").AfterPackContext} context
 */
async function setFuses(context) {
  const { FuseV1Options, FuseVersion, getCurrentFuseWire } = await import("@electron/fuses");
  const names = /** @type {Readonly<Record<string, number>>} */ (/** @type {unknown} */ (FuseV1Options));
  const wanted = FUSES.flatMap(({ name, wanted }) => (wanted === null ? [] : [[names[name], wanted]]));
  await context.packager.addElectronFuses(context, { version: FuseVersion.V1, ...Object.fromEntries(wanted) });
  const problems = fuseProblems(await getCurrentFuseWire(programOf(context)));
  if (problems.length > 0) throw new Error(`Fuses: ${problems.join("; ")}`);
}

/**
 * A property list without a key whose value is a dictionary. @param {string} text @param {string} key
 * @returns {string} the same text where the key is not there
 */
export function withoutDictionary(text, key) {
  const start = text.indexOf(`<key>${key}</key>`);
  if (start < 0) return text;
  let depth = 0;
  for (const tag of text.slice(start).matchAll(/<(\/?)dict>/g)) {
    depth += tag[1] === "" ? 1 : -1;
    if (depth === 0) return text.slice(0, start).trimEnd() + text.slice(start + tag.index + tag[0].length);
  }
  return text;
}

/**
 * electron-builder lets every app load anything unencrypted, for servers of its developers. This app asks no server for anything,
 * so that the system's own rule stays.
 * @param {import("app-builder-lib").AfterPackContext} context
 */
function requireSecureTransport(context) {
  const file = path.join(programOf(context), "Contents", "Info.plist");
  fs.writeFileSync(file, withoutDictionary(fs.readFileSync(file, "utf8"), "NSAppTransportSecurity"));
}

/** @param {import("app-builder-lib").AfterPackContext} context */
function programOf({ appOutDir, electronPlatformName, packager }) {
  const name = packager.appInfo.productFilename;
  return path.join(appOutDir, electronPlatformName === "darwin" ? `${name}.app` : "lockstep");
}

/** @typedef {"developer" | "ad hoc" | "none"} Signing */

/** Without a word electron-builder finds the Developer ID by itself. */
const IDENTITY = { developer: {}, "ad hoc": { identity: "-" }, none: { identity: null } };

/**
 * The configuration. `app` is the folder that becomes the archive, with a package.json; `signing` tells what to sign with: a
 * Developer ID of Apple's, an ad hoc signature for this machine, nothing; `electronDist` is a folder with a distribution of Electron in place of the downloaded.
 * @param {{ app: string, output: string, electronVersion: string, signing: Signing, electronDist?: string }} options
 * @returns {import("app-builder-lib").Configuration}
 */
export function packageConfig({ app, output, electronVersion, signing, electronDist }) {
  return {
    appId: "dev.lockstep.workbench",
    productName: "Lockstep",
    electronVersion,
    directories: { app, output, buildResources: "build" },
    ...(electronDist === undefined ? {} : { electronDist }),
    // The addon is Node-API, and there are no other dependencies: everything is bundled.
    npmRebuild: false,
    asar: true,
    files: ["**/*"],
    extraResources: [...BESIDE, { from: path.join(app, "package.json"), to: "package.json" }].map((entry) => ({
      ...entry,
      to: `${RESOURCES}/${entry.to}`,
    })),
    afterPack: async (context) => {
      await setFuses(context);
      if (context.electronPlatformName === "darwin") requireSecureTransport(context);
    },
    fileAssociations: [
      {
        ext: "lockstep",
        name: "Lockstep evidence bundle",
        role: "Viewer",
        rank: "Owner",
        // A bundle is a folder; the Finder shows it as one document.
        isPackage: true,
      },
    ],
    mac: {
      // Apple GPUs are what it is for.
      target: ["dmg", "zip"].map((target) => ({ target, arch: ["arm64"] })),
      // The addon's own; Electron asks for the same since version 44.
      minimumSystemVersion: DEPLOYMENT_TARGET,
      // No MetalCaptureEnabled: a capture has a process of its own, whose environment allows it.
      extendInfo: { NSHighResolutionCapable: true },
      category: "public.app-category.developer-tools",
      icon: "build/icon.icns",
      // The hardened runtime's validation of libraries refuses an ad hoc signature.
      hardenedRuntime: signing === "developer",
      ...IDENTITY[signing],
      entitlements: "build/entitlements.plist",
      entitlementsInherit: "build/entitlements.plist",
      sign,
    },
    linux: {
      target: ["dir"],
      executableName: "lockstep",
      icon: "build/icon.png",
      category: "Development",
    },
    publish: null,
  };
}
