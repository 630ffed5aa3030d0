/** One source, many followers. A slow follower keeps its own queue, in which a newer item may take the place of the last. */

export interface FeedOptions<Item> {
  /** True if `next` says all that `last` says, so that a follower who has not read `last` needs only `next`. */
  readonly replaces?: (last: Item, next: Item) => boolean;
}

interface Follower<Item> {
  readonly queue: Item[];
  wake: () => void;
}

export class Feed<Item> {
  readonly #followers = new Set<Follower<Item>>();
  readonly #replaces: (last: Item, next: Item) => boolean;
  #closed = false;

  constructor(options: FeedOptions<Item> = {}) {
    this.#replaces = options.replaces ?? (() => false);
  }

  /** True where somebody follows. */
  get followed(): boolean {
    return this.#followers.size > 0;
  }

  push(item: Item): void {
    for (const follower of this.#followers) {
      const last = follower.queue.at(-1);
      if (last !== undefined && this.#replaces(last, item)) follower.queue[follower.queue.length - 1] = item;
      else follower.queue.push(item);
      follower.wake();
    }
  }

  /** Ends every follower once it has read what is queued. */
  close(): void {
    this.#closed = true;
    for (const follower of this.#followers) follower.wake();
  }

  /** `first`, then everything pushed from now on, until the signal aborts. Following begins with the call itself. */
  follow(first: readonly Item[], signal: AbortSignal): AsyncIterable<Item> {
    const follower: Follower<Item> = { queue: [...first], wake: () => undefined };
    this.#followers.add(follower);
    const leave = (): void => {
      this.#followers.delete(follower);
      follower.wake();
    };
    signal.addEventListener("abort", leave, { once: true });
    return this.#read(follower, signal, leave);
  }

  async *#read(follower: Follower<Item>, signal: AbortSignal, leave: () => void): AsyncGenerator<Item> {
    try {
      while (!signal.aborted) {
        const item = follower.queue.shift();
        if (item !== undefined) {
          yield item;
        } else if (this.#closed) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            follower.wake = resolve;
          });
        }
      }
    } finally {
      signal.removeEventListener("abort", leave);
      leave();
    }
  }
}
