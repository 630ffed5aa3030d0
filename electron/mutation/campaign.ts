/**
 * The campaign: plants one fault at a time, asks the checker and the gates, and says which of them caught it. The clean
 * kernels go first and must be silent, or a catch means nothing.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Operator } from "../../kernels/route.ts";
import type { Addon } from "../../native/addon.ts";
import type { Device } from "../../native/device.ts";
import { raw, stream } from "../../oracle/generator.ts";
import type { Case } from "../cases/case.ts";
import { parseStrictJson } from "../evidence/json.ts";
import { type Catalogue, OPERATORS, type PlannedCase, planCases } from "../runs/plan.ts";
import type { HostFacts, ResultRecord } from "../runs/record.ts";
import { checkErrors, routeCheckSchema } from "../runs/route_check.ts";
import { runPlan } from "../runs/run.ts";
import { equivalence } from "./equivalent.ts";
import type { Mutant } from "./mutant.ts";
import { PLANTED, plantedMutant } from "./planted.ts";
import { siteMutants } from "./sites.ts";
import { trialCases } from "./trial.ts";

/** How a mutant ended. */
export type Fate =
  | {
      readonly state: "caught";
      readonly by: "gate" | "report" | "refusal";
      readonly what: string;
      readonly where: string;
    }
  | { readonly state: "survived" }
  | { readonly state: "equivalent"; readonly reason: string };

export interface MutantResult {
  readonly mutant: Omit<Mutant, "text">;
  readonly fate: Fate;
  readonly ms: number;
}

export interface Bench {
  readonly device: Device;
  readonly addon: Addon;
  readonly catalogue: Catalogue;
  readonly suite: readonly Case[];
  readonly host: HostFacts;
  /** Text of a file below `kernels/`. */
  readonly read: (file: string) => string;
}

/** Every mutant of the kernels, in the order of files and lines. */
export function allMutants(files: readonly string[], read: (file: string) => string): readonly Mutant[] {
  const sites = files.flatMap((file) => siteMutants(operatorOf(file), file, read(file)));
  const planted = PLANTED.map((fault) => plantedMutant(fault, read(fault.file)));
  return [...sites, ...planted].sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
}

function operatorOf(file: string): Operator {
  const found = OPERATORS.find((operator) => file.startsWith(`${operator}/`));
  if (found === undefined) throw new Error(`${file} belongs to no operator; there are ${OPERATORS.join(", ")}.`);
  return found;
}

/** A seeded part of a list, in its order: about one in `every`. */
export function sample<T>(list: readonly T[], every: number, seed: number): readonly T[] {
  const keys = stream(seed, 0);
  return list.filter((_, index) => raw(keys, index) % every === 0);
}

/** Routes of the same pipelines that are tried: the fewest and the most partitions show what the others do. */
const LEFT_OUT = ["fused_split_kv_p64", "fused_split_kv_p128"];

/** The trials of an operator: each case on the routes that take it. */
function trials(operator: Operator, bench: Bench): readonly PlannedCase[] {
  const cases = trialCases(operator, bench.suite);
  return planCases(cases, { operator }, bench.catalogue).map((entry) => ({
    ...entry,
    routes: entry.routes.filter(({ route }) => !LEFT_OUT.includes(route)),
  }));
}

/** Runs trials until a result is no pass; that result, and the folder with its reports. */
async function firstMiss(
  bench: Bench,
  cases: readonly PlannedCase[],
  read: Bench["read"],
  signal: AbortSignal,
): Promise<{ readonly result: ResultRecord; readonly report: string | undefined } | undefined> {
  const staging = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-mutate-"));
  const enough = new AbortController();
  let miss: ResultRecord | undefined;
  try {
    await runPlan({
      device: bench.device,
      addon: bench.addon,
      plan: { suite: null, cases },
      staging,
      readSource: read,
      host: bench.host,
      timeoutMs: TRIAL_TIMEOUT_MS,
      workers: 1,
      signal: AbortSignal.any([signal, enough.signal]),
      emit: (event) => {
        if (event.type !== "result" || miss !== undefined || event.result.verdict === "pass") return;
        miss = event.result;
        enough.abort();
      },
    });
    return miss && { result: miss, report: reportOf(staging, miss) };
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
  }
}

/** A mutant that loops for ever is caught by the time-out. */
const TRIAL_TIMEOUT_MS = 20_000;

/** The first error of the checker, as `race at file:line`. */
function reportOf(staging: string, { check: file }: ResultRecord): string | undefined {
  if (file === undefined) return undefined;
  const { result } = routeCheckSchema.parse(parseStrictJson(fs.readFileSync(path.join(staging, file), "utf8"), file));
  if (checkErrors(result) === 0) return undefined;
  const report = result.reports.find(({ severity }) => severity === "error")!;
  const place = report.first.location;
  return place === null ? report.kind : `${report.kind} at ${place.path}:${place.line}`;
}

/** Ends of a route that its kernel is answerable for. */
const OF_THE_KERNEL: readonly ResultRecord["state"][] = [
  "completed",
  "compile_failed",
  "refused",
  "crashed",
  "timed_out",
];

function caught(miss: NonNullable<Awaited<ReturnType<typeof firstMiss>>>): Fate {
  const { result, report } = miss;
  const where = `${result.route} on ${result.case}`;
  // A compiler without room or a device that is gone catches nothing.
  if (!OF_THE_KERNEL.includes(result.state)) {
    throw new Error(`${where} could not be tried: ${result.error ?? result.state}.`);
  }
  if (result.state !== "completed") {
    return { state: "caught", by: "refusal", what: `${result.state}: ${result.error ?? "no result"}`, where };
  }
  const gates = result.gates.filter(({ verdict }) => verdict !== "pass").map(({ id }) => id);
  const other = gates.filter((id) => id !== "checker");
  if (report !== undefined && other.length === 0) return { state: "caught", by: "report", what: report, where };
  const words = other.length === 0 ? "checker" : other.join(", ");
  return { state: "caught", by: "gate", what: report === undefined ? words : `${words}; ${report}`, where };
}

/** Without small cases the checker is not asked and nothing is compared with lockstep. */
function plain(cases: readonly PlannedCase[]): readonly PlannedCase[] {
  return cases.map((entry) => ({ ...entry, routes: entry.routes.map((item) => ({ ...item, lockstep: null })) }));
}

/** One case a route, each with its small case, which is where the checker looks. */
function checked(cases: readonly PlannedCase[]): readonly PlannedCase[] {
  return cases
    .map((entry) => ({ ...entry, routes: entry.routes.filter((item) => item.lockstep !== null) }))
    .filter((entry) => entry.routes.length > 0);
}

/** The trials of routes that read `file`. */
function touching(cases: readonly PlannedCase[], file: string): readonly PlannedCase[] {
  return cases
    .map((entry) => ({
      ...entry,
      routes: entry.routes.filter(({ plan }) => plan.source === file || plan.includes.includes(file)),
    }))
    .filter((entry) => entry.routes.length > 0);
}

export interface CampaignOptions {
  readonly mutants: readonly Mutant[];
  readonly signal: AbortSignal;
  readonly onResult: (result: MutantResult) => void;
  /** Mutants tried at a time, each on a device of its own. */
  readonly benches: readonly Bench[];
}

/** Throws where a clean kernel is not silent. */
export async function checkClean(bench: Bench, signal: AbortSignal): Promise<void> {
  for (const operator of OPERATORS) {
    const miss = await firstMiss(bench, trials(operator, bench), bench.read, signal);
    if (miss === undefined) continue;
    const { result, report } = miss;
    const gates = result.gates.filter(({ verdict }) => verdict !== "pass").map(({ id }) => id);
    throw new Error(
      `The clean kernels are not silent: ${result.route} on ${result.case}: ${result.error ?? gates.join(", ")}${report === undefined ? "" : `; ${report}`}.`,
    );
  }
}

/** Tries every mutant. Rejects only where nothing can be run. */
export async function campaign(options: CampaignOptions): Promise<readonly MutantResult[]> {
  const results: MutantResult[] = [];
  const queue = [...options.mutants];
  const work = async (bench: Bench): Promise<void> => {
    const plans = new Map(OPERATORS.map((operator) => [operator, trials(operator, bench)] as const));
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      if (options.signal.aborted) return;
      const start = performance.now();
      const fate = await fateOf(mutant, plans.get(mutant.operator)!, bench, options.signal);
      if (options.signal.aborted) return;
      const { text: _text, ...shown } = mutant;
      const result = { mutant: shown, fate, ms: performance.now() - start };
      results.push(result);
      options.onResult(result);
    }
  };
  await Promise.all(options.benches.map(work));
  return results;
}

async function fateOf(mutant: Mutant, plan: readonly PlannedCase[], bench: Bench, signal: AbortSignal): Promise<Fate> {
  const read = (file: string): string => (file === mutant.file ? mutant.text : bench.read(file));
  const cases = touching(plan, mutant.file);
  if (cases.length === 0) throw new Error(`No route that is tried reads ${mutant.file}.`);
  // A missing barrier is the checker's to see; anything else shows sooner in the numbers.
  const byNumbers = plain(cases);
  const byReports = checked(cases);
  const order = mutant.class === "barrier_removed" ? [byReports, byNumbers] : [byNumbers, byReports];
  for (const part of order) {
    const miss = await firstMiss(bench, part, read, signal);
    if (miss !== undefined) return caught(miss);
  }
  const reason = equivalence(mutant);
  return reason === undefined ? { state: "survived" } : { state: "equivalent", reason };
}
