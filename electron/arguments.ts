/** The words that a door with a window is started with. */
import path from "node:path";

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
