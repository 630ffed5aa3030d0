/** The checker's word for a window: what a run kept of it, and a check of the kernel of a manifest. */
import type { CaseShape, RoutePlan } from "../../kernels/route.ts";
import { findRoute } from "../../kernels/routes.ts";
import { CHECK_KINDS } from "../../native/check.ts";
import { REPORT_WORDS } from "../../native/emulator/check_words.ts";
import type { KernelProgress, KernelRequest } from "../checker/messages.ts";
import type { CheckKinds, KernelItem, RunCheck, RunChecks } from "../checker/run_checks.ts";
import { libraryKey } from "../runs/execute.ts";
import { smallCase } from "../runs/plan.ts";
import type { ResultRecord, RunRecord } from "../runs/record.ts";
import { WorkbenchError } from "./failure.ts";
import { Feed } from "./feed.ts";
import type { History } from "./history.ts";
import type { Runs } from "./runs.ts";

const KERNELS = "data/kernels/";

/** Every set of pipelines that the run had checked. Throws `WorkbenchError` where the bundle does not hold them. */
export async function listChecks(history: History, id: string): Promise<RunChecks> {
  const record = await history.record(id);
  const asked = record.results.filter((result) => result.check !== undefined);
  const known = new Set<string>();
  const checks: RunCheck[] = [];
  for (const result of asked) {
    const file = result.check!;
    if (known.has(file)) continue;
    known.add(file);
    const { route, case: key, flavour, pinned, result: said } = await history.check(id, file);
    const shape = shapeOf(record, result);
    const small = shape === undefined ? undefined : smallCase(shape, lengthOf(key));
    checks.push({
      path: file,
      operator: shape?.operator ?? operatorOf(key),
      route,
      case: key,
      shape: small?.key === key ? (small.shape as RunCheck["shape"]) : null,
      flavour,
      pinned,
      defines: definesOf(planOf(shape, route)),
      results: resultsOf(record, result),
      result: said,
    });
  }
  const sources = record.files.filter(({ role }) => role === "kernel");
  const texts = await Promise.all(
    sources.map(async ({ path: file }) => ({ path: file.slice(KERNELS.length), text: await history.kernel(id, file) })),
  );
  return { checks, texts };
}

export function checkKinds(): CheckKinds {
  return {
    kinds: CHECK_KINDS.map((kind) => ({
      kind,
      mechanism: REPORT_WORDS[kind].mechanism,
      blindSpot: REPORT_WORDS[kind].blindSpot,
    })),
  };
}

/** The length of a decode case by its key: a bundle may be of a version whose small cases had another. */
function lengthOf(key: string): Parameters<typeof smallCase>[1] {
  const tokens = /\/L(\d+)\//.exec(key)?.[1];
  return tokens === undefined ? {} : { loopTokens: Number(tokens) };
}

function operatorOf(key: string): RunCheck["operator"] {
  return key.startsWith("mla_prefill/") ? "mla_prefill" : "gqa_decode";
}

function shapeOf(record: RunRecord, result: Pick<ResultRecord, "case">): CaseShape | undefined {
  return record.cases.find(({ key }) => key === result.case)?.shape;
}

/** The plan of a route as this version makes it; a bundle may be of a version with other routes. */
function planOf(shape: CaseShape | undefined, route: string): RoutePlan | undefined {
  if (shape === undefined) return undefined;
  try {
    return findRoute(shape.operator, route).plan(shape);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function definesOf(plan: RoutePlan | undefined): RunCheck["defines"] {
  return plan === undefined ? null : { ...plan.defines };
}

/** The result that was checked, and every other one that the same pipelines computed. */
function resultsOf(record: RunRecord, asked: ResultRecord): RunCheck["results"] {
  const plan = planOf(shapeOf(record, asked), asked.route);
  const own = plan === undefined ? undefined : libraryKey(plan);
  const others = record.results.filter((result) => {
    if (result === asked || result.route !== asked.route || own === undefined) return false;
    const other = planOf(shapeOf(record, result), result.route);
    return other !== undefined && libraryKey(other) === own;
  });
  return [asked, ...others].map(({ case: key, route }) => ({ case: key, route }));
}

/** Checks the kernel of a manifest through the host: progress as it comes, then the end. Leaving early cancels it. */
export async function* checkManifest(
  runs: Runs,
  asked: Pick<KernelRequest, "from" | "sizes" | "chip">,
  signal: AbortSignal,
): AsyncGenerator<KernelItem, void, undefined> {
  const feed = new Feed<KernelProgress>({ replaces: () => true });
  const progress = feed.follow([], signal);
  const request: KernelRequest = {
    ...asked,
    purpose: "check",
    flavour: null,
    device: null,
    timeoutMs: null,
    workers: null,
  };
  const ending = runs.kernel(request, (each) => feed.push(each)).finally(() => feed.close());
  const cancel = (): void => runs.host.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  // Whoever leaves early does not wait for it.
  ending.catch(() => undefined);
  try {
    yield* progress;
    if (signal.aborted) return;
    const end = await ending;
    if (end.type === "stopped") throw new WorkbenchError(end.reason, "check again; a fresh host starts with it");
    yield end;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
