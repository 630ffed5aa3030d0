// @ts-check
/**
 * Tests whose truth is of one system alone, with the reason: on others they are not run, and the end of the run says so. Every
 * other test holds on Linux and on a Mac. Read by vitest.config.ts and by the reporter; test/build/elsewhere.test.ts holds it to
 * the files.
 */

/** @typedef {{ readonly only: NodeJS.Platform, readonly files: readonly string[], readonly why: string }} Elsewhere */

/** @type {readonly Elsewhere[]} */
export const ELSEWHERE = [
  {
    only: "linux",
    files: [
      "test/electron/accept/stand_in.test.ts",
      "test/electron/host/metal_child.test.ts",
      "test/electron/host/metal_run.test.ts",
      "test/native/metal/conformance.test.ts",
      "test/native/metal/detection.test.ts",
      "test/native/metal/device.test.ts",
      "test/native/metal/hostile.test.ts",
      "test/native/metal/library.test.ts",
      "test/native/metal/logs_and_captures.test.ts",
      "test/native/metal/memory.test.ts",
      "test/native/metal/parity.test.ts",
      "test/native/metal/pipeline.test.ts",
      "test/native/metal/stand_in.test.ts",
      "test/native/metal/submission.test.ts",
      "test/native/metal/teardown.test.ts",
    ],
    why: "the stand-in for Metal takes the place of what a Mac has: there real_device.test.ts asks Metal itself, and npm run mac:accept runs on it",
  },
  {
    only: "linux",
    files: ["test/native/emulator/mac_lines.test.ts", "test/native/metal/link_emulator.test.ts"],
    why: "they link runner and modules for a Mac elsewhere: a Mac builds and runs them",
  },
  {
    only: "linux",
    files: ["test/native/emulator/dwarf_lines.test.ts"],
    why: "it links with LLVM's linker for ELF files",
  },
  {
    only: "linux",
    files: ["test/native/emulator/confine.test.ts"],
    why: "seccomp is Linux's: on a Mac the runner says that kernels keep the rights of their user",
  },
  {
    only: "darwin",
    files: ["test/native/metal/real_device.test.ts"],
    why: "it asks Metal, which is a part of macOS",
  },
];

/**
 * What is not run on a system.
 * @param {NodeJS.Platform} [platform] @returns {readonly Elsewhere[]}
 */
export function notRunOn(platform = process.platform) {
  return ELSEWHERE.filter(({ only }) => only !== platform);
}
