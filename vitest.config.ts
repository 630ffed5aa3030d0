import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    reporters: ["default", "./build/plain-reporter.mjs"],
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**"],
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
