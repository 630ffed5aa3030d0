/**
 * Apple's offline compiler (`xcrun metal`), where there is one. Kernels are compiled by the run-time compiler, which is a
 * part of macOS: this one is only reported.
 */
import { existsSync } from "node:fs";
import { type ProcessResult, runProcess } from "../msl/process.ts";

const XCODE_SELECT = "/usr/bin/xcode-select";
const XCRUN = "/usr/bin/xcrun";
const TIMEOUT_MS = 5_000;

/** The version line of the offline compiler, or why it is not known. */
export type OfflineCompiler = { readonly version: string } | { readonly reason: string };

/** Asks once, for five seconds at most each. Never rejects. */
export async function probeOfflineCompiler(): Promise<OfflineCompiler> {
  if (!existsSync(XCODE_SELECT) || !existsSync(XCRUN)) return { reason: "there is no xcrun on this machine" };
  try {
    // Without developer tools xcrun opens a window that offers to install them; xcode-select only fails.
    const selected = await runProcess(XCODE_SELECT, ["-p"], { timeoutMs: TIMEOUT_MS });
    if (selected.status !== 0) return { reason: `no developer tools are selected: ${wordsOf(selected)}` };
    return readVersion(await runProcess(XCRUN, ["metal", "--version"], { timeoutMs: TIMEOUT_MS }));
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  }
}

/** What `xcrun metal --version` said: its first line, or its words where it failed. */
export function readVersion(result: ProcessResult): OfflineCompiler {
  const first = result.stdout.split("\n").find((line) => line.trim() !== "");
  if (result.status === 0 && first !== undefined) return { version: first.trim() };
  return { reason: `xcrun metal --version failed: ${wordsOf(result)}` };
}

function wordsOf(result: ProcessResult): string {
  const words = (result.stderr.trim() || result.stdout.trim()).replace(/\s+/g, " ").slice(0, 400);
  return words || `exit status ${result.status ?? "none"}`;
}
