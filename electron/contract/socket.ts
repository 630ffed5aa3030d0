/** A WebSocket as a channel: the browser's own and the server's (`ws`) have the same few members that are used here. */
import { decode, encode } from "./codec.ts";
import type { Channel } from "./wire.ts";

/** What is used of a WebSocket. */
export interface SocketLike {
  readonly readyState: number;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
}

const OPEN = 1;
/** Close codes of RFC 6455: done, and what was received does not make sense. */
const NORMAL = 1000;
const UNSUPPORTED = 1003;

/** The channel over an open socket whose `binaryType` is `arraybuffer`. */
export function socketChannel(socket: SocketLike): Channel {
  const closers: ((reason: string) => void)[] = [];
  let ended: string | undefined;
  const finish = (reason: string): void => {
    if (ended !== undefined) return;
    ended = reason;
    for (const then of closers.splice(0)) then(reason);
  };
  const close = (code: number, reason: string): void => {
    // A reason on the wire is at most 123 bytes.
    if (socket.readyState <= OPEN) socket.close(code, reason.replace(/[^ -~]/g, "?").slice(0, 120));
    finish(reason);
  };
  socket.addEventListener("close", ({ code, reason }) => finish(reason || `the other side has gone (${code})`));
  return {
    post: (value) => {
      if (ended === undefined && socket.readyState === OPEN) socket.send(encode(value));
    },
    listen: (onValue) => {
      socket.addEventListener("message", ({ data }) => {
        let value: unknown;
        try {
          if (!(data instanceof ArrayBuffer)) throw new TypeError("a frame is binary");
          value = decode(data);
        } catch (error) {
          close(UNSUPPORTED, error instanceof Error ? error.message : "not a frame");
          return;
        }
        onValue(value);
      });
    },
    onClose: (then) => {
      if (ended === undefined) closers.push(then);
      else then(ended);
    },
    close: (reason = "closed") => close(NORMAL, reason),
  };
}
