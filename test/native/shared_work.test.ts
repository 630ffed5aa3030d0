import { describe, expect, it } from "vitest";
import { SharedWork, unlessCancelled } from "../../native/shared_work.ts";
import { deviceError } from "./msl/workbench.ts";

/** Work that ends when it is told to, or when it is stopped. */
function work() {
  let resolve: (made: string) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<string>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  const seen = { started: 0, stopped: false };
  const start = (stop: AbortSignal): Promise<string> => {
    seen.started += 1;
    stop.addEventListener("abort", () => {
      seen.stopped = true;
    });
    return promise;
  };
  return { seen, start, resolve, reject };
}

describe("shared work", () => {
  it("goes on for the other when one leaves, who hears so at once", async () => {
    const shared = new SharedWork<string>();
    const { seen, start, resolve } = work();
    const leaver = new AbortController();
    const first = deviceError(shared.join("key", leaver.signal, start));
    const second = shared.join("key", new AbortController().signal, start);
    leaver.abort();
    expect((await first).code).toBe("cancelled");
    resolve("made");
    expect([await second, seen]).toEqual(["made", { started: 1, stopped: false }]);
  });

  it("is stopped when the last leaves, who hears so when it has ended; who comes then begins anew", async () => {
    const shared = new SharedWork<string>();
    const dying = work();
    const leavers = [new AbortController(), new AbortController()];
    const left: string[] = [];
    const joined = leavers.map(async ({ signal }, index) => {
      await deviceError(shared.join("key", signal, dying.start));
      left.push(`${index}`);
    });
    for (const leaver of leavers) leaver.abort();
    await joined[0];
    expect([dying.seen, left]).toEqual([{ started: 1, stopped: true }, ["0"]]);
    const next = work();
    const anew = shared.join("key", undefined, next.start);
    next.resolve("made anew");
    dying.reject(new Error("its compiler was ended"));
    await joined[1];
    expect([await anew, next.seen.started, left]).toEqual(["made anew", 1, ["0", "1"]]);
  });

  it("is not begun for who has left before, and keeps nothing of a failure", async () => {
    const shared = new SharedWork<string>();
    const { seen, start, reject } = work();
    expect((await deviceError(shared.join("key", AbortSignal.abort(), start))).code).toBe("cancelled");
    expect(seen.started).toBe(0);
    const failed = shared.join("key", undefined, start);
    reject(new Error("refused"));
    await expect(failed).rejects.toThrow("refused");
    const next = work();
    next.resolve("made");
    expect(await shared.join("key", undefined, next.start)).toBe("made");
  });

  it("that cannot be stopped is left behind, whatever comes of it", async () => {
    for (const end of ["resolve", "reject"] as const) {
      const { start, ...ends } = work();
      const leaver = new AbortController();
      const waited = deviceError(unlessCancelled(leaver.signal, () => start(leaver.signal)));
      leaver.abort();
      expect((await waited).code).toBe("cancelled");
      if (end === "resolve") ends.resolve("late");
      else ends.reject(new Error("late"));
    }
    const { seen, start } = work();
    const signal = AbortSignal.abort();
    expect((await deviceError(unlessCancelled(signal, () => start(signal)))).code).toBe("cancelled");
    expect(seen.started).toBe(0);
  });
});
