/** Pause and skip: what is asked for, what it does to the run, and what its record says. */
import fs from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimsOf } from "../../../electron/evidence/level.ts";
import { RunControl } from "../../../electron/runs/control.ts";
import type { RunEvent } from "../../../electron/runs/events.ts";
import { type Bench, openBench, planOf, runHere, withoutLockstep } from "./harness.ts";

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
});

afterAll(() => bench.device.close());

const CASES = ["L1.spread", "L33.spread"];

function plan() {
  return withoutLockstep(planOf(CASES.map((name) => ({ operator: "gqa_decode", case: name, route: "naive" }))));
}

describe("the control of a run", () => {
  it("says each change once, and waits until it is taken back", async () => {
    const events: RunEvent[] = [];
    const control = new RunControl((event) => events.push(event));
    const { signal } = new AbortController();
    await control.pausePoint(signal);
    control.pause(true);
    control.pause(true);
    const waited = control.pausePoint(signal);
    control.pause(false);
    await waited;
    expect(events.map((event) => event.type === "pause" && event.state)).toEqual(["asked", "paused", "resumed"]);
  });

  it("lets a cancel through while it is paused", async () => {
    const controller = new AbortController();
    const control = new RunControl(() => undefined);
    control.pause(true);
    const waited = control.pausePoint(controller.signal);
    controller.abort();
    await waited;
    await control.pausePoint(controller.signal);
  });

  it("skips only the case that runs", () => {
    const events: RunEvent[] = [];
    const control = new RunControl((event) => events.push(event));
    control.skip("a");
    const signal = control.begin("b");
    control.skip("a");
    expect(signal.aborted).toBe(false);
    control.skip("b");
    control.skip("b");
    expect([signal.aborted, events]).toEqual([true, [{ type: "skip", case: "b" }]]);
    control.end();
    expect(control.begin("c").aborted).toBe(false);
  });
});

describe("a run", () => {
  it("goes on after a skipped case, which is not run with its reason and never a pass", async () => {
    for (const phase of ["inputs", "run"] as const) {
      let control: RunControl | undefined;
      let skipped = "";
      const run = await runHere(bench, plan(), {
        control: (emit) => {
          control = new RunControl(emit);
          return control;
        },
        onEvent: (event) => {
          if (event.type !== "progress" || event.phase !== phase || skipped !== "") return;
          skipped = event.case;
          control?.skip(event.case);
        },
      });
      const [first, second] = run.results;
      expect(first).toMatchObject({ case: skipped, state: "skipped", verdict: "not_run", error: "skipped by you" });
      expect(first!.gates.filter((gate) => gate.verdict === "pass")).toEqual([]);
      expect(second).toMatchObject({ state: "completed", verdict: "pass" });
      expect(run.outcome).toBe("failed");
      const planned = run.events.find((event) => event.type === "planned");
      if (planned?.type !== "planned") throw new Error("a run has a plan");
      const { execution, device, producer, cases } = planned;
      const claims = claimsOf({
        execution,
        device,
        producer,
        planned: planned.planned,
        cases,
        results: [...run.results],
      });
      expect(claims.every((claim) => claim.level !== "parity" && claim.level !== "boundary")).toBe(true);
      fs.rmSync(run.staging, { recursive: true });
    }
  });

  it("pauses between two cases and goes on", async () => {
    let control: RunControl | undefined;
    const run = await runHere(bench, plan(), {
      control: (emit) => {
        control = new RunControl(emit);
        return control;
      },
      onEvent: (event) => {
        if (event.type === "progress" && event.phase === "inputs") control?.pause(true);
        if (event.type === "pause" && event.state === "paused") queueMicrotask(() => control?.pause(false));
      },
    });
    const words = run.events.flatMap((event) =>
      event.type === "pause" ? [event.state] : event.type === "result" ? [event.result.verdict] : [],
    );
    expect(words).toEqual(["asked", "pass", "paused", "resumed", "asked", "pass"]);
    expect(run.outcome).toBe("passed");
    fs.rmSync(run.staging, { recursive: true });
  });
});
