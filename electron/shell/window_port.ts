/** The main process's end of a port, which is an event emitter, in the form that the contract's channel takes. */
import type { MessagePortMain } from "electron";
import type { PortLike } from "../contract/port.ts";

export function windowPort(port: MessagePortMain): PortLike {
  return {
    postMessage: (value) => port.postMessage(value),
    start: () => port.start(),
    close: () => port.close(),
    addEventListener: (type, listener) => {
      if (type === "close") port.on("close", () => listener(new Event("close")));
      if (type === "message") {
        port.on("message", ({ data }) => listener(Object.assign(new Event("message"), { data: data as unknown })));
      }
    },
  };
}
