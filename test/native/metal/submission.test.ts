/** Submissions through the binding: order, times, failures, cancellation, and nothing left over. */
import { afterEach, expect, test } from "vitest";
import type { NativeMemory } from "../../../native/memory.ts";
import type {
  MetalConnection,
  MetalPipelineHandle,
  MetalSubmitReply,
  MetalTiming,
} from "../../../native/metal/binding.ts";
import { connect, floats, scalePipeline, scaling, settled } from "./stand_in/bench.ts";
import { withStandIn } from "./stand_in/hooks.ts";
import type { Scenario, StandIn } from "./stand_in/open.ts";

let standIn: StandIn;
let connection: MetalConnection;
let pipeline: MetalPipelineHandle;
let memory: NativeMemory;

withStandIn(async (opened) => {
  standIn = opened;
  connection = await connect(opened);
  pipeline = await scalePipeline(connection);
  memory = connection.allocate(64 * 4, "data");
});

afterEach(() => {
  expect(memory.sentinelIntact()).toBe(true);
});

function ones(): void {
  memory.write(0, new Uint8Array(new Float32Array(64).fill(1).buffer));
}

function three(): ReturnType<typeof scaling>[] {
  return [2, 3, 5].map((factor) => scaling(pipeline, memory, { n: 64, factor, label: `by ${factor}` }));
}

function timings(reply: MetalSubmitReply): readonly MetalTiming[] {
  if (!reply.ok) throw new Error(JSON.stringify(reply));
  return reply.timings;
}

test("dispatches run in order, each with times of its command buffer and of its counters", async () => {
  standIn.set({ gpu_hz: 24_000_000, late_ms: 5 });
  ones();
  const seen: number[] = [];
  const reply = await connection.submit(three(), { counters: true, onDispatch: (index) => seen.push(index) }).done;
  expect(floats(memory)).toEqual(new Float32Array(64).fill(30));
  expect(seen).toEqual([0, 1, 2]);
  const times = timings(reply);
  expect(times).toHaveLength(3);
  for (const [i, time] of times.entries()) {
    expect(time.gpuEnd - time.gpuStart).toBeGreaterThan(0.004);
    if (i > 0) expect(time.gpuStart).toBeGreaterThanOrEqual(times[i - 1]?.gpuEnd ?? 0);
    expect(time.counterProblem).toBeNull();
    // The counters see the encoder alone; ticks of 42 ns were made nanoseconds.
    expect(time.counterNs).toBeGreaterThan(0);
    expect(time.counterNs).toBeLessThan((time.gpuEnd - time.gpuStart) * 1e9);
  }
});

test("nothing to do is done", async () => {
  expect(await connection.submit([], { counters: true }).done).toEqual({ ok: true, timings: [] });
});

const PROBLEMS: readonly (readonly [string, Scenario, string])[] = [
  ["error values", { "fail.sample_values": 1 }, "MTLCounterErrorValue"],
  ["samples that are not resolved", { "fail.resolve": 1 }, "Metal resolved no samples"],
  ["CPU timestamps that are no nanoseconds", { cpu_divisor: 41, late_ms: 2 }, "do not count nanoseconds here"],
  ["a GPU clock that stands", { "fail.clock": 1, late_ms: 2 }, "did not advance"],
];

test.each(PROBLEMS)(
  "counters that give %s: the problem, and the times of the command buffer",
  async (_name, scenario, problem) => {
    standIn.set(scenario);
    const [time] = timings(await connection.submit([scaling(pipeline, memory, { n: 64 })], { counters: true }).done);
    expect(time).toMatchObject({ counterNs: null, counterProblem: expect.stringContaining(problem) });
    expect(time?.gpuEnd).toBeGreaterThan(time?.gpuStart ?? 0);
  },
);

test("samples that nobody wrote are noticed", async () => {
  const [first] = timings(await connection.submit([scaling(pipeline, memory, { n: 64 })], { counters: true }).done);
  expect(first?.counterProblem).toBeNull();
  standIn.set({ "fail.no_samples": 1 });
  const [second] = timings(await connection.submit([scaling(pipeline, memory, { n: 64 })], { counters: true }).done);
  expect(second).toMatchObject({ counterNs: null, counterProblem: "the samples were not written" });
});

test.each([
  ["no sampling at stage boundaries", { stage_boundary: 0 }, "does not sample counters at stage boundaries"],
  ["no counter sets", { counter_sets: "nil" }, "no counter set of timestamps"],
  ["no counter set of time", { counter_sets: "statistic" }, "no counter set of timestamps"],
  ["no sample buffer", { "fail.samples": "Cannot allocate sample buffer" }, "Cannot allocate sample buffer"],
])("a device with %s", async (_name, scenario, problem) => {
  standIn.set(scenario);
  const other = await connect(standIn);
  const own = await scalePipeline(other);
  const data = other.allocate(256, "data");
  const [time] = timings(await other.submit([scaling(own, data, { n: 64 })], { counters: true }).done);
  expect(time).toMatchObject({ counterNs: null, counterProblem: expect.stringContaining(problem) });
  expect(time?.gpuEnd).toBeGreaterThan(time?.gpuStart ?? 0);
  data.release();
  other.close();
});

test("counters that nobody asked for are not sampled", async () => {
  const [time] = timings(await connection.submit([scaling(pipeline, memory, { n: 64 })], { counters: false }).done);
  expect(time).toMatchObject({ counterNs: null, counterProblem: expect.any(String) });
});

test("a command buffer that fails: which one, Metal's words, the encoders; nothing after it runs", async () => {
  standIn.set({ "fail.commit": "by 3" });
  ones();
  const seen: number[] = [];
  const reply = await connection.submit(three(), { counters: true, onDispatch: (index) => seen.push(index) }).done;
  expect(reply).toEqual({
    ok: false,
    failed: 1,
    error: {
      words: "Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)",
      domain: "MTLCommandBufferErrorDomain",
      code: 3,
    },
    encoders: ["by 3: faulted"],
  });
  expect(seen).toEqual([0]);
  expect(floats(memory)[0]).toBe(2);
  standIn.set({});
  ones();
  timings(await connection.submit(three(), { counters: true }).done);
  expect(floats(memory)[0]).toBe(30);
});

test.each([
  ["command buffer", { "fail.command_buffer": 1 }, "Metal gave no command buffer"],
  ["encoder", { "fail.encoder": 1 }, "Metal gave no compute encoder"],
])("no %s", async (_name, scenario, words) => {
  standIn.set(scenario);
  expect(await connection.submit(three(), { counters: true }).done).toMatchObject({
    ok: false,
    failed: 0,
    error: { words: expect.stringContaining(words), domain: "lockstep", code: 1 },
    encoders: [],
  });
});

test("cancelled between dispatches: the one at hand ends, the next is not committed", async () => {
  standIn.set({ hold: 1 });
  ones();
  const committed = standIn.count("command buffers");
  const submission = connection.submit(three(), { counters: true, onDispatch: () => submission.cancel() });
  standIn.let(1);
  // The second may have been committed before the cancellation came; it is let to its end.
  setTimeout(() => standIn.let(2), 50);
  const reply = await submission.done;
  expect(reply).toMatchObject({ ok: false, cancelledBefore: expect.any(Number) });
  const before = !reply.ok && "cancelledBefore" in reply ? reply.cancelledBefore : 0;
  expect([1, 2]).toContain(before);
  expect(standIn.count("command buffers")).toBe(committed + before);
  expect(floats(memory)[0]).toBe(before === 1 ? 2 : 6);
  submission.cancel();
});

test("submissions of a connection run one after another; one that waits can be withdrawn", async () => {
  standIn.set({ hold: 1 });
  ones();
  const order: string[] = [];
  const first = connection.submit([scaling(pipeline, memory, { n: 64, factor: 2 })], { counters: true });
  const second = connection.submit([scaling(pipeline, memory, { n: 64, factor: 3 })], { counters: true });
  const third = connection.submit([scaling(pipeline, memory, { n: 64, factor: 5 })], { counters: true });
  void first.done.then(() => order.push("first"));
  void third.done.then(() => order.push("third"));
  second.cancel();
  expect(await second.done).toEqual({ ok: false, cancelledBefore: 0 });
  expect(order).toEqual([]);
  standIn.let(2);
  await Promise.all([first.done, third.done]);
  expect(order).toEqual(["first", "third"]);
  expect(floats(memory)[0]).toBe(10);
});

test("JavaScript goes on while command buffers run", async () => {
  standIn.set({ hold: 1 });
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
    if (turns === 20) standIn.let(3);
  }, 1);
  timings(await connection.submit(three(), { counters: true }).done);
  clearInterval(timer);
  expect(turns).toBeGreaterThanOrEqual(20);
});

test("closed and let go of in flight: it ends by itself and everything goes", async () => {
  const before = await settled(standIn);
  const start = async (): Promise<{ readonly done: Promise<MetalSubmitReply> }> => {
    const other = await connect(standIn);
    const own = await scalePipeline(other);
    const data = other.allocate(20 * 2 ** 20, "data");
    data.fill(0);
    standIn.set({ hold: 1 });
    const dispatches = [1, 2].map((factor) => scaling(own, data, { n: 64, factor }));
    const { done } = other.submit(dispatches, { counters: true });
    data.release();
    other.close();
    expect(() => other.submit([], { counters: true })).toThrow("closed");
    expect(() => other.allocate(4, "late")).toThrow("closed");
    return { done };
  };
  const { done } = await start();
  expect(await settled(standIn)).toBeGreaterThan(before);
  standIn.let(2);
  expect(await done).toMatchObject({ ok: true });
  expect(await settled(standIn, before), standIn.objects().classes).toBe(before);
});

test("many submissions leave nothing behind", async () => {
  const before = await settled(standIn);
  for (let i = 0; i < 20; i += 1) timings(await connection.submit(three(), { counters: true }).done);
  expect(await settled(standIn, before), standIn.objects().classes).toBe(before);
});

test("what makes no sense is an exception before anything is committed", async () => {
  const committed = standIn.count("command buffers");
  const good = scaling(pipeline, memory, { n: 64 });
  const submit =
    (more: object): (() => void) =>
    () =>
      void connection.submit([{ ...good, ...more }], { counters: true });
  expect(submit({ bindings: [{ index: 31, memory, offset: 0 }] })).toThrow("binding.index");
  expect(submit({ bindings: [{ index: 0, memory, offset: 256 }] })).toThrow("the buffer has 256 bytes");
  expect(submit({ bindings: [{ index: 0, bytes: new Uint8Array(4097) }] })).toThrow("4097");
  expect(submit({ bindings: [{ index: 0, bytes: new Uint8Array(0) }] })).toThrow("1 to 4096");
  expect(submit({ threadgroups: [0, 1, 1] })).toThrow("threadgroups");
  expect(submit({ threadsPerThreadgroup: [32, 1] })).toThrow("three numbers");
  expect(submit({ pipeline: {} })).toThrow("pipeline");
  const foreign = standIn.addon.allocate(64);
  expect(submit({ bindings: [{ index: 0, memory: foreign, offset: 0 }] })).toThrow("not memory of this device");
  foreign.release();
  standIn.set({ devices: 2 });
  const other = await standIn.metal.open((await standIn.metal.devices())[1]?.registryId ?? "", { logging: false });
  const elsewhere = other.allocate(64, "elsewhere");
  expect(submit({ bindings: [{ index: 0, memory: elsewhere, offset: 0 }] })).toThrow("not memory of this device");
  elsewhere.release();
  other.close();
  const gone = connection.allocate(64, "gone");
  gone.release();
  expect(submit({ bindings: [{ index: 0, memory: gone, offset: 0 }] })).toThrow("released");
  expect(standIn.count("command buffers")).toBe(committed);
});

test("the stand-in is strict: what Metal drops without a word is seen", async () => {
  ones();
  standIn.set({});
  const dropped = standIn.count("dispatches dropped");
  const reply = connection.submit(
    [{ ...scaling(pipeline, memory, { n: 64 }), threadgroups: [1, 1, 1], threadsPerThreadgroup: [2048, 1, 1] }],
    { counters: true },
  );
  timings(await reply.done);
  expect(standIn.count("dispatches dropped")).toBe(dropped + 1);
  expect(standIn.violations()).toEqual([
    "a dispatch was dropped: 2048 threads a threadgroup, the pipeline allows 1024",
  ]);
  const unbound = { ...scaling(pipeline, memory, { n: 64 }), threadgroups: [1, 1, 1] as const };
  timings(
    await connection.submit([{ ...unbound, threadgroupMemory: [{ index: 0, bytes: 20 }] }], { counters: true }).done,
  );
  expect(standIn.violations()).toEqual(["threadgroup memory of 20 bytes at index 0 is no multiple of 16"]);
  expect(floats(memory)[0]).toBe(2);
});

test("cancelled at any moment: what ran is told, and nothing is left behind", async () => {
  const before = await settled(standIn);
  for (let turn = 0; turn < 40; turn += 1) {
    ones();
    const submission = connection.submit(three(), { counters: true });
    if (turn % 4 === 1) await Promise.resolve();
    if (turn % 4 === 2) await new Promise((resolve) => setImmediate(resolve));
    if (turn % 4 === 3) await new Promise((resolve) => setTimeout(resolve, turn / 40));
    submission.cancel();
    const reply = await submission.done;
    const ran = reply.ok ? 3 : "cancelledBefore" in reply ? reply.cancelledBefore : Number.NaN;
    expect(floats(memory)[0]).toBe([1, 2, 6, 30][ran]);
  }
  expect(await settled(standIn, before), standIn.objects().classes).toBe(before);
});

test("connections beside each other do not disturb each other", async () => {
  const before = await settled(standIn);
  const work = async (factor: number): Promise<number> => {
    const other = await connect(standIn);
    const own = await scalePipeline(other);
    const data = other.allocate(256, "own");
    data.write(0, new Uint8Array(new Float32Array(64).fill(1).buffer));
    for (let turn = 0; turn < 5; turn += 1) {
      timings(await other.submit([scaling(own, data, { n: 64, factor })], { counters: true }).done);
    }
    const [first = Number.NaN] = floats(data);
    expect(data.sentinelIntact()).toBe(true);
    data.release();
    other.close();
    return first;
  };
  expect(await Promise.all([2, 3, 4].map(work))).toEqual([32, 243, 1024]);
  expect(await settled(standIn, before), standIn.objects().classes).toBe(before);
});
