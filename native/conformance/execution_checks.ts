/** What a dispatch computes: positions, memory, barriers, the simdgroup, matrices, atomics, order. */
import type { Device, Dispatch, Size3 } from "../device.ts";
import { bytesOf, dispatchOf, floatsOf, inline, mustEqual, range, UNTOUCHED, withBench, wordsOf } from "./bench.ts";
import { type ConformanceCheck, must } from "./check.ts";
import * as kernels from "./kernels.ts";

const LANES = 32;

/** What `kernels.positions` writes for every thread of a grid, in the order of the output. */
function expectedPositions(threadgroups: Size3, group: Size3): number[] {
  const size = [0, 1, 2].map((axis) => threadgroups[axis]! * group[axis]!) as unknown as Size3;
  const threads = group[0] * group[1] * group[2];
  const rows: number[] = [];
  for (let z = 0; z < size[2]; z += 1) {
    for (let y = 0; y < size[1]; y += 1) {
      for (let x = 0; x < size[0]; x += 1) {
        const own: Size3 = [x % group[0], y % group[1], z % group[2]];
        const index = own[0] + group[0] * (own[1] + group[1] * own[2]);
        rows.push(x, y, z, ...own);
        rows.push(Math.floor(x / group[0]), Math.floor(y / group[1]), Math.floor(z / group[2]));
        rows.push(...group, ...size, ...threadgroups);
        rows.push(index, index % LANES, Math.floor(index / LANES), Math.ceil(threads / LANES));
      }
    }
  }
  return rows;
}

async function positions(device: Device, dimensions: 1 | 2 | 3, threadgroups: Size3, group: Size3): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.positions(dimensions));
    const expected = expectedPositions(threadgroups, group);
    const out = bench.output(expected.length);
    const more = { threadgroups, threadsPerThreadgroup: group };
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }], more)]);
    const actual = wordsOf(out);
    const at = expected.findIndex((value, index) => value !== actual[index]);
    const thread = Math.floor(at / kernels.POSITION_WORDS);
    must(
      at < 0,
      `thread ${thread} of the grid has ${actual[at]} as value ${at % kernels.POSITION_WORDS}; it must be ${expected[at]}`,
    );
    must(out.sentinelIntact(), "a thread outside the grid ran");
    const shown = (size: Size3): string => size.join(" x ");
    return `${shown(threadgroups)} threadgroups of ${shown(group)} threads: 10 attributes of ${expected.length / kernels.POSITION_WORDS} threads`;
  });
}

async function staticMemory(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.STATIC);
    const out = bench.output(512);
    const more = { threadsPerThreadgroup: [128, 1, 1] } as const;
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }], more)]);
    mustEqual(
      "reversed",
      wordsOf(out),
      range(512).map((i) => (511 - i) * 3),
    );
    return "512 words, each written by one thread and read by another";
  });
}

async function dynamicMemory(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.DYNAMIC);
    const [threads, groups] = [128, 5];
    const out = bench.output(threads * groups);
    const threadgroupMemory = [0, 1].map((index) => ({ index, bytes: threads * 4 }));
    const more = { threadgroups: [groups, 1, 1], threadsPerThreadgroup: [threads, 1, 1], threadgroupMemory } as const;
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }], more)]);
    const expected = range(groups).flatMap((group) => {
      let first = range(threads).map((i) => group * 1000 + i);
      for (let turn = 0; turn < 3; turn += 1) {
        const second = first.map((_, i) => first[(i + 1) % threads]! + 1);
        first = first.map((_, i) => second[threads - 1 - i]!);
      }
      return first;
    });
    mustEqual("after three exchanges", wordsOf(out), expected);
    return `${groups} threadgroups of ${threads} threads exchange two dynamic arrays across six barriers`;
  });
}

/** Every dynamic byte that the limit leaves is there. */
async function allThreadgroupMemory(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.DYNAMIC);
    const bytes = device.profile.limits.value.maxThreadgroupMemoryBytes / 2;
    const out = bench.output(32);
    const threadgroupMemory = [0, 1].map((index) => ({ index, bytes }));
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }], { threadgroupMemory })]);
    must(
      wordsOf(out).every((word) => word !== UNTOUCHED),
      "the dispatch did not run",
    );
    return `${(bytes * 2).toLocaleString("en-US")} bytes, the whole limit`;
  });
}

const SIMD_INPUT = Float32Array.from({ length: 96 }, (_, i) => ((i * 37) % 64) - 20);

async function simd(
  device: Device,
  kernel: kernels.ConformanceKernel,
  model: (lanes: readonly number[], lane: number) => readonly [number, number],
): Promise<void> {
  await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernel);
    const out = bench.output(192);
    const given = [
      { index: 0, buffer: out },
      { index: 1, buffer: bench.input(SIMD_INPUT) },
    ];
    await device.submit([dispatchOf(pipeline, given, { threadsPerThreadgroup: [96, 1, 1] })]);
    const expected = range(96).flatMap((i) => {
      const first = i - (i % LANES);
      return model([...SIMD_INPUT.subarray(first, first + LANES)], i % LANES);
    });
    mustEqual(kernel.name, floatsOf(out), expected);
    return "";
  });
}

async function simdReduce(device: Device): Promise<string> {
  await simd(device, kernels.SIMD_REDUCE, (lanes) => [lanes.reduce((a, b) => a + b, 0), Math.max(...lanes)]);
  return "simd_sum and simd_max of three simdgroups";
}

async function simdPermute(device: Device): Promise<string> {
  await simd(device, kernels.SIMD_PERMUTE, (lanes, lane) => [lanes[lane ^ 5] ?? Number.NaN, lanes[7] ?? Number.NaN]);
  return "simd_shuffle_xor and simd_broadcast of three simdgroups";
}

async function matrix(device: Device, kernel: kernels.ConformanceKernel): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernel);
    const values = Float32Array.from({ length: 128 }, (_, i) => ((i * 5) % 11) - 5);
    const out = bench.output(64);
    const given = [
      { index: 0, buffer: out },
      { index: 1, buffer: bench.input(values) },
    ];
    await device.submit([dispatchOf(pipeline, given)]);
    const expected = range(64).map((at) => {
      const [row, column] = [at >> 3, at & 7];
      return range(8).reduce((sum, k) => sum + values[row * 8 + k]! * values[64 + k * 8 + column]!, 1);
    });
    mustEqual("a b + 1", floatsOf(out), expected);
    return "8x8 product plus 1, exact";
  });
}

async function matrixElements(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.MATRIX_ELEMENTS);
    const out = bench.output(64);
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: out }])]);
    const expected = new Float32Array(64);
    for (const lane of range(LANES)) {
      // The element map of kernels/fragments.ts: two neighbouring columns of one row a lane.
      const row = ((lane & 6) >> 1) + ((lane & 16) >> 2);
      const column = ((lane & 1) << 1) + ((lane & 8) >> 1);
      for (const element of [0, 1]) expected[row * 8 + column + element] = 2 * lane + element;
    }
    mustEqual("elements of the matrix", floatsOf(out), expected);
    return "lane and element of each of 64 entries are where the kernels expect them";
  });
}

async function atomics(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.ATOMICS);
    const totals = bench.input(new Uint32Array(3), "totals");
    const [groups, threads] = [40, 96];
    const more = { threadgroups: [groups, 1, 1], threadsPerThreadgroup: [threads, 1, 1] } as const;
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer: totals }], more)]);
    const count = groups * threads;
    mustEqual("sum, maximum and sum of threadgroups", wordsOf(totals), [count, count - 1, count * 2]);
    return `${count} threads added to one word, and to one in each threadgroup`;
  });
}

async function inlineBytes(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.COPY);
    const limit = device.profile.limits.value.setBytesMax;
    const words = Uint32Array.from({ length: limit / 4 }, (_, i) => i * 2_654_435_761);
    const out = bench.output(words.length);
    const given = [
      { index: 0, buffer: out },
      { index: 1, bytes: bytesOf(words) },
    ];
    const more = { threadgroups: [words.length / 256, 1, 1], threadsPerThreadgroup: [256, 1, 1] } as const;
    await device.submit([dispatchOf(pipeline, given, more)]);
    mustEqual("inline bytes", wordsOf(out), words);
    return `${limit.toLocaleString("en-US")} bytes arrive unchanged`;
  });
}

async function offsets(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.COPY);
    const out = bench.output(96);
    const input = bench.input(Uint32Array.from(range(160)));
    const given = [
      { index: 0, buffer: out, offset: 4 },
      { index: 1, buffer: input, offset: 256 },
    ];
    await device.submit([dispatchOf(pipeline, given, { threadgroups: [2, 1, 1] })]);
    const expected = range(96).map((i) => (i >= 1 && i <= 64 ? 64 + i - 1 : UNTOUCHED));
    mustEqual("64 words from byte 256 to byte 4", wordsOf(out), expected);
    return "an output at byte 4 and an input at byte 256";
  });
}

async function order(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.SCALE_ADD);
    const buffer = bench.input(Uint32Array.from(range(256)));
    const steps = range(12).map((index) => [(index % 3) + 1, index * 7 + 1] as const);
    const step = ([factor, by]: readonly [number, number]): Dispatch =>
      dispatchOf(pipeline, [{ index: 0, buffer }, inline(1, factor, by)], { threadgroups: [8, 1, 1] });
    await device.submit(steps.map(step));
    const expected = range(256).map((i) => steps.reduce((x, [factor, by]) => (x * factor + by) >>> 0, i));
    mustEqual(`after ${steps.length} steps`, wordsOf(buffer), expected);
    return `${steps.length} dispatches of one submission, each on what the one before it wrote`;
  });
}

async function consecutive(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.SCALE_ADD);
    const buffer = bench.input(Uint32Array.from(range(32)));
    const step = (factor: number, by: number): Dispatch =>
      dispatchOf(pipeline, [{ index: 0, buffer }, inline(1, factor, by)]);
    await device.submit([step(3, 1)]);
    buffer.write(0, bytesOf(Uint32Array.of(1000)));
    await device.submit([step(2, 5)]);
    const expected = range(32).map((i) => (i === 0 ? 2005 : (i * 3 + 1) * 2 + 5));
    mustEqual("after two submissions", wordsOf(buffer), expected);
    return "what the host writes between two submissions is seen by the second";
  });
}

async function nothing(device: Device): Promise<string> {
  const { timings } = await device.submit([]);
  must(timings.length === 0, `a submission of nothing has ${timings.length} timings`);
  return "a submission without dispatches ends at once";
}

async function undeclared(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.LIMITED);
    const out = bench.output(32);
    const given = [{ index: 0, buffer: out }, inline(9, 1)];
    await device.submit([dispatchOf(pipeline, given)]);
    mustEqual(
      "i + 1",
      wordsOf(out),
      range(32).map((i) => i + 1),
    );
    return "binding more than the kernel declares is fine";
  });
}

export const EXECUTION_CHECKS: readonly ConformanceCheck[] = [
  {
    id: "grid.1d",
    title: "positions of a grid of one dimension",
    needs: [],
    run: (device) => positions(device, 1, [7, 1, 1], [96, 1, 1]),
  },
  {
    id: "grid.2d",
    title: "positions of a grid of two dimensions",
    needs: [],
    run: (device) => positions(device, 2, [3, 4, 1], [16, 5, 1]),
  },
  {
    id: "grid.3d",
    title: "positions of a grid of three dimensions",
    needs: [],
    run: (device) => positions(device, 3, [2, 3, 2], [8, 4, 3]),
  },
  { id: "threadgroup.static", title: "static threadgroup memory across a barrier", needs: [], run: staticMemory },
  { id: "threadgroup.dynamic", title: "dynamic threadgroup memory across barriers", needs: [], run: dynamicMemory },
  {
    id: "threadgroup.whole",
    title: "the whole limit of threadgroup memory can be used",
    needs: [],
    run: allThreadgroupMemory,
  },
  { id: "simd.reduce", title: "reductions of a simdgroup", needs: ["simd_reduce"], run: simdReduce },
  {
    id: "simd.permute",
    title: "exchanges between the lanes of a simdgroup",
    needs: ["simd_permute"],
    run: simdPermute,
  },
  {
    id: "matrix.float",
    title: "8x8 matrices of float",
    needs: ["simdgroup_matrix"],
    run: (device) => matrix(device, kernels.MATRIX_FLOAT),
  },
  {
    id: "matrix.half",
    title: "8x8 matrices of half, sum in float",
    needs: ["simdgroup_matrix"],
    run: (device) => matrix(device, kernels.MATRIX_HALF),
  },
  {
    id: "matrix.elements",
    title: "the element map that the kernels rely on",
    needs: ["simdgroup_matrix"],
    run: matrixElements,
  },
  { id: "atomics", title: "atomics of device and threadgroup memory", needs: [], run: atomics },
  { id: "arguments.inline", title: "inline bytes up to the limit", needs: [], run: inlineBytes },
  { id: "arguments.offsets", title: "offsets into buffers", needs: [], run: offsets },
  {
    id: "arguments.undeclared",
    title: "an argument that the kernel does not declare is let through",
    needs: [],
    run: undeclared,
  },
  {
    id: "submit.order",
    title: "dispatches run in order, each sees what the ones before it wrote",
    needs: [],
    run: order,
  },
  { id: "submit.consecutive", title: "submissions see what the host wrote between them", needs: [], run: consecutive },
  { id: "submit.nothing", title: "a submission of nothing is fine", needs: [], run: nothing },
];
