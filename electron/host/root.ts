/** Where the parts of the program are, from a bundle in `out/` as well as from the source tree. */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of a packaged app's resources that stands for the checkout: kernels, native parts, reference tensors. */
export const PACKAGED = "lockstep";

function isRoot(folder: string): boolean {
  return fs.existsSync(path.join(folder, "package.json")) && fs.existsSync(path.join(folder, "kernels"));
}

/**
 * The folder that holds package.json, kernels/ and out/: the checkout, or `lockstep` beside the archive of a packaged app.
 * Throws Error where this file is in neither.
 */
export function findRoot(start: string = path.dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = start; ; folder = path.dirname(folder)) {
    for (const root of [folder, path.join(folder, PACKAGED)]) if (isRoot(root)) return root;
    if (path.dirname(folder) === folder) throw new Error(`${start} is in no folder with package.json and kernels/.`);
  }
}

export interface Places {
  readonly root: string;
  readonly addon: string;
  readonly runner: string;
  /** The bundled host. */
  readonly host: string;
  /** The bundled thread that verifies. */
  readonly verifier: string;
  /** Folder of the built window. */
  readonly window: string;
  readonly kernels: string;
  readonly golden: string;
}

export function places(root: string = findRoot()): Places {
  const archive = path.join(path.dirname(root), "app.asar");
  const packaged = path.basename(root) === PACKAGED && fs.existsSync(archive);
  // What is JavaScript is in the archive, whose bytes Electron checks; programs must be real files.
  const bundles = path.join(packaged ? archive : root, "out");
  return {
    root,
    addon: path.join(root, "out", "lockstep.node"),
    runner: path.join(root, "out", "lockstep-runner"),
    host: path.join(bundles, "host.mjs"),
    verifier: path.join(bundles, "verify_worker.mjs"),
    window: path.join(bundles, "renderer"),
    kernels: path.join(root, "kernels"),
    golden: path.join(root, "test", "golden"),
  };
}

function packageJson(root: string): { readonly version?: unknown; readonly commit?: unknown } {
  return JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")) as ReturnType<typeof packageJson>;
}

/** The kernel sources below a folder, with `/` between the parts of their paths, sorted. */
export function kernelFiles(folder: string): readonly string[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => name.split(path.sep).join("/"))
    .filter((name) => /\.(metal|h)$/.test(name))
    .sort();
}

/** Version of the program, from package.json. */
export function appVersion(root: string): string {
  const { version } = packageJson(root);
  return typeof version === "string" ? version : "unknown";
}

/**
 * Commit that the program was made from: of the checkout, read without git, or as the packaged app's package.json has it.
 * Null where neither says.
 */
export function appCommit(root: string): string | null {
  try {
    const { commit } = packageJson(root);
    if (typeof commit === "string" && /^[0-9a-f]{40}$/.test(commit)) return commit;
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
