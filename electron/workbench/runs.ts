/**
 * One run at a time: asks the host, keeps the record as it comes, writes the bundle when it ends. If the host dies the
 * run is kept as `crashed`; nothing is retried by itself.
 */
import fs from "node:fs";
import path from "node:path";
import { parityWords } from "../actions.ts";
import { type CaptureAnswer, type CaptureRequest, GPUTRACE } from "../captures/gputrace.ts";
import { fileStem } from "../cases/file.ts";
import type { KernelProgress, KernelRequest } from "../checker/messages.ts";
import { failureOf } from "../contract/wire.ts";
import type { CallInput, Failure, RunEntry, RunItem, StartRequest } from "../contract.ts";
import { bundleName, closeBundle, discardStaging, openStaging, type Staging } from "../evidence/bundle.ts";
import { HostClient, type KernelRunEnd, type RunEnd } from "../host/client.ts";
import { deviceWanted } from "../host/device_name.ts";
import { appCommit, appVersion, type Places } from "../host/root.ts";
import type { HostEnvironment, StartHost } from "../host/transport.ts";
import type { RunEvent } from "../runs/events.ts";
import { Recorder } from "../runs/recorder.ts";
import { keepValidation, ValidationCollector } from "../validation/collector.ts";
import { CAPTURE_ENVIRONMENT, VALIDATION_ENVIRONMENT } from "../validation/environment.ts";
import { WorkbenchError } from "./failure.ts";
import { Feed } from "./feed.ts";
import { keptEntry } from "./history.ts";
import { HostWatch } from "./host_watch.ts";

/** Time for a cancelled run to end in order when the workbench closes. */
const CLOSE_MS = 10_000;

/** Folder beside the bundles that captures go into. */
const CAPTURES = "captures";

/** A capture that was refused leaves no folder. */
function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder);
  } catch {
    // It holds captures.
  }
}

/** What to do about a run that was refused or could not keep its files. */
const REFUSED_MENDS: Readonly<Record<Extract<RunEnd, { type: "refused" }>["code"], string>> = {
  usage: "change the request and run again",
  input: "change the file of inputs and run again",
  unavailable: "see what the Device page says of it",
  io: "make room in the evidence folder and see that it can be written, or start the workbench with another, then run again",
  internal: "run again; a fresh host starts with it",
};

interface Live {
  readonly id: string;
  readonly request: StartRequest;
  readonly startedAt: string;
  readonly began: number;
  readonly recorder: Recorder;
  /** The workbench's host, or one of the run's own, which Metal's validation needs. */
  readonly host: HostClient;
  /** What that host writes to its standard error; null without validation. */
  readonly collector: ValidationCollector | null;
  readonly done: Promise<void>;
}

function isProgress(item: RunItem): item is Extract<RunItem, { type: "event" }> {
  return item.type === "event" && item.event.type === "progress";
}

/** Two reports of progress about the same phase of the same item. */
function sameStep(last: RunItem | undefined, next: RunItem): boolean {
  if (last === undefined || !isProgress(last) || !isProgress(next)) return false;
  const [a, b] = [last.event, next.event];
  if (a.type !== "progress" || b.type !== "progress") return false;
  return last.id === next.id && a.case === b.case && a.route === b.route && a.phase === b.phase;
}

export class Runs {
  readonly host: HostClient;
  readonly watch: HostWatch;
  readonly #places: Places;
  readonly #evidence: string;
  readonly #feed = new Feed<RunItem>({ replaces: sameStep });
  readonly #start: StartHost | undefined;
  /** What else is going on, in words: a check or a capture; undefined where nothing is. */
  #other: string | undefined;
  /** What the present or last run has said, with one report for each step of progress. */
  #said: RunItem[] = [];
  #live: Live | undefined;

  constructor(places: Places, evidence: string, start?: StartHost) {
    this.#places = places;
    this.#evidence = evidence;
    this.#start = start;
    this.watch = new HostWatch();
    this.host = new HostClient({
      path: places.host,
      ...(start === undefined ? {} : { start }),
      onStart: (pid) => this.watch.started(pid),
      onPid: (pid) => this.watch.named(pid),
      onExit: (how) => this.watch.exited(how),
    });
  }

  /** A host for one task, beside the workbench's own: Metal reads such variables once, before its first device. */
  #ownHost(environment: HostEnvironment, onLog: (text: string) => void): HostClient {
    return new HostClient({
      path: this.#places.host,
      environment,
      onLog,
      ...(this.#start === undefined ? {} : { start: this.#start }),
    });
  }

  /** The run that is going on, as the list has it. */
  get running(): RunEntry | undefined {
    if (this.#live === undefined) return undefined;
    const { id, startedAt, request, recorder } = this.#live;
    return {
      state: "running",
      id,
      startedAt,
      suite: request.suite,
      planned: recorder.total,
      finished: recorder.results.length,
    };
  }

  follow(signal: AbortSignal): AsyncIterable<RunItem> {
    return this.#feed.follow(this.#said, signal);
  }

  /** Begins a run. Throws where one is going on or the bundle cannot be written. */
  start(request: StartRequest): string {
    if (this.#live !== undefined) {
      throw new WorkbenchError(`The run ${this.#live.id} is going on; one runs at a time`, "wait for it, or cancel it");
    }
    this.#refuseOther();
    // A name that does not exist is said before anything is staged.
    const wanted = deviceWanted(request.device, request.chip);
    if (request.validation && wanted?.kind === "emulated") {
      throw new WorkbenchError("Validation is Metal's own; the emulated device has none", "check the kernels instead");
    }
    const startedAt = new Date().toISOString();
    const staging = this.#stage(request, startedAt);
    const id = path.basename(staging.target);
    const command = parityWords(request);
    const recorder = new Recorder({
      app: { name: "lockstep", version: appVersion(this.#places.root), commit: appCommit(this.#places.root) },
      command,
      startedAt,
    });
    this.#said = [];
    const collector = request.validation ? new ValidationCollector() : null;
    const host = collector === null ? this.host : this.#ownHost(VALIDATION_ENVIRONMENT, (text) => collector.add(text));
    const live: Omit<Live, "done"> = { id, request, startedAt, began: performance.now(), recorder, host, collector };
    // The run is known before it says its first word.
    const done = Promise.resolve().then(() => this.#run(live, staging));
    this.#live = { ...live, done };
    this.#say({ type: "started", id, startedAt, request, command: [...command] });
    return id;
  }

  /** Runs or checks the kernel of a manifest. Throws where a run or another check is going on: the host takes one. */
  async kernel(request: KernelRequest, onProgress: (progress: KernelProgress) => void): Promise<KernelRunEnd> {
    if (this.#live !== undefined) {
      throw new WorkbenchError(
        `The run ${this.#live.id} is going on; the host takes one at a time`,
        "wait, or cancel it",
      );
    }
    this.#refuseOther();
    this.#other = "The kernel of a manifest is being checked";
    try {
      const end = this.host.kernel(request, onProgress);
      this.watch.running();
      return await end;
    } finally {
      this.#other = undefined;
      this.watch.rested();
    }
  }

  /**
   * Captures the dispatches of one case to a `.gputrace`, in a host of its own. Throws where something else is going on, and
   * what Metal or the lack of it refuses.
   */
  async capture(request: CallInput<"captures.take">, signal: AbortSignal): Promise<CaptureAnswer> {
    if (this.#live !== undefined) {
      throw new WorkbenchError(`The run ${this.#live.id} is going on; one thing uses the GPU at a time`, "wait for it");
    }
    this.#refuseOther();
    this.#other = "A case is being captured";
    const host = this.#ownHost(CAPTURE_ENVIRONMENT, () => undefined);
    const cancel = (): void => host.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const asked: CaptureRequest = { ...request, inputs: null, out: request.out ?? this.#captureTarget() };
      const end = await host.capture(asked, () => undefined);
      if (end.type === "captured") return end.answer;
      if (end.type === "stopped") throw new WorkbenchError(end.reason, "capture again; a fresh host starts");
      throw new WorkbenchError(end.message, end.mend);
    } finally {
      signal.removeEventListener("abort", cancel);
      await host.close();
      if (request.out === null) removeIfEmpty(path.join(this.#evidence, CAPTURES));
      this.#other = undefined;
    }
  }

  /** A free name beside the bundles. */
  #captureTarget(): string {
    const folder = path.join(this.#evidence, CAPTURES);
    fs.mkdirSync(folder, { recursive: true });
    const time = new Date()
      .toISOString()
      .replace(/\.\d+Z$/, "z")
      .replaceAll(":", "")
      .toLowerCase();
    return path.join(folder, `${time}${GPUTRACE}`);
  }

  #refuseOther(): void {
    if (this.#other === undefined) return;
    throw new WorkbenchError(`${this.#other}; the host takes one at a time`, "wait for it");
  }

  /** Asks the run to stop. False where it is not going on. */
  cancel(id: string): boolean {
    if (this.#live?.id !== id) return false;
    this.#live.host.cancel();
    return true;
  }

  /** Asks the run to pause after its running case, or to go on. False where it is not going on. */
  pause(id: string, paused: boolean): boolean {
    if (this.#live?.id !== id) return false;
    this.#live.host.pause(paused);
    return true;
  }

  /** Asks the run to skip the case, if that is the one that runs. False where the run is not going on. */
  skip(id: string, key: string): boolean {
    if (this.#live?.id !== id) return false;
    this.#live.host.skip(key);
    return true;
  }

  /** Cancels what runs, keeps what is finished, lets the host go. */
  async close(): Promise<void> {
    this.watch.close();
    const live = this.#live;
    if (live !== undefined) {
      live.host.cancel();
      const limit = setTimeout(() => live.host.kill(), CLOSE_MS);
      await live.done;
      clearTimeout(limit);
    }
    this.#feed.close();
    await this.host.close();
  }

  /** A fresh name: two runs may begin within one second. */
  #stage(request: StartRequest, startedAt: string): Staging {
    const what = request.inputs === null ? request.suite : fileStem(request.inputs);
    const device = request.chip ?? request.device;
    const words = [what, ...(device === null ? [] : [device]), ...(request.validation ? ["validation"] : [])];
    for (let attempt = 1; ; attempt++) {
      const name = bundleName(startedAt, ...words, ...(attempt === 1 ? [] : [String(attempt)]));
      if (!fs.existsSync(path.join(this.#evidence, name))) return openStaging(this.#evidence, name);
    }
  }

  #say(item: RunItem): void {
    if (sameStep(this.#said.at(-1), item)) this.#said[this.#said.length - 1] = item;
    else this.#said.push(item);
    this.#feed.push(item);
  }

  async #run(live: Omit<Live, "done">, staging: Staging): Promise<void> {
    const { id, request, recorder, began, host, collector } = live;
    const at = (): number => performance.now() - began;
    const onEvent = (event: RunEvent): void => {
      const time = at();
      recorder.add(event, time);
      this.#say({ type: "event", id, at: time, event });
    };
    let entry: RunEntry | null = null;
    let failure: Failure | null = null;
    try {
      const asked = host.run({ ...request, outputs: null, producer: null, staging: staging.folder }, onEvent);
      if (collector === null) this.watch.running();
      const end = await asked;
      if (collector !== null) {
        await host.closeDrained();
        const before = new Map(recorder.results.map((result) => [`${result.case}\n${result.route}`, result.verdict]));
        keepValidation(recorder, collector, staging);
        // Windows have shown the verdicts without the gate of validation: those that it turned are said again.
        for (const result of recorder.results) {
          if (before.get(`${result.case}\n${result.route}`) === result.verdict) continue;
          this.#say({ type: "event", id, at: at(), event: { type: "result", result } });
        }
      }
      entry = this.#keep(end, live, staging);
    } catch (error) {
      discardStaging(staging);
      failure = failureOf(error);
    }
    this.watch.rested();
    this.#live = undefined;
    this.#say({ type: "ended", id, at: at(), entry, failure });
  }

  /** Writes the bundle. Throws what the run was refused with. */
  #keep(end: RunEnd, { id, recorder, began }: Omit<Live, "done">, staging: Staging): RunEntry {
    if (end.type === "refused") throw new WorkbenchError(end.message, REFUSED_MENDS[end.code]);
    if (!recorder.planned) {
      const words = end.type === "stopped" ? end.reason : "The run ended before it was planned.";
      throw new WorkbenchError(words, "run again; a fresh host starts with it");
    }
    const finishedAt = new Date().toISOString();
    const [outcome, reason] =
      end.type === "finished"
        ? [recorder.outcomeAfter(end.outcome), end.reason]
        : (["crashed", `${end.reason}. It was at: ${recorder.position}`] as const);
    const draft = recorder.draft(outcome, reason, finishedAt);
    const { record, identity } = closeBundle(
      staging,
      draft,
      recorder.endedLog(outcome, reason, performance.now() - began),
    );
    return keptEntry(id, record, identity);
  }
}
