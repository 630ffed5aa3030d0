/** The step machine: order, needs, stops, failures; names of steps; what a step makes of what came back. */
import { describe, expect, it } from "vitest";
import { NotRun, runSteps, type Step, stepNames, withNeeds } from "../../../electron/accept/machine.ts";
import {
  ACCEPTANCE_STEPS,
  needsOf,
  STEP_IDS,
  type StepId,
  type StepResult,
  stepCounts,
  stepLine,
  summaryLine,
  verdictOf,
} from "../../../electron/accept/record.ts";
import { attemptReport, forcedReport, programReport, validationReport } from "../../../electron/accept/reports.ts";
import { STEPS } from "../../../electron/accept/steps.ts";

type Behaviour = "passes" | "fails" | "fails usable" | "throws" | "not run" | "missing";

/** A step that behaves so; `ran` collects the ids of those that began. */
function step(id: StepId, behaviour: Behaviour, ran: StepId[]): Step<null> {
  return {
    id,
    needs: needsOf(id),
    ...(behaviour === "missing" ? { missing: () => "it is not there" } : {}),
    run: async () => {
      ran.push(id);
      if (behaviour === "throws") throw new Error("it broke");
      if (behaviour === "not run") throw new NotRun("it found out that it cannot");
      if (behaviour === "fails usable") return { outcome: "failed", words: "a contradiction", usable: true };
      return { outcome: behaviour === "fails" ? "failed" : "passed", words: `${id} ${behaviour}` };
    },
  };
}

async function outcomes(
  behaviours: Partial<Record<StepId, Behaviour>>,
  more: { readonly only?: readonly StepId[]; readonly skip?: readonly StepId[]; readonly stopAfter?: StepId } = {},
): Promise<{ readonly results: readonly StepResult[]; readonly ran: readonly StepId[] }> {
  const ran: StepId[] = [];
  const stop = new AbortController();
  const steps = STEP_IDS.map((id) => step(id, behaviours[id] ?? "passes", ran));
  const results = await runSteps(steps, null, {
    ...more,
    signal: stop.signal,
    onResult: ({ id }) => {
      if (id === more.stopAfter) stop.abort();
    },
  });
  return { results, ran };
}

const wordsOf = (results: readonly StepResult[], id: StepId): string => {
  const found = results.find((result) => result.id === id);
  return `${found?.outcome}: ${found?.words}`;
};

describe("steps", () => {
  it("run in their order, each with a result", async () => {
    const { results, ran } = await outcomes({});
    expect(results.map(({ id }) => id)).toEqual(STEP_IDS);
    expect(ran).toEqual(STEP_IDS);
    expect(stepCounts(results)).toEqual({ passed: STEP_IDS.length, failed: 0, notRun: 0 });
  });

  it("that throw are failed, with the words of the error, and those behind go on", async () => {
    const { results } = await outcomes({ parity: "throws" });
    expect(wordsOf(results, "parity")).toBe("failed: it broke");
    expect(wordsOf(results, "capture")).toBe("passed: capture passes");
  });

  it("whose needs failed, or were not run, are not run, and say which", async () => {
    const { results, ran } = await outcomes({ devices: "fails" });
    expect(wordsOf(results, "conformance")).toBe("not_run: it needs the step devices, which failed");
    expect(wordsOf(results, "smoke")).toBe("passed: smoke passes");
    expect(ran).toEqual(["build", "devices", "smoke", "packaging"]);
    const missing = await outcomes({ build: "missing" });
    expect(wordsOf(missing.results, "build")).toBe("not_run: it is not there");
    expect(wordsOf(missing.results, "devices")).toBe("not_run: it needs the step build, which was not run");
    expect(missing.ran).toEqual([]);
  });

  it("behind a failed one that can be used go on", async () => {
    const { results } = await outcomes({ devices: "fails usable" });
    expect(wordsOf(results, "devices")).toBe("failed: a contradiction");
    expect(wordsOf(results, "parity")).toBe("passed: parity passes");
  });

  it("may find out that they cannot run", async () => {
    const { results } = await outcomes({ capture: "not run" });
    expect(wordsOf(results, "capture")).toBe("not_run: it found out that it cannot");
  });

  it("behind a stop are not run", async () => {
    const { results, ran } = await outcomes({}, { stopAfter: "conformance" });
    expect(ran).toEqual(["build", "devices", "conformance"]);
    expect(wordsOf(results, "parity")).toBe("not_run: stopped by you before it began");
    expect(verdictOf(stepCounts(results), true)).toBe("interrupted");
  });

  it("that are left out say by which option", async () => {
    const { results } = await outcomes({}, { only: ["build", "devices"], skip: ["devices"] });
    expect(wordsOf(results, "devices")).toBe("not_run: left out by --skip");
    expect(wordsOf(results, "smoke")).toBe("not_run: left out by --only build,devices");
  });
});

describe("names", () => {
  it("of steps are read, and an unknown one is refused with those that there are", () => {
    expect(stepNames("--only", undefined)).toBeUndefined();
    expect(stepNames("--only", "parity, smoke")).toEqual(["parity", "smoke"]);
    expect(() => stepNames("--skip", "parties")).toThrow('--skip names "parties"; the steps are build, devices');
  });

  it("bring along what they need", () => {
    expect(withNeeds(ACCEPTANCE_STEPS, ["parity"])).toEqual(["build", "devices", "parity"]);
    expect(withNeeds(ACCEPTANCE_STEPS, ["smoke"])).toEqual(["build", "smoke"]);
  });

  it("and needs of the real steps are those of the table", () => {
    expect(STEPS.map(({ id, needs }) => [id, needs])).toEqual(ACCEPTANCE_STEPS.map(({ id, needs }) => [id, needs]));
  });
});

describe("verdicts", () => {
  const counts = (passed: number, failed: number, notRun: number) => ({ passed, failed, notRun });

  it("follow from the counts", () => {
    expect(verdictOf(counts(5, 0, 5), false)).toBe("accepted");
    expect(verdictOf(counts(5, 1, 4), false)).toBe("failed");
    expect(verdictOf(counts(5, 1, 4), true)).toBe("failed");
    expect(verdictOf(counts(5, 0, 5), true)).toBe("interrupted");
    expect(verdictOf(counts(0, 0, 10), false)).toBe("nothing_ran");
    expect(summaryLine(counts(0, 0, 10), "nothing_ran")).toBe(
      "0 passed, 0 failed, 10 not run: nothing ran, so that nothing is shown",
    );
  });

  it("a step's line is one line", () => {
    expect(stepLine({ id: "smoke", outcome: "not_run", words: "no\ndisplay" })).toBe(
      "not run  smoke: the desktop app runs: no display",
    );
  });
});

describe("what came back", () => {
  it("of the 16x16 route on an older GPU: a refusal and a miss are answers, a crash is a fault", () => {
    const facts = (state: string, verdict: string) => forcedReport({ state, verdict, words: "Metal's words" });
    expect(facts("refused", "fail")).toEqual({ outcome: "passed", words: "refused: Metal's words" });
    expect(facts("compile_failed", "fail").outcome).toBe("passed");
    expect(facts("completed", "fail").words).toBe("it ran and was caught by parity: Metal's words");
    expect(facts("completed", "pass")).toEqual({ outcome: "passed", words: "it ran and parity holds" });
    expect(facts("crashed", "not_run")).toEqual({ outcome: "failed", words: "crashed: Metal's words" });
    expect(facts("timed_out", "not_run").outcome).toBe("failed");
  });

  it("of the compiler: on M5 it must build, before it every answer is one", () => {
    const refused = { compiled: true, pipeline: false, words: "not on this GPU" };
    expect(attemptReport(refused, false)).toEqual({
      outcome: "passed",
      words: "compiled, pipeline refused: not on this GPU",
    });
    expect(attemptReport(refused, true).outcome).toBe("failed");
    expect(attemptReport({ compiled: false, pipeline: false, words: "no header" }, false).words).toContain(
      "not compiled",
    );
    expect(attemptReport({ compiled: true, pipeline: true, words: "SIMD width 32" }, true).outcome).toBe("passed");
  });

  it("of validation: silence proves nothing unless Metal said that both are on", () => {
    const report = (enabled: { api: boolean; shader: boolean }, errors: number, outcome: "passed" | "failed") =>
      validationReport({
        schema: "lockstep.acceptance.validation/1",
        device: "metal:0",
        outcome,
        results: [{ case: "a", route: "naive", verdict: outcome === "passed" ? "pass" : "fail" }],
        validation: {
          environment: {},
          enabled,
          counts: { lines: 2, errors, warnings: 0, unclear: 0, unknown: 0, dropped: 0 },
          reports: [],
        },
      });
    const on = { api: true, shader: true };
    expect(report(on, 0, "passed")).toEqual({
      outcome: "passed",
      words: "1 of 1 results passed; 0 errors, 0 warnings, 0 lines of no known form",
    });
    expect(report(on, 1, "passed").outcome).toBe("failed");
    expect(report(on, 0, "failed").outcome).toBe("failed");
    expect(report({ api: true, shader: false }, 0, "passed")).toMatchObject({
      outcome: "failed",
      words: expect.stringContaining("Metal did not say that shader validation is on"),
    });
    expect(report({ api: false, shader: false }, 0, "passed").words).toContain("that API and shader validation is on");
  });

  it("of another program: its exit code decides, and `not run` is no pass", () => {
    expect(programReport(0, "passed  a: b\n3 passed, 0 failed, 0 not run\n")).toEqual({
      outcome: "passed",
      words: "3 passed, 0 failed, 0 not run",
    });
    expect(programReport(0, "not run  a: no\nnot run: no display\n")).toEqual({
      outcome: "not_run",
      words: "no display",
    });
    expect(programReport(1, "failed   a: broken\n1 failed\n")).toEqual({
      outcome: "failed",
      words: "failed   a: broken",
    });
    expect(programReport(2, "")).toEqual({ outcome: "failed", words: "exit code 2: " });
  });
});
