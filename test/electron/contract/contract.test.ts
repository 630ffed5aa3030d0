/** Calls and streams behave the same over both transports: checked on both sides, cancelled, held back. */
import { afterEach, describe, expect, it } from "vitest";
import type { HostState } from "../../../electron/contract.ts";
import { type Ends, open, TRANSPORTS } from "./ends.ts";

const INFO = {
  name: "lockstep",
  version: "1.0.0",
  commit: null,
  platform: "linux",
  node: "24.0.0",
  memoryBytes: 64 * 2 ** 30,
  evidence: "/evidence",
  desktop: false,
  gates: "0".repeat(64),
} as const;

const STATE: HostState = { state: "idle", pid: null, since: "2026-01-01T00:00:00.000Z", lastStop: null, starts: 0 };

let ends: Ends | undefined;

afterEach(async () => {
  await ends?.close();
  ends = undefined;
});

/** Lets messages that are under way arrive. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}

describe.each(TRANSPORTS)("over a %s", (transport) => {
  it("a call returns its checked answer", async () => {
    ends = await open(transport, { "app.info": () => INFO });
    expect(await ends.window.call("app.info", {})).toEqual(INFO);
  });

  it("arrays arrive as typed arrays, NaN included", async () => {
    const data = Float32Array.from({ length: 70_000 }, (_, index) => (index === 7 ? Number.NaN : index));
    ends = await open(transport, { "runs.array": () => ({ dtype: "f32", shape: [70_000], data }) });
    const array = await ends.window.call("runs.array", { id: "a.lockstep", path: "data/x" });
    expect(array.data).toBeInstanceOf(Float32Array);
    expect(array.data).toEqual(data);
  });

  it("a request or an answer that does not fit is refused with its place", async () => {
    ends = await open(transport, {
      "app.info": () => ({ ...INFO, gates: "short" }),
      "runs.cancel": () => ({ cancelled: true }),
    });
    const { window } = ends;
    await expect(window.call("app.info", { extra: 1 } as never)).rejects.toMatchObject({ name: "ContractError" });
    await expect(window.call("app.info", {})).rejects.toThrow("app.info does not fit the contract: gates");
    await expect(window.call("runs.cancel", { id: "../../etc" })).rejects.toThrow("runs.cancel: id");
    await expect(window.call("runs.cancel", { id: "ok.lockstep" })).resolves.toEqual({ cancelled: true });
  });

  it("names that the contract does not have are refused, those of Object.prototype included", async () => {
    ends = await open(transport, {});
    for (const name of ["constructor", "__proto__", "toString", "runs.delete"]) {
      await expect(ends.window.call(name as never, {} as never)).rejects.toThrow("has no call");
    }
    await expect(async () => {
      for await (const item of ends!.window.stream("hasOwnProperty" as never, {} as never)) expect(item).toBe(0);
    }).rejects.toThrow("has no stream");
  });

  it("failures keep name, words and mend", async () => {
    class Full extends Error {
      override readonly name = "Full";
      readonly mend = "free some space";
    }
    ends = await open(transport, {
      "app.info": () => {
        throw new Full("no space left");
      },
    });
    await expect(ends.window.call("app.info", {})).rejects.toMatchObject({
      name: "Full",
      message: "no space left",
      mend: "free some space",
    });
  });

  it("a call is cancelled on both sides", async () => {
    let seen: AbortSignal | undefined;
    ends = await open(transport, {
      "app.info": (_, { signal }) => {
        seen = signal;
        return new Promise(() => undefined);
      },
    });
    const controller = new AbortController();
    const asked = ends.window.call("app.info", {}, { signal: controller.signal });
    await settled();
    controller.abort();
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    await settled();
    expect(seen?.aborted).toBe(true);
  });

  it("a stream waits for its reader, and loses nothing", async () => {
    let made = 0;
    ends = await open(transport, {
      "host.state": async function* () {
        for (let starts = 0; starts < 500; starts++) {
          made += 1;
          yield { ...STATE, starts };
        }
      },
    });
    const stream = ends.window.stream("host.state", {});
    expect((await stream.next()).value).toMatchObject({ starts: 0 });
    await settled();
    expect(made).toBeLessThan(80);
    const rest: number[] = [];
    for await (const item of stream) rest.push(item.starts);
    expect(rest).toEqual(Array.from({ length: 499 }, (_, index) => index + 1));
  });

  it("leaving the loop ends the stream at its source; so does a signal", async () => {
    let ended = 0;
    ends = await open(transport, {
      "host.state": async function* (_, { signal }) {
        try {
          for (let starts = 0; !signal.aborted; starts++) {
            yield { ...STATE, starts };
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
        } finally {
          ended += 1;
        }
      },
    });
    for await (const item of ends.window.stream("host.state", {})) if (item.starts === 3) break;
    await settled();
    expect(ended).toBe(1);
    const controller = new AbortController();
    for await (const item of ends.window.stream("host.state", {}, { signal: controller.signal })) {
      if (item.starts === 3) controller.abort();
    }
    await settled();
    expect(ended).toBe(2);
  });

  it("a stream that fails, and an item that does not fit", async () => {
    ends = await open(transport, {
      "host.state": async function* () {
        yield STATE;
        throw new Error("the host has no state");
      },
    });
    const seen: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const item of ends!.window.stream("host.state", {})) seen.push(item);
    };
    await expect(read()).rejects.toThrow("the host has no state");
    expect(seen).toEqual([STATE]);
    await ends.close();
    ends = await open(transport, {
      "host.state": async function* () {
        yield { ...STATE, pid: "7" as unknown as number };
      },
    });
    await expect(ends.window.stream("host.state", {}).next()).rejects.toThrow("does not fit the contract: pid");
  });

  it("when the channel closes, calls and streams end and handlers are told", async () => {
    let seen: AbortSignal | undefined;
    ends = await open(transport, {
      "app.info": (_, { signal }) => {
        seen = signal;
        return new Promise(() => undefined);
      },
    });
    const asked = ends.window.call("app.info", {});
    asked.catch(() => undefined);
    await settled();
    ends.window.close();
    await expect(asked).rejects.toMatchObject({ name: "ConnectionClosed", mend: expect.stringContaining("reload") });
    await expect(ends.window.call("app.info", {})).rejects.toMatchObject({ name: "ConnectionClosed" });
    await settled();
    expect(seen?.aborted).toBe(true);
  });

  it("a frame of another form closes the channel", async () => {
    for (const frame of [null, 7, { t: "q" }, { t: "s", i: 1 }, { t: "q", m: "call", a: {} }]) {
      ends = await open(transport, { "app.info": () => INFO });
      let reason: string | undefined;
      ends.window.onClose((words) => {
        reason = words;
      });
      ends.post(frame);
      await settled();
      expect(reason).toBeDefined();
      await ends.close();
      ends = undefined;
    }
  });
});
