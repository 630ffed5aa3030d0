/** What a user may ask of a run that goes on: pause after the running case, go on, skip the running case. */
import type { Emit } from "./events.ts";

export class RunControl {
  readonly #emit: Emit;
  #paused = false;
  #wake: (() => void) | undefined;
  #running: { readonly key: string; readonly controller: AbortController } | undefined;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** Asks for a pause after the running case, or takes it back. */
  pause(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    this.#emit({ type: "pause", state: paused ? "asked" : "resumed" });
    this.#wake?.();
  }

  /** Skips the case `key`. Does nothing where it is not the one that runs: it has ended meanwhile. */
  skip(key: string): void {
    if (this.#running?.key !== key || this.#running.controller.signal.aborted) return;
    this.#emit({ type: "skip", case: key });
    this.#running.controller.abort();
  }

  /** A case begins: the signal aborts when it is to be skipped. */
  begin(key: string): AbortSignal {
    const controller = new AbortController();
    this.#running = { key, controller };
    return controller.signal;
  }

  end(): void {
    this.#running = undefined;
  }

  /** Between two cases: waits while a pause is asked for, at most until `signal` aborts. */
  async pausePoint(signal: AbortSignal): Promise<void> {
    if (!this.#paused || signal.aborted) return;
    this.#emit({ type: "pause", state: "paused" });
    const wake = (): void => this.#wake?.();
    signal.addEventListener("abort", wake, { once: true });
    while (this.#paused && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    signal.removeEventListener("abort", wake);
    this.#wake = undefined;
  }
}
