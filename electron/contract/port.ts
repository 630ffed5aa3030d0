/** A MessagePort as a channel. Structured clone carries typed arrays and NaN by itself, so that there is no codec. */
import type { Channel } from "./wire.ts";

/** What is used of a MessagePort, in a window, in a worker and in Node. */
export interface PortLike {
  postMessage(value: unknown): void;
  start(): void;
  close(): void;
  addEventListener(type: string, listener: (event: Event) => void): void;
}

export function portChannel(port: PortLike): Channel {
  const closers: ((reason: string) => void)[] = [];
  let ended: string | undefined;
  const finish = (reason: string): void => {
    if (ended !== undefined) return;
    ended = reason;
    for (const then of closers.splice(0)) then(reason);
  };
  port.addEventListener("close", () => finish("the other side has gone"));
  return {
    post: (value) => {
      if (ended === undefined) port.postMessage(value);
    },
    listen: (onValue) => {
      port.addEventListener("message", (event) => onValue((event as Event & { readonly data?: unknown }).data));
      port.start();
    },
    onClose: (then) => {
      if (ended === undefined) closers.push(then);
      else then(ended);
    },
    close: (reason = "closed") => {
      port.close();
      finish(reason);
    },
  };
}
