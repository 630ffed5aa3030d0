import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type {
  CompileOptions,
  DeviceBuffer,
  Dispatch,
  DispatchArgument,
  Flavour,
  Pipeline,
  PipelineDescriptor,
} from "../../../native/device.ts";
import { POISON_WORD } from "../../../native/device.ts";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { deviceError, testDevice } from "../msl/workbench.ts";

let device: EmulatedDevice;
const HEAD = "#include <metal_stdlib>\nusing namespace metal;\n";

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

async function pipelineOf(
  text: string,
  name: string,
  descriptor: PipelineDescriptor = {},
  options: CompileOptions = {},
): Promise<Pipeline> {
  const library = await device.compile({ path: "test.metal", text: HEAD + text }, options);
  return await device.pipeline(library, name, descriptor);
}

function bytes(values: Float32Array | Uint32Array | Int32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function floats(buffer: DeviceBuffer): number[] {
  const data = buffer.read(0, buffer.bytes);
  return [...new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength))];
}

function filled(values: readonly number[], label = "input"): DeviceBuffer {
  const buffer = device.allocate(values.length * 4, label);
  buffer.write(0, bytes(Float32Array.from(values)));
  return buffer;
}

function dispatchOf(pipeline: Pipeline, given: readonly DispatchArgument[], more: Partial<Dispatch> = {}): Dispatch {
  return {
    label: "test",
    pipeline,
    threadgroups: [1, 1, 1],
    threadsPerThreadgroup: [32, 1, 1],
    arguments: given,
    ...more,
  };
}

/** Runs one dispatch that writes `count` floats to buffer 0 and returns them. */
async function run(
  pipeline: Pipeline,
  count: number,
  given: readonly DispatchArgument[] = [],
  more: Partial<Dispatch> = {},
): Promise<number[]> {
  const output = device.allocate(count * 4, "output");
  await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: output }, ...given], more)]);
  expect(output.sentinelIntact()).toBe(true);
  const values = floats(output);
  output.release();
  return values;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe("small kernels give exact results", () => {
  const SAXPY = `kernel void saxpy(device float* y [[buffer(0)]], device const float* x [[buffer(1)]], constant float& a [[buffer(2)]],
                       constant uint& n [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    if (i < n) y[i] = a * x[i] + y[i];
  }\n`;

  it.each(["fast", "lockstep"] as const)("saxpy, %s", async (flavour: Flavour) => {
    const pipeline = await pipelineOf(SAXPY, "saxpy", { flavour });
    expect(pipeline.flavour).toBe(flavour);
    const count = 100;
    const x = filled(range(count));
    const y = filled(range(count).map((i) => i * 0.5));
    const given = [
      { index: 0, buffer: y },
      { index: 1, buffer: x },
      { index: 2, bytes: bytes(Float32Array.of(2)) },
      { index: 3, bytes: bytes(Uint32Array.of(count)) },
    ];
    const { timings } = await device.submit([dispatchOf(pipeline, given, { threadgroups: [4, 1, 1] })]);
    expect(floats(y)).toEqual(range(count).map((i) => 2.5 * i));
    expect(timings).toHaveLength(1);
    expect(timings[0]?.ns).toBeGreaterThan(0);
  });

  it("dispatches run in order, and offsets reach into a buffer", async () => {
    const text =
      "kernel void add(device float* x, constant float& by, uint i [[thread_position_in_grid]]) { x[i] = x[i] * 2 + by; }\n";
    const pipeline = await pipelineOf(text, "add");
    const buffer = filled(range(64));
    const step = (by: number): Dispatch =>
      dispatchOf(pipeline, [
        { index: 0, buffer, offset: 128 },
        { index: 1, bytes: bytes(Float32Array.of(by)) },
      ]);
    await device.submit([step(1), step(3)]);
    expect(floats(buffer)).toEqual(range(64).map((i) => (i < 32 ? i : (i * 2 + 1) * 2 + 3)));
  });

  it("function constants specialise, by name or by index", async () => {
    const text = `constant int mode [[function_constant(3)]];
constant bool negate [[function_constant(4)]];
constant float unset [[function_constant(5)]];
constant float used = is_function_constant_defined(unset) ? unset : 0.25f;
kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
  float v = mode == 2 ? float(i) : -1.0f;
  out[i] = (negate ? -v : v) + used;
}\n`;
    const values = range(32);
    const byName = await pipelineOf(text, "k", { constants: { mode: 2, negate: false } });
    expect(await run(byName, 32)).toEqual(values.map((i) => i + 0.25));
    const byIndex = await pipelineOf(text, "k", { constants: { 3: 2, 4: true, 5: 0.5 } });
    expect(await run(byIndex, 32)).toEqual(values.map((i) => -i + 0.5));
    expect(byName.id).not.toBe(byIndex.id);
  });

  it("templates under a host name, from a macro", async () => {
    const text = `template <typename T, int N> [[kernel]] void times(device T* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if constexpr (N > 2) out[i] = T(i) * N; else out[i] = 0;
}
#define instance(name, ...) template [[host_name(name)]] [[kernel]] decltype(times<__VA_ARGS__>) times<__VA_ARGS__>;
#define instances(type) instance("times_" #type "_2", type, 2) instance("times_" #type "_5", type, 5)
instances(float)
instances(half)\n`;
    const library = await device.compile({ path: "t.metal", text: HEAD + text });
    expect(library.functions.map((entry) => entry.name)).toEqual([
      "times_float_2",
      "times_float_5",
      "times_half_2",
      "times_half_5",
    ]);
    expect(await run(await device.pipeline(library, "times_float_5"), 32)).toEqual(range(32).map((i) => 5 * i));
    expect(await run(await device.pipeline(library, "times_float_2"), 32)).toEqual(range(32).map(() => 0));
  });

  it("kernels that are called like functions of the library, or lie in a namespace", async () => {
    const text = `namespace inner { kernel void fma(device float* out, uint i [[thread_position_in_grid]]) { out[i] = i; } }
kernel void dot(device float* out, uint i [[thread_position_in_grid]]) { out[i] = dot(float2(i), float2(1)); }\n`;
    expect(await run(await pipelineOf(text, "fma"), 32)).toEqual(range(32));
    expect(await run(await pipelineOf(text, "dot"), 32)).toEqual(range(32).map((i) => 2 * i));
  });

  it("implicit buffer numbers, macros, an included file and static plus dynamic threadgroup memory", async () => {
    const text = `#include "reverse.h"
kernel void k(device float* out, device const float* in, threadgroup float* dynamic, threadgroup float* second,
              uint i [[thread_index_in_threadgroup]]) {
  threadgroup float fixed[COUNT];
  fixed[i] = in[i];
  second[i] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  dynamic[reverse(i)] = fixed[i] + second[reverse(i)];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = dynamic[i];
}\n`;
    const header = { path: "include/reverse.h", text: "inline uint reverse(uint i) { return COUNT - 1 - i; }\n" };
    const pipeline = await pipelineOf(text, "k", {}, { defines: { COUNT: 64 }, includes: [header] });
    expect(pipeline.receipt.staticThreadgroupMemoryBytes.value).toBe(256);
    const values = await run(pipeline, 64, [{ index: 1, buffer: filled(range(64)) }], {
      threadsPerThreadgroup: [64, 1, 1],
      threadgroupMemory: [
        { index: 0, bytes: 256 },
        { index: 1, bytes: 256 },
      ],
    });
    expect(values).toEqual(range(64).map((i) => 64 - i));
  });

  it("predicated arguments are needed only if their constant holds", async () => {
    const text = `constant bool has_bias [[function_constant(0)]];
constant bool negative [[function_constant(1)]];
constant bool both = has_bias && negative;
kernel void k(device float* out [[buffer(0)]], device const float* bias [[buffer(1), function_constant(has_bias)]],
              device const float* other [[buffer(2), function_constant(both)]], uint i [[thread_position_in_grid]]) {
  out[i] = has_bias ? bias[i] : 7.0f;
  if (both) out[i] += other[i];
}\n`;
    const without = await pipelineOf(text, "k", { constants: { has_bias: false, negative: true } });
    expect(without.function.arguments?.map((argument) => argument.name)).toEqual(["out"]);
    expect(await run(without, 32)).toEqual(range(32).map(() => 7));
    const bound = await pipelineOf(text, "k", { constants: { has_bias: true, negative: true } });
    expect(bound.function.arguments?.map((argument) => argument.index)).toEqual([0, 1, 2]);
    const given = [
      { index: 1, buffer: filled(range(32)) },
      { index: 2, buffer: filled(range(32)) },
    ];
    expect(await run(bound, 32, given)).toEqual(range(32).map((i) => 2 * i));
  });

  it("arrays as parameters, methods of address spaces, lambdas and range initialisers", async () => {
    const text = `struct Pair {
  float a, b;
  float both() const device { return a + b; }
  float both() const constant { return a + b; }
};
inline long pick(constant const long strides[3], short n) { return strides[n]; }
kernel void k(device float* out [[buffer(0)]], device const Pair* pairs [[buffer(1)]], constant const long strides[3] [[buffer(2)]],
              uint2 at [[thread_position_in_grid]]) {
  auto scaled = [&](float x) { return x * float(pick(strides, 1)); };
  float sum = 0;
  float m[3] = {[0 ... 2] = 2.0f};
  for (float x : m) sum += scaled(x);
  Pair own = at.x > 15 ? pairs[1] : Pair{3, 4};
#pragma unroll(2)
  for (int j = 0; j < 2; ++j) sum += pairs[0].both();
  out[at.x] = sum + own.a;
}\n`;
    const pipeline = await pipelineOf(text, "k");
    const strides = new Uint8Array(new BigInt64Array([1n, 10n, 100n]).buffer);
    const given = [
      { index: 1, buffer: filled([1, 2, 5, 6]) },
      { index: 2, bytes: strides },
    ];
    expect(await run(pipeline, 32, given)).toEqual(range(32).map((i) => 60 + 6 + (i > 15 ? 5 : 3)));
  });
});

describe("receipts", () => {
  it("state limits and how they are known", async () => {
    const text = `[[max_total_threads_per_threadgroup(128)]] kernel void k(device float* out, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float4 tile[1024];
  tile[i] = float4(i);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = tile[i].x;
}\n`;
    const { receipt } = await pipelineOf(text, "k");
    expect(receipt.simdWidth.value).toBe(32);
    expect(receipt.maxTotalThreadsPerThreadgroup).toMatchObject({ value: 128, by: "assumed" });
    expect(receipt.staticThreadgroupMemoryBytes).toMatchObject({ value: 16_384, by: "probe" });
    expect(receipt.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it("a second request comes from the cache, with the same digest", async () => {
    const text = `kernel void k${process.pid}(device float* out) { out[0] = ${Math.random()}f; }\n`;
    const first = await pipelineOf(text, `k${process.pid}`);
    const second = await pipelineOf(text, `k${process.pid}`);
    expect([first.receipt.cached, second.receipt.cached]).toEqual([false, true]);
    expect(second.receipt.digest).toBe(first.receipt.digest);
  });

  it("buffers come poisoned", () => {
    const buffer = device.allocate(12, "fresh");
    expect(new Uint32Array(buffer.read(0, 12).slice().buffer)).toEqual(new Uint32Array(3).fill(POISON_WORD));
    buffer.write(0, Uint8Array.of(1, 2, 3));
    buffer.poison();
    expect(buffer.read(0, 4)).toEqual(Uint8Array.of(0xed, 0x7f, 0xed, 0x7f));
    buffer.release();
  });
});

describe("pipelines that are refused", () => {
  const TWO =
    "constant int mode [[function_constant(3)]];\nkernel void a(device int* x) { x[0] = mode; }\nkernel void b(device int* x) { x[0] = 1; }\n";
  it.each([
    ["c", {}, "test.metal has no kernel 'c'; it has a, b."],
    ["b", { constants: { nope: 1 } }, "b: there is no function constant 'nope'; this source has mode (3)."],
    [
      "b",
      { constants: { mode: 1.5 } },
      "b: function constant 'mode' is 1.5; its type int holds whole numbers from -2147483648 to 2147483647.",
    ],
    ["a", {}, "a uses function constants without a value: 'mode' (index 3, int). Set them in `constants`."],
  ] as const)("%s %j", async (name, descriptor, message) => {
    const error = await deviceError(pipelineOf(TWO, name, descriptor));
    expect(error).toMatchObject({ code: "pipeline_refused", message });
  });

  it("a constant that only another kernel uses needs no value", async () => {
    expect((await pipelineOf(TWO, "b")).function.name).toBe("b");
  });

  it("too much static threadgroup memory", async () => {
    const text = "kernel void k(device float* x) { threadgroup float t[8193]; t[0] = x[0]; x[1] = t[0]; }\n";
    const error = await deviceError(pipelineOf(text, "k"));
    expect(error.code).toBe("pipeline_refused");
    expect(error.message).toContain("k declares 32,772 bytes of threadgroup memory; the limit is 32,768");
  });

  it("an unknown MSL version and a macro that is no name", async () => {
    const version = await deviceError(pipelineOf("", "k", {}, { languageVersion: "9.0" }));
    expect(version.message).toContain("MSL version '9.0' is not known; known are 2.0");
    const macro = await deviceError(pipelineOf("", "k", {}, { defines: { "A B": 1 } }));
    expect(macro.message).toContain("'A B' is not a name of a macro");
  });
});

describe("illegal dispatches are refused before anything runs, with the limit and the value", () => {
  const KERNEL = `kernel void k(device float* out [[buffer(0)]], device const float* in [[buffer(5)]], threadgroup float* t [[threadgroup(2)]],
              uint i [[thread_index_in_threadgroup]]) {
  threadgroup float4 fixed[1024];
  fixed[i] = float4(0);
  t[0] = fixed[0].x;
  out[i] = 1;
}
[[max_total_threads_per_threadgroup(64)]] kernel void small(device float* out [[buffer(0)]]) { out[0] = 1; }\n`;
  let kernel: Pipeline;
  let small: Pipeline;
  let out: DeviceBuffer;
  let input: DeviceBuffer;

  beforeAll(async () => {
    kernel = await pipelineOf(KERNEL, "k");
    small = await pipelineOf(KERNEL, "small");
    out = device.allocate(4096, "out");
    input = device.allocate(4096, "in");
  });

  function legal(more: Partial<Dispatch> = {}): Dispatch {
    const given = [
      { index: 0, buffer: out },
      { index: 5, buffer: input },
    ];
    return dispatchOf(kernel, given, { threadgroupMemory: [{ index: 2, bytes: 16 }], ...more });
  }

  it("the legal one runs, also with an argument that the kernel does not declare", async () => {
    const extra = [...legal().arguments, { index: 9, bytes: Uint8Array.of(1, 2, 3, 4) }];
    await device.submit([legal({ arguments: extra, threadgroupMemory: [{ index: 2, bytes: 16_384 }] })]);
    expect(floats(out)[0]).toBe(1);
  });

  const cases: readonly (readonly [string, () => Dispatch, string])[] = [
    [
      "too many threads",
      () => legal({ threadsPerThreadgroup: [1024, 2, 1] }),
      "1,024 x 2 x 1 = 2,048 threads per threadgroup; the pipeline allows 1,024",
    ],
    [
      "more threads than the attribute",
      () => dispatchOf(small, [{ index: 0, buffer: out }], { threadsPerThreadgroup: [65, 1, 1] }),
      "65 x 1 x 1 = 65 threads per threadgroup; the pipeline allows 64",
    ],
    ["no threads", () => legal({ threadsPerThreadgroup: [0, 1, 1] }), "threads per threadgroup are 0 x 1 x 1"],
    [
      "no threadgroups",
      () => legal({ threadgroups: [1, 0, 1] }),
      "threadgroups are 1 x 0 x 1; each must be a whole number from 1",
    ],
    ["half a threadgroup", () => legal({ threadgroups: [1.5, 1, 1] }), "threadgroups are 1.5 x 1 x 1"],
    [
      "too much threadgroup memory",
      () => legal({ threadgroupMemory: [{ index: 2, bytes: 16_400 }] }),
      "threadgroup memory is 32,784 bytes (16,384 static and 16,400 dynamic); the limit is 32,768",
    ],
    [
      "a length that is no multiple of 16",
      () => legal({ threadgroupMemory: [{ index: 2, bytes: 100 }] }),
      "threadgroup memory 2 is 100 bytes; its length must be a multiple of 16: round it up to 112",
    ],
    [
      "a threadgroup index too high",
      () => legal({ threadgroupMemory: [{ index: 31, bytes: 16 }] }),
      "threadgroup memory index is 31; it must be from 0 to 30",
    ],
    [
      "no threadgroup memory",
      () => legal({ threadgroupMemory: [] }),
      "nothing is bound to 't' [[threadgroup(2)]]; bound threadgroup indices are none",
    ],
    [
      "a buffer index too high",
      () => legal({ arguments: [{ index: 31, buffer: out }] }),
      "buffer index is 31; it must be from 0 to 30",
    ],
    [
      "the same index twice",
      () => legal({ arguments: [...legal().arguments, { index: 0, buffer: out }] }),
      "buffer index 0 is bound twice",
    ],
    [
      "a missing buffer",
      () => legal({ arguments: [{ index: 0, buffer: out }] }),
      "nothing is bound to 'in' [[buffer(5)]]; bound buffer indices are 0",
    ],
    [
      "too many inline bytes",
      () => legal({ arguments: [...legal().arguments, { index: 7, bytes: new Uint8Array(4097) }] }),
      "the inline bytes at index 7 are 4,097 bytes; the limit is 4,096",
    ],
    [
      "an offset outside",
      () =>
        legal({
          arguments: [
            { index: 0, buffer: out, offset: 4096 },
            { index: 5, buffer: input },
          ],
        }),
      "the offset into 'out' at index 0 is 4,096; the buffer has 4,096 bytes",
    ],
    [
      "an offset that is no multiple of 4",
      () =>
        legal({
          arguments: [
            { index: 0, buffer: out, offset: 6 },
            { index: 5, buffer: input },
          ],
        }),
      "the offset into 'out' at index 0 is 6; it must be a multiple of 4",
    ],
  ];
  it.each(cases)("%s", async (_, make, message) => {
    out.poison();
    const error = await deviceError(device.submit([legal(), make()]));
    expect(error.code).toBe("dispatch_refused");
    expect(error.message).toContain(message);
    // The legal dispatch in front of it did not run either.
    expect(new Uint32Array(out.read(0, 4).slice().buffer)[0]).toBe(POISON_WORD);
  });

  it("a released buffer", async () => {
    const gone = device.allocate(64, "gone");
    gone.release();
    gone.release();
    const error = await deviceError(device.submit([legal({ arguments: [{ index: 0, buffer: gone }] })]));
    expect(error).toMatchObject({ code: "dispatch_refused" });
    expect(error.message).toContain("'gone' at index 0 (64 bytes) was released");
    expect(() => gone.read(0, 4)).toThrow("Buffer 'gone' (64 bytes) was released");
  });

  it("a buffer, a library and a pipeline of another device", async () => {
    const other = await testDevice();
    const foreign = other.allocate(64, "foreign");
    const buffer = await deviceError(device.submit([legal({ arguments: [{ index: 0, buffer: foreign }] })]));
    expect(buffer.message).toContain("'foreign' at index 0 was allocated by another device");
    const pipeline = await deviceError(other.submit([legal()]));
    expect(pipeline.message).toContain("its pipeline was not built by this device");
    const library = await device.compile({ path: "test.metal", text: "kernel void k(device int* x) {}" });
    expect(await deviceError(other.pipeline(library, "k"))).toMatchObject({ code: "pipeline_refused" });
    await other.close();
    expect(await deviceError(other.submit([]))).toMatchObject({ code: "unavailable" });
  });

  it("an empty or fractional buffer", () => {
    expect(() => device.allocate(0, "nothing")).toThrow("Buffer 'nothing' cannot have 0 bytes");
    expect(() => device.allocate(1.5, "part")).toThrow("cannot have 1.5 bytes");
  });
});
