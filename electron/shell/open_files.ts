/** Bundles that the system asks the app to open: by double-click, by drop on the icon, or as words of a command line. */
import fs from "node:fs";
import path from "node:path";

/** Ending of a bundle, which is a folder; packed into one file it ends in `.zip` as well. */
const BUNDLE = /\.lockstep(\.zip)?$/;

/** Bundles among the words of a command line, as absolute paths. `cwd` is the folder that it was given in. */
export function bundlesIn(words: readonly string[], cwd: string): readonly string[] {
  return words
    .filter((word) => !word.startsWith("-"))
    .map((word) => path.resolve(cwd, word))
    .filter((file) => BUNDLE.test(file) && fs.existsSync(file));
}

/** What is to be opened, until a window is ready to take it. */
export class OpenQueue {
  readonly #waiting: string[] = [];
  #take: ((file: string) => void) | undefined;

  add(...files: readonly string[]): void {
    this.#waiting.push(...files);
    this.#drain();
  }

  /** A window takes what waits and what comes. Undefined: there is no window. */
  give(take: ((file: string) => void) | undefined): void {
    this.#take = take;
    this.#drain();
  }

  #drain(): void {
    if (this.#take === undefined) return;
    for (const file of this.#waiting.splice(0)) this.#take(file);
  }
}
