import os from "node:os";
import { expect, it } from "vitest";
import { availableMemory } from "../../../electron/runs/memory.ts";

it("is what the system tells, and on macOS at least half of all memory", () => {
  expect(availableMemory("linux")).toBeLessThanOrEqual(os.totalmem());
  expect(availableMemory("darwin")).toBeGreaterThanOrEqual(Math.floor(os.totalmem() / 2));
});
