/**
 * The checker's word on the pipelines of a route, on a small case. It is kept in the cache folder of the system under the
 * digest of the pipelines and of the case, so that a suite pays for it once.
 */
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { type CheckResult, checkResultSchema } from "../../native/check.ts";
import type { Flavour } from "../../native/device.ts";
import { type ModuleCache, sha256 } from "../../native/emulator/cache.ts";
import { mergedResult } from "../checker/merge.ts";
import { PINNING_KINDS } from "../checker/messages.ts";
import type { Execution, PreparedRoute } from "./execute.ts";

/** Version of what is kept. Raise it when the checker reports other things for the same pipeline. */
const VERSION = 1;

export const routeCheckSchema = z.strictObject({
  schema: z.literal("lockstep.check/1"),
  /** Key of the small case. */
  case: z.string(),
  route: z.string(),
  /** Digests of the pipelines that were checked, in the order of the dispatches. */
  pipelines: z.array(z.string()),
  flavour: z.enum(["check", "check+lockstep"]),
  /** Lanes exchange data without a barrier: results are computed in lockstep. */
  pinned: z.boolean(),
  result: checkResultSchema,
});
export type RouteCheck = z.infer<typeof routeCheckSchema>;

/** What a check runs with: build and submit, as for any other run of the route on its small case. */
export interface CheckedRun {
  readonly caseKey: string;
  readonly route: string;
  prepare(flavour: Flavour): Promise<PreparedRoute>;
  submit(prepared: PreparedRoute): Promise<Execution>;
}

/** The checker's word, from the cache where it has been said before. Rejects as the device does. */
export async function checkRoute(run: CheckedRun, cache: ModuleCache): Promise<RouteCheck> {
  const plain = await checkIn("check", run, cache);
  const exchange = plain.result.reports.some(({ kind }) => PINNING_KINDS.includes(kind));
  return exchange ? { ...(await checkIn("check+lockstep", run, cache)), pinned: true } : plain;
}

async function checkIn(flavour: RouteCheck["flavour"], run: CheckedRun, cache: ModuleCache): Promise<RouteCheck> {
  const prepared = await run.prepare(flavour);
  const pipelines = prepared.pipelines.map(({ id }) => id);
  const { plan } = prepared;
  const digest = sha256(
    JSON.stringify([
      VERSION,
      run.caseKey,
      run.route,
      pipelines,
      plan.buffers,
      plan.dispatches.map((dispatch) => ({ ...dispatch, params: [...dispatch.params] })),
    ]),
  );
  const known = (await cache.lookup("verdict", digest, routeCheckSchema))?.facts;
  if (known !== undefined && isDeepStrictEqual(known.pipelines, pipelines)) return known;
  const { check } = await run.submit(prepared);
  if (check === undefined) throw new Error(`The device gave no reports for the flavour ${flavour}.`);
  const { caseKey, route } = run;
  const fresh: RouteCheck = {
    schema: "lockstep.check/1",
    case: caseKey,
    route,
    pipelines,
    flavour,
    pinned: false,
    result: mergedResult(check),
  };
  // A cache that cannot be written costs time, not the answer.
  if (check.complete) await cache.store("verdict", digest, routeCheckSchema, async () => fresh).catch(() => undefined);
  return fresh;
}

/** Reports at error level. */
export function checkErrors({ reports }: CheckResult): number {
  return reports.filter(({ severity }) => severity === "error").length;
}
