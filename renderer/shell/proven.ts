/** What is known of each part and how, as the README has it: what was run, what was only compiled, what never ran. */

/** `run`: executed by the tests of this version. `model`: executed on a model of the thing. `never`: not executed. */
export type Standing = "run" | "model" | "never";

export interface Proven {
  readonly part: string;
  readonly standing: Standing;
  readonly how: string;
  /** What that does not show. */
  readonly limit: string;
}

export const STANDING_WORDS: Readonly<Record<Standing, string>> = {
  run: "run in tests",
  model: "emulated",
  never: "never run",
};

export const PROVEN: readonly Proven[] = [
  {
    part: "Oracle",
    standing: "run",
    how: "against reference tensors of independent implementations, to 1e-13; twice, in TypeScript and in C++",
    limit: "shapes that no reference tensor covers",
  },
  {
    part: "Kernels",
    standing: "model",
    how: "the same .metal source on an emulated Apple GPU, held to the oracle; every MSL name held to the language's tables",
    limit: "that Apple's compiler accepts them, how they run or how fast on a GPU",
  },
  {
    part: "Emulated device",
    standing: "run",
    how: "tests of every collective, matrix and barrier",
    limit: "the bits of a chip: it is a model, and more lenient than Apple's compiler",
  },
  {
    part: "Gates and bundles",
    standing: "run",
    how: "each gate has a test in which it fails; a changed byte in a bundle must be noticed",
    limit: "who made an unsigned bundle",
  },
  {
    part: "Window",
    standing: "run",
    how: "in Chromium, against the real host and the emulated device",
    limit: "other browsers",
  },
  {
    part: "Desktop shell",
    standing: "never",
    how: "its processes are tested against a stand-in for Electron",
    limit: "how the window looks and behaves in Electron",
  },
  {
    part: "Apple GPU, macOS",
    standing: "never",
    how: "sources are compiled or type-checked for macOS",
    limit: "anything about a chip: nothing here has run on a Mac",
  },
];
