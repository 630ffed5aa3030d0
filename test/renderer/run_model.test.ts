/** A run as the window shows it: reduced from items, the same as from its record; rows with the state of each result. */
import { describe, expect, it } from "vitest";
import { countIn, facetRows, facetValues, filterRows, rowsOf, sortRows, tally } from "../../renderer/state/rows.ts";
import {
  fromRecord,
  type Item,
  keptLog,
  type RunEvent,
  type RunModel,
  type RunRecord,
  reduce,
  requestAgain,
} from "../../renderer/state/run_model.ts";

const ID = "2026-01-02t030405z-quick.lockstep";
const HOST = { os: "Linux", arch: "x64", cpu: "cpu", cores: 2, memoryBytes: "1", node: "24.0.0" };
const CASES = ["L1", "L2"].map((length) => `gqa_decode/h1kv1d32/${length}/spread/f32`);

function caseRecord(key: string): RunRecord["cases"][number] {
  return {
    key,
    shape: { operator: "gqa_decode", heads: 1, kvHeads: 1, dim: 32, live: 1, capacity: 5, scale: 1, dtype: "f32" },
    source: { kind: "generator", generator: "lockstep.fmix32/1", seed: 1, variant: "spread" },
    boundary: false,
    inputs: [],
    oracle: null,
  };
}

function result(key: string, route: string, change: Partial<RunRecord["results"][number]> = {}) {
  return {
    case: key,
    route,
    state: "completed",
    error: null,
    verdict: "pass",
    metrics: null,
    gates: [],
    ms: 1,
    timings: [],
    outputs: [],
    receipts: [],
    metricsPath: null,
    ...change,
  } satisfies RunRecord["results"][number];
}

const PLANNED = CASES.flatMap((key) => ["three_stage", "naive"].map((route) => ({ case: key, route })));

const STARTED: Item = {
  type: "started",
  id: ID,
  startedAt: "2026-01-02T03:04:05.000Z",
  command: ["lockstep", "parity", "--suite", "quick"],
  request: {
    suite: "quick",
    operator: null,
    route: null,
    case: null,
    device: null,
    validation: false,
    chip: "M1",
    seed: null,
    timeoutMs: null,
    inputs: null,
    workers: null,
  },
};

function event(said: RunEvent, at = 10): Item {
  return { type: "event", id: ID, at, event: said };
}

function progress(key: string, route: string | null, phase: "inputs" | "run", fraction: number | null = null): Item {
  return event({ type: "progress", case: key, route, phase, fraction });
}

const PLAN = event({
  type: "planned",
  suite: "quick",
  execution: "emulated",
  device: null,
  producer: null,
  host: HOST,
  planned: PLANNED,
  cases: CASES.map(caseRecord),
});

function reduced(...items: readonly Item[]): RunModel {
  return [STARTED, PLAN, ...items].reduce<RunModel | null>(reduce, null)!;
}

function states(model: RunModel): readonly string[] {
  return rowsOf(model).map((row) => row.state);
}

describe("a live run", () => {
  it("shows what is queued, running and done", () => {
    expect(states(reduced())).toEqual(["queued", "queued", "queued", "queued"]);
    const at = reduced(progress(CASES[0]!, null, "inputs"));
    expect(states(at)).toEqual(["running", "queued", "queued", "queued"]);
    const next = reduced(
      progress(CASES[0]!, "three_stage", "run", 0.5),
      event({ type: "result", result: result(CASES[0]!, "three_stage") }),
      event({ type: "result", result: result(CASES[0]!, "naive", { verdict: "fail" }) }),
      progress(CASES[1]!, "three_stage", "run", 0.25),
    );
    expect(states(next)).toEqual(["pass", "fail", "running", "queued"]);
    expect(next.step).toMatchObject({ phase: "run", fraction: 0.25 });
    expect(sortRows(rowsOf(next)).map((row) => row.state)).toEqual(["running", "fail", "pass", "queued"]);
    expect([...tally(rowsOf(next))]).toEqual([
      ["pass", 1],
      ["fail", 1],
      ["running", 1],
      ["queued", 1],
    ]);
  });

  it("logs a phase once, however often it reports", () => {
    const model = reduced(
      progress(CASES[0]!, "naive", "run", 0.1),
      progress(CASES[0]!, "naive", "run", 0.2),
      progress(CASES[0]!, "naive", "run", 0.9),
    );
    expect(model.log.map((line) => line.kind)).toEqual(["plan", "run"]);
    expect(model.step?.fraction).toBe(0.9);
  });

  it("that ends without a bundle says why; items of another run are not its own", () => {
    const failure = { name: "WorkbenchError", message: "no such route", mend: "name another" };
    const ended = reduced({ type: "ended", id: ID, at: 20, entry: null, failure });
    expect([ended.outcome, ended.failure]).toEqual(["refused", failure]);
    const other = reduced({ ...STARTED, id: "b.lockstep" }, { type: "ended", id: ID, at: 20, entry: null, failure });
    expect([other.id, other.outcome, other.planned]).toEqual(["b.lockstep", "running", []]);
  });
});

describe("a kept run", () => {
  const results = [
    result(CASES[0]!, "three_stage"),
    result(CASES[0]!, "naive", { verdict: "not_run", state: "timed_out" }),
  ];
  const record = {
    command: ["lockstep", "parity", "--chip", "M1"],
    startedAt: "2026-01-02T03:04:05.000Z",
    finishedAt: "2026-01-02T03:04:07.500Z",
    suite: "quick",
    execution: "emulated",
    device: null,
    planned: PLANNED,
    cases: CASES.map(caseRecord),
    results,
  };

  function kept(outcome: RunRecord["outcome"]): RunModel {
    return fromRecord(ID, { ...record, outcome, outcomeReason: null } as unknown as RunRecord);
  }

  it("shows where it stopped, and that the rest did not run", () => {
    expect(states(kept("crashed"))).toEqual(["pass", "timedout", "crash", "notrun"]);
    expect(states(kept("cancelled"))).toEqual(["pass", "timedout", "cancel", "notrun"]);
    expect(states(kept("failed"))).toEqual(["pass", "timedout", "notrun", "notrun"]);
    expect([kept("failed").chip, kept("failed").tookMs]).toEqual(["M1", 2500]);
  });

  it("is run again with what it was asked for", () => {
    const item = { case: CASES[0]!, route: "naive" };
    const command = ["lockstep", "parity", "--seed=7", "--timeout", "2", "--device", "emulated:apple9"];
    const other = { ...record, command, outcome: "failed", outcomeReason: null } as unknown as RunRecord;
    const seeded = fromRecord(ID, other);
    const asked = { ...item, suite: "quick", chip: "apple9", seed: 7, timeoutMs: 2000 };
    expect(requestAgain(seeded, item)).toMatchObject(asked);
    expect(requestAgain({ ...seeded, suite: null }, item)).toBeNull();
  });

  it("is filtered by state and words", () => {
    const rows = rowsOf(kept("crashed"));
    expect([countIn(rows, "all"), countIn(rows, "notrun"), countIn(rows, "fail")]).toEqual([4, 3, 0]);
    expect(filterRows(rows, "all", "L2 naive").map((row) => row.state)).toEqual(["notrun"]);
    expect(filterRows(rows, "pass", "L2")).toEqual([]);
  });
});

describe("a run that a user holds and narrows", () => {
  it("is asked to pause, pauses and goes on; a cancel ends the pause", () => {
    const said = (state: "asked" | "paused" | "resumed") => event({ type: "pause", state });
    expect(reduced().pausing).toBe("no");
    expect(reduced(said("asked")).pausing).toBe("asked");
    expect(reduced(said("asked"), said("paused")).pausing).toBe("paused");
    expect(reduced(said("asked"), said("paused"), said("resumed")).pausing).toBe("no");
    const refused: Item = { type: "ended", id: ID, at: 20, entry: null, failure: { name: "Error", message: "gone" } };
    expect(reduced(said("paused"), refused).pausing).toBe("no");
  });

  it("shows skipped results as such, among those that did not run", () => {
    const skipped = result(CASES[0]!, "naive", { verdict: "not_run", state: "skipped", error: "skipped by you" });
    const model = reduced(event({ type: "skip", case: CASES[0]! }), event({ type: "result", result: skipped }));
    const rows = rowsOf(model);
    expect(rows.find((row) => row.route === "naive")?.state).toBe("skip");
    expect([countIn(rows, "notrun"), countIn(rows, "pass")]).toEqual([1, 0]);
    expect(model.log.map((line) => line.text)).toEqual(
      expect.arrayContaining(["skip L1 spread", "SKIPPED L1 spread naive"]),
    );
  });

  it("narrows by operator, route and type; a value that no row has narrows nothing", () => {
    const rows = rowsOf(reduced());
    expect(facetValues(rows, "route")).toEqual(["naive", "three_stage"]);
    expect(facetValues(rows, "type")).toEqual(["f32"]);
    expect(facetRows(rows, { route: "naive", operator: "gqa_decode" }).map((row) => row.route)).toEqual([
      "naive",
      "naive",
    ]);
    expect(facetRows(rows, { route: "nothing" })).toHaveLength(4);
  });
});

describe("the log of a kept run", () => {
  it("reads as it did while the run went on", () => {
    const [key] = CASES;
    const live = reduced(
      progress(key!, "naive", "run", 0.5),
      event({ type: "result", result: result(key!, "naive", { verdict: "fail" }) }),
      event({ type: "pause", state: "asked" }),
    );
    const kept = keptLog([
      { type: "planned", at: 10, cases: 2, results: 4 },
      { type: "phase", at: 10, case: key!, route: "naive", phase: "run" },
      { type: "result", at: 10, case: key!, route: "naive", verdict: "fail", state: "completed" },
      { type: "pause", at: 10, state: "asked" },
    ]);
    expect(kept).toEqual(live.log);
    const end = keptLog([{ type: "ended", at: 9, outcome: "crashed", reason: "The host stopped by SIGKILL" }]);
    expect(end).toEqual([{ at: 9, kind: "host", text: "The host stopped by SIGKILL", tone: "crash" }]);
    expect(keptLog(null)).toEqual([]);
  });

  it("of a run of a file is run again by its path, where that is known", () => {
    const model = reduced();
    const item = PLANNED[0]!;
    const command = (file: string) => ["lockstep", "parity", "--inputs", file];
    const file = { ...model, suite: null };
    expect(requestAgain({ ...file, command: command("/tmp/x.safetensors") }, item)).toMatchObject({
      inputs: "/tmp/x.safetensors",
    });
    expect(requestAgain({ ...file, command: command("x.safetensors") }, item)).toBeNull();
    expect(requestAgain(model, item)).toMatchObject({ suite: "quick", inputs: null });
  });
});
