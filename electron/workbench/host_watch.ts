/** What is known of the host process: whether it is there, runs, or how the last one ended. */
import type { HostState } from "../contract.ts";
import { Feed } from "./feed.ts";

type Change = Partial<Pick<HostState, "state" | "pid" | "lastStop" | "starts">>;

export class HostWatch {
  readonly #feed = new Feed<HostState>();
  #state: HostState = { state: "idle", pid: null, since: new Date().toISOString(), lastStop: null, starts: 0 };
  #closing = false;

  get state(): HostState {
    return this.#state;
  }

  started(pid: number | undefined): void {
    this.#set({ state: "ready", pid: pid ?? null, starts: this.#state.starts + 1 });
  }

  /** The process id, where it was not known at the start. */
  named(pid: number): void {
    this.#set({ pid });
  }

  running(): void {
    this.#set({ state: "running" });
  }

  /** A run is over; the host stays unless it has died. */
  rested(): void {
    if (this.#state.state === "running") this.#set({ state: "ready" });
  }

  /** `how` is `by SIGKILL` or `with exit code 70`. */
  exited(how: string): void {
    if (this.#closing) return;
    const lastStop = { reason: `The host stopped ${how}`, at: new Date().toISOString(), pid: this.#state.pid };
    this.#set({ state: "stopped", pid: null, lastStop });
  }

  /** From now on an exit is in order. */
  close(): void {
    this.#closing = true;
    this.#feed.close();
  }

  follow(signal: AbortSignal): AsyncIterable<HostState> {
    return this.#feed.follow([this.#state], signal);
  }

  #set(change: Change): void {
    this.#state = { ...this.#state, ...change, since: new Date().toISOString() };
    this.#feed.push(this.#state);
  }
}
