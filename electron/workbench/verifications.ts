/**
 * Verification of bundles, each in a thread of its own, so that the workbench goes on answering. Whoever asks for the same
 * bundle meanwhile shares the thread; when nobody waits for it any more, it is ended.
 */
import { Worker } from "node:worker_threads";
import { type VerifyMessage, verifyMessageSchema } from "../evidence/verify_messages.ts";
import { WorkbenchError } from "./failure.ts";
import { Feed } from "./feed.ts";

/** Threads at once; more wait their turn. */
const MOST = 2;

type Verification = Extract<VerifyMessage, { type: "done" }>["verification"];

interface Job {
  readonly feed: Feed<VerifyMessage>;
  last: VerifyMessage | undefined;
  failure: Error | undefined;
  worker: Worker | undefined;
  /** Those who wait for it. */
  waiting: number;
  over: boolean;
}

function sameStep(last: VerifyMessage, next: VerifyMessage): boolean {
  return last.type === "progress" && next.type === "progress";
}

export class Verifications {
  readonly #entry: string;
  /** By folder. */
  readonly #jobs = new Map<string, Job>();

  /** `entry` is the bundled thread, `out/verify_worker.mjs`. */
  constructor(entry: string) {
    this.#entry = entry;
  }

  /** Follows the verification of the bundle in `folder`: progress, then `done`. Rejects where the thread fails. */
  async *follow(folder: string, signal: AbortSignal): AsyncGenerator<VerifyMessage, void, undefined> {
    const job = this.#jobs.get(folder) ?? this.#begin(folder);
    job.waiting += 1;
    try {
      for await (const message of job.feed.follow(job.last === undefined ? [] : [job.last], signal)) {
        yield message;
        if (message.type === "done") return;
      }
      if (job.failure !== undefined) throw job.failure;
    } finally {
      job.waiting -= 1;
      if (job.waiting === 0) this.#end(folder, job);
    }
  }

  /** Verifies to the end. Rejects with `AbortError` where the signal aborts first. */
  async run(folder: string, signal: AbortSignal): Promise<Verification> {
    for await (const message of this.follow(folder, signal)) {
      if (message.type === "done") return message.verification;
    }
    throw new WorkbenchError("The verification was stopped", "verify again");
  }

  /** Ends every thread. */
  close(): void {
    for (const [folder, job] of this.#jobs) this.#end(folder, job);
  }

  #begin(folder: string): Job {
    const job: Job = {
      feed: new Feed<VerifyMessage>({ replaces: sameStep }),
      last: undefined,
      failure: undefined,
      worker: undefined,
      waiting: 0,
      over: false,
    };
    this.#jobs.set(folder, job);
    this.#next();
    return job;
  }

  /** Starts what waits, as far as there is room. */
  #next(): void {
    const busy = [...this.#jobs.values()].filter((job) => job.worker !== undefined).length;
    const open = [...this.#jobs].filter(([, job]) => job.worker === undefined && !job.over);
    for (const [folder, job] of open.slice(0, Math.max(0, MOST - busy))) this.#start(folder, job);
  }

  #start(folder: string, job: Job): void {
    const worker = new Worker(this.#entry, { workerData: { folder } });
    job.worker = worker;
    worker.on("message", (message: unknown) => {
      const parsed = verifyMessageSchema.safeParse(message);
      if (!parsed.success) {
        job.failure = new Error(`The thread that verifies said what it may not say: ${parsed.error.message}`);
        this.#end(folder, job);
        return;
      }
      job.last = parsed.data;
      job.feed.push(parsed.data);
      if (parsed.data.type === "done") this.#end(folder, job);
    });
    const failed = (error: Error): void => {
      job.failure ??= new WorkbenchError(
        `The verification could not be carried out: ${error.message}. The bundle counts as unverified`,
        "verify again, or run lockstep verify on it",
      );
      this.#end(folder, job);
    };
    worker.once("error", failed);
    worker.once("exit", (code) => failed(new Error(`its thread ended with code ${code}`)));
  }

  #end(folder: string, job: Job): void {
    if (job.over) return;
    job.over = true;
    if (this.#jobs.get(folder) === job) this.#jobs.delete(folder);
    const { worker } = job;
    job.worker = undefined;
    void worker?.terminate();
    job.feed.close();
    this.#next();
  }
}
