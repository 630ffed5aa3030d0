/** The stand-in for Metal is strict: every misuse that other tests rely on being seen is seen. */
import { execFile } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import { buildMisuse } from "./stand_in/build.ts";
import { STAND_IN_TIMEOUT_MS } from "./stand_in/open.ts";

let program: string;

beforeAll(async () => {
  program = await buildMisuse();
}, STAND_IN_TIMEOUT_MS);

interface Ran {
  readonly signal: string | null;
  readonly lines: readonly string[];
}

function misuse(name: string): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program, [name], (error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.split("\n").filter(Boolean);
      resolve({ signal: error?.signal ?? null, lines });
    });
  });
}

test("what is right is taken, and leaves nothing behind", async () => {
  expect(await misuse("none")).toEqual({ signal: null, lines: ["left 0, without a pool 0"] });
});

test.each([
  ["large bytes", "setBytes of 5000 bytes at index 0; 1 to 4,096 are allowed"],
  ["index", "index 31; threadgroup memory has 0 to 30"],
  ["offset", "offset 64 in a buffer of 64 bytes at index 0"],
  ["samples that are not supported", "samples at stage boundaries, which the device does not support"],
  ["sample index", "sample 2 of 2"],
  ["late handler", "a completed handler was added after commit"],
  ["too new", "mathMode needs macOS 15; this is 14"],
  ["on the main thread", "newBinaryArchiveWithDescriptor on the thread of JavaScript: it may take long"],
  ["residency that is not committed", "a command buffer was committed while a residency set has changes that are not"],
])("%s is a violation", async (name, words) => {
  expect(await misuse(name)).toEqual({ signal: null, lines: [words, "left 0, without a pool 0"] });
});

test.each([
  ["commit twice", "a command buffer was committed twice"],
  ["not ended", "a command buffer was committed before endEncoding"],
  ["two encoders", "an encoder was made before endEncoding of the one before"],
  ["after the end", "setThreadgroupMemoryLength after endEncoding"],
  ["no pipeline", "a dispatch without a pipeline"],
  ["released twice", "which is no living object: released too often?"],
  ["no such method", "-[NSObject addObject:]: the stand-in for Metal has no such method"],
  ["nil in an array", "nil was put into an array"],
])("%s ends the process", async (name, words) => {
  const { signal, lines } = await misuse(name);
  expect(signal).toBe("SIGABRT");
  expect(lines.at(-1)).toMatch(/^Stand-in for Metal: /);
  expect(lines.at(-1)).toContain(words);
});

test.each([
  ["leak", "left 1, without a pool 0"],
  ["block leak", "left 1, without a pool 0"],
  ["no pool", "left 1, without a pool 1"],
])("%s is counted", async (name, words) => {
  expect(await misuse(name)).toEqual({ signal: null, lines: [words] });
});
