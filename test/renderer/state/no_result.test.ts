/** A planned result that is not there says why, and never that it passed. */
import { expect, it } from "vitest";
import { noResultWords } from "../../../renderer/state/no_result.ts";
import { rowsOf } from "../../../renderer/state/rows.ts";
import type { RunModel } from "../../../renderer/state/run_model.ts";

function stopped(outcome: RunModel["outcome"], change: Partial<RunModel> = {}): RunModel {
  const planned = [
    { case: "c", route: "first" },
    { case: "c", route: "second" },
  ];
  return {
    outcome,
    planned,
    cases: new Map(),
    results: new Map(),
    step: null,
    reason: null,
    execution: "emulated",
    ...change,
  } as unknown as RunModel;
}

function said(run: RunModel): readonly string[] {
  return rowsOf(run).map((row) => `${row.state}: ${noResultWords(run, row).sentence}`);
}

it("where the host stopped, where the user cancelled, and what had not its turn", () => {
  const gap = "A required gate that did not run is not a pass";
  expect(said(stopped("crashed", { reason: "The host stopped by SIGKILL. It was at: c, first" }))).toEqual([
    "crash: The host stopped by SIGKILL at this result",
    `notrun: the host stopped before its turn. ${gap}`,
  ]);
  expect(said(stopped("cancelled"))).toEqual([
    "cancel: by you before its gates were judged",
    `notrun: the run was cancelled before its turn. ${gap}`,
  ]);
  expect(said(stopped("failed"))[0]).toBe(`notrun: the run ended before its turn. ${gap}`);
  expect(said(stopped("running"))).toEqual(["queued: its turn has not come", "queued: its turn has not come"]);
});

it("offers to run it again but where another engine computed it", () => {
  const run = stopped("cancelled");
  expect(noResultWords(run, rowsOf(run)[0]!).next).toBe("run it again");
  const imported = stopped("cancelled", { execution: "imported" });
  expect(noResultWords(imported, rowsOf(imported)[0]!).next).toBeNull();
});
