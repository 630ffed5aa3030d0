/** Work that several requests may wait for: done once, and stopped when the last of them has gone. */
import { DeviceError } from "./device.ts";

interface Job<T> {
  readonly stop: AbortController;
  readonly done: Promise<T>;
  waiting: number;
}

export class SharedWork<T> {
  readonly #jobs = new Map<string, Job<T>>();

  /**
   * What `start` gives, or the same work that goes on already under `key`. Nothing is kept of work that has ended.
   *
   * Where `signal` aborts it rejects with `cancelled`: at once while another request waits for the work, which then goes on;
   * otherwise the work is stopped, and this rejects when it has ended and left nothing behind.
   * @param start does the work until its signal aborts
   */
  join(key: string, signal: AbortSignal | undefined, start: (stop: AbortSignal) => Promise<T>): Promise<T> {
    if (signal?.aborted) return Promise.reject(cancelled());
    const job = this.#jobs.get(key) ?? this.#begin(key, start);
    job.waiting += 1;
    return new Promise<T>((resolve, reject) => {
      const leave = (): void => {
        job.waiting -= 1;
        if (job.waiting > 0) reject(cancelled());
        else this.#stop(key, job);
      };
      signal?.addEventListener("abort", leave, { once: true });
      const end = (settle: () => void): void => {
        signal?.removeEventListener("abort", leave);
        if (signal?.aborted) reject(cancelled());
        else settle();
      };
      job.done.then(
        (value) => end(() => resolve(value)),
        (error: unknown) => end(() => reject(error)),
      );
    });
  }

  #begin(key: string, start: (stop: AbortSignal) => Promise<T>): Job<T> {
    const stop = new AbortController();
    const job: Job<T> = { stop, done: start(stop.signal), waiting: 0 };
    this.#jobs.set(key, job);
    const end = (): void => this.#forget(key, job);
    job.done.then(end, end);
    return job;
  }

  /** A request that comes now begins anew: what is being stopped gives no result. */
  #stop(key: string, job: Job<T>): void {
    this.#forget(key, job);
    job.stop.abort();
  }

  #forget(key: string, job: Job<T>): void {
    if (this.#jobs.get(key) === job) this.#jobs.delete(key);
  }
}

/**
 * What `start` gives, for work that cannot be stopped: rejects with `cancelled` as soon as `signal` aborts, and what comes
 * of the work afterwards is dropped.
 */
export function unlessCancelled<T>(signal: AbortSignal | undefined, start: () => Promise<T>): Promise<T> {
  if (signal === undefined) return start();
  if (signal.aborted) return Promise.reject(cancelled());
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(cancelled());
    signal.addEventListener("abort", leave, { once: true });
    start()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });
}

function cancelled(): DeviceError {
  return new DeviceError("cancelled", "The build of the kernels was cancelled.");
}
