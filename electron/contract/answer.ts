/** The workbench's end of a channel: checks what a window asks, calls the handler, answers; streams wait for the window. */
import { createBirpc } from "birpc";
import { CALLS, type CallContext, type Handlers, STREAMS } from "../contract.ts";
import {
  type Channel,
  failureOf,
  frameSchema,
  idSchema,
  issueText,
  type Reply,
  STREAM_WINDOW,
  type WindowEnd,
  type WorkbenchEnd,
} from "./wire.ts";

/** The window asked for what is not in the contract. */
export class ContractError extends Error {
  override readonly name = "ContractError";
}

/** Where the contract's table has been used, the types of one name are those of its row. */
type Answer = (input: unknown, context: CallContext) => unknown;
type Source = (input: unknown, context: CallContext) => AsyncIterable<unknown>;

/** Items that a stream may still send before it has to wait. */
class Credit {
  readonly #signal: AbortSignal;
  #left = STREAM_WINDOW;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake?.(), { once: true });
  }

  grant(items: number): void {
    this.#left = Math.min(STREAM_WINDOW, this.#left + items);
    this.#wake?.();
  }

  /** Resolves when an item may go, or the signal aborts. */
  async take(): Promise<void> {
    while (this.#left <= 0 && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#left -= 1;
  }
}

function checked(table: typeof CALLS | typeof STREAMS, kind: string, name: string, input: unknown): unknown {
  if (!Object.hasOwn(table, name)) throw new ContractError(`The contract has no ${kind} "${name}".`);
  const row = (table as Readonly<Record<string, { readonly input: (typeof CALLS)["app.info"]["input"] }>>)[name]!;
  const parsed = row.input.safeParse(input);
  if (!parsed.success) throw new ContractError(`${name}: ${issueText(parsed.error)}`);
  return parsed.data;
}

/** An event to a window that has gone is nobody's loss. */
function say(sent: Promise<void>): void {
  sent.catch(() => undefined);
}

/** Answers a window until its channel closes. Returns the channel's end, for closing it from this side. */
export function answer(channel: Channel, handlers: Handlers): { readonly close: (reason?: string) => void } {
  const open = new Map<number, { readonly controller: AbortController; readonly credit: Credit }>();

  const begin = (id: number): AbortController => {
    if (!idSchema.safeParse(id).success || open.has(id)) throw new ContractError(`${String(id)} is no free id.`);
    const controller = new AbortController();
    open.set(id, { controller, credit: new Credit(controller.signal) });
    return controller;
  };

  async function run(id: number, name: string, input: unknown, signal: AbortSignal): Promise<void> {
    const source = handlers[name as keyof typeof STREAMS] as Source;
    const items = source(checked(STREAMS, "stream", name, input), { signal })[Symbol.asyncIterator]();
    const stop = (): void => void items.return?.();
    signal.addEventListener("abort", stop, { once: true });
    try {
      for (let next = await items.next(); next.done !== true && !signal.aborted; next = await items.next()) {
        await open.get(id)?.credit.take();
        if (signal.aborted) break;
        say(rpc.item.asEvent(id, next.value));
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  const end: WorkbenchEnd = {
    async call(id, name, input): Promise<Reply> {
      try {
        const { signal } = begin(id);
        const handler = handlers[name as keyof typeof CALLS] as Answer;
        return { value: await handler(checked(CALLS, "call", name, input), { signal }) };
      } catch (error) {
        return { failure: failureOf(error) };
      } finally {
        open.delete(id);
      }
    },
    async open(id, name, input) {
      let failure: ReturnType<typeof failureOf> | null = null;
      try {
        await run(id, name, input, begin(id).signal);
      } catch (error) {
        failure = failureOf(error);
      }
      open.delete(id);
      say(rpc.end.asEvent(id, failure));
    },
    taken(id, items) {
      if (Number.isInteger(items) && items > 0) open.get(id)?.credit.grant(items);
    },
    cancel(id) {
      open.get(id)?.controller.abort();
    },
  };

  const rpc = createBirpc<WindowEnd, WorkbenchEnd>(end, {
    post: (frame) => channel.post(frame),
    on: (listener) =>
      channel.listen((frame) => {
        if (frameSchema.safeParse(frame).success) listener(frame);
        else channel.close("a frame of another form");
      }),
    // Only what `end` has itself: no method of Object.prototype.
    resolver: (name, found) => (Object.hasOwn(end, name) ? found : undefined),
    eventNames: ["item", "end"],
    timeout: -1,
    onGeneralError: () => true,
  });

  channel.onClose(() => {
    for (const { controller } of open.values()) controller.abort();
    if (!rpc.$closed) rpc.$close();
  });
  return { close: (reason) => channel.close(reason) };
}
