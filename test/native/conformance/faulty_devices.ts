/** Devices of which exactly one thing is wrong, and the checks of the conformance suite that must notice. */
import { DeviceError, type Library } from "../../../native/device.ts";
import {
  buffers,
  diagnostics,
  errors,
  type FaultyDevice,
  libraries,
  pipelines,
  receipts,
  refusalOf,
  replace,
  submits,
  swapped,
  withChanges,
} from "./spoiled.ts";

/** The compiler's fault in one kernel: a piece of text that is taken for another. */
const MISREAD: readonly (readonly [check: string, kernel: string, from: string, to: string])[] = [
  ["grid.1d", "positions_1d", "row[19] = lane", "row[19] = index"],
  ["grid.2d", "positions_2d", "put(row, 6, at(group))", "put(row, 6, at(in_group))"],
  ["grid.3d", "positions_3d", "row[21] = simdgroups", "row[21] = simdgroups - 1"],
  ["threadgroup.static", "static_memory", "tile[511 - at]", "tile[at]"],
  ["threadgroup.dynamic", "dynamic_memory", "turn < 3", "turn < 2"],
  ["simd.reduce", "simd_reduce", "simd_sum(x)", "x"],
  ["simd.permute", "simd_permute", "simd_broadcast(x, 7)", "simd_broadcast(x, 6)"],
  ["matrix.float", "matrix_float", "(1.0f)", "(0.0f)"],
  ["matrix.half", "matrix_half", "(c, a, b, c)", "(c, b, a, c)"],
  ["matrix.elements", "matrix_elements", "thread_elements()[0]", "thread_elements()[1]"],
  ["atomics", "atomics", "fetch_max", "fetch_min"],
  ["arguments.inline", "copy_words", "in[i]", "in[i & 127]"],
  ["submit.consecutive", "scale_add", "step.x + step.y", "step.x + step.y + (i == 0 ? 1u : 0u)"],
  ["submit.order", "scale_add", "", ""],
  ["compile.safe_math", "special_values", "x == x ? 1.0f : 0.0f", "1.0f"],
  ["compile.macros", "macros", "WIDTH * i", "i"],
  ["compile.includes", "including", "helper(i)", "helper(0)"],
  ["constants.by_name", "specialised", "is_function_constant_defined(unset) ? unset : 0.25f", "0.0f"],
  ["constants.by_index", "specialised", "", ""],
  ["constants.predicate", "predicated", "out[i] = 7.0f", "out[i] = 8.0f"],
  ["buffer.large", "both_ends", "words - 1 - i", "words - 2 - i"],
  ["buffer.neighbours", "count_up", "start + i", "start + i + (start >= 3000 ? 1u : 0u)"],
  ["refused.legal", "arguments_of_every_kind", "params.scale", "1.0f"],
  ["arguments.undeclared", "limited", "i + 1", "i + 2"],
  ["receipt.thread_limit", "limited", "", ""],
];

export const FAULTY_DEVICES: readonly FaultyDevice[] = [
  {
    name: "a compiler that misreads kernels",
    fails: MISREAD.map(([check]) => check),
    spoil: libraries(
      () => ({}),
      ({ path, text }) => ({
        path,
        text: MISREAD.filter(([, kernel, from]) => path === `conformance/${kernel}.metal` && from !== "").reduce(
          (kept, [, , from, to]) => kept.replace(from, to),
          text,
        ),
      }),
    ),
  },
  {
    name: "values of an emulated device that claim to come from an API",
    fails: ["profile.known_by"],
    spoil: (device) => withChanges(device, { profile: { ...device.profile, os: { ...device.profile.os, by: "api" } } }),
  },
  {
    name: "an id of another execution, a limit that no Apple GPU has, a virtual GPU, a fact without a value",
    fails: ["profile.identity", "profile.limits", "profile.virtual_gpu", "profile.facts"],
    spoil: (device) => {
      const { limits } = device.profile;
      const profile = {
        ...device.profile,
        id: "metal:0",
        limits: { ...limits, value: { ...limits.value, threadgroupMemoryAlignmentBytes: 8 } },
        virtualGpu: { value: true, by: "probe", source: "a test" } as const,
        facts: [{ id: "a", label: "A", value: null, by: "api", source: "a test", reason: null } as const],
      };
      return withChanges(device, { profile });
    },
  },
  {
    name: "a library that holds another source, an id that is always the same",
    fails: ["compile.library", "compile.identity"],
    spoil: libraries(({ source }) => ({ id: "0", source: { ...source, text: "" } })),
  },
  { name: "warnings that are lost", fails: ["compile.warning"], spoil: libraries(() => ({ warnings: [] })) },
  {
    name: "function constants without their index",
    fails: ["constants.listed"],
    spoil: libraries(({ functionConstants }) => ({
      functionConstants: functionConstants.map((one) => ({ ...one, index: 0 })),
    })),
  },
  {
    name: "errors without a line",
    fails: ["compile.error", "compile.error_include", "compile.syntax", "compile.missing_include"],
    spoil: diagnostics((one) => ({ ...one, line: 0 })),
  },
  {
    name: "errors in an include that are put on the source",
    fails: ["compile.error_include"],
    spoil: diagnostics((one) => ({ ...one, path: one.path.replace(/broken_helper\.h$/, "fine.metal") })),
  },
  {
    name: "errors one column too far to the right",
    fails: ["compile.error", "compile.error_include"],
    spoil: diagnostics((one) => ({ ...one, column: one.column + 1 })),
  },
  {
    name: "refusals that do not say what",
    fails: [
      "constants.missing",
      "constants.unknown",
      "pipeline.unknown_function",
      "pipeline.static_limit",
      "pipeline.thread_limit",
    ],
    spoil: errors((error) =>
      error.code === "pipeline_refused" ? new DeviceError("pipeline_refused", "It was refused.") : error,
    ),
  },
  {
    name: "an unknown language version that is taken for another",
    fails: ["compile.language"],
    spoil: (device) =>
      withChanges(device, {
        compile: (source, options) =>
          device.compile(source, options?.languageVersion === "9.0" ? { ...options, languageVersion: "3.0" } : options),
      }),
  },
  {
    name: "a library of anyone",
    fails: ["pipeline.foreign_library"],
    spoil: (device) => {
      const known = new Map<string, Library>();
      return withChanges(device, {
        compile: async (source, options) => {
          const library = await device.compile(source, options);
          known.set(library.id, library);
          return library;
        },
        pipeline: (library, name, descriptor) => device.pipeline(known.get(library.id) ?? library, name, descriptor),
      });
    },
  },
  {
    name: "arguments that are all read-only",
    fails: ["compile.arguments"],
    spoil: pipelines(({ function: entry }) => ({
      function: { ...entry, arguments: (entry.arguments ?? []).map((one) => ({ ...one, readOnly: true })) },
    })),
  },
  {
    name: "a SIMD width of 31",
    fails: ["receipt.simd_width"],
    spoil: receipts(({ simdWidth }) => ({ simdWidth: { ...simdWidth, value: 31 } })),
  },
  {
    name: "more threads than the device launches, by the receipt",
    fails: ["receipt.threads", "receipt.thread_limit", "pipeline.thread_limit", "refused.threads"],
    spoil: receipts(({ maxTotalThreadsPerThreadgroup }) => ({
      maxTotalThreadsPerThreadgroup: { ...maxTotalThreadsPerThreadgroup, value: 4096 },
    })),
  },
  {
    name: "static bytes rounded up to a page",
    fails: ["receipt.static_bytes"],
    spoil: receipts(({ staticThreadgroupMemoryBytes: bytes }) => ({
      staticThreadgroupMemoryBytes: { ...bytes, value: Math.ceil(bytes.value / 4096) * 4096 },
    })),
  },
  {
    name: "a digest that differs each time",
    fails: ["receipt.digest"],
    spoil: (() => {
      let calls = 0;
      return receipts(() => {
        calls += 1;
        return { digest: String(calls).padStart(64, "0") };
      });
    })(),
  },
  {
    name: "a receipt of another function, and a flavour of its own choice",
    fails: ["receipt.function", "pipeline.check_flavour", "pipeline.flavours"],
    spoil: pipelines(({ receipt }) => ({ receipt: { ...receipt, function: "another" }, flavour: "check+lockstep" })),
  },
  {
    name: "a limit of threads that is forgotten",
    fails: ["pipeline.thread_limit"],
    spoil: (device) =>
      withChanges(device, {
        pipeline: (library, name, descriptor) => {
          const { maxTotalThreadsPerThreadgroup: _, ...rest } = descriptor ?? {};
          return device.pipeline(library, name, rest);
        },
      }),
  },
  {
    name: "required threads that are forgotten",
    fails: ["pipeline.required_threads"],
    spoil: (device) =>
      withChanges(device, {
        pipeline: (library, name, descriptor) => {
          const { requiredThreadsPerThreadgroup: _, ...rest } = descriptor ?? {};
          return device.pipeline(library, name, rest);
        },
      }),
  },
  {
    name: "a checker that says nothing",
    fails: ["pipeline.check_flavour"],
    spoil: submits(async (submit, dispatches, options) => {
      const { check: _, ...rest } = await submit(dispatches, options);
      return rest;
    }),
  },
  {
    name: "buffers that are not poisoned",
    fails: ["buffer.poisoned"],
    spoil: buffers((buffer) => buffer.write(0, new Uint8Array(Math.min(buffer.bytes, 1 << 20)))),
  },
  {
    name: "poison() that does nothing",
    fails: ["buffer.poison"],
    spoil: buffers((one) => replace(one, "poison", () => one.memory.bytes)),
  },
  {
    name: "sentinels that are always intact",
    fails: ["buffer.sentinel"],
    spoil: buffers((buffer) => replace(buffer, "sentinelIntact", () => true)),
  },
  {
    name: "sentinels that are never intact",
    fails: [
      "buffer.sentinel_kept",
      "buffer.poison",
      "buffer.outside",
      "buffer.neighbours",
      "buffer.large",
      "grid.1d",
      "grid.2d",
      "grid.3d",
    ],
    spoil: buffers((buffer) => replace(buffer, "sentinelIntact", () => false)),
  },
  {
    name: "buffers rounded up to whole words",
    fails: ["buffer.size"],
    spoil: (device) =>
      withChanges(device, {
        allocate: (bytes, label) =>
          device.allocate(Number.isInteger(bytes) && bytes > 0 ? Math.ceil(bytes / 4) * 4 : bytes, label),
      }),
  },
  {
    name: "a size of 0 that is taken for 1",
    fails: ["buffer.impossible"],
    spoil: (device) => withChanges(device, { allocate: (bytes, label) => device.allocate(bytes || 1, label) }),
  },
  {
    name: "reads that are cut to the buffer",
    fails: ["buffer.outside"],
    spoil: buffers((buffer) => {
      const read = buffer.read.bind(buffer);
      replace(buffer, "read", (offset, length) =>
        read(Math.max(0, offset), Math.max(0, Math.min(length, buffer.bytes - Math.max(0, offset)))),
      );
    }),
  },
  {
    name: "writes that begin at whole words",
    fails: ["buffer.copies"],
    spoil: buffers((buffer) => {
      const write = buffer.write.bind(buffer);
      replace(buffer, "write", (offset, data) => write(offset === 7 ? 4 : offset, data));
    }),
  },
  {
    name: "release() that does nothing",
    fails: ["buffer.released", "refused.released_buffer", "control.close"],
    spoil: buffers((buffer) => replace(buffer, "release", () => {})),
  },
  {
    name: "dispatches in another order",
    fails: ["submit.order"],
    spoil: submits(async (submit, dispatches, options) => {
      const result = await submit(swapped(dispatches), options);
      return { ...result, timings: swapped(result.timings) };
    }),
  },
  {
    name: "offsets of inputs that are ignored",
    fails: ["arguments.offsets"],
    spoil: submits((submit, dispatches, options) =>
      submit(
        dispatches.map((one) => ({
          ...one,
          arguments: one.arguments.map((argument) => (argument.index === 1 ? { ...argument, offset: 0 } : argument)),
        })),
        options,
      ),
    ),
  },
  {
    name: "a dispatch that takes all threadgroup memory and is dropped",
    fails: ["threadgroup.whole"],
    spoil: submits(async (submit, dispatches, options) =>
      dispatches[0]?.threadgroupMemory?.[0]?.bytes === 16_384 ? { timings: [] } : await submit(dispatches, options),
    ),
  },
  {
    name: "a submission of nothing that has a time",
    fails: ["submit.nothing"],
    spoil: submits(async (submit, dispatches, options) =>
      dispatches.length === 0 ? { timings: [{ label: "none", ns: 1 }] } : await submit(dispatches, options),
    ),
  },
  {
    name: "inline bytes above the limit that are accepted",
    fails: ["refused.inline_bytes"],
    spoil: submits((submit, dispatches, options) =>
      submit(dispatches, options).catch((error: unknown) => {
        if (refusalOf(error) && error.message.includes("inline bytes")) return { timings: [] };
        throw error;
      }),
    ),
  },
  {
    name: "a refusal of threadgroup memory that does not say the limit",
    fails: ["refused.threadgroup_memory"],
    spoil: submits((submit, dispatches, options) =>
      submit(dispatches, options).catch((error: unknown) => {
        if (!refusalOf(error)) throw error;
        throw new DeviceError("dispatch_refused", error.message.replaceAll("32,768", "reached"));
      }),
    ),
  },
  {
    name: "an illegal dispatch that is found when the one before it has run",
    fails: [
      "threads",
      "threadgroup_memory",
      "threadgroup_length",
      "threadgroup_missing",
      "threadgroup_index",
      "no_threadgroups",
      "no_threads",
      "missing_buffer",
      "foreign_buffer",
      "released_buffer",
      "buffer_index",
      "bound_twice",
      "inline_bytes",
      "offset_outside",
      "offset_alignment",
      "foreign_pipeline",
    ].map((id) => `refused.${id}`),
    spoil: submits((submit, dispatches, options) =>
      submit(dispatches, options).catch(async (error: unknown) => {
        if (refusalOf(error) && dispatches.length === 2) await submit(dispatches.slice(0, 1), options);
        throw error;
      }),
    ),
  },
  {
    name: "times of 0",
    fails: ["timing.positive"],
    spoil: submits(async (submit, dispatches, options) => {
      const result = await submit(dispatches, options);
      return { ...result, timings: result.timings.map((one) => ({ ...one, ns: 0 })) };
    }),
  },
  {
    name: "a clock that an emulated device has not",
    fails: ["timing.clock"],
    spoil: submits(async (submit, dispatches, options) => {
      const result = await submit(dispatches, options);
      return { ...result, timings: result.timings.map((one) => ({ ...one, clock: "command_buffer" as const })) };
    }),
  },
  {
    name: "times in another order",
    fails: ["timing.positive"],
    spoil: submits(async (submit, dispatches, options) => {
      const result = await submit(dispatches, options);
      return { ...result, timings: swapped(result.timings) };
    }),
  },
  {
    name: "no progress, so that nothing can be cancelled by it",
    fails: ["control.progress", "control.cancel"],
    spoil: submits((submit, dispatches, options) => {
      const { onProgress: _, ...rest } = options ?? {};
      return submit(dispatches, rest);
    }),
  },
  {
    name: "a submission that blocks the event loop",
    fails: ["control.event_loop"],
    spoil: submits(async (submit, dispatches, options) => {
      let isOver = dispatches.length < 8 || options !== undefined;
      // Twice as long each time: however long the submission takes, the event loop comes to few turns.
      let milliseconds = 50;
      const block = (): void => {
        if (isOver) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
        milliseconds *= 2;
        setImmediate(block);
      };
      setImmediate(block);
      return await submit(dispatches, options).finally(() => {
        isOver = true;
      });
    }),
  },
  {
    name: "signals that are not listened to",
    fails: ["control.cancel", "control.cancel_before"],
    spoil: submits((submit, dispatches, options) => {
      const { signal: _, ...rest } = options ?? {};
      return submit(dispatches, rest);
    }),
  },
  {
    name: "a time limit that is not kept between dispatches",
    fails: ["control.timeout"],
    spoil: submits((submit, dispatches, options) => {
      const { timeoutMs, ...rest } = options ?? {};
      return submit(dispatches, dispatches.length > 1 || timeoutMs === undefined ? rest : { ...rest, timeoutMs });
    }),
  },
  {
    name: "an endless kernel that counts as crashed",
    fails: ["control.endless", "control.timeout"],
    spoil: errors((error) => (error.code === "timed_out" ? new DeviceError("crashed", error.message) : error)),
  },
  {
    name: "faults that nobody hears of",
    fails: ["control.fault", "buffer.sentinel"],
    spoil: submits((submit, dispatches, options) =>
      submit(dispatches, options).catch((error: unknown) => {
        if (error instanceof DeviceError && error.code === "crashed") return { timings: [] };
        throw error;
      }),
    ),
  },
  {
    name: "one submission at a time, the other is dropped",
    fails: ["control.two"],
    spoil: (() => {
      let running = 0;
      return submits(async (submit, dispatches, options) => {
        if (running > 0 && dispatches.length > 1) return { timings: [] };
        running += 1;
        return await submit(dispatches, options).finally(() => {
          running -= 1;
        });
      });
    })(),
  },
  {
    name: "a refusal that waits and is forgotten beside another submission",
    fails: ["control.refusal_beside"],
    spoil: (() => {
      let running = 0;
      return submits(async (submit, dispatches, options) => {
        const isBeside = running > 0;
        running += 1;
        try {
          return await submit(dispatches, options);
        } catch (error) {
          if (isBeside && refusalOf(error)) return { timings: [] };
          throw error;
        } finally {
          running -= 1;
        }
      });
    })(),
  },
  {
    name: "logs that are lost",
    fails: ["control.log"],
    spoil: submits((submit, dispatches, options) => {
      const { onLog: _, ...rest } = options ?? {};
      return submit(dispatches, rest);
    }),
  },
  {
    name: "a device that does not close",
    fails: ["control.close"],
    spoil: (device) => withChanges(device, { close: async () => {} }),
  },
];
