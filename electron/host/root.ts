/** Where the parts of the program are, from a bundle in `out/` as well as from the source tree. */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder that holds package.json, kernels/ and out/. Throws Error where this file is in no such folder. */
export function findRoot(start: string = path.dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = start; ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, "package.json")) && fs.existsSync(path.join(folder, "kernels"))) return folder;
    if (path.dirname(folder) === folder) throw new Error(`${start} is in no folder with package.json and kernels/.`);
  }
}

export interface Places {
  readonly root: string;
  readonly addon: string;
  readonly runner: string;
  readonly host: string;
  readonly kernels: string;
  readonly golden: string;
}

export function places(root: string = findRoot()): Places {
  return {
    root,
    addon: path.join(root, "out", "lockstep.node"),
    runner: path.join(root, "out", "lockstep-runner"),
    host: path.join(root, "out", "host.mjs"),
    kernels: path.join(root, "kernels"),
    golden: path.join(root, "test", "golden"),
  };
}

/** Version of the program, from package.json. */
export function appVersion(root: string): string {
  const text: unknown = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  const version = (text as { readonly version?: unknown }).version;
  return typeof version === "string" ? version : "unknown";
}

/** Commit of the checkout that the program runs from, read without git. Null outside a checkout. */
export function appCommit(root: string): string | null {
  try {
    const git = path.join(root, ".git");
    const head = fs.readFileSync(path.join(git, "HEAD"), "utf8").trim();
    const ref = /^ref: (\S+)$/.exec(head)?.[1];
    if (ref === undefined) return /^[0-9a-f]{40}$/.test(head) ? head : null;
    const loose = path.join(git, ref);
    if (fs.existsSync(loose)) return fs.readFileSync(loose, "utf8").trim();
    const packed = fs.readFileSync(path.join(git, "packed-refs"), "utf8");
    return new RegExp(`^([0-9a-f]{40}) ${ref}$`, "m").exec(packed)?.[1] ?? null;
  } catch {
    return null;
  }
}
