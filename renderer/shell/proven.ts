/**
 * What is known of each part and how, as README and docs/limits.md have it: what ran, what ran on a stand-in or a model, what was
 * only read by a compiler, what never ran.
 */

/**
 * `run`: executed by the tests of this version. `model`: kernels executed on the emulated GPU. `stand_in`: executed against
 * something small of our own that plays the system. `read`: type-checked or linked, never executed. `never`: none of it.
 */
export type Standing = "run" | "model" | "stand_in" | "read" | "never";

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
  stand_in: "on a stand-in",
  read: "compiled only",
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
    how: "tests of every collective, matrix and barrier; the conformance suite of every device",
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
    how: "in Chromium, against the real host and the emulated device; what it shows of a Mac, with facts written by hand",
    limit: "other browsers",
  },
  {
    part: "Metal device, on Linux",
    standing: "stand_in",
    how: "its code is executed over a stand-in for Metal, with failures, cancels and late answers; kernels run in the emulator",
    limit: "what Metal refuses, says, limits or measures: a stand-in knows what its author knew",
  },
  {
    part: "Metal device, for macOS",
    standing: "read",
    how: "type-checked for macOS against headers written by hand, and linked to an arm64 bundle against such stubs",
    limit: "that macOS declares and exports it so, or that it does what the sources expect",
  },
  {
    part: "Validation, capture, imports",
    standing: "stand_in",
    how: "with children, programs and files that say what Metal and Xcode were seen to say in public",
    limit: "other words of theirs: an unknown line keeps a gate from passing",
  },
  {
    part: "Desktop app",
    standing: "stand_in",
    how: "its processes run on a stand-in for Electron; its package is made on a stand-in and read back",
    limit: "that it starts, looks right, or is signed: it was never launched in a real Electron",
  },
  {
    part: "Apple GPU, macOS",
    standing: "never",
    how: "no bundle from a Mac is kept with this version",
    limit: "anything about a chip: nothing here has run on a Mac",
  },
];
