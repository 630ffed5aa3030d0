/** What happens around a dispatch: times, progress, cancel, time limit, faults, several callers, the end. */
import type { Device, DeviceBuffer, Dispatch, LogLine, Progress } from "../device.ts";
import { DeviceError } from "../device.ts";
import {
  type Bench,
  build,
  bytesOf,
  dispatchOf,
  inline,
  mustBe,
  mustEqual,
  mustSay,
  range,
  rejection,
  thrown,
  UNTOUCHED,
  withBench,
  wordsOf,
} from "./bench.ts";
import { type ConformanceCheck, must } from "./check.ts";
import * as kernels from "./kernels.ts";

const TURNS = 1_000_000;
const MOST_DISPATCHES = 1000;

/** xorshift32, as `kernels.SLOW` does it. */
function xorshift(seed: number, turns: number): number {
  let x = seed;
  for (let turn = 0; turn < turns; turn += 1) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  return x >>> 0;
}

interface Work {
  readonly out: DeviceBuffer;
  readonly dispatches: readonly Dispatch[];
}

/**
 * Dispatches that write one word each and keep this device busy for about `milliseconds` in all: how many that takes is
 * tried before, by the host's clock.
 */
async function work(bench: Bench, milliseconds: number): Promise<Work> {
  const pipeline = await bench.pipeline(kernels.SLOW);
  const out = bench.output(MOST_DISPATCHES, "work");
  const one = (index: number): Dispatch =>
    dispatchOf(pipeline, [{ index: 0, buffer: out, offset: index * 4 }, inline(1, TURNS, index + 1)], {
      label: `work ${index}`,
      threadsPerThreadgroup: [1, 1, 1],
    });
  await bench.device.submit([one(0)]);
  const start = performance.now();
  await bench.device.submit(range(4).map(one));
  const each = (performance.now() - start) / 4;
  const count = Math.min(MOST_DISPATCHES, Math.max(8, Math.ceil(milliseconds / each)));
  out.write(0, bytesOf(new Uint32Array(MOST_DISPATCHES).fill(UNTOUCHED)));
  return { out, dispatches: range(count).map(one) };
}

/** Throws unless every dispatch wrote what it computes; the first and the last are computed again. */
function mustBeDone({ out, dispatches }: Work): void {
  const words = wordsOf(out).subarray(0, dispatches.length);
  const missing = words.indexOf(UNTOUCHED);
  must(missing < 0, `dispatch ${missing} of ${dispatches.length} did not run`);
  for (const index of [0, dispatches.length - 1]) {
    const expected = xorshift(index + 1, TURNS);
    must(words[index] === expected, `dispatch ${index} computed ${words[index]}; it must be ${expected}`);
  }
}

async function timings(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const { dispatches } = await work(bench, 20);
    const { timings: times } = await device.submit(dispatches);
    must(times.length === dispatches.length, `${dispatches.length} dispatches have ${times.length} timings`);
    for (const [index, { label, ns }] of times.entries()) {
      const wanted = dispatches[index]?.label;
      must(label === wanted, `timing ${index} is of '${label}'; it must be of '${wanted}'`);
      must(Number.isFinite(ns) && ns > 0, `'${label}' took ${ns} ns; it must be more than 0`);
    }
    return `${times.length} timings, in order; the first ${Math.round((times[0]?.ns ?? 0) / 1000).toLocaleString("en-US")} us`;
  });
}

async function clock(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const { dispatches } = await work(bench, 1);
    const { timings: times } = await device.submit(dispatches);
    const clocks = new Set(times.map((one) => one.clock));
    if (device.profile.execution === "metal") {
      must(!clocks.has(undefined), "a time of a Metal device does not say what it was read from");
      return [...clocks].join(", ");
    }
    must(clocks.size === 1 && clocks.has(undefined), "only a Metal device has a clock to name");
    return "wall time of the emulation, which names no clock";
  });
}

async function progress(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const task = await work(bench, 500);
    const calls: Progress[] = [];
    await device.submit(task.dispatches, { onProgress: (call) => calls.push(call) });
    mustBeDone(task);
    must(calls.length > 0, `${task.dispatches.length} dispatches ran without a call of onProgress`);
    let before = 0;
    for (const { dispatch, label, threadgroups, threadgroupsDone } of calls) {
      const wanted = task.dispatches[dispatch]?.label;
      must(wanted !== undefined, `progress names dispatch ${dispatch}; there are ${task.dispatches.length}`);
      must(label === wanted, `progress calls dispatch ${dispatch} '${label}'; it is '${wanted}'`);
      must(dispatch >= before, `progress went back from dispatch ${before} to ${dispatch}`);
      must(
        threadgroups === 1 && threadgroupsDone >= 0 && threadgroupsDone <= threadgroups,
        `progress says ${threadgroupsDone} of ${threadgroups} threadgroups; a dispatch has 1`,
      );
      before = dispatch;
    }
    return `${calls.length} calls for ${task.dispatches.length} dispatches`;
  });
}

/** Turns that the event loop must take while a submission of many dispatches runs. A call that blocks lets it take none. */
const LEAST_TURNS = 10;

async function responsive(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const task = await work(bench, 200);
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      if (isOver) return;
      turns += 1;
      setTimeout(turn, 1);
    };
    setTimeout(turn, 1);
    try {
      await device.submit(task.dispatches);
    } finally {
      isOver = true;
    }
    mustBeDone(task);
    must(
      turns >= LEAST_TURNS,
      `the event loop took ${turns} turns while ${task.dispatches.length} dispatches ran; ${LEAST_TURNS} at least if nothing blocks it`,
    );
    return `${turns} turns of the event loop meanwhile`;
  });
}

/** Throws unless a small dispatch runs and is right. */
async function mustStillWork(bench: Bench): Promise<void> {
  const pipeline = await bench.pipeline(kernels.COUNT);
  const out = bench.output(32);
  await bench.device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }, inline(1, 5), inline(2, 32)])]);
  mustEqual(
    "the next submission",
    wordsOf(out),
    range(32).map((i) => 5 + i),
  );
}

async function cancelled(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const task = await work(bench, 1500);
    const stop = new AbortController();
    await rejection(
      "a submission whose signal is aborted while it runs",
      device.submit(task.dispatches, { signal: stop.signal, onProgress: () => stop.abort() }),
      "cancelled",
    );
    const words = wordsOf(task.out).subarray(0, task.dispatches.length);
    const done = words.filter((word) => word !== UNTOUCHED).length;
    must(
      done < words.length,
      `all ${words.length} dispatches ran although the signal was aborted at the first progress`,
    );
    await mustStillWork(bench);
    return `cancelled after ${done} of ${words.length} dispatches; the next submission runs`;
  });
}

async function cancelledBefore(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.LIMITED);
    const out = bench.output(32);
    await rejection(
      "a submission whose signal was aborted before",
      device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }])], { signal: AbortSignal.abort() }),
      "cancelled",
    );
    must(
      wordsOf(out).every((word) => word === UNTOUCHED),
      "it was cancelled before it began, and ran",
    );
    return "nothing runs";
  });
}

async function timedOut(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const task = await work(bench, 1500);
    const timeoutMs = 100;
    const error = await rejection(
      `1,500 ms of work with a limit of ${timeoutMs} ms`,
      device.submit(task.dispatches, { timeoutMs }),
      "timed_out",
    );
    mustSay("a submission that is out of time", error.message, [timeoutMs]);
    await mustStillWork(bench);
    return error.message;
  });
}

async function endless(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.ENDLESS);
    const given = [
      { index: 0, buffer: bench.output(1) },
      { index: 1, buffer: bench.input(new Uint32Array(1)) },
    ];
    const run = device.submit([dispatchOf(pipeline, given, { threadsPerThreadgroup: [1, 1, 1] })], { timeoutMs: 200 });
    const error = await rejection("a kernel that never ends", run, "timed_out");
    mustSay("a kernel that never ends", error.message, ["200"]);
    await mustStillWork(bench);
    return error.message;
  });
}

/** Far behind any buffer. */
const FAR = 1 << 30;

async function fault(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.POKE);
    const run = device.submit([dispatchOf(pipeline, [{ index: 0, buffer: bench.output(4) }, inline(1, FAR, 1)])]);
    const error = await rejection("a write through a wild address", run, "crashed");
    await mustStillWork(bench);
    return error.message;
  });
}

async function twoAtOnce(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const first = await work(bench, 50);
    const second = await work(bench, 50);
    const results = await Promise.all([device.submit(first.dispatches), device.submit(second.dispatches)]);
    for (const [index, task] of [first, second].entries()) {
      mustBeDone(task);
      const given = results[index]?.timings.length;
      must(given === task.dispatches.length, `submission ${index} has ${given} timings of ${task.dispatches.length}`);
    }
    return "both end, both right";
  });
}

async function refusedBesideRunning(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const task = await work(bench, 50);
    const pipeline = await bench.pipeline(kernels.LIMITED);
    const running = device.submit(task.dispatches);
    const bad = dispatchOf(pipeline, [], {});
    const error = await device.submit([bad]).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    await running;
    must(error !== undefined, "a dispatch without its buffer was accepted beside another submission");
    mustBe("a dispatch without its buffer", error, "dispatch_refused");
    mustBeDone(task);
    return "a refusal does not disturb a submission that runs";
  });
}

async function logs(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    // MSL 6.19: os_log came with 3.2.
    const pipeline = await bench.pipeline(kernels.LOGGING, {}, { languageVersion: "3.2" });
    const lines: LogLine[] = [];
    const out = bench.output(32);
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }], { label: "logs" })], {
      onLog: (line) => lines.push(line),
    });
    mustEqual("beside the log", wordsOf(out), range(32));
    const [line] = lines;
    must(line !== undefined && lines.length === 1, `one thread logged one line; ${lines.length} came`);
    must(line.message === "conformance 7", `the line is "${line.message}"; it must be "conformance 7"`);
    must(line.label === "logs", `the line is of dispatch '${line.label}'; it must be of 'logs'`);
    return `${line.level}: ${line.message}`;
  });
}

async function captureRefused(device: Device): Promise<string> {
  let hasBegun = false;
  must(device.capture !== undefined, "a Metal device must offer captures");
  const work = async (): Promise<void> => {
    hasBegun = true;
  };
  const error = await rejection(
    "a capture in a process that may not capture",
    device.capture("/nowhere/conformance.gputrace", work),
    "unavailable",
  );
  must(!hasBegun, "the capture was refused after the work had begun");
  return error.message;
}

async function closes(device: Device): Promise<string> {
  const pipeline = await build(device, kernels.LIMITED);
  const { path, text, name } = kernels.LIMITED;
  const library = await device.compile({ path, text });
  const buffer = device.allocate(128, "left over");
  await device.close();
  await device.close();
  const tries: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["compile after close", () => device.compile({ path, text })],
    ["pipeline after close", () => device.pipeline(library, name)],
    ["submit after close", () => device.submit([dispatchOf(pipeline, [{ index: 0, buffer }])])],
  ];
  for (const [what, action] of tries) await rejection(what, action(), "unavailable");
  const error = thrown("allocate after close", () => device.allocate(16, "late"));
  must(error instanceof DeviceError, `allocate after close threw ${error.name}; it must be a DeviceError`);
  mustBe("allocate after close", error, "unavailable");
  thrown("a read of a buffer of a closed device", () => buffer.read(0, 4));
  buffer.release();
  return error.message;
}

export const CONTROL_CHECKS: readonly ConformanceCheck[] = [
  { id: "timing.positive", title: "every dispatch has a time of more than 0, in order", needs: [], run: timings },
  { id: "timing.clock", title: "a time says what it was read from", needs: [], run: clock },
  { id: "control.progress", title: "progress is called while dispatches run", needs: [], run: progress },
  { id: "control.event_loop", title: "the event loop runs on while dispatches run", needs: [], run: responsive },
  { id: "control.cancel", title: "a signal cancels between dispatches", needs: [], run: cancelled },
  {
    id: "control.cancel_before",
    title: "a signal that was aborted before lets nothing run",
    needs: [],
    run: cancelledBefore,
  },
  {
    id: "control.timeout",
    title: "a submission that is out of time is timed_out, and the device goes on",
    needs: [],
    run: timedOut,
  },
  {
    id: "control.endless",
    title: "a kernel that never ends is timed_out, and the device goes on",
    needs: ["kill"],
    run: endless,
  },
  { id: "control.fault", title: "a wild address is crashed, and the device goes on", needs: ["fault"], run: fault },
  { id: "control.two", title: "two submissions at once", needs: [], run: twoAtOnce },
  {
    id: "control.refusal_beside",
    title: "a refusal beside a submission that runs",
    needs: [],
    run: refusedBesideRunning,
  },
  { id: "control.log", title: "what kernels log arrives", needs: ["shader_log"], run: logs },
  {
    id: "control.capture",
    title: "a capture that the process may not make is refused before the work begins",
    needs: ["capture"],
    run: captureRefused,
  },
];

/** Ends the device, so that it comes last. */
export const CLOSE_CHECK: ConformanceCheck = {
  id: "control.close",
  title: "a closed device refuses everything, and closes once",
  needs: [],
  run: closes,
};
