import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { defineConfig } from "vitest/config";
import { notRunOn } from "./test/elsewhere.mjs";

/** What is not run on this system; the reporter says why. */
const elsewhere = notRunOn().flatMap(({ files }) => files);

/**
 * Tests are about the emulated device, on a Mac too: a run that names none would take Metal there. Its folder for temporary files
 * lies behind a link, and a process that works in it knows it by the other name.
 */
const env = process.platform === "darwin" ? { LOCKSTEP_METAL: "off", TMPDIR: realpathSync(tmpdir()) } : {};

export default defineConfig({
  test: {
    reporters: ["default", "./build/plain-reporter.mjs"],
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**", ...elsewhere],
          env,
          // Native builds and emulated kernels take seconds on a busy two-core machine.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          env,
          // A first run compiles its kernels, in every flavour that it is checked in.
          testTimeout: 300_000,
          hookTimeout: 120_000,
          // A browser, a host and the emulated device at once: after everything else, one file at a time.
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
