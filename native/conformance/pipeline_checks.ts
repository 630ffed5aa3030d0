/** From library to pipeline: function constants, refusals, the receipt. */
import type { Device, Pipeline, Size3 } from "../device.ts";
import {
  argumentsOf,
  type Bench,
  build,
  dispatchOf,
  floatsOf,
  inline,
  mustEqual,
  mustSay,
  range,
  rejection,
  withBench,
  wordsOf,
} from "./bench.ts";
import { type ConformanceCheck, must } from "./check.ts";
import * as kernels from "./kernels.ts";

async function constants(device: Device, values: Readonly<Record<string, number | boolean>>): Promise<number[]> {
  const seen: number[] = [];
  await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.CONSTANTS, { constants: values });
    const out = bench.output(32);
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }])]);
    seen.push(...floatsOf(out));
    return "";
  });
  return seen;
}

async function constantsByName(device: Device): Promise<string> {
  const values = await constants(device, { mode: 2, negate: false });
  mustEqual(
    "mode 2, negate false, unset without a value",
    values,
    range(32).map((i) => i + 0.25),
  );
  return "int and bool by name; is_function_constant_defined is false for the one without a value";
}

async function constantsByIndex(device: Device): Promise<string> {
  const values = await constants(device, { 3: 2, 4: true, 5: 0.5 });
  mustEqual(
    "constants 3, 4 and 5",
    values,
    range(32).map((i) => -i + 0.5),
  );
  return "int, bool and float by index";
}

async function missingConstant(device: Device): Promise<string> {
  const error = await rejection(
    "a pipeline without a value for 'mode'",
    build(device, kernels.CONSTANTS, { constants: { negate: true } }),
    "pipeline_refused",
  );
  mustSay("a constant without a value", error.message, ["mode"]);
  return error.message;
}

async function unknownConstant(device: Device): Promise<string> {
  const error = await rejection(
    "a value for 'no_such_constant'",
    build(device, kernels.CONSTANTS, { constants: { mode: 2, negate: true, no_such_constant: 1 } }),
    "pipeline_refused",
  );
  mustSay("a constant that the source has not", error.message, ["no_such_constant"]);
  return error.message;
}

async function listedConstants(device: Device): Promise<string> {
  const { path, text } = kernels.CONSTANTS;
  const { functionConstants } = await device.compile({ path, text });
  const listed = functionConstants.map((one) => `${one.name} ${one.index} ${one.type}`).join(", ");
  const wanted = "mode 3 int, negate 4 bool, unset 5 float";
  must(listed === wanted, `the library lists "${listed}"; it must list "${wanted}"`);
  return listed;
}

async function predicated(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const without = await bench.pipeline(kernels.PREDICATED, { constants: { has_bias: false } });
    const names = argumentsOf(without)
      .map((one) => one.name)
      .join(", ");
    must(names === "out", `with has_bias false the arguments are ${names}; there must be out alone`);
    const out = bench.output(32);
    await device.submit([dispatchOf(without, [{ index: 0, buffer: out }])]);
    mustEqual(
      "without bias",
      floatsOf(out),
      range(32).map(() => 7),
    );
    const bound = await bench.pipeline(kernels.PREDICATED, { constants: { has_bias: true } });
    const bias = bench.input(Float32Array.from(range(32)), "bias");
    const given = [
      { index: 0, buffer: out },
      { index: 1, buffer: bias },
    ];
    await device.submit([dispatchOf(bound, given)]);
    mustEqual("with bias", floatsOf(out), range(32));
    return "bias is an argument only where has_bias holds";
  });
}

async function unknownFunction(device: Device): Promise<string> {
  const { path, text, name } = kernels.COUNT;
  const library = await device.compile({ path, text });
  const error = await rejection("kernel 'absent'", device.pipeline(library, "absent"), "pipeline_refused");
  mustSay("a kernel that is not there", error.message, ["absent", name]);
  return error.message;
}

async function foreignLibrary(device: Device): Promise<string> {
  const { path, text, name } = kernels.COUNT;
  const library = await device.compile({ path, text });
  const error = await rejection(
    "a library that this device did not make",
    device.pipeline({ ...library }, name),
    "pipeline_refused",
  );
  return error.message;
}

async function tooMuchStatic(device: Device): Promise<string> {
  const limit = device.profile.limits.value.maxThreadgroupMemoryBytes;
  const words = limit / 4 + 64;
  const name = "too_large";
  const text = `#include <metal_stdlib>
using namespace metal;

kernel void ${name}(device uint* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]],
                    uint n [[threads_per_threadgroup]]) {
  threadgroup uint tile[${words}];
  for (uint at = i; at < ${words}; at += n) tile[at] = at * 3;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint at = i; at < ${words}; at += n) out[at] = tile[${words} - 1 - at];
}
`;
  const error = await rejection(
    `${words * 4} bytes of static threadgroup memory`,
    build(device, { name, path: "conformance/too_large.metal", text }),
    "pipeline_refused",
  );
  // On Metal the words are Metal's own, of which nobody knows what they name.
  if (device.profile.execution === "emulated") mustSay("too much static threadgroup memory", error.message, [limit]);
  return error.message;
}

async function receiptWidth(device: Device): Promise<string> {
  const { receipt } = await build(device, kernels.COUNT);
  const { value, by, source } = receipt.simdWidth;
  must(value === 32, `the receipt's SIMD width is ${value}; every Apple GPU has 32`);
  return `32 (${by}: ${source})`;
}

async function receiptThreads(device: Device): Promise<string> {
  const { receipt } = await build(device, kernels.COUNT);
  const limit = device.profile.limits.value.maxThreadsPerThreadgroup;
  const { value, by, source } = receipt.maxTotalThreadsPerThreadgroup;
  must(
    Number.isInteger(value) && value >= 32 && value <= limit,
    `the receipt allows ${value} threads per threadgroup; it must be from 32 to the device's ${limit}`,
  );
  return `${value} (${by}: ${source})`;
}

async function receiptStatic(device: Device): Promise<string> {
  const [none, some] = await Promise.all([build(device, kernels.COUNT), build(device, kernels.STATIC)]);
  const bytes = (pipeline: Pipeline): number => pipeline.receipt.staticThreadgroupMemoryBytes.value;
  must(bytes(none) === 0, `a kernel without threadgroup memory has ${bytes(none)} static bytes`);
  must(
    bytes(some) === kernels.STATIC_BYTES,
    `a kernel with ${kernels.STATIC_BYTES} static bytes has ${bytes(some)} by its receipt`,
  );
  return `${bytes(none)} and ${bytes(some)} bytes`;
}

async function receiptDigest(device: Device): Promise<string> {
  const digest = async (values: Readonly<Record<string, number | boolean>>): Promise<string> =>
    (await build(device, kernels.CONSTANTS, { constants: values })).receipt.digest;
  const first = await digest({ mode: 2, negate: false });
  must(/^[0-9a-f]{64}$/.test(first), `the digest is '${first}'; it must be a SHA-256 in hexadecimal`);
  const again = await digest({ negate: false, mode: 2 });
  must(first === again, `equal inputs have the digests ${first} and ${again}`);
  const others: readonly (readonly [string, string])[] = [
    ["another value of a constant", await digest({ mode: 2, negate: true })],
    ["a constant that had no value", await digest({ mode: 2, negate: false, unset: 1 })],
    ["another source", (await build(device, kernels.COUNT)).receipt.digest],
  ];
  for (const [what, other] of others) must(other !== first, `${what} has the same digest ${first}`);
  return `equal for equal inputs, different for ${others.map(([what]) => what).join(", ")}`;
}

async function receiptFunction(device: Device): Promise<string> {
  const { receipt, function: entry, flavour } = await build(device, kernels.COUNT);
  must(
    receipt.function === kernels.COUNT.name,
    `the receipt is of '${receipt.function}', not of ${kernels.COUNT.name}`,
  );
  must(entry.name === kernels.COUNT.name, `the pipeline is of '${entry.name}', not of ${kernels.COUNT.name}`);
  must(flavour === "fast", `the flavour is '${flavour}' although none was asked for; it must be fast`);
  must(
    Number.isFinite(receipt.compileMs) && receipt.compileMs >= 0,
    `compileMs is ${receipt.compileMs}; it must be a number of milliseconds`,
  );
  return `${receipt.function}, ${flavour}, ${receipt.cached ? "from the cache" : "built"}`;
}

/** Runs a pipeline of LIMITED at its limit of threads, and one above. */
async function holdsLimit(device: Device, bench: Bench, pipeline: Pipeline, wanted: number): Promise<string> {
  const allowed = pipeline.receipt.maxTotalThreadsPerThreadgroup.value;
  must(allowed === wanted, `the receipt allows ${allowed} threads; ${wanted} are stated`);
  const out = bench.output(wanted * 2);
  const given = [{ index: 0, buffer: out }];
  const more = { threadgroups: [2, 1, 1], threadsPerThreadgroup: [wanted, 1, 1] } as const;
  await device.submit([dispatchOf(pipeline, given, more)]);
  mustEqual(
    `${wanted} threads`,
    wordsOf(out),
    range(wanted * 2).map((i) => i + 1),
  );
  const error = await rejection(
    `${wanted + 1} threads`,
    device.submit([dispatchOf(pipeline, given, { threadsPerThreadgroup: [wanted + 1, 1, 1] })]),
    "dispatch_refused",
  );
  mustSay("more threads than stated", error.message, [wanted, wanted + 1]);
  return error.message;
}

async function threadLimit(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.LIMITED);
    const stated = pipeline.function.maxTotalThreadsPerThreadgroup;
    const wanted = kernels.LIMITED_THREADS;
    // Metal's reflection does not tell attributes: there the function states nothing, and the receipt has what is in force.
    const mayBeSilent = device.profile.execution === "metal" && stated === undefined;
    must(mayBeSilent || stated === wanted, `the function states ${stated} threads; the attribute says ${wanted}`);
    return await holdsLimit(device, bench, pipeline, wanted);
  });
}

async function descriptorLimit(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const most = device.profile.limits.value.maxThreadsPerThreadgroup;
    const error = await rejection(
      "a limit above the device's",
      bench.pipeline(kernels.LINE, { maxTotalThreadsPerThreadgroup: most + 1 }),
      "pipeline_refused",
    );
    mustSay("a limit above the device's", error.message, [most, most + 1]);
    const wanted = 64;
    const pipeline = await bench.pipeline(kernels.LINE, { maxTotalThreadsPerThreadgroup: wanted });
    const words = await holdsLimit(device, bench, pipeline, wanted);
    const free = await bench.pipeline(kernels.LINE);
    must(free.receipt.digest !== pipeline.receipt.digest, "a pipeline with a limit has the digest of one without");
    return words;
  });
}

async function requiredThreads(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const required: Size3 = [64, 1, 1];
    const pipeline = await bench.pipeline(kernels.COUNT, { requiredThreadsPerThreadgroup: required });
    const stated = pipeline.requiredThreadsPerThreadgroup?.join(" x ");
    must(stated === "64 x 1 x 1", `the pipeline requires ${stated ?? "nothing"}; 64 x 1 x 1 was asked for`);
    const out = bench.output(64);
    const given = [{ index: 0, buffer: out }, inline(1, 3), inline(2, 64)];
    await device.submit([dispatchOf(pipeline, given, { threadsPerThreadgroup: required })]);
    mustEqual(
      "64 threads",
      wordsOf(out),
      range(64).map((i) => 3 + i),
    );
    const error = await rejection("32 threads", device.submit([dispatchOf(pipeline, given)]), "dispatch_refused");
    mustSay("other threads than the pipeline requires", error.message, ["32 x 1 x 1", "64 x 1 x 1"]);
    return error.message;
  });
}

async function flavours(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.DYNAMIC, { flavour: "lockstep" });
    must(pipeline.flavour === "lockstep", `flavour lockstep was asked for; the pipeline is of ${pipeline.flavour}`);
    const fast = await bench.pipeline(kernels.DYNAMIC);
    must(fast.receipt.digest !== pipeline.receipt.digest, "two flavours have the same digest");
    const outputs: Uint32Array[] = [];
    for (const one of [pipeline, fast]) {
      const out = bench.output(64);
      const memory = [0, 1].map((index) => ({ index, bytes: 256 }));
      const given = [{ index: 0, buffer: out }];
      await device.submit([dispatchOf(one, given, { threadsPerThreadgroup: [64, 1, 1], threadgroupMemory: memory })]);
      outputs.push(wordsOf(out));
    }
    mustEqual("lockstep beside fast", outputs[0] ?? [], outputs[1] ?? []);
    return "lockstep and fast give the same";
  });
}

async function checkFlavour(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.COUNT, { flavour: "check" });
    must(pipeline.flavour === "check", `flavour check was asked for; the pipeline is of ${pipeline.flavour}`);
    const out = bench.output(32);
    const given = [
      { index: 0, buffer: out },
      { index: 1, bytes: new Uint8Array(4) },
      { index: 2, bytes: Uint8Array.of(16, 0, 0, 0) },
    ];
    const { check } = await device.submit([dispatchOf(pipeline, given)], { check: { outputs: [out] } });
    must(check !== undefined, "a submission of check flavour brought no result of the checker");
    const kinds = check.reports.map((one) => one.kind).join(", ");
    must(kinds === "unwritten_output", `16 of 32 words were written; the checker reports ${kinds || "nothing"}`);
    return "half an output that nobody wrote is reported";
  });
}

async function otherFlavours(device: Device): Promise<string> {
  const error = await rejection(
    "flavour lockstep",
    build(device, kernels.COUNT, { flavour: "lockstep" }),
    "pipeline_refused",
  );
  mustSay("a flavour that the device has not", error.message, ["lockstep", "fast"]);
  return error.message;
}

export const PIPELINE_CHECKS: readonly ConformanceCheck[] = [
  {
    id: "constants.listed",
    title: "function constants are listed with name, index and type",
    needs: [],
    run: listedConstants,
  },
  { id: "constants.by_name", title: "function constants take values by name", needs: [], run: constantsByName },
  { id: "constants.by_index", title: "function constants take values by index", needs: [], run: constantsByIndex },
  {
    id: "constants.missing",
    title: "a constant that is used without a value is refused by name",
    needs: [],
    run: missingConstant,
  },
  {
    id: "constants.unknown",
    title: "a value for a constant that is not there is refused by name",
    needs: [],
    run: unknownConstant,
  },
  {
    id: "constants.predicate",
    title: "an argument whose constant does not hold is not there",
    needs: [],
    run: predicated,
  },
  {
    id: "pipeline.unknown_function",
    title: "a kernel that is not there is refused with the ones that are",
    needs: [],
    run: unknownFunction,
  },
  {
    id: "pipeline.foreign_library",
    title: "a library that this device did not make is refused",
    needs: [],
    run: foreignLibrary,
  },
  {
    id: "pipeline.static_limit",
    title: "too much static threadgroup memory is refused",
    needs: [],
    run: tooMuchStatic,
  },
  { id: "pipeline.flavours", title: "flavour lockstep gives what fast gives", needs: ["flavours"], run: flavours },
  { id: "pipeline.check_flavour", title: "flavour check reports", needs: ["flavours"], run: checkFlavour },
  {
    id: "pipeline.fast_alone",
    title: "a device without flavours refuses all but fast",
    needs: ["one_flavour"],
    run: otherFlavours,
  },
  {
    id: "pipeline.thread_limit",
    title: "maxTotalThreadsPerThreadgroup of the descriptor is in force",
    needs: [],
    run: descriptorLimit,
  },
  {
    id: "pipeline.required_threads",
    title: "a dispatch must have the threads that its pipeline requires",
    needs: ["required_threads"],
    run: requiredThreads,
  },
  {
    id: "receipt.function",
    title: "the receipt is of the function that was asked for",
    needs: [],
    run: receiptFunction,
  },
  { id: "receipt.simd_width", title: "the SIMD width is 32", needs: [], run: receiptWidth },
  { id: "receipt.threads", title: "the maximum of threads lies within the device's", needs: [], run: receiptThreads },
  { id: "receipt.static_bytes", title: "static threadgroup bytes are exact", needs: [], run: receiptStatic },
  {
    id: "receipt.digest",
    title: "the digest is equal for equal inputs and different for different ones",
    needs: [],
    run: receiptDigest,
  },
  {
    id: "receipt.thread_limit",
    title: "[[max_total_threads_per_threadgroup]] is in force",
    needs: [],
    run: threadLimit,
  },
];
