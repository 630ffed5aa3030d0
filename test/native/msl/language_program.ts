/** Compiles a small C++ program against the language headers, with the flags of a kernel, and runs it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Flavour } from "../../../native/device.ts";
import { compileFlags } from "../../../native/emulator/flags.ts";
import { includeFolders } from "../../../native/msl/paths.ts";
import { type ProcessResult, runProcess } from "../../../native/msl/process.ts";
import { testToolchain } from "./workbench.ts";

/** What every program starts with; `CHECK(condition)` counts and reports, `main` ends with the counts. */
const HARNESS = `
#include "metal/language.h"
extern "C" int printf(const char *, ...);
static int checks = 0, failures = 0;
inline void check(bool holds, const char *text, int line) {
  ++checks;
  if (!holds) { ++failures; printf("line %d: %s\\n", line, text); }
}
#include "metal/keywords.h"
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __LINE__)
using namespace metal;
void program();
extern "C" [[clang::sycl_external]] __attribute__((used)) int main() {
  program();
  printf("%d checks, %d failed\\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
#line 1 "program"
`;

export interface ProgramOptions {
  /** Flags after those of a kernel. */
  readonly extra?: readonly string[];
  readonly flavour?: Flavour;
}

/** Runs the compiler on `text`; `link` makes a program of it, otherwise only the syntax is checked. */
async function compile(text: string, output: string | undefined, options: ProgramOptions): Promise<ProcessResult> {
  const tools = await testToolchain();
  const linker = tools.linker === undefined ? [] : [`--ld-path=${tools.linker}`];
  const flags = compileFlags(tools, "kernel", options.flavour ?? "fast");
  const include = includeFolders().map((folder) => `-I${folder}`);
  const action = output === undefined ? ["-fsyntax-only"] : ["-o", output, ...linker, "-x", "none", "-lm"];
  return runProcess(tools.clang, [...flags, ...include, ...(options.extra ?? []), "-x", "c++", "-", ...action], {
    input: text,
  });
}

/** Messages and status of the compiler for `body` (declarations at file scope, after the harness). */
export function diagnose(body: string, options: ProgramOptions = {}): Promise<ProcessResult> {
  return compile(HARNESS + body, undefined, options);
}

/** Compiles `body`, which defines `void program()`, and runs it. Throws with the compiler's messages if it is wrong. */
export async function runProgram(body: string, options: ProgramOptions = {}): Promise<ProcessResult> {
  const folder = mkdtempSync(join(tmpdir(), "lockstep-language-"));
  try {
    const binary = join(folder, "program");
    const compiled = await compile(HARNESS + body, binary, options);
    if (compiled.status !== 0) throw new Error(compiled.stderr);
    // A program for another machine needs one that runs it (`npm run test:arm64`).
    const launcher = process.env.LOCKSTEP_TEST_LAUNCHER;
    return launcher === undefined ? await runProcess(binary, []) : await runProcess(launcher, [binary]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs `body` and returns what failed, one line each; the harness itself must have run at least one check. */
export async function failedChecks(body: string, options: ProgramOptions = {}): Promise<readonly string[]> {
  const result = await runProgram(body, options);
  const lines = result.stdout.trimEnd().split("\n");
  const counts = /^(\d+) checks, (\d+) failed$/.exec(lines.at(-1) ?? "");
  if (counts === null || Number(counts[1]) === 0) throw new Error(`The program ended early: ${result.stdout}`);
  return lines.slice(0, -1);
}
