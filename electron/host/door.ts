/** The host's end of the transport: the channel of a forked child, or the port of a utility process. */

export interface Door {
  /** Sends a message. Does nothing where the door has gone. */
  send(message: unknown): void;
  onMessage(then: (message: unknown) => void): void;
  /** Called when the door has gone or lets this process go. */
  onGone(then: () => void): void;
}

/** What is used of `process.parentPort`, which Electron gives a utility process. */
export interface ParentPort {
  postMessage(message: unknown): void;
  on(type: "message", then: (event: { readonly data: unknown }) => void): unknown;
}

function forkedDoor(): Door {
  return {
    send: (message) => {
      if (process.connected) process.send?.(message);
    },
    onMessage: (then) => void process.on("message", then),
    onGone: (then) => {
      process.on("disconnect", then);
      // A message to a door that has just died fails before the end of the channel is known.
      process.on("error", then);
    },
  };
}

function utilityDoor(port: ParentPort): Door {
  // Ctrl-C may reach every process of the group: the door decides, and cancels in order.
  process.on("SIGINT", () => undefined);
  return {
    send: (message) => port.postMessage(message),
    onMessage: (then) => void port.on("message", ({ data }) => then(data)),
    // Electron ends a utility process with its parent; a door that lets it go sends SIGTERM.
    onGone: (then) => void process.on("SIGTERM", then),
  };
}

/** The door that started this process. */
export function openDoor(port = (process as { readonly parentPort?: ParentPort | null }).parentPort): Door {
  return port === undefined || port === null ? forkedDoor() : utilityDoor(port);
}
