/** What is asked about a manifest: fields of the form as a request, files of a folder as texts, and the command. Pure. */
import type { KernelAsked } from "./use_manifest.ts";

export interface ManifestFields {
  /** On the workbench's machine. */
  readonly path: string;
  readonly root: string;
  /** `N=64,D=128`. */
  readonly sizes: string;
}

export type Parsed<T> =
  | { readonly value: T; readonly reason?: undefined }
  | { readonly value?: undefined; readonly reason: string };

export function sizesOf(text: string): Parsed<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const part of text.split(",").filter((word) => word.trim() !== "")) {
    const [, name, value] = /^\s*([A-Za-z_]\w*)\s*=\s*(\S+)\s*$/.exec(part) ?? [];
    const number = Number(value);
    if (name === undefined || !Number.isFinite(number)) {
      return { reason: `"${part.trim()}" is no size: write NAME=NUMBER, as in N=64,D=128` };
    }
    if (Object.hasOwn(sizes, name)) return { reason: `${name} is there twice: give it one value` };
    sizes[name] = number;
  }
  return { value: sizes };
}

/** The request, or why the fields make none. */
export function askedOf({ path, root, sizes }: ManifestFields): Parsed<KernelAsked> {
  if (path.trim() === "") return { reason: "Give the path of a .kernel.json, or choose a folder that holds one" };
  const parsed = sizesOf(sizes);
  if (parsed.value === undefined) return parsed;
  const from = { kind: "file" as const, path: path.trim(), root: root.trim() === "" ? null : root.trim() };
  return { value: { from, sizes: parsed.value, chip: null } };
}

/** A file of a chosen folder, its path relative to it. */
export interface FolderFile {
  readonly path: string;
  readonly text: string;
}

/** Most bytes of texts in one request, below what the server takes of one message. */
export const TEXT_BYTES = 900_000;

/** True for what a manifest's kernel may be made of. */
export function isWanted(path: string): boolean {
  return /\.(kernel\.json|metal|h|hpp|metalh|inc)$/.test(path);
}

/** The request of a folder that holds one manifest, with its sources as texts. */
export function askedOfFolder(files: readonly FolderFile[], sizes: string): Parsed<KernelAsked> {
  const manifests = files.filter(({ path }) => path.endsWith(".kernel.json"));
  const [manifest] = manifests;
  if (manifest === undefined) return { reason: "The folder holds no .kernel.json" };
  if (manifests.length > 1) {
    const names = manifests.map(({ path }) => path).join(", ");
    return { reason: `The folder holds ${manifests.length} manifests: ${names}. Give the path of one` };
  }
  const texts = files.filter(({ path }) => path !== manifest.path);
  if (texts.length === 0) {
    return { reason: `${manifest.path} came without its sources: take the folder that holds both, or give its path` };
  }
  const bytes = texts.reduce((sum, { text }) => sum + text.length, manifest.text.length);
  if (bytes > TEXT_BYTES) {
    const [has, limit] = [bytes, TEXT_BYTES].map((value) => value.toLocaleString("en-US"));
    return { reason: `Its sources have ${has} bytes; the limit is ${limit}: give the path of the manifest instead` };
  }
  const parsed = sizesOf(sizes);
  if (parsed.value === undefined) return parsed;
  // Sources are relative to the manifest's folder.
  const folder = manifest.path.slice(0, manifest.path.lastIndexOf("/") + 1);
  const own = texts.flatMap(({ path, text }) =>
    path.startsWith(folder) ? [{ path: path.slice(folder.length), text }] : [],
  );
  return {
    value: {
      from: { kind: "texts", name: manifest.path, manifest: manifest.text, files: own },
      sizes: parsed.value,
      chip: null,
    },
  };
}

/** The words of `lockstep check` that ask the same. */
export function checkWords({ from, sizes }: KernelAsked): readonly string[] {
  const set = Object.entries(sizes).map(([name, value]) => `${name}=${value}`);
  return [
    "lockstep",
    "check",
    from.kind === "file" ? from.path : from.name,
    ...(from.kind === "file" && from.root !== null ? ["--root", from.root] : []),
    ...(set.length === 0 ? [] : ["--set", set.join(",")]),
    "--traffic",
  ];
}
