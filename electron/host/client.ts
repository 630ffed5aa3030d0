/**
 * The door's side of the host: a process that owns the addon. It may die; then the run ends as `stopped`, and the next run
 * starts a fresh one. Nothing is retried by itself.
 */
import type { CheckRequest } from "../analysis/check_messages.ts";
import type { InspectRequest } from "../analysis/messages.ts";
import type { KernelEnd, KernelProgress, KernelRequest } from "../checker/messages.ts";
import { eventSchema, type RunEvent } from "../runs/events.ts";
import { forkHost } from "./forked.ts";
import {
  type AnswerEnd,
  answerEndSchema,
  busyRefusal,
  type CheckEnd,
  type InspectEnd,
  kernelEventSchema,
  type RunRequest,
  type ToHost,
} from "./messages.ts";
import type { HostProcess, StartHost } from "./transport.ts";

export type RunEnd =
  | Extract<RunEvent, { type: "finished" | "refused" }>
  /** The host died in mid-run. */
  | { readonly type: "stopped"; readonly reason: string };

/** How a kernel of a manifest ended. */
export type KernelRunEnd = KernelEnd | Extract<RunEnd, { type: "stopped" }>;

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

export interface HostClientOptions {
  /** In place of `CANCEL_MS`. */
  readonly cancelMs?: number;
  /** The bundled host, `out/host.mjs`. */
  readonly path: string;
  /** How a host is started: forked, unless the desktop shell has a way of its own. */
  readonly start?: StartHost;
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
  return type === "inspected" || type === "inspect_refused" || type === "checked";
}

export class HostClient {
  readonly #options: HostClientOptions;
  #child: HostProcess | undefined;
  #busy = false;
  #cancelTimer: NodeJS.Timeout | undefined;
  #questions = 0;
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
    if (end.type === "checked") throw new Error("The host answered another question.");
    return end;
  }

  /** Compiles the kernels of a route. Resolves with what the compiler said, or with why there is no answer. */
  async check(request: CheckRequest): Promise<CheckEnd> {
    const end = await this.#ask((id) => ({ type: "check", id, request }));
    if (end.type === "inspected") throw new Error("The host answered another question.");
    return end;
  }

  #ask(message: (id: number) => ToHost): Promise<AnswerEnd> {
    const id = ++this.#questions;
    if (this.#busy) return Promise.resolve(busyRefusal(id));
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
    this.#send({ type: "cancel" });
    this.#cancelTimer = setTimeout(() => this.kill(), this.#options.cancelMs ?? CANCEL_MS);
  }

  /** Asks the run to pause after its running case, or to go on. */
  pause(paused: boolean): void {
    if (this.#busy) this.#send({ type: "pause", paused });
  }

  /** Asks the run to skip the case, if that is the one that runs. */
  skip(key: string): void {
    if (this.#busy) this.#send({ type: "skip", case: key });
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

  #send(message: ToHost): void {
    this.#child?.send(message);
  }

  #start(): HostProcess {
    const last = this.#child;
    if (last?.open) return last;
    const child = (this.#options.start ?? forkHost)(this.#options.path);
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

function stopped(how: string, lastWords: string): Extract<RunEnd, { type: "stopped" }> {
  const words = lastWords.trim().split("\n").at(-1);
  return { type: "stopped", reason: `The host stopped ${how}${words ? `: ${words}` : ""}` };
}
