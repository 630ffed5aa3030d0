/**
 * What no caller should hand over: wrong types, numbers out of range, handles of another device or kind, accessors that are
 * borrowed, callbacks that come back. Each is an exception that names the argument, and none ends the process.
 */
import { beforeAll, describe, expect, it } from "vitest";
import type { NativeMemory } from "../../../native/memory.ts";
import type {
  MetalCompileRequest,
  MetalConnection,
  MetalDispatch,
  MetalPipelineHandle,
  MetalPipelineRequest,
} from "../../../native/metal/binding.ts";
import { openStandIn, STAND_IN_TIMEOUT_MS, type StandIn } from "./stand_in/open.ts";

const SOURCE: MetalCompileRequest = {
  text: `#include <metal_stdlib>
using namespace metal;
constant uint STEP [[function_constant(0)]];
kernel void count(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] += STEP; }`,
  languageVersion: 0x30001,
  mathMode: "safe",
  macros: [],
  logging: false,
};
const CONSTANT = { index: 0, type: 33, bytes: Uint8Array.of(1, 0, 0, 0) };
const PIPELINE: MetalPipelineRequest = {
  function: "count",
  constants: [CONSTANT],
  maxTotalThreadsPerThreadgroup: null,
  requiredThreadsPerThreadgroup: null,
  archive: null,
};

let standIn: StandIn;
let one: MetalConnection;
let other: MetalConnection;
let pipeline: MetalPipelineHandle;
let memory: NativeMemory;
let dispatch: MetalDispatch;

async function built(connection: MetalConnection): Promise<MetalPipelineHandle> {
  const library = await compiled(connection);
  const reply = await connection.pipeline(library, PIPELINE);
  if (!reply.ok) throw new Error(reply.error.words);
  return reply.pipeline;
}

async function compiled(connection: MetalConnection) {
  const reply = await connection.compile(SOURCE);
  if (!reply.ok) throw new Error(reply.error.words);
  return reply.library;
}

beforeAll(async () => {
  standIn = await openStandIn();
  standIn.set({ devices: 2 });
  const [first, second] = await standIn.metal.devices();
  one = await standIn.metal.open(first!.registryId, { logging: false });
  other = await standIn.metal.open(second!.registryId, { logging: false });
  pipeline = await built(one);
  memory = one.allocate(4096, "out");
  memory.fill(0);
  dispatch = {
    label: "count",
    pipeline,
    threadgroups: [1, 1, 1],
    threadsPerThreadgroup: [32, 1, 1],
    bindings: [{ index: 0, memory, offset: 0 }],
    threadgroupMemory: [],
  };
}, STAND_IN_TIMEOUT_MS);

/** The same call with a value that its type forbids. */
function wrong<T extends object>(request: T, name: keyof T, value: unknown): T {
  return { ...request, [name]: value };
}

const NO_VALUES = [undefined, 1n, Symbol("s"), () => 0, Number.NaN, -1, 1.5, 2 ** 53, "a\u0000b", new Proxy([], {})];

/** Calls that throw at once and calls that reject alike. */
async function words(call: () => unknown): Promise<string> {
  try {
    const reply = await call();
    return `no exception: ${JSON.stringify(reply)}`;
  } catch (error) {
    return String(error);
  }
}

describe("arguments of a wrong kind", () => {
  it.each([...(Object.keys(SOURCE) as (keyof MetalCompileRequest)[])])("compile: %s", async (name) => {
    for (const value of NO_VALUES) {
      // Any number of 32 bits is a version, which Metal refuses in its own words.
      expect(await words(() => one.compile(wrong(SOURCE, name, value)))).toMatch(/^(Type|Range)Error: /);
    }
  });

  it.each([...(Object.keys(PIPELINE) as (keyof MetalPipelineRequest)[])])("pipeline: %s", async (name) => {
    const library = await compiled(one);
    for (const value of NO_VALUES) {
      expect(await words(() => one.pipeline(library, wrong(PIPELINE, name, value)))).toMatch(/^(Type|Range)Error: /);
    }
  });

  it.each([
    ...(["label", "pipeline", "threadgroups", "threadsPerThreadgroup", "bindings", "threadgroupMemory"] as const),
  ])("dispatch: %s", async (name) => {
    for (const value of NO_VALUES) {
      const given = [wrong(dispatch, name, value)];
      expect(await words(() => one.submit(given, { counters: false }).done)).toMatch(/^TypeError: /);
    }
  });

  it.each([
    [{ type: 0 }, "constant.type is 0; no function constant has this MTLDataType"],
    [{ type: 58 }, "constant.type is 58; no function constant has this MTLDataType"],
    [{ type: 2 ** 32 - 1 }, "constant.type is 4294967295; no function constant has this MTLDataType"],
    [{ type: 53 }, "constant.bytes has 4 bytes; MTLDataType 53 has 1"],
    [{ type: 35 }, "constant.bytes has 4 bytes; MTLDataType 35 has 16"],
    [{ bytes: new Uint8Array(3) }, "constant.bytes has 3 bytes; MTLDataType 33 has 4"],
    [{ index: 65536 }, "constant.index is 65536; it must be a whole number from 0 to 65535"],
  ])("a constant with %j, at which Metal would end the process", async (given, expected) => {
    const library = await compiled(one);
    const constants = [{ ...CONSTANT, ...given }];
    expect(await words(() => one.pipeline(library, { ...PIPELINE, constants }))).toBe(`RangeError: ${expected}`);
  });
});

describe("handles", () => {
  it("of another device are refused, whatever they carry", async () => {
    const library = await compiled(other);
    expect(await words(() => one.pipeline(library, PIPELINE))).toContain("library is of another device");
    const foreign = { ...dispatch, pipeline: await built(other) };
    expect(await words(() => one.submit([foreign], { counters: false }).done)).toContain(
      "dispatch.pipeline is of another device",
    );
    const away = { ...dispatch, bindings: [{ index: 0, memory: other.allocate(64, "away"), offset: 0 }] };
    expect(await words(() => one.submit([away], { counters: false }).done)).toContain("is not memory of this device");
  });

  it("of another connection to the same device are taken", async () => {
    const [first] = await standIn.metal.devices();
    const second = await standIn.metal.open(first!.registryId, { logging: false });
    expect(await second.submit([dispatch], { counters: false }).done).toMatchObject({ ok: true });
    second.close();
  });

  it("of another kind are no memory, not even for an accessor that is borrowed", async () => {
    const prototype: object = Object.getPrototypeOf(memory);
    const { get } = Object.getOwnPropertyDescriptor(prototype, "bytes")!;
    for (const borrower of [
      undefined,
      {},
      pipeline,
      await compiled(one),
      Object.create(memory),
      new Proxy(memory, {}),
    ]) {
      expect(() => get!.call(borrower)).toThrow("this is not a NativeMemory");
    }
    expect(get!.call(memory)).toBe(4096);
  });
});

describe("values that change while they are read", () => {
  it("a getter that closes the connection", async () => {
    const [first] = await standIn.metal.devices();
    const closing = await standIn.metal.open(first!.registryId, { logging: false });
    const given = Object.defineProperty({ ...dispatch }, "label", {
      get: () => {
        closing.close();
        return "closed";
      },
    });
    expect(await closing.submit([given], { counters: false }).done).toMatchObject({ ok: true });
    expect(() => closing.allocate(64, "late")).toThrow("this connection was closed and cannot be used");
  });

  it("a getter that releases the memory which was just bound", async () => {
    const own = one.allocate(4096, "own");
    const binding = Object.defineProperty({ index: 0, memory: own, offset: 0 }, "offset", {
      get: () => {
        own.release();
        return 0;
      },
    });
    expect(await one.submit([{ ...dispatch, bindings: [binding] }], { counters: false }).done).toMatchObject({
      ok: true,
    });
  });

  it("bytes whose buffer has gone", async () => {
    const bytes = new Uint8Array(16);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    const given = { ...dispatch, bindings: [...dispatch.bindings, { index: 1, bytes }] };
    expect(await words(() => one.submit([given], { counters: false }).done)).toContain("binding.bytes has 0 bytes");
  });
});

describe("submissions", () => {
  it("a hundred thousand that wait and have nothing to do end one after another", async () => {
    standIn.set({ devices: 2, hold: 1 });
    const first = one.submit([dispatch], { counters: false });
    const waiting = Array.from({ length: 100_000 }, () => one.submit([], { counters: false }).done);
    standIn.let(1);
    expect(await first.done).toMatchObject({ ok: true });
    const ended = await Promise.all(waiting);
    standIn.set({ devices: 2 });
    expect(ended.every((reply) => reply.ok)).toBe(true);
  });

  it("cancelled twice, and after the end", async () => {
    standIn.set({ devices: 2, hold: 1 });
    const running = one.submit([dispatch, dispatch], { counters: false });
    const waiting = one.submit([dispatch], { counters: false });
    for (const { cancel } of [running, waiting, running, waiting]) cancel();
    standIn.let(1);
    expect(await waiting.done).toEqual({ ok: false, cancelledBefore: 0 });
    expect(await running.done).toEqual({ ok: false, cancelledBefore: 1 });
    standIn.set({ devices: 2 });
    running.cancel();
    waiting.cancel();
    expect(await one.submit([dispatch], { counters: false }).done).toMatchObject({ ok: true });
  });

  it("a callback that submits, closes and releases", async () => {
    const [first] = await standIn.metal.devices();
    const own = await standIn.metal.open(first!.registryId, { logging: false });
    const buffer = own.allocate(4096, "own");
    const given: MetalDispatch = { ...dispatch, bindings: [{ index: 0, memory: buffer, offset: 0 }] };
    const inner: Promise<unknown>[] = [];
    const onDispatch = (index: number): void => {
      if (index === 0) inner.push(own.submit([given], { counters: true }).done);
      if (index === 1) {
        buffer.release();
        own.close();
      }
    };
    const outer = await own.submit([given, given, given], { counters: true, onDispatch }).done;
    expect(outer).toMatchObject({ ok: true });
    expect(await Promise.all(inner)).toMatchObject([{ ok: true }]);
  });
});

it("none of it was a misuse of Metal", () => {
  expect(standIn.violations()).toEqual([]);
});
