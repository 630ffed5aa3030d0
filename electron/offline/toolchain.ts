/** Apple's offline tools on this machine: whether they are there, which they are, and one run of one of them. */
import fs from "node:fs";
import { runProcess } from "../../native/msl/process.ts";
import type { Step } from "./plan.ts";

export type Toolchain =
  | {
      readonly available: true;
      /** First line of `metal --version`. */
      readonly compiler: string;
      /** Path that xcrun gives for `metal-tt`. */
      readonly translator: string;
    }
  | { readonly available: false; readonly reason: string; readonly mend: string };

const NEEDS = "install Xcode 26 or later, then its Metal toolchain: xcodebuild -downloadComponent MetalToolchain";

const TIMEOUT_MS = 120_000;

/** Longest words of a tool that are kept. */
const MOST_WORDS = 2000;

function firstLine(text: string): string {
  return (
    text
      .split("\n")
      .find((line) => line.trim() !== "")
      ?.trim() ?? ""
  );
}

async function find(tool: string): Promise<{ readonly path: string } | { readonly reason: string }> {
  const { status, stdout, stderr } = await runProcess("xcrun", ["-sdk", "macosx", "--find", tool], {
    timeoutMs: TIMEOUT_MS,
  });
  const path = firstLine(stdout);
  return status === 0 && path !== "" ? { path } : { reason: firstLine(stderr) || `xcrun ended with status ${status}` };
}

/** Looks for `metal`, `metallib` and `metal-tt` through xcrun. Never rejects. */
export async function findToolchain(): Promise<Toolchain> {
  try {
    for (const tool of ["metal", "metallib", "metal-tt"] as const) {
      const found = await find(tool);
      if (!("path" in found))
        return { available: false, reason: `xcrun finds no ${tool}: ${found.reason}`, mend: NEEDS };
      if (tool !== "metal-tt") continue;
      const { stdout } = await runProcess("xcrun", ["-sdk", "macosx", "metal", "--version"], { timeoutMs: TIMEOUT_MS });
      return { available: true, compiler: firstLine(stdout) || "states no version", translator: found.path };
    }
    return { available: false, reason: "no tool was looked for", mend: NEEDS };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no xcrun on this machine" : `xcrun cannot be run: ${message}`;
    return { available: false, reason, mend: `on a Mac, ${NEEDS}` };
  }
}

export type StepEnd = { readonly ok: true } | { readonly ok: false; readonly words: string };

/** Runs one step. What the tool says against it is kept word for word, as is a file that it did not write. */
export async function runStep({ command, writes, id }: Step, cwd: string): Promise<StepEnd> {
  const [program, ...args] = command;
  try {
    const { status, stdout, stderr } = await runProcess(program!, args, { cwd, timeoutMs: TIMEOUT_MS });
    const said = `${stderr}\n${stdout}`.trim().slice(0, MOST_WORDS);
    if (status !== 0) return { ok: false, words: said === "" ? `${id} ended with status ${status}` : said };
    if (!fs.existsSync(writes)) return { ok: false, words: `${id} ended well and wrote no ${writes}` };
    return { ok: true };
  } catch (error) {
    return { ok: false, words: error instanceof Error ? error.message : String(error) };
  }
}
