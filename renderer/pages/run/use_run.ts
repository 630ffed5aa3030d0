/** The run that the page shows: the live one, or a kept one from its record. */
import { fromRecord, keptLog, type RunModel } from "../../state/run_model.ts";
import { type FailureView, useAnswer, useLive, useRuns } from "../../state/session.ts";

export type ShownRun =
  | { readonly state: "none" }
  | { readonly state: "asking" }
  | { readonly state: "failed"; readonly failure: FailureView }
  | { readonly state: "there"; readonly run: RunModel };

/** `wanted` is the id in the URL; without one the live run is shown, then the newest kept one. */
export function useShownRun(wanted: string | undefined): ShownRun {
  const live = useLive();
  const runs = useRuns();
  const newest = runs?.find((entry) => entry.state === "kept")?.id;
  const id = wanted ?? live?.id ?? newest;
  const isLive = live !== null && live.id === id;
  const record = useAnswer("runs.record", id === undefined || isLive ? null : { id });
  const log = useAnswer("runs.log", id === undefined || isLive ? null : { id });
  if (isLive) return { state: "there", run: live };
  if (id === undefined) return { state: runs === null ? "asking" : "none" };
  if (record.state === "asking") return { state: "asking" };
  if (record.state === "failed") return { state: "failed", failure: record.failure };
  return { state: "there", run: fromRecord(id, record.value, log.state === "there" ? keptLog(log.value.lines) : []) };
}
