/**
 * The door's side of the host: a process that owns the addon. It may die; then the run ends as `stopped`, and the next run
 * starts a fresh one. Nothing is retried by itself.
 */
import type * as z from "zod";
import type { DeviceEntry } from "../../native/device.ts";
import type { CheckRequest } from "../analysis/check_messages.ts";
import type { InspectRequest } from "../analysis/messages.ts";
import type { CaptureEnd, CaptureRequest } from "../captures/gputrace.ts";
import type { KernelEnd, KernelProgress, KernelRequest } from "../checker/messages.ts";
import { eventSchema, type RunEvent } from "../runs/events.ts";
import type { deviceEntrySchema } from "../runs/record.ts";
import { forkHost } from "./forked.ts";
import {
  type AnswerEnd,
  answerEndSchema,
  busyRefusal,
  type CaptureProgress,
  type CheckEnd,
  captureEventSchema,
  type InspectEnd,
  kernelEventSchema,
  type RunRequest,
  type ToHost,
} from "./messages.ts";
import type { HostEnvironment, HostProcess, StartHost } from "./transport.ts";

export type RunEnd =
  | Extract<RunEvent, { type: "finished" | "refused" }>
  /** The host died in mid-run. */
  | { readonly type: "stopped"; readonly reason: string };

/** How a kernel of a manifest ended. */
export type KernelRunEnd = KernelEnd | Extract<RunEnd, { type: "stopped" }>;

/** How a capture ended. */
export type CaptureRunEnd = CaptureEnd | Extract<RunEnd, { type: "stopped" }>;

/** What an exchange with the host makes of its messages. */
interface Conversation<T> {
  readonly message: ToHost;
  /** Reads a message: the end of the exchange, or undefined where it goes on. Throws Error for what may not be sent. */
  readonly read: (message: unknown) => T | undefined;
  /** The end where the host ended instead. */
  readonly ended: (how: string, lastWords: string) => T;
}

/** The first thing that does not fit, in a few words. */
function misfit(error: {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}): Error {
  const issue = error.issues[0];
  return new Error(`${issue?.path.map(String).join(".")} ${issue?.message}`);
}

/** How long a host may take to end a cancelled run: it may be reading a file of gigabytes, or computing the oracle. */
const CANCEL_MS = 4000;

/** How long the last words of a host that has ended may take: a process that it started may hold the pipe open. */
const DRAIN_MS = 3000;

const OTHER = "The host answered another question.";

export interface HostClientOptions {
  /** In place of `CANCEL_MS`. */
  readonly cancelMs?: number;
  /** The bundled host, `out/host.mjs`. */
  readonly path: string;
  /** How a host is started: forked, unless the desktop shell has a way of its own. */
  readonly start?: StartHost;
  /** Variables that every host of this client is started with. */
  readonly environment?: HostEnvironment;
  /** Lines that the host writes to its standard error. */
  readonly onLog?: (text: string) => void;
  /** A host has been started; its process id, where it is known at once. */
  readonly onStart?: (pid: number | undefined) => void;
  /** The process id, where it was not known at the start. */
  readonly onPid?: (pid: number) => void;
  /** A host has ended, in a run or between two. */
  readonly onExit?: (how: string) => void;
}

function isAnswer(message: unknown): boolean {
  const type = (message as { readonly type?: unknown } | null)?.type;
  return type === "inspected" || type === "inspect_refused" || type === "checked" || type === "devices_listed";
}

export class HostClient {
  readonly #options: HostClientOptions;
  #child: HostProcess | undefined;
  #busy = false;
  #cancelTimer: NodeJS.Timeout | undefined;
  #questions = 0;
  /** What the running host said of Metal; another host is asked again. */
  #metal: { readonly child: HostProcess; readonly entries: Promise<readonly DeviceEntry[]> } | undefined;
  readonly #asked = new Map<number, { readonly child: HostProcess; readonly resolve: (end: AnswerEnd) => void }>();

  constructor(options: HostClientOptions) {
    this.#options = options;
  }

  /** Runs once and resolves with how it ended. Throws Error if a run is going on. */
  async run(request: RunRequest, onEvent: (event: RunEvent) => void): Promise<RunEnd> {
    return await this.#exclusively<RunEnd>({
      message: { type: "run", request },
      read: (message) => {
        const parsed = eventSchema.safeParse(message);
        if (!parsed.success) throw misfit(parsed.error);
        const event = parsed.data;
        if (event.type === "finished" || event.type === "refused") return event;
        onEvent(event);
        return undefined;
      },
      ended: (how, lastWords) =>
        this.#cancelTimer === undefined
          ? stopped(how, lastWords)
          : { type: "finished", outcome: "cancelled", reason: "Cancelled by you. Finished cases are kept" },
    });
  }

  /**
   * Runs or checks the kernel of a manifest and resolves with how it ended; `cancel` and `kill` work as for a run. Throws
   * Error if a run is going on.
   */
  async kernel(request: KernelRequest, onProgress: (progress: KernelProgress) => void): Promise<KernelRunEnd> {
    return await this.#exclusively<KernelRunEnd>({
      message: { type: "kernel", request },
      read: (message) => {
        const parsed = kernelEventSchema.safeParse(message);
        if (!parsed.success) throw misfit(parsed.error);
        if (parsed.data.type !== "kernel_progress") return parsed.data;
        onProgress(parsed.data);
        return undefined;
      },
      ended: (how, lastWords) =>
        this.#cancelTimer === undefined
          ? stopped(how, lastWords)
          : { type: "kernel_refused", code: "cancelled", message: "Cancelled by you", diagnostics: [], texts: [] },
    });
  }

  /** Captures one case and resolves with how that ended; `cancel` and `kill` work as for a run. Throws as `run`. */
  async capture(request: CaptureRequest, onProgress: (progress: CaptureProgress) => void): Promise<CaptureRunEnd> {
    return await this.#exclusively<CaptureRunEnd>({
      message: { type: "capture", request },
      read: (message) => {
        const parsed = captureEventSchema.safeParse(message);
        if (!parsed.success) throw misfit(parsed.error);
        if (parsed.data.type !== "capture_progress") return parsed.data;
        onProgress(parsed.data);
        return undefined;
      },
      ended: (how, lastWords) =>
        this.#cancelTimer === undefined
          ? stopped(how, lastWords)
          : { type: "capture_refused", code: "cancelled", message: "Cancelled by you", mend: "capture again" },
    });
  }

  async #exclusively<T>(conversation: Conversation<T | Extract<RunEnd, { type: "stopped" }>>): Promise<T> {
    if (this.#busy) throw new Error("A run is going on; the host takes one at a time.");
    this.#busy = true;
    try {
      return (await this.#converse(this.#start(), conversation)) as T;
    } finally {
      this.#busy = false;
      clearTimeout(this.#cancelTimer);
      this.#cancelTimer = undefined;
    }
  }

  /**
   * Asks about a case of a bundle. Resolves with the answer, or with why there is none: a run is going on, the bundle has no
   * such thing, bytes differ from their digests, the host stopped. Questions are answered in order.
   */
  async inspect(request: InspectRequest): Promise<InspectEnd> {
    const end = await this.#ask((id) => ({ type: "inspect", id, request }));
    if (end.type !== "inspected" && end.type !== "inspect_refused") throw new Error(OTHER);
    return end;
  }

  /** Compiles the kernels of a route. Resolves with what the compiler said, or with why there is no answer. */
  async check(request: CheckRequest): Promise<CheckEnd> {
    const end = await this.#ask((id) => ({ type: "check", id, request }));
    if (end.type !== "checked" && end.type !== "inspect_refused") throw new Error(OTHER);
    return end;
  }

  /**
   * What Metal devices there are, as the host sees them: an entry for each, or one that says why there is none. Answered
   * while a run is going on as well, and kept until the host ends.
   */
  metal(): Promise<readonly DeviceEntry[]> {
    const child = this.#start();
    if (this.#metal?.child === child) return this.#metal.entries;
    const entries = this.#send((id) => ({ type: "devices", id })).then((end): readonly DeviceEntry[] => {
      if (end.type === "devices_listed") return end.metal.map(deviceEntry);
      if (end.type !== "inspect_refused") throw new Error(OTHER);
      // What was not answered is asked again.
      if (this.#metal?.child === child) this.#metal = undefined;
      return [{ kind: "metal", available: false, reason: end.message, mend: end.mend }];
    });
    this.#metal = { child, entries };
    return entries;
  }

  /** A question that has no place beside a run. */
  #ask(message: (id: number) => ToHost): Promise<AnswerEnd> {
    return this.#busy ? Promise.resolve(busyRefusal(0)) : this.#send(message);
  }

  #send(message: (id: number) => ToHost): Promise<AnswerEnd> {
    const id = ++this.#questions;
    return new Promise((resolve) => {
      const child = this.#start();
      this.#asked.set(id, { child, resolve });
      child.send(message(id));
    });
  }

  /**
   * Asks the run to stop. It ends as `cancelled` once the dispatch at hand is stopped; a host that is too busy to listen is
   * killed after `CANCEL_MS`.
   */
  cancel(): void {
    if (!this.#busy || this.#cancelTimer !== undefined) return;
    this.#tell({ type: "cancel" });
    this.#cancelTimer = setTimeout(() => this.kill(), this.#options.cancelMs ?? CANCEL_MS);
  }

  /** Asks the run to pause after its running case, or to go on. */
  pause(paused: boolean): void {
    if (this.#busy) this.#tell({ type: "pause", paused });
  }

  /** Asks the run to skip the case, if that is the one that runs. */
  skip(key: string): void {
    if (this.#busy) this.#tell({ type: "skip", case: key });
  }

  /** Kills the host at once. */
  kill(): void {
    this.#child?.kill();
  }

  /** Lets the host go. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => child.onEnd(() => resolve()));
    child.release();
    await gone;
  }

  /** Lets the host go and waits for what it wrote to its standard error: all of it has then been given to `onLog`. */
  async closeDrained(): Promise<void> {
    await this.close();
    let limit: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, DRAIN_MS);
    });
    await Promise.race([this.#child?.drained(), late]);
    clearTimeout(limit);
  }

  #tell(message: ToHost): void {
    this.#child?.send(message);
  }

  #start(): HostProcess {
    const last = this.#child;
    if (last?.open) return last;
    const child = (this.#options.start ?? forkHost)(this.#options.path, this.#options.environment);
    child.onLog((text) => this.#options.onLog?.(text));
    child.onMessage((message) => this.#answered(child, message));
    this.#child = child;
    this.#options.onStart?.(child.pid);
    child.onPid((pid) => this.#options.onPid?.(pid));
    child.onEnd((how) => {
      this.#options.onExit?.(how);
      this.#unanswered(child, `The host stopped ${how}`);
    });
    return child;
  }

  #answered(child: HostProcess, message: unknown): void {
    if (!isAnswer(message)) {
      // Outside a run the host speaks of nothing else.
      if (!this.#busy && this.#asked.size > 0) child.kill();
      return;
    }
    const parsed = answerEndSchema.safeParse(message);
    const asked = parsed.success ? this.#asked.get(parsed.data.id) : undefined;
    if (!parsed.success || asked?.child !== child) {
      child.kill();
      return;
    }
    this.#asked.delete(parsed.data.id);
    asked.resolve(parsed.data);
  }

  /** Ends every question that the child still has. */
  #unanswered(child: HostProcess, message: string): void {
    for (const [id, asked] of this.#asked) {
      if (asked.child !== child) continue;
      this.#asked.delete(id);
      asked.resolve({ type: "inspect_refused", id, code: "stopped", message, mend: "ask again; a fresh host starts" });
    }
  }

  #converse<T>(child: HostProcess, { message: sent, read, ended }: Conversation<T>): Promise<T> {
    return new Promise((resolve) => {
      let lastWords = "";
      const onLog = (text: string) => {
        lastWords = `${lastWords}${text}`.slice(-2000);
      };
      const stops: (() => void)[] = [];
      const finish = (end: T): void => {
        for (const stop of stops.splice(0)) stop();
        resolve(end);
      };
      const onMessage = (message: unknown): void => {
        if (isAnswer(message)) return;
        try {
          const end = read(message);
          if (end !== undefined) finish(end);
        } catch (error) {
          child.kill();
          const why = error instanceof Error ? error.message : String(error);
          finish({ type: "stopped", reason: `The host sent what it may not send: ${why}` } as T);
        }
      };
      const onEnd = (how: string): void => finish(ended(how, lastWords));
      stops.push(child.onMessage(onMessage), child.onLog(onLog), child.onEnd(onEnd));
      child.send(sent);
    });
  }
}

/** What is not known is absent in a message and undefined here: the same to every reader. */
function deviceEntry(entry: z.infer<typeof deviceEntrySchema>): DeviceEntry {
  return entry as DeviceEntry;
}

function stopped(how: string, lastWords: string): Extract<RunEnd, { type: "stopped" }> {
  const words = lastWords.trim().split("\n").at(-1);
  return { type: "stopped", reason: `The host stopped ${how}${words ? `: ${words}` : ""}` };
}
