/** Illegal dispatches: each is refused before anything runs, with the limit and the value. Metal drops some in silence. */
import type { Device, DeviceBuffer, Dispatch, DispatchArgument, Pipeline } from "../device.ts";
import {
  type Bench,
  dispatchOf,
  floatsOf,
  mustEqual,
  mustSay,
  rejection,
  UNTOUCHED,
  withBench,
  wordsOf,
} from "./bench.ts";
import { type ConformanceCheck, must } from "./check.ts";
import * as kernels from "./kernels.ts";
import type { NeedId } from "./needs.ts";

/** A legal dispatch of `kernels.ARGUMENTS`, to be spoilt in one way. */
interface Legal {
  readonly bench: Bench;
  readonly pipeline: Pipeline;
  readonly out: DeviceBuffer;
  readonly given: readonly DispatchArgument[];
  readonly dispatch: (more?: Partial<Dispatch>) => Dispatch;
}

interface Refusal {
  readonly id: string;
  readonly title: string;
  readonly needs?: readonly NeedId[];
  /** The illegal dispatch, and what the refusal must say of limit and value. */
  readonly spoil: (legal: Legal) => { readonly dispatch: Dispatch; readonly says: readonly (string | number)[] };
}

const MEMORY_INDEX = 1;

/** A buffer that looks like one and that no device allocated. */
function foreign(bench: Bench): DeviceBuffer {
  const real = bench.output(64, "foreign");
  return {
    label: "foreign",
    bytes: real.bytes,
    memory: real.memory,
    write: (offset, data) => real.write(offset, data),
    read: (offset, length) => real.read(offset, length),
    poison: () => real.poison(),
    sentinelIntact: () => real.sentinelIntact(),
    release: () => {},
  };
}

/** The arguments of the legal dispatch with the one at `index` replaced, or left out. */
function replaced(
  given: readonly DispatchArgument[],
  index: number,
  by?: DispatchArgument,
): readonly DispatchArgument[] {
  return given.flatMap((one) => (one.index === index ? (by ?? []) : one));
}

const REFUSALS: readonly Refusal[] = [
  {
    id: "threads",
    title: "more threads than a threadgroup may have",
    spoil: ({ bench, pipeline, dispatch }) => {
      const most = bench.device.profile.limits.value.maxThreadsPerThreadgroup;
      return {
        dispatch: dispatch({ threadsPerThreadgroup: [most, 2, 1] }),
        says: [most * 2, pipeline.receipt.maxTotalThreadsPerThreadgroup.value],
      };
    },
  },
  {
    id: "threadgroup_memory",
    title: "more threadgroup memory than there is",
    spoil: ({ bench, dispatch }) => {
      const limit = bench.device.profile.limits.value.maxThreadgroupMemoryBytes;
      return {
        dispatch: dispatch({ threadgroupMemory: [{ index: MEMORY_INDEX, bytes: limit + 16 }] }),
        says: [limit + 16, limit],
      };
    },
  },
  {
    id: "threadgroup_length",
    title: "a length of threadgroup memory that is no multiple of 16",
    spoil: ({ dispatch }) => ({
      dispatch: dispatch({ threadgroupMemory: [{ index: MEMORY_INDEX, bytes: 132 }] }),
      says: [132, 16],
    }),
  },
  {
    id: "threadgroup_missing",
    title: "dynamic threadgroup memory that the kernel declares and nobody gives",
    spoil: ({ dispatch }) => ({ dispatch: dispatch({ threadgroupMemory: [] }), says: ["shared", MEMORY_INDEX] }),
  },
  {
    id: "threadgroup_index",
    title: "an index of threadgroup memory that is not there",
    spoil: ({ dispatch }) => ({
      dispatch: dispatch({
        threadgroupMemory: [
          { index: MEMORY_INDEX, bytes: 128 },
          { index: 31, bytes: 16 },
        ],
      }),
      says: [31, 30],
    }),
  },
  {
    id: "no_threadgroups",
    title: "a grid without threadgroups",
    spoil: ({ dispatch }) => ({ dispatch: dispatch({ threadgroups: [1, 0, 1] }), says: ["1 x 0 x 1", 1] }),
  },
  {
    id: "no_threads",
    title: "a threadgroup without threads",
    spoil: ({ dispatch }) => ({ dispatch: dispatch({ threadsPerThreadgroup: [0, 1, 1] }), says: ["0 x 1 x 1", 1] }),
  },
  {
    id: "missing_buffer",
    title: "a buffer that the kernel declares and nobody binds",
    spoil: ({ dispatch, given }) => ({ dispatch: dispatch({ arguments: replaced(given, 3) }), says: ["in", 3] }),
  },
  {
    id: "foreign_buffer",
    title: "a buffer that this device did not allocate",
    spoil: ({ bench, dispatch, given }) => ({
      dispatch: dispatch({ arguments: replaced(given, 3, { index: 3, buffer: foreign(bench) }) }),
      says: ["foreign", 3],
    }),
  },
  {
    id: "released_buffer",
    title: "a buffer that was released",
    spoil: ({ bench, dispatch, given }) => {
      const gone = bench.device.allocate(256, "gone");
      gone.release();
      return {
        dispatch: dispatch({ arguments: replaced(given, 3, { index: 3, buffer: gone }) }),
        says: ["gone", 3, "released"],
      };
    },
  },
  {
    id: "buffer_index",
    title: "an index of a buffer that is not there",
    spoil: ({ dispatch, given, out }) => ({
      dispatch: dispatch({ arguments: [...given, { index: 31, buffer: out }] }),
      says: [31, 30],
    }),
  },
  {
    id: "bound_twice",
    title: "an index that is bound twice",
    spoil: ({ dispatch, given, out }) => ({
      dispatch: dispatch({ arguments: [...given, { index: 0, buffer: out }] }),
      says: ["0", "twice"],
    }),
  },
  {
    id: "inline_bytes",
    title: "more inline bytes than fit",
    spoil: ({ bench, dispatch, given }) => {
      const limit = bench.device.profile.limits.value.setBytesMax;
      const bytes = new Uint8Array(limit + 1);
      return { dispatch: dispatch({ arguments: [...given, { index: 7, bytes }] }), says: [limit + 1, limit, 7] };
    },
  },
  {
    id: "offset_outside",
    title: "an offset behind the end of a buffer",
    spoil: ({ dispatch, given, out }) => ({
      dispatch: dispatch({ arguments: replaced(given, 0, { index: 0, buffer: out, offset: out.bytes }) }),
      says: [out.bytes, "out"],
    }),
  },
  {
    id: "offset_alignment",
    title: "an offset that is no multiple of 4",
    spoil: ({ dispatch, given, out }) => ({
      dispatch: dispatch({ arguments: replaced(given, 0, { index: 0, buffer: out, offset: 6 }) }),
      says: [6, 4, "out"],
    }),
  },
  {
    id: "too_small",
    title: "fewer bytes than the kernel's parameter has",
    needs: ["pointee_bytes"],
    spoil: ({ dispatch, given }) => ({
      dispatch: dispatch({ arguments: replaced(given, 5, { index: 5, bytes: new Uint8Array(4) }) }),
      says: ["params", 4, 8],
    }),
  },
  {
    id: "foreign_pipeline",
    title: "a pipeline that this device did not build",
    spoil: ({ dispatch, pipeline }) => ({ dispatch: dispatch({ pipeline: { ...pipeline } }), says: ["pipeline"] }),
  },
];

async function legalDispatch(bench: Bench): Promise<Legal> {
  const pipeline = await bench.pipeline(kernels.ARGUMENTS);
  const out = bench.output(32, "out");
  const input = bench.input(new Float32Array(32).fill(2), "in");
  const params = new Uint8Array(8);
  new DataView(params.buffer).setUint32(0, 32, true);
  new DataView(params.buffer).setFloat32(4, 0.5, true);
  const given = [
    { index: 0, buffer: out },
    { index: 3, buffer: input },
    { index: 5, bytes: params },
  ];
  const dispatch = (more: Partial<Dispatch> = {}): Dispatch =>
    dispatchOf(pipeline, given, { threadgroupMemory: [{ index: MEMORY_INDEX, bytes: 128 }], ...more });
  return { bench, pipeline, out, given, dispatch };
}

async function legalOnesRun(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const { out, dispatch } = await legalDispatch(bench);
    await device.submit([dispatch()]);
    mustEqual("2 * 0.5", floatsOf(out), new Float32Array(32).fill(1));
    return "the dispatch that the refused ones are made of runs and is right";
  });
}

async function refuses(device: Device, refusal: Refusal): Promise<string> {
  return await withBench(device, async (bench) => {
    const legal = await legalDispatch(bench);
    const { out, dispatch } = legal;
    const { dispatch: illegal, says } = refusal.spoil(legal);
    const label = { label: "the illegal one" };
    const error = await rejection(
      refusal.title,
      device.submit([dispatch({ label: "a legal one" }), { ...illegal, ...label }]),
      "dispatch_refused",
    );
    mustSay(refusal.title, error.message, ["the illegal one", ...says]);
    const touched = wordsOf(out).findIndex((word) => word !== UNTOUCHED);
    must(touched < 0, `it was refused, but the legal dispatch before it had run (word ${touched} is written)`);
    return error.message;
  });
}

export const REFUSAL_CHECKS: readonly ConformanceCheck[] = [
  { id: "refused.legal", title: "a legal dispatch is not refused", needs: [], run: legalOnesRun },
  ...REFUSALS.map(
    (refusal): ConformanceCheck => ({
      id: `refused.${refusal.id}`,
      title: `refused before anything runs: ${refusal.title}`,
      needs: refusal.needs ?? [],
      run: (device) => refuses(device, refusal),
    }),
  ),
];
