/** Runs one task in a child process that loads the addon (`out/accept_host.mjs`). */
import { fork, spawn } from "node:child_process";
import { type Task, type TaskEvent, taskEventSchema } from "./tasks.ts";

export interface TaskOptions {
  /** The bundled child. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly onEvent?: (event: TaskEvent) => void;
  /** How long a child that was told to stop may take. */
  readonly stopMs?: number;
}

const STOP_MS = 5000;
const KEPT = 4000;

/**
 * Resolves with the last event that the child sent. Rejects where it refuses the task, sends what it may not send, or ends
 * without an answer: then with how it ended, the last words on its standard error and the last thing that it had said.
 */
export function runTask<T extends TaskEvent["type"]>(
  task: Task,
  wanted: T,
  { path, signal, onEvent, stopMs = STOP_MS }: TaskOptions,
): Promise<Extract<TaskEvent, { type: T }>> {
  return new Promise((resolve, reject) => {
    // A group of its own: Ctrl-C reaches the parent alone, which stops its children in order.
    const child = fork(path, [], { execArgv: [], detached: true, stdio: ["ignore", "ignore", "pipe", "ipc"] });
    let stderr = "";
    let last = "";
    let answer: Extract<TaskEvent, { type: T }> | undefined;
    let failure: Error | undefined;
    let timer: NodeJS.Timeout | undefined;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-KEPT);
    });
    const onAbort = (): void => {
      if (child.connected) child.send("stop");
      timer = setTimeout(() => child.kill("SIGKILL"), stopMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    child.on("message", (message) => {
      const parsed = taskEventSchema.safeParse(message);
      if (!parsed.success) {
        failure ??= new Error(`the child said what it may not say: ${parsed.error.issues[0]?.message}`);
        child.kill("SIGKILL");
        return;
      }
      const event = parsed.data;
      if (event.type === "refused") failure ??= new Error(event.message);
      else if (event.type === wanted) answer = event as Extract<TaskEvent, { type: T }>;
      if (event.type === "check") last = `, after the check ${event.result.id}`;
      onEvent?.(event);
    });
    child.on("error", (error) => {
      failure ??= new Error(`the child could not be started: ${error.message}`);
      settle("");
    });
    child.once("exit", (code, name) => settle(name === null ? `with exit code ${code}` : `by ${name}`));
    const settle = (how: string): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      if (failure !== undefined) reject(failure);
      else if (answer !== undefined) resolve(answer);
      else {
        const words = stderr.trim().split("\n").slice(-3).join(" ");
        reject(new Error(`the process that had the device ended ${how}${last}${words === "" ? "" : `: ${words}`}`));
      }
    };
    child.send(task);
  });
}

/** Of what a program writes the begin is kept and the end, which says how it went. */
const KEPT_OUTPUT = 1 << 19;

/** A signal to a program and to all that it started. It may have ended in this very moment. */
function endGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * Runs another program of the project and gives its exit code and what it wrote, at most the first and the last half of a
 * megabyte. Rejects if it cannot start.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  {
    cwd,
    signal,
    onLine,
    stopMs = STOP_MS,
  }: {
    readonly cwd: string;
    readonly signal: AbortSignal;
    readonly onLine?: (line: string) => void;
    /** How long a program that was told to stop may take. */
    readonly stopMs?: number;
  },
): Promise<{ readonly code: number | null; readonly text: string }> {
  return await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, ...args], { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let head = "";
    let tail = "";
    let left = 0;
    const take = (piece: string): void => {
      const room = KEPT_OUTPUT - head.length;
      head += piece.slice(0, room);
      const both = tail + piece.slice(room);
      tail = both.slice(-KEPT_OUTPUT);
      left += both.length - tail.length;
      for (const line of piece.split("\n")) if (line !== "") onLine?.(line);
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      endGroup(child.pid, "SIGTERM");
      timer = setTimeout(() => endGroup(child.pid, "SIGKILL"), stopMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    child.on("error", (error) => {
      settle();
      reject(error);
    });
    child.once("close", (code) => {
      settle();
      const cut = left > 0 ? `\n... ${left.toLocaleString("en-US")} characters are left out ...\n` : "";
      resolve({ code, text: `${head}${cut}${tail}` });
    });
  });
}
