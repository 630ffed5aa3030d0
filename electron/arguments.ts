/** The words that a door with a window is started with. */
import fs from "node:fs";
import path from "node:path";

/** Ending of a bundle, which is a folder; packed into one file it ends in `.zip` as well. */
const BUNDLE = /\.lockstep(\.zip)?$/;

/** The folder that `--evidence DIR` names, absolute; undefined where it is not given. Throws Error where DIR is missing. */
export function evidenceArgument(words: readonly string[], cwd: string): string | undefined {
  const at = words.indexOf("--evidence");
  if (at < 0) return undefined;
  const folder = words[at + 1];
  if (folder === undefined || folder.startsWith("-")) {
    throw new Error("--evidence names no folder: give the folder of the bundles after it.");
  }
  return path.resolve(cwd, folder);
}

/**
 * The bundles to open, as absolute paths: what `--open` names, whatever its name, and the words that end as bundles do and are
 * there. `cwd` is the folder that the words were given in.
 */
export function bundleArguments(words: readonly string[], cwd: string): readonly string[] {
  return words.flatMap((word, index) => {
    if (word.startsWith("-") || words[index - 1] === "--evidence") return [];
    const file = path.resolve(cwd, word);
    return words[index - 1] === "--open" || (BUNDLE.test(file) && fs.existsSync(file)) ? [file] : [];
  });
}
