/** Programs of a step that write without end, do not stop, or end at the moment at which they are stopped. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runProgram } from "../../../electron/accept/child.ts";
import { programReport } from "../../../electron/accept/reports.ts";
import { scratchFolder } from "../runs/harness.ts";

let folder: string;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function program(name: string, text: string): string {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return file;
}

const never = () => new AbortController().signal;

it("the end of a long log is kept, because it says how it went", async () => {
  const file = program(
    "long.cjs",
    `for (let k = 0; k < 200; ++k) process.stdout.write("x".repeat(65535) + "\\n");
process.stdout.write("failed   window: it did not open\\n");
process.exitCode = 1;`,
  );
  const { code, text } = await runProgram(file, [], { cwd: folder, signal: never() });
  expect(text.length).toBeLessThan((1 << 20) + 100);
  expect(text).toMatch(/\n\.\.\. [\d,]+ characters are left out \.\.\.\n/);
  expect(programReport(code, text)).toEqual({ outcome: "failed", words: "failed   window: it did not open" });
});

it("a short log is kept whole", async () => {
  const file = program("short.cjs", 'process.stdout.write("a\\nb\\n")');
  expect(await runProgram(file, [], { cwd: folder, signal: never() })).toEqual({ code: 0, text: "a\nb\n" });
});

it("a program that does not stop when told is ended with all that it started", async () => {
  const file = program(
    "deaf.cjs",
    `process.on("SIGTERM", () => {});
const { spawn } = require("node:child_process");
spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: "inherit" });
setInterval(() => {}, 1000);
console.log("ready");`,
  );
  const stop = new AbortController();
  const ended = await runProgram(file, [], {
    cwd: folder,
    signal: stop.signal,
    stopMs: 200,
    onLine: () => stop.abort(),
  });
  // Its output has ended, which the one that it started had open as well.
  expect(ended).toEqual({ code: null, text: "ready\n" });
});

it("a stop at the moment at which it has ended is none", async () => {
  // What it leaves behind, in a group of its own, holds its output open a little longer.
  const file = program(
    "gone.cjs",
    `const { spawn } = require("node:child_process");
const left = spawn(process.execPath, ["-e", "setTimeout(() => console.log('late'), 1500)"], { stdio: "inherit", detached: true });
left.unref();
console.log("first");`,
  );
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 1000);
  const ended = await runProgram(file, [], { cwd: folder, signal: stop.signal });
  expect(ended).toEqual({ code: 0, text: "first\nlate\n" });
});

it("what was stopped before it began is stopped", async () => {
  const file = program("endless.cjs", "setInterval(() => {}, 1000)");
  const stop = new AbortController();
  stop.abort();
  expect(await runProgram(file, [], { cwd: folder, signal: stop.signal })).toEqual({ code: null, text: "" });
});
