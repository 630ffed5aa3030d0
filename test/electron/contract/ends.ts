/** Two ends of a channel with a few handlers behind them, over a MessagePort and over a real WebSocket. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { answer } from "../../../electron/contract/answer.ts";
import { connect, type Workbench } from "../../../electron/contract/connect.ts";
import { portChannel } from "../../../electron/contract/port.ts";
import { socketChannel } from "../../../electron/contract/socket.ts";
import type { Handlers } from "../../../electron/contract.ts";

export interface Ends {
  readonly window: Workbench;
  /** Sends any value as a window would, past the client. */
  readonly post: (value: unknown) => void;
  readonly close: () => Promise<void>;
}

export const TRANSPORTS = ["MessagePort", "WebSocket"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** Handlers of which the test gives a few; the others say that they are not there. */
export function handlersOf(some: Partial<Handlers>): Handlers {
  return new Proxy(some, {
    get: (target, name) =>
      target[name as keyof Handlers] ??
      (() => {
        throw new Error(`${String(name)} has no handler here`);
      }),
  }) as Handlers;
}

export function open(transport: Transport, some: Partial<Handlers>): Promise<Ends> {
  return transport === "MessagePort" ? openPort(some) : openSocket(some);
}

async function openPort(some: Partial<Handlers>): Promise<Ends> {
  const { port1, port2 } = new MessageChannel();
  answer(portChannel(port1), handlersOf(some));
  const channel = portChannel(port2);
  const window = connect(channel);
  return { window, post: (value) => channel.post(value), close: async () => window.close() };
}

async function openSocket(some: Partial<Handlers>): Promise<Ends> {
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  server.on("connection", (socket) => {
    socket.binaryType = "arraybuffer";
    answer(socketChannel(socket), handlersOf(some));
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const socket = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  socket.binaryType = "arraybuffer";
  await once(socket, "open");
  const channel = socketChannel(socket);
  const window = connect(channel);
  return {
    window,
    post: (value) => channel.post(value),
    close: async () => {
      window.close();
      server.close();
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}
