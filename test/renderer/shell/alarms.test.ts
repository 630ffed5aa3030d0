/** What is said aloud of a run: each failure once, several at once as one text. */
import { describe, expect, it } from "vitest";
import { newsOf, progressText } from "../../../renderer/shell/alarms.ts";
import type { Result, RunModel } from "../../../renderer/state/run_model.ts";

function result(route: string, verdict: Result["verdict"]): readonly [string, Result] {
  const record = { case: "gqa_decode/L8/f32/x/1", route, verdict, state: "completed", gates: [], error: null };
  return [`${record.case}|${route}`, record as unknown as Result];
}

function run(outcome: RunModel["outcome"], results: readonly (readonly [string, Result])[]): RunModel {
  const model = { id: "r", outcome, results: new Map(results), planned: [{}, {}, {}], reason: "SIGKILL" };
  return model as unknown as RunModel;
}

describe("alarms", () => {
  it("are silent where all is well", () => {
    expect(newsOf(run("running", [result("a", "pass")]), new Set())).toEqual({ keys: [], text: "" });
  });

  it("tell a failure once", () => {
    const model = run("running", [result("a", "fail"), result("b", "pass")]);
    const first = newsOf(model, new Set());
    expect(first.text).toContain("fail: ");
    expect(first.keys).toHaveLength(1);
    expect(newsOf(model, new Set(first.keys))).toEqual({ keys: first.keys, text: "" });
  });

  it("lose none of several that come at once", () => {
    const news = newsOf(run("running", [result("a", "fail"), result("b", "not_run")]), new Set());
    expect(news.text).toMatch(/^2 new, the last one: not run: .*, b\./);
  });

  it("tell a crash", () => {
    expect(newsOf(run("crashed", []), new Set()).text).toBe("Crashed: SIGKILL");
  });

  it("say how far a run is, and how it ended", () => {
    expect(progressText(run("running", [result("a", "pass")]))).toBe("1 of 3 results");
    expect(progressText(run("timed_out", []))).toBe("Run timed out");
  });
});
