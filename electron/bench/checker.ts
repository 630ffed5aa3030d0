/**
 * What checking costs: `check` over `fast`, and `check+lockstep` over `lockstep`, on one worker and interleaved; and
 * the time for 128 tokens beside Oclgrind's on an OpenCL port of the same kernel.
 */
import type { CaseShape, DecodeShape } from "../../kernels/route.ts";
import { findRoute } from "../../kernels/routes.ts";
import type { Addon } from "../../native/addon.ts";
import type { Device, DeviceBuffer, Flavour } from "../../native/device.ts";
import type { Places } from "../host/root.ts";
import { Builder, execute, type PreparedRoute, type ReadSource, WorkPool } from "../runs/execute.ts";
import { decodeInput } from "../runs/reference.ts";
import { MATRIX_TITLE, type MatrixWork, matrixWork } from "./checker_matrix.ts";
import { findOclgrind, NO_OCLGRIND, runOclgrind } from "./checker_oclgrind.ts";
import { childMilliseconds } from "./checker_time.ts";
import { decode, fillInputs, PREFILL, writeSequences } from "./kernels.ts";
import { median } from "./measure.ts";
import type { BenchRow } from "./row.ts";

/** Times that `fast` may take: what the project holds itself to, and what it would like. */
const TARGET = 12;
const GOAL = 8;

const ROUNDS = 3;
/** A sample is repeated until it is this long: the clock has steps of 10 ms. */
const SAMPLE_MS = 250;

const PAIRS: readonly (readonly [check: Flavour, plain: Flavour])[] = [
  ["check", "fast"],
  ["check+lockstep", "lockstep"],
];
const FLAVOURS: readonly Flavour[] = ["fast", "check", "lockstep", "check+lockstep"];

interface RouteBench {
  readonly title: string;
  readonly shape: CaseShape;
  readonly route: string;
  readonly flavours: readonly Flavour[];
}

const ROUTES: readonly RouteBench[] = [
  { title: "decode L=1024", shape: decode(1024), route: "fused_split_kv_p32", flavours: FLAVOURS },
  { title: "decode L=8192", shape: decode(8192), route: "fused_split_kv_p32", flavours: ["fast", "check"] },
  { title: "prefill 16 heads 77/256/33 f16", shape: PREFILL, route: "simdgroup_8x8", flavours: FLAVOURS },
];

const BESIDE_OCLGRIND = decode(128);

/** A kernel that can be run in several flavours. */
interface Work {
  readonly submit: (flavour: Flavour) => Promise<unknown>;
  readonly inputs: ReadonlyMap<string, DeviceBuffer>;
  readonly release: () => void;
}

async function routeWork(
  bench: Omit<RouteBench, "title">,
  device: Device,
  addon: Addon,
  readSource: ReadSource,
): Promise<Work> {
  const { shape } = bench;
  const plan = findRoute(shape.operator, bench.route).plan(shape);
  const builder = new Builder(device, readSource);
  const prepared = new Map<Flavour, PreparedRoute>();
  for (const flavour of bench.flavours) prepared.set(flavour, await builder.prepare(plan, flavour));
  const inputs = await fillInputs(device, addon, plan);
  if (shape.operator === "mla_prefill") writeSequences(inputs, shape);
  const pool = new WorkPool(device);
  return {
    inputs,
    submit: async (flavour) => {
      const { check } = await execute(device, prepared.get(flavour)!, inputs, pool, { workers: 1 });
      const [report] = check?.reports ?? [];
      if (report !== undefined) throw new Error(`${plan.route} was reported: ${report.message}`);
    },
    release: () => {
      pool.release();
      for (const buffer of inputs.values()) buffer.release();
    },
  };
}

/** Milliseconds of one submission, from a sample of `repeats`. */
async function sample(work: () => Promise<unknown>, repeats: number): Promise<number> {
  const ms = await childMilliseconds(async () => {
    for (let i = 0; i < repeats; i++) await work();
  });
  return ms / repeats;
}

/** How often `work` fits into a sample; it has run once before. */
async function repeatsOf(work: () => Promise<unknown>): Promise<number> {
  await work();
  return Math.max(1, Math.ceil(SAMPLE_MS / Math.max(1, await sample(work, 4))));
}

/** Medians of two flavours of the same work, in the order A B B A. */
async function medians(work: Pick<Work, "submit">, a: Flavour, b: Flavour): Promise<{ a: number; b: number }> {
  const runA = () => work.submit(a);
  const runB = () => work.submit(b);
  const repeats = { b: await repeatsOf(runB), a: 1 };
  await runA();
  const first = await sample(runA, 1);
  repeats.a = Math.max(1, Math.ceil(SAMPLE_MS / Math.max(1, first)));
  const times: { a: number[]; b: number[] } = { a: [], b: [] };
  for (let round = 0; round < ROUNDS; round++) {
    times.a.push(await sample(runA, repeats.a));
    times.b.push(await sample(runB, repeats.b), await sample(runB, repeats.b));
    times.a.push(await sample(runA, repeats.a));
  }
  return { a: median(times.a), b: median(times.b) };
}

function shown(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms.toFixed(1);
}

async function emitPairs(
  title: string,
  work: Pick<Work, "submit">,
  flavours: readonly Flavour[],
  emit: (row: BenchRow) => void,
): Promise<void> {
  for (const [check, plain] of PAIRS) {
    if (!flavours.includes(check)) continue;
    const { a, b } = await medians(work, check, plain);
    emit({
      name: `${check} over ${plain}, ${title}`,
      value: a / b,
      unit: "x",
      // Lockstep has no target: it is there to be seen.
      target: check === "check" ? TARGET : null,
      comparedWith: `${shown(a)} ms over ${shown(b)} ms${check === "check" ? `, goal ${GOAL} x` : ""}`,
      compared: null,
    });
  }
}

async function besideOclgrind(
  where: Places,
  device: Device,
  addon: Addon,
  readSource: ReadSource,
  scratch: string,
): Promise<BenchRow> {
  const shape: DecodeShape = BESIDE_OCLGRIND;
  const bench = { shape, route: "fused_split_kv_p32", flavours: ["check" as const] };
  const work = await routeWork(bench, device, addon, readSource);
  try {
    const submit = () => work.submit("check");
    const repeats = await repeatsOf(submit);
    const before = await sample(submit, repeats);
    const row = { target: null, compared: null };
    const program = findOclgrind();
    if (program === undefined) {
      return { ...row, name: `check, decode L=${shape.live}`, value: before, unit: "ms", comparedWith: NO_OCLGRIND };
    }
    const { out } = await addon.gqaDecode({ ...decodeInput(shape, work.inputs), threads: 1 });
    const tensors = ["q", "k", "v"].map((name) => {
      const buffer = work.inputs.get(name)!;
      return buffer.read(0, buffer.bytes);
    });
    const other = await runOclgrind(program, where.root, scratch, shape, tensors, out);
    const own = median([before, await sample(submit, repeats)]);
    return {
      ...row,
      name: `Oclgrind over check, decode L=${shape.live}, NMSE of the port ${other.nmse.toExponential(0)}`,
      value: other.kernelMs / own,
      unit: "x",
      comparedWith: `${shown(other.kernelMs)} ms (and ${shown(other.startMs)} of start) over ${shown(own)} ms`,
    };
  } finally {
    work.release();
  }
}

/** Measures the checker. Figures are processor time of one worker where the system tells it. */
export async function benchChecker(
  where: Places,
  device: Device,
  addon: Addon,
  readSource: ReadSource,
  scratch: string,
  emit: (row: BenchRow) => void,
): Promise<void> {
  for (const bench of ROUTES) {
    const work = await routeWork(bench, device, addon, readSource);
    try {
      await emitPairs(bench.title, work, bench.flavours, emit);
    } finally {
      work.release();
    }
  }
  const matrix: MatrixWork = await matrixWork(device, where.root, FLAVOURS);
  try {
    await emitPairs(MATRIX_TITLE, matrix, FLAVOURS, emit);
  } finally {
    matrix.release();
  }
  emit(await besideOclgrind(where, device, addon, readSource, scratch));
}
