/**
 * The host: the one process that loads the addon. A door starts it and sends one run at a time; events go back. A defect
 * ends the process, and the door writes the `crashed` record.
 */
import fs from "node:fs";
import { loadAddon } from "../../native/addon.ts";
import { metalEntries } from "../../native/devices.ts";
import type { CheckRequest } from "../analysis/check_messages.ts";
import { Inspector } from "../analysis/inspector.ts";
import type { InspectRequest } from "../analysis/messages.ts";
import type { CaptureRequest } from "../captures/gputrace.ts";
import type { KernelRequest } from "../checker/messages.ts";
import { RunControl } from "../runs/control.ts";
import type { RunEvent } from "../runs/events.ts";
import { captureRequest } from "./capture.ts";
import { openDoor } from "./door.ts";
import { kernelRequest } from "./kernel.ts";
import { type AnswerEnd, busyRefusal, fromHostSchema, type RunRequest, toHostSchema } from "./messages.ts";
import { places } from "./root.ts";
import { checkRequest, inspectRequest, runRequest } from "./session.ts";

const door = openDoor();
const where = places();
const inspector = new Inspector({ addon: () => loadAddon(where.addon), golden: where.golden });
/** Questions are answered one after the other; a run begins when the one at hand is answered. */
let inspecting: Promise<void> = Promise.resolve();

interface Running {
  readonly controller: AbortController;
  readonly control: RunControl;
  /** Folder of what is half-written; null where nothing is. */
  readonly staging: string | null;
}

let running: Running | undefined;

function send(message: unknown): void {
  door.send(fromHostSchema.parse(message));
}

function isLast(event: RunEvent): boolean {
  return event.type === "finished" || event.type === "refused";
}

const CLOSED: readonly unknown[] = ["EPIPE", "ECONNRESET", "ERR_IPC_CHANNEL_CLOSED", "ERR_IPC_DISCONNECTED"];

function die(error: unknown): never {
  if (error instanceof Error && CLOSED.includes((error as NodeJS.ErrnoException).code)) leave();
  // The door shows the last line.
  const words = error instanceof Error ? `${error.stack ?? ""}\n${error.name}: ${error.message}` : String(error);
  process.stderr.write(`${words.trim()}\n`);
  process.exit(70);
}

/** Without a door there is nobody to report to, and no run may go on unseen, nor its files stay. */
function leave(): never {
  const staging = running?.staging ?? null;
  if (staging !== null) fs.rmSync(staging, { recursive: true, force: true });
  process.exit(0);
}

process.on("uncaughtException", die);
process.on("unhandledRejection", die);
door.onGone(leave);

/** Questions go one after the other. Whether a run is going on is decided as the question comes: a run behind it waits. */
function answer(id: number, ask: () => Promise<AnswerEnd>): void {
  const busy = running !== undefined;
  inspecting = inspecting.then(async () => send(busy ? busyRefusal(id) : await ask())).catch(die);
}

function inspect(id: number, request: InspectRequest): void {
  answer(id, () => inspectRequest(inspector, id, request));
}

function check(id: number, request: CheckRequest): void {
  answer(id, () => checkRequest(id, request, where));
}

/** Whatever runs: nothing is opened. An addon that cannot be loaded is the reason why there is no Metal. */
function devices(id: number): void {
  const listed = async (): Promise<AnswerEnd> => {
    try {
      return { type: "devices_listed", id, metal: [...(await metalEntries(loadAddon(where.addon).metal))] };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const entry = { kind: "metal", available: false, reason, mend: "build it again" } as const;
      return { type: "devices_listed", id, metal: [entry] };
    }
  };
  listed().then(send).catch(die);
}

function run(request: RunRequest): void {
  if (running !== undefined) die(new Error("The door sent a run while one is going on."));
  // The last event goes out when the device is closed and the next run may come.
  let last: RunEvent | undefined;
  const emit = (event: RunEvent): void => {
    if (isLast(event)) last = event;
    else send(event);
  };
  const controller = new AbortController();
  const control = new RunControl(emit);
  running = { controller, control, staging: request.staging };
  inspecting
    .then(() => {
      // A run needs the memory.
      inspector.release();
      return runRequest(request, where, { signal: controller.signal, control }, emit);
    })
    .then(() => {
      running = undefined;
      send(last);
    }, die);
}

function kernel(request: KernelRequest): void {
  if (running !== undefined) die(new Error("The door sent a kernel while a run is going on."));
  const controller = new AbortController();
  running = { controller, control: new RunControl(() => undefined), staging: null };
  inspecting
    .then(() => {
      inspector.release();
      return kernelRequest(request, where, controller.signal, send);
    })
    .then((end) => {
      running = undefined;
      send(end);
    }, die);
}

function capture(request: CaptureRequest): void {
  if (running !== undefined) die(new Error("The door sent a capture while a run is going on."));
  const controller = new AbortController();
  running = { controller, control: new RunControl(() => undefined), staging: null };
  inspecting
    .then(() => {
      inspector.release();
      return captureRequest(request, where, controller.signal, (phase) => send({ type: "capture_progress", phase }));
    })
    .then((end) => {
      running = undefined;
      send(end);
    }, die);
}

door.onMessage((message) => {
  const parsed = toHostSchema.safeParse(message);
  if (!parsed.success) die(new Error(`The door sent what it may not send: ${parsed.error.message}`));
  switch (parsed.data.type) {
    case "cancel":
      running?.controller.abort();
      return;
    case "pause":
      running?.control.pause(parsed.data.paused);
      return;
    case "skip":
      running?.control.skip(parsed.data.case);
      return;
    case "inspect":
      inspect(parsed.data.id, parsed.data.request);
      return;
    case "check":
      check(parsed.data.id, parsed.data.request);
      return;
    case "devices":
      devices(parsed.data.id);
      return;
    case "kernel":
      kernel(parsed.data.request);
      return;
    case "capture":
      capture(parsed.data.request);
      return;
    case "run":
      run(parsed.data.request);
  }
});
