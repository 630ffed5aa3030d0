/** What the emulated device's own tests do not reach: pipelines with facts that only Metal tells. */
import { describe, expect, it } from "vitest";
import type { DeviceBuffer, Dispatch, KernelArgument, Pipeline } from "../../native/device.ts";
import { tableLimits } from "../../native/emulator/profile.ts";
import { type DispatchContext, dispatchProblem, paddedMemory, threadLimitProblem } from "../../native/legality.ts";

const known = (value: number) => ({ value, by: "api", source: "a test" }) as const;

function pipelineWith(args: readonly KernelArgument[] | undefined, rest: Partial<Pipeline> = {}): Pipeline {
  return {
    id: "0",
    function: { name: "k", ...(args === undefined ? {} : { arguments: args }) },
    flavour: "fast",
    receipt: {
      function: "k",
      simdWidth: known(32),
      maxTotalThreadsPerThreadgroup: known(1024),
      staticThreadgroupMemoryBytes: known(0),
      digest: "0",
      compileMs: 0,
      cached: false,
    },
    ...rest,
  };
}

const PARAMS: KernelArgument = { name: "params", kind: "buffer", index: 1, readOnly: true, pointeeBytes: 16 };

function dispatchOf(pipeline: Pipeline, rest: Partial<Dispatch> = {}): Dispatch {
  return {
    label: "d",
    pipeline,
    threadgroups: [1, 1, 1],
    threadsPerThreadgroup: [32, 1, 1],
    arguments: [{ index: 1, bytes: new Uint8Array(16) }],
    ...rest,
  };
}

const CONTEXT: DispatchContext = {
  limits: tableLimits().value,
  staticThreadgroupBytes: 1024,
  maxThreads: 1024,
  bufferProblem: () => undefined,
};

describe("threadLimitProblem", () => {
  it.each([undefined, 1, 256, 1024])("takes %s", (wanted) => {
    expect(threadLimitProblem(wanted, tableLimits().value)).toBeUndefined();
  });

  it.each([0, -1, 1.5, 1025, Number.NaN])("refuses %s and names the limit", (wanted) => {
    expect(threadLimitProblem(wanted, tableLimits().value)).toMatch(/it must be a whole number from 1 to 1,024/);
  });
});

describe("dispatchProblem", () => {
  it("lets a dispatch through that binds as much as the kernel reads", () => {
    expect(dispatchProblem(dispatchOf(pipelineWith([PARAMS])), CONTEXT)).toBeUndefined();
  });

  it("refuses less than one pointee, where the device tells how much that is", () => {
    const short = { arguments: [{ index: 1, bytes: new Uint8Array(12) }] };
    expect(dispatchProblem(dispatchOf(pipelineWith([PARAMS]), short), CONTEXT)).toBe(
      "12 bytes are bound to 'params' [[buffer(1)]]; the kernel reads 16 at least",
    );
    const { pointeeBytes, ...untold } = PARAMS;
    expect(pointeeBytes).toBe(16);
    expect(dispatchProblem(dispatchOf(pipelineWith([untold]), short), CONTEXT)).toBeUndefined();
  });

  it("refuses an offset that does not fit the type, where the device tells what that takes", () => {
    const buffer = { label: "b", bytes: 64 } as DeviceBuffer;
    const at = (offset: number) => ({ arguments: [{ index: 1, buffer, offset }] });
    const aligned = pipelineWith([{ ...PARAMS, alignmentBytes: 16 }]);
    expect(dispatchProblem(dispatchOf(aligned, at(8)), CONTEXT)).toBe(
      "the offset of 'params' [[buffer(1)]] is 8; what the kernel reads there is aligned to 16: use a multiple of it",
    );
    expect(dispatchProblem(dispatchOf(aligned, at(32)), CONTEXT)).toBeUndefined();
    expect(dispatchProblem(dispatchOf(pipelineWith([PARAMS]), at(8)), CONTEXT)).toBeUndefined();
  });

  it("misses no argument where the device tells none", () => {
    const bare = { arguments: [] };
    expect(dispatchProblem(dispatchOf(pipelineWith(undefined), bare), CONTEXT)).toBeUndefined();
    expect(dispatchProblem(dispatchOf(pipelineWith([PARAMS]), bare), CONTEXT)).toContain(
      "nothing is bound to 'params'",
    );
  });

  it("holds a pipeline to the threads that it was built for", () => {
    const pipeline = pipelineWith([PARAMS], { requiredThreadsPerThreadgroup: [128, 1, 1] });
    expect(dispatchProblem(dispatchOf(pipeline), CONTEXT)).toBe(
      "threads per threadgroup are 32 x 1 x 1; the pipeline was built for 128 x 1 x 1 and takes no others",
    );
    expect(dispatchProblem(dispatchOf(pipeline, { threadsPerThreadgroup: [128, 1, 1] }), CONTEXT)).toBeUndefined();
  });

  it("counts padding against the limit where it is given as memory", () => {
    const full = {
      threadgroupMemory: [{ index: 0, bytes: 31_744 }],
      threadgroupPadding: [{ index: 0, bytes: 16 }],
    };
    const dispatch = dispatchOf(pipelineWith([PARAMS]), full);
    expect(dispatchProblem(dispatch, CONTEXT)).toBeUndefined();
    expect(dispatchProblem(dispatch, { ...CONTEXT, countsPadding: true })).toContain(
      "threadgroup memory is 32,768 bytes and its padding 16; the limit is 32,768",
    );
    expect(paddedMemory(dispatch)).toEqual([{ index: 0, bytes: 31_760 }]);
  });
});
