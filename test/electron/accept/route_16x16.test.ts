/**
 * The step of the 16x16 route, which is written before the route is built: what it takes from the parity run where the hardware is
 * there, and what it tries where it is not. The route that is tried here is another, on the emulated device.
 */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runTask } from "../../../electron/accept/child.ts";
import type { AcceptContext } from "../../../electron/accept/context.ts";
import { forcing, outcomeFacts } from "../../../electron/accept/forced.ts";
import { CAPTURED, matrix16x16 } from "../../../electron/accept/metal_steps.ts";
import { forcedReport, ROUTE_16X16 } from "../../../electron/accept/reports.ts";
import { suiteCases } from "../../../electron/cases/suites.ts";
import { catalogueFor } from "../../../electron/runs/catalogue.ts";
import { planRun } from "../../../electron/runs/plan.ts";
import type { ResultRecord } from "../../../electron/runs/record.ts";
import { Recorder } from "../../../electron/runs/recorder.ts";
import { emulatedProfile } from "../../../native/emulator/profile.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";

let folder: string;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const CHILD = path.join(WHERE.root, "out", "accept_host.mjs");
const QUICK = suiteCases("quick", { golden: WHERE.golden });

function result(route: string, verdict: ResultRecord["verdict"], change: Partial<ResultRecord> = {}): ResultRecord {
  return {
    case: "mla_prefill/a",
    route,
    state: "completed",
    error: null,
    verdict,
    metrics: null,
    gates: [],
    ms: null,
    timings: [],
    outputs: [],
    receipts: [],
    metricsPath: null,
    ...change,
  };
}

/** A context as it is when the parity run has ended. */
function context(chip: string, results: readonly ResultRecord[], hasRun = true): AcceptContext {
  const recorder = new Recorder({ app: { name: "lockstep", version: "0", commit: null }, command: [], startedAt: "" });
  for (const one of results) recorder.add({ type: "result", result: one });
  return {
    where: WHERE,
    child: CHILD,
    device: "emulated",
    suite: "quick",
    packaging: false,
    platform: "darwin",
    staging: folder,
    target: path.join(folder, "a.lockstep"),
    recorder,
    signal: new AbortController().signal,
    say: () => {},
    progress: () => {},
    profile: emulatedProfile(chip),
    run: hasRun ? { outcome: "passed", reason: null } : null,
  };
}

describe("on M5", () => {
  it("the results of the parity run decide", async () => {
    const both = [result("naive", "fail"), result(ROUTE_16X16, "pass")];
    expect(await matrix16x16.run(context("M5", both))).toEqual({
      outcome: "passed",
      words: "1 of 1 results passed, on matrix_16x16",
    });
    const missed = await matrix16x16.run(context("M5", [...both, result(ROUTE_16X16, "fail")]));
    expect(missed).toMatchObject({ outcome: "failed", words: expect.stringContaining("1 of 2 results passed") });
  });

  it("without a result of it, or without a parity run, it was not run", async () => {
    await expect(matrix16x16.run(context("M5", [result("naive", "pass")]))).rejects.toThrow(
      "its predicates did not hold",
    );
    await expect(matrix16x16.run(context("M5", [], false))).rejects.toThrow("the parity run, which was not run");
  });
});

describe("on M1 to M4", () => {
  it("the route is tried although its predicates refuse it; while it is not built that cannot be", async () => {
    await expect(matrix16x16.run(context("M3 Max", []))).rejects.toThrow("its kernel is not built yet");
    expect(matrix16x16.missing?.(context("M3 Max", []))).toBe("the route is not built yet");
  });

  it("predicates are passed over for the one route alone", () => {
    const refusing = catalogueFor(emulatedProfile("M3 Max"));
    const shape = QUICK.find((entry) => entry.shape.operator === "mla_prefill")!.shape;
    const applicable = (catalogue: typeof refusing) =>
      Object.fromEntries(catalogue.decide(shape).candidates.map((one) => [one.route, one.applicable]));
    const before = applicable(refusing);
    expect(before[ROUTE_16X16]).toBe(false);
    expect(applicable(forcing(refusing, ROUTE_16X16))).toEqual({ ...before, [ROUTE_16X16]: true });
  });

  it("a route that is built is run on its first small case and judged", async () => {
    const task = { kind: "forced", device: "emulated", route: "simdgroup_8x8", staging: folder } as const;
    const { facts } = await runTask(task, "forced", { path: CHILD, signal: new AbortController().signal });
    expect(facts).toMatchObject({ state: "completed", verdict: "pass", words: "every gate held" });
    expect(facts.case).toContain("mla_prefill/");
    expect(forcedReport(facts)).toEqual({ outcome: "passed", words: "it ran and parity holds" });
  });

  it("Metal's words are kept where it refuses, the gate where it missed", () => {
    const words = "simdgroup_matrix<T,16,16> operations are supported by a later family";
    expect(outcomeFacts(result(ROUTE_16X16, "fail", { state: "refused", error: words }))).toMatchObject({ words });
    const gate = {
      id: "nmse_case",
      verdict: "fail",
      value: 0.5,
      limit: 1e-6,
      where: null,
      note: "half is wrong",
    } as const;
    expect(outcomeFacts(result(ROUTE_16X16, "fail", { gates: [gate] })).words).toBe(
      "gate nmse_case: 0.5, half is wrong",
    );
  });
});

describe("a child", () => {
  const signal = new AbortController().signal;
  const child = (name: string, text: string): string => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, text);
    return file;
  };
  const task = { kind: "conformance", device: "emulated" } as const;

  it("that ends without an answer is told with how, after which check, and its last words", async () => {
    const file = child(
      "aborts.mjs",
      `process.on("message", () => {
  process.send({ type: "check", result: { id: "buffer.size", title: "t", outcome: "passed", words: "w" } }, () => {
    process.stderr.write("-[MTLDebugDevice]: failed assertion\\n", () => process.kill(process.pid, "SIGABRT"));
  });
});`,
    );
    await expect(runTask(task, "conformance", { path: file, signal })).rejects.toThrow(
      "the process that had the device ended by SIGABRT, after the check buffer.size: -[MTLDebugDevice]: failed assertion",
    );
  });

  it("that says what it may not say is ended", async () => {
    const file = child("lies.mjs", `process.on("message", () => process.send({ type: "devices" }));`);
    await expect(runTask(task, "conformance", { path: file, signal })).rejects.toThrow("what it may not say");
  });

  it("that is not there, or refuses, is told", async () => {
    await expect(runTask(task, "conformance", { path: path.join(folder, "absent.mjs"), signal })).rejects.toThrow(
      "ended with exit code 1",
    );
    const refused = runTask({ kind: "conformance", device: "nvidia" }, "conformance", { path: CHILD, signal });
    await expect(refused).rejects.toThrow('The device "nvidia" is not there');
  });

  it("that does not listen to a stop is killed", async () => {
    const file = child(
      "deaf.mjs",
      `process.on("message", (m) => { if (m !== "stop") process.send({ type: "check", result: { id: "a", title: "t", outcome: "passed", words: "w" } }); }); setInterval(() => {}, 1000);`,
    );
    const stop = new AbortController();
    const run = runTask(task, "conformance", {
      path: file,
      signal: stop.signal,
      onEvent: () => stop.abort(),
      stopMs: 50,
    });
    await expect(run).rejects.toThrow("ended by SIGKILL");
  });
});

describe("what is captured", () => {
  it("is a case and a route of the quick suite", () => {
    const catalogue = catalogueFor(emulatedProfile("M1"));
    const { cases } = planRun("quick", QUICK, { case: CAPTURED.case, route: CAPTURED.route }, catalogue);
    expect(cases.map((entry) => [entry.case.key, entry.routes.map(({ route }) => route)])).toEqual([
      [CAPTURED.case, [CAPTURED.route]],
    ]);
    expect(cases[0]?.routes[0]?.plan.dispatches.length).toBeGreaterThan(1);
  });
});
