/** Where the figures of the view at hand come from: the page says it, the status bar shows it. */
import { useEffect } from "react";
import { type Standing, standingOf } from "../parts/standing.tsx";
import type { RunModel } from "../state/run_model.ts";
import { createStore, useStore } from "../state/store.ts";

export interface ShownExecution {
  readonly execution: RunModel["execution"];
  /** The device by name, or where another engine computed the outputs. */
  readonly where: string;
  /** What its results are worth. */
  readonly standing: Standing;
}

const shown = createStore<ShownExecution | null>(null);

/** Says what the view shows until it goes; null where it shows no run. */
export function useViewExecution(value: ShownExecution | null): void {
  const { execution, where, standing } = value ?? { execution: null, where: "", standing: "chip" as const };
  useEffect(() => {
    shown.set(execution === null ? null : { execution, where, standing });
    return () => shown.set(null);
  }, [execution, where, standing]);
}

/** That of the view at hand; null where it shows no run. */
export function useShownExecution(): ShownExecution | null {
  return useStore(shown);
}

/** Null while the device of a run is being chosen. */
export function executionOf(run: RunModel): ShownExecution | null {
  if (run.device === null && run.execution !== "imported") return null;
  const where = run.execution === "imported" ? "computed elsewhere, judged here" : (run.device?.name.value ?? "");
  return { execution: run.execution, where, standing: standingOf(run.execution, run.device) };
}
