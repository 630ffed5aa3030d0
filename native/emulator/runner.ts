/**
 * The typed client of the kernel runner: a process of its own, so that a kernel that loops for ever, writes through a
 * wild pointer or overflows a stack ends that process and nothing else.
 *
 * A `Runner` keeps its process between submissions (buffers stay mapped, modules loaded, fiber stacks warm). After a
 * crash, a timeout or a hard cancel the next submission starts a fresh one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import {
  DeviceError,
  type DispatchTiming,
  type Flavour,
  type LogLine,
  type Size3,
  type SubmitOptions,
} from "../device.ts";
import {
  PROTOCOL_VERSION,
  type RunnerReply,
  type RunnerReport,
  type RunnerTraffic,
  requestLine,
  runnerReply,
} from "./protocol.ts";

/** A compiled kernel module and the symbol of its entry (`lockstep_entry` unless the front end chose another). */
export interface RunnerModule {
  readonly path: string;
  readonly entry: string;
}

/** A buffer in a file; `NativeMemory` has the layout. `label` names it in crash reports. */
export interface RunnerBuffer {
  readonly path: string;
  readonly fileOffset: number;
  readonly bytes: number;
  readonly label: string;
}

export type RunnerArgument = (
  | { readonly index: number; readonly buffer: RunnerBuffer; readonly offset?: number }
  | { readonly index: number; readonly bytes: Uint8Array }
) & {
  /** The kernel's parameter is `const` or `constant`. Default: it is not. */
  readonly readOnly?: boolean;
};

export interface RunnerDispatch {
  readonly label: string;
  readonly module: RunnerModule;
  readonly threadgroups: Size3;
  readonly threadsPerThreadgroup: Size3;
  readonly arguments: readonly RunnerArgument[];
  readonly threadgroupMemory?: readonly { readonly index: number; readonly bytes: number }[];
  /** Default: safe. */
  readonly mathMode?: "safe" | "fast";
}

export interface RunnerRequest {
  readonly dispatches: readonly RunnerDispatch[];
  /** For modules of check flavours, and only for those. */
  readonly check?: { readonly order: "serial" | "concurrent"; readonly outputs: readonly RunnerBuffer[] };
}

export interface RunnerResult {
  readonly timings: readonly DispatchTiming[];
  readonly checks?: RunnerChecks;
}

/** What the check flavours saw, in terms of code addresses. */
export interface RunnerChecks {
  readonly reports: readonly RunnerReport[];
  readonly traffic: readonly RunnerTraffic[];
  readonly dropped: number;
  /** Lines whose traffic was not counted. */
  readonly lost: number;
  /** False where the run ended early. */
  readonly complete: boolean;
}

/** A run of check flavours that ended early, with what was seen until then. */
export class CheckedRunError extends Error {
  override readonly name = "CheckedRunError";
  readonly error: DeviceError;
  readonly checks: RunnerChecks;
  constructor(error: DeviceError, checks: RunnerChecks) {
    super(error.message);
    this.error = error;
    this.checks = checks;
  }
}

/** What a module says about itself without running. */
export interface ModuleFacts {
  readonly staticThreadgroupBytes: number;
  readonly maxThreadsPerThreadgroup: number;
  readonly flavour: Flavour;
}

const DEFAULT_TIMEOUT_MS = 120_000;
/** How long a cancelled run may take to end by itself before its process is killed. */
const CANCEL_GRACE_MS = 300;
/** How long a fresh process may take to say that it is ready. */
const START_TIMEOUT_MS = 10_000;
/** How long a process may take to end after its standard input was closed. */
const CLOSE_GRACE_MS = 500;
const STDERR_KEPT = 4_096;
/** How long a run that is out of time may take to say what it has seen. */
const REPORT_GRACE_MS = 500;

function logLine(reply: Extract<RunnerReply, { type: "log" }>): LogLine {
  const { level, label, message, thread, subsystem, category } = reply;
  return {
    ...{ level, label, message, thread },
    threadgroup: [reply.gx, reply.gy, reply.gz],
    position: [reply.px, reply.py, reply.pz],
    ...(subsystem === undefined ? {} : { subsystem }),
    ...(category === undefined ? {} : { category }),
  };
}

/** What the current conversation with the process waits for. */
interface Conversation {
  readonly id: number;
  onReply(reply: RunnerReply): void;
  onDeath(error: DeviceError): void;
}

/** One life of the runner process. */
class RunnerProcess {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  /** What it says of its rights; empty until it is ready. */
  rights = "";
  readonly exited: Promise<void>;
  alive = true;
  conversation: Conversation | undefined;
  /** Ids that this process knows. */
  readonly modules = new Map<string, number>();
  readonly buffers = new Map<string, number>();
  private crash: string | undefined;
  private stderr = "";

  constructor(path: string) {
    const child = spawn(path, [], { stdio: ["pipe", "pipe", "pipe"] });
    this.child = child;
    let onReady: () => void = () => {};
    let onNotReady: (error: DeviceError) => void = () => {};
    this.ready = new Promise((resolve, reject) => {
      onReady = resolve;
      onNotReady = reject;
    });
    this.ready.catch(() => {});
    const timer = setTimeout(() => {
      onNotReady(new DeviceError("unavailable", `The runner ${path} was not ready within ${START_TIMEOUT_MS} ms.`));
      child.kill("SIGKILL");
    }, START_TIMEOUT_MS);
    child.stdin?.on("error", () => {});
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr = (this.stderr + text).slice(-STDERR_KEPT);
    });
    let spawnError: Error | undefined;
    child.on("error", (error) => {
      spawnError = error;
    });
    if (child.stdout) {
      createInterface({ input: child.stdout }).on("line", (line) => {
        // A crash reply begins with a newline, to end whatever another thread had begun.
        if (line === "") return;
        const reply = parseReply(line);
        if (reply === undefined) {
          this.crash ??= `The runner wrote a line that is not a reply: ${line.slice(0, 200)}`;
          child.kill("SIGKILL");
        } else if (reply.type === "ready") {
          clearTimeout(timer);
          this.rights = reply.rights;
          if (reply.protocol === PROTOCOL_VERSION) onReady();
          else {
            const message = `The runner ${path} speaks protocol ${reply.protocol}, this client ${PROTOCOL_VERSION}: build it again.`;
            onNotReady(new DeviceError("unavailable", message));
            child.kill("SIGKILL");
          }
        } else if (reply.type === "crash") this.crash ??= reply.message;
        else if (reply.run === this.conversation?.id) this.conversation.onReply(reply);
      });
    }
    this.exited = new Promise((resolve) => {
      child.on("close", (code, signal) => {
        this.alive = false;
        clearTimeout(timer);
        if (spawnError !== undefined) {
          const mend = "run `node build/bootstrap.mjs` to build it.";
          onNotReady(
            new DeviceError("unavailable", `The runner ${path} could not be started (${spawnError.message}): ${mend}`),
          );
        }
        const how = signal === null ? `exit code ${code}` : signal;
        const text = this.crash ?? `The runner process ended (${how}) while a kernel ran.`;
        const words = this.crash === undefined && this.stderr !== "" ? `${text} It said: ${this.stderr.trim()}` : text;
        onNotReady(new DeviceError("unavailable", words));
        this.conversation?.onDeath(new DeviceError("crashed", words));
        resolve();
      });
      // A process that never came to be emits no "close".
      child.on("error", () => {
        if (child.pid === undefined) child.emit("close", null, null);
      });
    });
  }

  send(text: string): void {
    this.child.stdin?.write(text);
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }
}

function parseReply(line: string): RunnerReply | undefined {
  try {
    const parsed = runnerReply.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

export class Runner {
  readonly path: string;
  private process: RunnerProcess;
  private nextId = 1;
  private queue: Promise<unknown> = Promise.resolve();
  private closed = false;

  private constructor(path: string) {
    this.path = path;
    this.process = new RunnerProcess(path);
  }

  /** Starts the runner executable at `path`. Rejects with `unavailable` if it cannot be started. */
  static async start(path: string): Promise<Runner> {
    const runner = new Runner(path);
    await runner.process.ready;
    return runner;
  }

  /** What its process may not do, in its own words: kernels are native code, and it takes rights from itself. */
  get rights(): string {
    return this.process.rights;
  }

  /** The process id of the current process, for tests and reports. */
  get pid(): number | undefined {
    return this.process.child.pid;
  }

  /**
   * Runs the dispatches in order; one submission at a time, later ones wait. The time limit counts from the moment the
   * submission reaches the process.
   *
   * Rejects with `DeviceError`: `crashed` (a kernel fault, with kernel, threadgroup, thread and what was hit),
   * `timed_out` (its process is killed), `cancelled` (by `signal`), `dispatch_refused`, `unavailable`. A request with
   * `check` rejects with `CheckedRunError` around it where anything had run.
   */
  submit(request: RunnerRequest, options: SubmitOptions = {}): Promise<RunnerResult> {
    return this.enqueue(() => this.runNow(request, options));
  }

  /** What a module says about itself: static threadgroup bytes, the most threads of a threadgroup, its flavour. */
  inspect(modulePath: string): Promise<ModuleFacts> {
    return this.enqueue(async () => {
      const process = await this.living();
      const id = this.nextId++;
      return await new Promise<ModuleFacts>((resolve, reject) => {
        process.conversation = {
          id,
          onReply: (reply) => {
            if (reply.type === "facts") {
              const { staticThreadgroupBytes, maxThreadsPerThreadgroup, flavour } = reply;
              resolve({ staticThreadgroupBytes, maxThreadsPerThreadgroup, flavour });
            } else if (reply.type === "error") reject(new DeviceError(reply.code, reply.message));
          },
          onDeath: reject,
        };
        process.send(requestLine("inspect", id, modulePath));
      }).finally(() => {
        process.conversation = undefined;
      });
    });
  }

  /** Unmaps a buffer that was released. Buffers whose file is gone are unmapped at the next run anyway. */
  drop(buffer: RunnerBuffer): void {
    const key = bufferKey(buffer);
    const id = this.process.buffers.get(key);
    if (id === undefined) return;
    this.process.buffers.delete(key);
    this.process.send(requestLine("drop", "buffer", id));
  }

  /** Ends the process. A submission in flight rejects with `cancelled`. */
  async close(): Promise<void> {
    this.closed = true;
    const process = this.process;
    if (!process.alive) return;
    process.child.stdin?.end();
    const timer = setTimeout(() => process.kill(), CLOSE_GRACE_MS);
    await process.exited;
    clearTimeout(timer);
  }

  private enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = this.queue.then(task);
    this.queue = result.catch(() => {});
    return result;
  }

  /** The process, or a fresh one if the last one died. */
  private async living(): Promise<RunnerProcess> {
    if (this.closed) throw new DeviceError("cancelled", "The runner is closed.");
    if (!this.process.alive) this.process = new RunnerProcess(this.path);
    await this.process.ready;
    return this.process;
  }

  private async runNow(request: RunnerRequest, options: SubmitOptions): Promise<RunnerResult> {
    if (options.signal?.aborted) throw new DeviceError("cancelled", "The submission was cancelled before it ran.");
    const process = await this.living();
    const id = this.nextId++;
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const timings: DispatchTiming[] = [];
    const seen = new SeenChecks();
    let current = 0;
    let where = "";
    const timers: NodeJS.Timeout[] = [];
    let onAbort: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        let ending: DeviceError | undefined;
        process.conversation = {
          id,
          onReply: (reply) => {
            if (seen.take(reply)) {
              if (reply.type === "checked" && ending?.code === "timed_out") process.kill();
            } else if (reply.type === "progress") {
              current = reply.dispatch;
              where = `, threadgroup ${reply.done} of ${reply.total}`;
              options.onProgress?.({
                dispatch: reply.dispatch,
                label: request.dispatches[reply.dispatch]?.label ?? "",
                threadgroupsDone: reply.done,
                threadgroups: reply.total,
              });
            } else if (reply.type === "log") options.onLog?.(logLine(reply));
            else if (reply.type === "unheard") options.onLogOverflow?.(reply.lines);
            else if (reply.type === "dispatch") {
              timings.push({ label: request.dispatches[reply.dispatch]?.label ?? "", ns: reply.ns });
              current = reply.dispatch + 1;
              where = "";
            } else if (reply.type === "done") resolve();
            else if (reply.type === "cancelled")
              reject(ending ?? new DeviceError("cancelled", "The run was cancelled."));
            else if (reply.type === "error") reject(new DeviceError(reply.code, reply.message));
          },
          onDeath: (error) =>
            reject(
              ending ?? (this.closed ? new DeviceError("cancelled", "The runner was closed during the run.") : error),
            ),
        };
        timers.push(
          setTimeout(() => {
            const label = request.dispatches[current]?.label ?? "";
            ending = new DeviceError(
              "timed_out",
              `The run took longer than its limit of ${timeoutMs} ms (in dispatch "${label}"${where}): ` +
                "look for a loop that does not end, or raise the limit.",
            );
            if (request.check === undefined) {
              process.kill();
              return;
            }
            process.send(requestLine("reports"));
            timers.push(setTimeout(() => process.kill(), REPORT_GRACE_MS));
          }, timeoutMs),
        );
        onAbort = () => {
          ending = new DeviceError("cancelled", "The run was cancelled.");
          process.send(requestLine("cancel"));
          timers.push(setTimeout(() => process.kill(), CANCEL_GRACE_MS));
        };
        options.signal?.addEventListener("abort", onAbort, { once: true });
        process.send(this.requestText(process, id, request, options.workers ?? 0));
      });
    } catch (error) {
      if (request.check === undefined || !(error instanceof DeviceError)) throw error;
      throw new CheckedRunError(error, seen.result(false));
    } finally {
      for (const timer of timers) clearTimeout(timer);
      if (onAbort !== undefined) options.signal?.removeEventListener("abort", onAbort);
      process.conversation = undefined;
      // A process that was told to die must not take the next submission.
      if (process.child.killed) await process.exited;
    }
    return request.check === undefined ? { timings } : { timings, checks: seen.result(true) };
  }

  /** The request lines of a submission; modules and buffers that the process knows already are named by id. */
  private requestText(process: RunnerProcess, run: number, request: RunnerRequest, workers: number): string {
    let text = "";
    const known = (ids: Map<string, number>, key: string, line: (id: number) => string): number => {
      let id = ids.get(key);
      if (id === undefined) {
        id = this.nextId++;
        ids.set(key, id);
        text += line(id);
      }
      return id;
    };
    const bufferId = (buffer: RunnerBuffer): number =>
      known(process.buffers, bufferKey(buffer), (id) =>
        requestLine("buffer", id, buffer.path, buffer.fileOffset, buffer.bytes, buffer.label),
      );
    for (const dispatch of request.dispatches) {
      const module = dispatch.module;
      const moduleId = known(process.modules, `${module.entry} ${module.path}`, (id) =>
        requestLine("module", id, module.path, module.entry),
      );
      const bound = dispatch.arguments.map((argument) => {
        const access = argument.readOnly === true ? "ro" : "rw";
        if ("bytes" in argument) return requestLine("bytes", argument.index, hex(argument.bytes), access);
        return requestLine("bind", argument.index, bufferId(argument.buffer), argument.offset ?? 0, access);
      });
      text += requestLine(
        "dispatch",
        dispatch.label,
        moduleId,
        ...dispatch.threadgroups,
        ...dispatch.threadsPerThreadgroup,
        dispatch.mathMode ?? "safe",
      );
      text += bound.join("");
      for (const memory of dispatch.threadgroupMemory ?? []) text += requestLine("tgmem", memory.index, memory.bytes);
    }
    if (request.check !== undefined) {
      text += requestLine("check", request.check.order);
      const outputs = request.check.outputs.map((buffer) => requestLine("output", bufferId(buffer)));
      text += outputs.join("");
    }
    return text + requestLine("run", run, workers);
  }
}

/** Collects what the check flavours say during a run; a later account of the same run replaces an earlier one. */
class SeenChecks {
  #reports: RunnerReport[] = [];
  #traffic: RunnerTraffic[] = [];
  #dropped = 0;
  #lost = 0;
  #isWhole = false;

  /** True if the reply was one of these. */
  take(reply: RunnerReply): boolean {
    if (reply.type !== "report" && reply.type !== "traffic" && reply.type !== "checked") return false;
    if (this.#isWhole) {
      this.#reports = [];
      this.#traffic = [];
      this.#isWhole = false;
    }
    if (reply.type === "report") this.#reports.push(reply);
    else if (reply.type === "traffic") this.#traffic.push(reply);
    else {
      this.#dropped = reply.dropped;
      this.#lost = reply.lost;
      this.#isWhole = true;
    }
    return true;
  }

  result(complete: boolean): RunnerChecks {
    return {
      reports: this.#reports,
      traffic: this.#traffic,
      dropped: this.#dropped,
      lost: this.#lost,
      complete: complete && this.#isWhole,
    };
  }
}

function bufferKey(buffer: RunnerBuffer): string {
  return `${buffer.fileOffset} ${buffer.bytes} ${buffer.label} ${buffer.path}`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
