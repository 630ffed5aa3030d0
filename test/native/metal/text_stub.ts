/**
 * The library stubs, written by hand in the layout of an SDK: each lists what the addon (`tbd/`) or the emulator
 * (`tbd_emulator/`) links of one library of macOS, and where that library lies. The linker refuses what is in none of them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const STUBS = join(import.meta.dirname, "tbd");
export const EMULATOR_STUBS = join(import.meta.dirname, "tbd_emulator");

export interface TextStub {
  /** Path below the root of the SDK. */
  readonly path: string;
  /** `install-name`: what the bundle loads. */
  readonly library: string;
  /** As they stand in symbol tables. */
  readonly symbols: readonly string[];
}

/** How a name in each list stands in symbol tables. */
const LISTS: Readonly<Record<string, (name: string) => string>> = {
  symbols: (name) => name,
  "objc-classes": (name) => `_OBJC_CLASS_$_${name}`,
  "objc-eh-types": (name) => `_OBJC_EHTYPE_$_${name}`,
};

export function readTextStub(path: string, text: string): TextStub {
  const library = /^install-name: '([^']+)'$/m.exec(text)?.[1];
  if (library === undefined) throw new Error(`${path} has no install-name`);
  const symbols = [...text.matchAll(/^ {4}([a-z-]+):\n((?: {6}- \S+\n)+)/gm)].flatMap(([, list = "", names = ""]) => {
    const symbol = LISTS[list];
    if (symbol === undefined)
      throw new Error(`${path} has a list "${list}"; known are ${Object.keys(LISTS).join(", ")}`);
    return [...names.matchAll(/- (\S+)/g)].map(([, name = ""]) => symbol(name));
  });
  return { path, library, symbols };
}

export function textStubs(root: string = STUBS): readonly TextStub[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".tbd"))
    .sort()
    .map((path) => readTextStub(path, readFileSync(join(root, path), "utf8")));
}
