/** The window's end of a channel: calls that resolve with checked answers, streams as async iterators. */
import { createBirpc } from "birpc";
import {
  CALLS,
  type CallInput,
  type CallName,
  type CallOutput,
  type Failure,
  STREAMS,
  type StreamInput,
  type StreamItem,
  type StreamName,
} from "../contract.ts";
import {
  type Channel,
  closedError,
  frameSchema,
  issueText,
  RemoteError,
  replySchema,
  STREAM_WINDOW,
  type WindowEnd,
  type WorkbenchEnd,
} from "./wire.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The workbench as a window sees it. Everything rejects with `RemoteError`. */
export interface Workbench {
  call<Name extends CallName>(name: Name, input: CallInput<Name>, options?: CallOptions): Promise<CallOutput<Name>>;
  /** Leaving the loop early, or aborting the signal, cancels the stream. */
  stream<Name extends StreamName>(
    name: Name,
    input: StreamInput<Name>,
    options?: CallOptions,
  ): AsyncGenerator<StreamItem<Name>, void, undefined>;
  /** Called once, when the connection has gone. */
  onClose(then: (reason: string) => void): void;
  close(): void;
}

/** Items of one stream on their way to its reader. */
class Inbox {
  readonly #items: unknown[] = [];
  #end: { readonly error: Error | null } | undefined;
  #wake: (() => void) | undefined;

  push(value: unknown): void {
    this.#items.push(value);
    this.#wake?.();
  }

  finish(error: Error | null): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** The next item, or undefined at the end. Throws what the stream ended with. */
  async next(): Promise<{ readonly value: unknown } | undefined> {
    for (;;) {
      if (this.#items.length > 0) return { value: this.#items.shift() };
      if (this.#end !== undefined) {
        if (this.#end.error !== null) throw this.#end.error;
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** What cannot be sent has no reader: the channel is closed, and says so by itself. */
function say(sent: Promise<void>): void {
  sent.catch(() => undefined);
}

function misfit(name: string, words: string): RemoteError {
  return new RemoteError({
    name: "ContractError",
    message: `The workbench's answer to ${name} does not fit the contract: ${words}`,
    mend: "reload the window, so that both are of one version",
  });
}

export function connect(channel: Channel): Workbench {
  let nextId = 1;
  let closed: string | undefined;
  const streams = new Map<number, Inbox>();
  const end: WindowEnd = {
    item: (id, value) => streams.get(id)?.push(value),
    end: (id, failure: Failure | null) => streams.get(id)?.finish(failure === null ? null : new RemoteError(failure)),
  };
  const rpc = createBirpc<WorkbenchEnd, WindowEnd>(end, {
    post: (frame) => channel.post(frame),
    on: (listener) =>
      channel.listen((frame) => {
        if (frameSchema.safeParse(frame).success) listener(frame);
        else channel.close("a frame of another form");
      }),
    resolver: (name, found) => (Object.hasOwn(end, name) ? found : undefined),
    eventNames: ["open", "taken", "cancel"],
    timeout: -1,
  });
  channel.onClose((reason) => {
    closed = reason;
    rpc.$close(closedError(reason));
    for (const inbox of streams.values()) inbox.finish(closedError(reason));
  });

  /** Tells the other side when the signal aborts. Returns what undoes that. */
  const cancelWith = (id: number, signal: AbortSignal | undefined, then: () => void): (() => void) => {
    const onAbort = (): void => {
      if (closed === undefined) say(rpc.cancel.asEvent(id));
      then();
    };
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    return () => signal?.removeEventListener("abort", onAbort);
  };

  const aborted = (name: string): RemoteError =>
    new RemoteError({ name: "AbortError", message: `${name} was cancelled` });

  async function call<Name extends CallName>(
    name: Name,
    input: CallInput<Name>,
    { signal }: CallOptions = {},
  ): Promise<CallOutput<Name>> {
    if (closed !== undefined) throw closedError(closed);
    const id = nextId++;
    let give: (error: Error) => void = () => undefined;
    const cancelled = new Promise<never>((_, reject) => {
      give = reject;
    });
    cancelled.catch(() => undefined);
    const asked = rpc.call(id, name, input);
    asked.catch(() => undefined);
    const undo = cancelWith(id, signal, () => give(aborted(name)));
    try {
      const reply = replySchema.safeParse(await Promise.race([asked, cancelled]));
      if (!reply.success) throw misfit(name, issueText(reply.error));
      if ("failure" in reply.data) throw new RemoteError(reply.data.failure);
      const value = CALLS[name].output.safeParse(reply.data.value);
      if (!value.success) throw misfit(name, issueText(value.error));
      return value.data as CallOutput<Name>;
    } finally {
      undo();
    }
  }

  async function* stream<Name extends StreamName>(
    name: Name,
    input: StreamInput<Name>,
    { signal }: CallOptions = {},
  ): AsyncGenerator<StreamItem<Name>, void, undefined> {
    if (closed !== undefined) throw closedError(closed);
    const id = nextId++;
    const inbox = new Inbox();
    streams.set(id, inbox);
    say(rpc.open.asEvent(id, name, input));
    const undo = cancelWith(id, signal, () => inbox.finish(null));
    let taken = 0;
    try {
      for (let next = await inbox.next(); next !== undefined; next = await inbox.next()) {
        const value = STREAMS[name].item.safeParse(next.value);
        if (!value.success) throw misfit(name, issueText(value.error));
        yield value.data as StreamItem<Name>;
        taken += 1;
        if (taken === STREAM_WINDOW / 2) {
          say(rpc.taken.asEvent(id, taken));
          taken = 0;
        }
      }
    } finally {
      undo();
      streams.delete(id);
      if (!inbox.ended && closed === undefined) say(rpc.cancel.asEvent(id));
    }
  }

  return { call, stream, onClose: (then) => channel.onClose(then), close: () => channel.close() };
}
