/**
 * The host: the one process that loads the addon. A door forks it and sends one run at a time; events go back. A defect
 * ends the process, and the door writes the `crashed` record.
 */
import fs from "node:fs";
import type { RunEvent } from "../runs/events.ts";
import { fromHostSchema, toHostSchema } from "./messages.ts";
import { places } from "./root.ts";
import { runRequest } from "./session.ts";

let running: { readonly controller: AbortController; readonly staging: string } | undefined;

function send(message: unknown): void {
  const checked = fromHostSchema.parse(message);
  if (process.connected) process.send?.(checked);
}

function isLast(event: RunEvent): boolean {
  return event.type === "finished" || event.type === "refused";
}

function die(error: unknown): never {
  // The door shows the last line.
  const words = error instanceof Error ? `${error.stack ?? ""}\n${error.name}: ${error.message}` : String(error);
  process.stderr.write(`${words.trim()}\n`);
  process.exit(70);
}

process.on("uncaughtException", die);
process.on("unhandledRejection", die);
// Without a door there is nobody to report to, and no run may go on unseen, nor its files stay.
process.on("disconnect", () => {
  if (running !== undefined) fs.rmSync(running.staging, { recursive: true, force: true });
  process.exit(0);
});

process.on("message", (message: unknown) => {
  const parsed = toHostSchema.safeParse(message);
  if (!parsed.success) die(new Error(`The door sent what it may not send: ${parsed.error.message}`));
  if (parsed.data.type === "cancel") {
    running?.controller.abort();
    return;
  }
  if (running !== undefined) die(new Error("The door sent a run while one is going on."));
  const controller = new AbortController();
  running = { controller, staging: parsed.data.request.staging };
  // The last event goes out when the device is closed and the next run may come.
  let last: RunEvent | undefined;
  const emit = (event: RunEvent): void => {
    if (isLast(event)) last = event;
    else send(event);
  };
  runRequest(parsed.data.request, places(), controller.signal, emit).then(
    () => {
      running = undefined;
      send(last);
    },
    (error: unknown) => die(error),
  );
});
