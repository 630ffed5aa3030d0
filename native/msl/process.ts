/** Runs one external program to its end, with its input and output in memory. */
import { spawn } from "node:child_process";
import { DeviceError } from "../device.ts";

export interface ProcessResult {
  /** Exit status, or undefined if a signal ended it. */
  readonly status: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  readonly input?: string;
  readonly timeoutMs?: number;
  readonly cwd?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `command` with `args` (no shell) and `input` on standard input.
 * Rejects only if the program cannot be started, runs longer than `timeoutMs`, or is ended because `signal` aborts: with the
 * `DeviceError` `cancelled`, when it is no more.
 */
export function runProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<ProcessResult> {
  return new Promise((resolve, reject) => {
    const { signal, timeoutMs = 120_000 } = options;
    const cancelled = (): DeviceError => new DeviceError("cancelled", `${command} was ended: the build was cancelled.`);
    if (signal?.aborted) {
      reject(cancelled());
      return;
    }
    const child = spawn(command, args, {
      stdio: ["pipe", "pipe", "pipe"],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      // Messages are parsed, so they must be the untranslated ones.
      env: { ...process.env, LC_ALL: "C" },
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, timeoutMs);
    const onAbort = (): void => void child.kill("SIGKILL");
    signal?.addEventListener("abort", onAbort, { once: true });
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", (error) => {
      settle();
      reject(error);
    });
    child.on("close", (status) => {
      settle();
      if (signal?.aborted) {
        reject(cancelled());
        return;
      }
      if (late) {
        reject(new Error(`${command} did not end within ${timeoutMs} ms`));
        return;
      }
      resolve({
        status: status ?? undefined,
        stdout: Buffer.concat(stdout).toString("utf8"),
        stderr: Buffer.concat(stderr).toString("utf8"),
      });
    });
    // A program that ends before it has read its input closes the pipe: its status tells what happened.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
  });
}
