/**
 * What differs between two runs: first the circumstances, of which only those that differ are listed, then the verdicts that
 * changed, then the figures that did, then what only one of them has. Pure; A is the one that B is held against.
 */
import * as z from "zod";
import { figureText, timeText } from "../words.ts";
import { figure, type ResultRecord, type RunRecord, resultSchema } from "./record.ts";

const verdictSchema = resultSchema.shape.verdict;
const METRICS = ["maxAbs", "nmse", "worstRowNmse", "ms"] as const;

const itemSchema = { case: z.string(), route: z.string() };

/** How B stands to A. `smaller` and `larger` are of errors and times: smaller is better. */
const deltaWordSchema = z.enum(["same", "smaller", "larger", "only in A", "only in B", "not comparable"]);

const deltaSchema = z.strictObject({
  metric: z.enum(METRICS),
  a: figure.nullable(),
  b: figure.nullable(),
  /** B minus A, and B over A; null where one is missing, or A is 0. */
  delta: figure.nullable(),
  ratio: figure.nullable(),
  word: deltaWordSchema,
});
export type Delta = z.infer<typeof deltaSchema>;

const sideSchema = z.strictObject({
  verdict: verdictSchema,
  state: resultSchema.shape.state,
  error: z.string().nullable(),
});

export const diffSchema = z.strictObject({
  schema: z.literal("lockstep.diff/1"),
  /** Facts that differ. A fact that one run does not have is null there. */
  config: z.array(
    z.strictObject({
      fact: z.string(),
      a: z.string().nullable(),
      b: z.string().nullable(),
      /** What the difference means for the comparison; null where that is plain. */
      note: z.string().nullable(),
    }),
  ),
  /** Results whose verdict differs: from pass first. */
  verdicts: z.array(
    z.strictObject({
      ...itemSchema,
      a: sideSchema,
      b: sideSchema,
      change: z.enum(["broke", "mended", "other"]),
      deltas: z.array(deltaSchema),
    }),
  ),
  /** Results of one verdict in both and of different outputs, the largest change first. */
  figures: z.array(z.strictObject({ ...itemSchema, verdict: verdictSchema, deltas: z.array(deltaSchema) })),
  /** Results whose outputs have the same bits in both. */
  same: z.number().int(),
  onlyA: z.array(z.strictObject({ ...itemSchema, verdict: verdictSchema })),
  onlyB: z.array(z.strictObject({ ...itemSchema, verdict: verdictSchema })),
  /** Results that both have. */
  shared: z.number().int(),
  /** True where the times of the two may be held against each other. */
  timesComparable: z.boolean(),
});
export type RunDiff = z.infer<typeof diffSchema>;

type Side = RunRecord;

function seedsOf(record: Side): string {
  const seeds = record.cases.flatMap(({ source }) => (source.kind === "generator" ? [source.seed] : []));
  const distinct = [...new Set(seeds)].sort((a, b) => a - b).map((seed) => `0x${seed.toString(16)}`);
  return distinct.length === 0 ? "none, inputs of files" : distinct.join(", ");
}

/** Facts of a run by name, in the order in which they are shown. */
function factsOf(record: Side): readonly (readonly [string, string | null])[] {
  const { device, producer, app } = record;
  return [
    ["execution", record.execution],
    ["device", device?.id ?? producer?.chip ?? null],
    ["virtual GPU", device?.virtualGpu === undefined ? null : device.virtualGpu.value ? "yes" : "no"],
    ["validation", record.validation === undefined ? null : "on"],
    ["chip", device?.chip.value ?? producer?.chip ?? null],
    ["os", device?.os.value ?? producer?.os ?? null],
    ["toolchain", device?.toolchain.value ?? producer?.toolchain ?? null],
    ["gates", record.gates.sha256],
    ["program", app.version],
    ["commit", app.commit],
    ["suite", record.suite],
    ["seeds", seedsOf(record)],
    ["machine", `${record.host.os}, ${record.host.arch}, ${record.host.cpu}`],
    ["node", record.host.node],
    ["outcome", record.outcome],
    ["kernel files", String(record.files.filter((file) => file.role === "kernel").length)],
    ...record.files
      .filter((file) => file.role === "kernel")
      .map((file) => [`kernel ${file.path.replace(/^data\/kernels\//, "")}`, file.sha256] as const),
  ];
}

const NOTES: Readonly<Record<string, string>> = {
  execution: "figures are comparable, times are not",
  gates: "verdicts were given by different gates",
  seeds: "other inputs: cases of another seed have another key",
  machine: "times are not comparable",
  validation: "validation instruments the pipelines: times are not comparable",
};

function configOf(a: Side, b: Side): RunDiff["config"] {
  const [left, right] = [new Map(factsOf(a)), new Map(factsOf(b))];
  // A kernel that one of them did not run is no difference of kernels; how many there are is said once.
  const both = (fact: string): boolean => !fact.startsWith("kernel ") || (left.has(fact) && right.has(fact));
  const names = [...new Set([...left.keys(), ...right.keys()])].filter(both);
  return names.flatMap((fact) => {
    const [valueA, valueB] = [left.get(fact) ?? null, right.get(fact) ?? null];
    return valueA === valueB ? [] : [{ fact, a: valueA, b: valueB, note: NOTES[fact] ?? null }];
  });
}

function figureOf(result: ResultRecord, metric: (typeof METRICS)[number]): number | null {
  if (metric === "ms") return result.ms;
  return result.metrics === null ? null : result.metrics[metric];
}

/** The difference of one figure. NaN and infinities are not compared, only told apart. */
export function deltaOf(metric: Delta["metric"], a: number | null, b: number | null, comparable = true): Delta {
  const base = { metric, a, b };
  if (a === null || b === null) {
    const word = a === null && b === null ? "same" : a === null ? "only in B" : "only in A";
    return { ...base, delta: null, ratio: null, word };
  }
  if (Object.is(a, b) || a === b)
    return { ...base, delta: 0, ratio: a === 0 || !Number.isFinite(a) ? null : 1, word: "same" };
  if (!comparable || !Number.isFinite(a) || !Number.isFinite(b)) {
    return { ...base, delta: null, ratio: null, word: "not comparable" };
  }
  return { ...base, delta: b - a, ratio: a === 0 ? null : b / a, word: b < a ? "smaller" : "larger" };
}

function deltasOf(a: ResultRecord, b: ResultRecord, timesComparable: boolean): Delta[] {
  return METRICS.map((metric) =>
    deltaOf(metric, figureOf(a, metric), figureOf(b, metric), metric !== "ms" || timesComparable),
  );
}

function sameBits(a: ResultRecord, b: ResultRecord): boolean {
  const digests = (result: ResultRecord): string =>
    result.outputs.map((output) => `${output.name} ${output.sha256}`).join("\n");
  return a.outputs.length > 0 && digests(a) === digests(b);
}

/** How far the errors moved, as a factor; times do not count. What cannot be compared comes first. */
function movement(deltas: readonly Delta[]): number {
  return deltas.reduce((most, { metric, ratio, word }) => {
    if (metric === "ms" || word === "same") return most;
    return Math.max(most, ratio === null || ratio <= 0 ? Number.MAX_VALUE : Math.abs(Math.log(ratio)));
  }, 0);
}

const CHANGES: readonly RunDiff["verdicts"][number]["change"][] = ["broke", "other", "mended"];

export function diffRuns(a: RunRecord, b: RunRecord): RunDiff {
  const id = (result: ResultRecord): string => `${result.case}\n${result.route}`;
  const [left, right] = [a, b].map((record) => new Map(record.results.map((result) => [id(result), result])));
  const timesComparable =
    a.execution === b.execution &&
    a.device?.id === b.device?.id &&
    a.host.cpu === b.host.cpu &&
    a.device?.os.value === b.device?.os.value &&
    // Times of instrumented pipelines are no timings, not even against each other.
    a.validation === undefined &&
    b.validation === undefined &&
    a.execution !== "imported";
  const verdicts: RunDiff["verdicts"] = [];
  const figures: RunDiff["figures"] = [];
  let same = 0;
  let shared = 0;
  for (const [key, before] of left!) {
    const after = right!.get(key);
    if (after === undefined) continue;
    shared += 1;
    const item = { case: before.case, route: before.route };
    const deltas = deltasOf(before, after, timesComparable);
    if (before.verdict !== after.verdict) {
      const change = before.verdict === "pass" ? "broke" : after.verdict === "pass" ? "mended" : "other";
      const side = ({ verdict, state, error }: ResultRecord) => ({ verdict, state, error });
      verdicts.push({ ...item, a: side(before), b: side(after), change, deltas });
    } else if (sameBits(before, after)) same += 1;
    else figures.push({ ...item, verdict: after.verdict, deltas });
  }
  verdicts.sort((x, y) => CHANGES.indexOf(x.change) - CHANGES.indexOf(y.change));
  figures.sort((x, y) => movement(y.deltas) - movement(x.deltas));
  const only = (mine: ReadonlyMap<string, ResultRecord>, other: ReadonlyMap<string, ResultRecord>) =>
    [...mine]
      .filter(([key]) => !other.has(key))
      .map(([, { case: name, route, verdict }]) => ({ case: name, route, verdict }));
  return {
    schema: "lockstep.diff/1",
    config: configOf(a, b),
    verdicts,
    figures,
    same,
    onlyA: only(left!, right!),
    onlyB: only(right!, left!),
    shared,
    timesComparable,
  };
}

/** True where a reader of the two must look: a verdict broke, or B lacks what A has. */
export function isWorse(diff: RunDiff): boolean {
  return diff.verdicts.some((item) => item.change === "broke") || diff.onlyA.length > 0;
}

/** `3.02e-8 to 4.71e-7, 15.6 times`. */
export function deltaText({ metric, a, b, ratio, word }: Delta): string {
  const text = (value: number | null): string =>
    value === null ? "none" : metric === "ms" ? timeText(value) : figureText(value);
  if (word === "same") return text(a);
  const times =
    ratio === null ? "" : `, ${ratio >= 10 || ratio < 0.01 ? ratio.toPrecision(3) : ratio.toFixed(2)} times`;
  return `${text(a)} to ${text(b)}${times}`;
}
