import { describe, expect, it } from "vitest";
import {
  clockNote,
  clockText,
  columnOf,
  partsOf,
  pointsOf,
  runEdges,
  summaryOf,
  type Timings,
  tickNumber,
  timeNumber,
  WHOLE,
} from "../../../../renderer/pages/captures/timing_model.ts";

function sample(run: string, route: string, ns: readonly number[], passed = true): Timings["samples"][number] {
  const labels = route === "fused" ? ["partial", "merge"] : ["score", "reduce"];
  const dispatches = ns.map((time, index) => ({ label: labels[index]!, ns: time }));
  return { run, startedAt: `2026-01-01T10:00:0${run}.000Z`, route, dispatches, passed };
}

const TIMINGS: Timings = {
  device: "emulated:m3-max",
  deviceName: "Emulated M3 Max (apple9)",
  execution: "emulated",
  runs: 3,
  left: 0,
  samples: [
    sample("1", "staged", [3e6, 1e6]),
    sample("1", "fused", [2e6, 5e5]),
    sample("1", "naive", [9e9, 0]),
    sample("2", "staged", [5e6, 1e6]),
    sample("3", "fused", [1e6, 5e5], false),
    sample("3", "staged", [4e6, 1e6]),
  ],
};

const POINTS = pointsOf(TIMINGS, "fused", "staged", WHOLE);

describe("points", () => {
  it("are the samples of the two routes in time order; a dispatch alone, or all together", () => {
    expect(POINTS.map(({ series, ns }) => [series, ns])).toEqual([
      ["b", 4e6],
      ["a", 2.5e6],
      ["b", 6e6],
      ["a", 1.5e6],
      ["b", 5e6],
    ]);
    expect(partsOf(TIMINGS, ["fused", "staged"])).toEqual(["score", "reduce", "partial", "merge"]);
    // The other route has no such dispatch.
    expect(pointsOf(TIMINGS, "fused", "staged", "merge").map(({ ns }) => ns)).toEqual([5e5, 5e5]);
  });

  it("keep what did not pass, and do not count it", () => {
    expect(POINTS.map(({ discarded }) => discarded)).toEqual([false, false, false, true, false]);
    expect(summaryOf(POINTS, "a")).toEqual({ count: 1, discarded: 1, median: 2.5e6, least: 2.5e6, most: 2.5e6 });
    expect(summaryOf(POINTS, "b")).toMatchObject({ count: 3, median: 5e6, least: 4e6, most: 6e6 });
    expect(summaryOf(pointsOf(TIMINGS, "x", null, WHOLE), "a")).toBeUndefined();
  });

  it("fill one column for each series and look", () => {
    expect([...columnOf(POINTS, "a", false, "ms")]).toEqual([Number.NaN, 2.5, Number.NaN, Number.NaN, Number.NaN]);
    expect([...columnOf(POINTS, "a", true, "µs")]).toEqual([Number.NaN, Number.NaN, Number.NaN, 1500, Number.NaN]);
  });

  it("show where a run ends", () => {
    expect([...runEdges(POINTS).edges]).toEqual([2, 3]);
  });
});

describe("the clock of a time", () => {
  const timed = (...clocks: readonly ("command_buffer" | "stage_boundary_counters")[]): Timings["samples"][number] => {
    const own = sample(
      "1",
      "fused",
      clocks.map(() => 1e6),
    );
    return { ...own, dispatches: own.dispatches.map((each, index) => ({ ...each, clock: clocks[index] })) };
  };
  const points = (...samples: Timings["samples"]) => pointsOf({ ...TIMINGS, samples }, "fused", "staged", WHOLE);

  it("is that of its dispatches, none where the device is emulated", () => {
    expect(POINTS[0]!.clock).toBeNull();
    expect(clockNote(POINTS)).toBe("emulation");
    expect(points(timed("stage_boundary_counters", "stage_boundary_counters"))[0]!.clock).toBe(
      "stage_boundary_counters",
    );
    const mixed = timed("stage_boundary_counters", "command_buffer");
    expect(points(mixed)[0]!.clock).toBe("mixed");
    expect(pointsOf({ ...TIMINGS, samples: [mixed] }, "fused", null, "merge")[0]!.clock).toBe("command_buffer");
  });

  it("is said once, and a warning where points differ", () => {
    const counters = timed("stage_boundary_counters");
    expect(clockNote(points(counters, counters))).toBe("stage-boundary counters");
    expect(clockNote(points(counters, timed("command_buffer")))).toBe(
      "different clocks, not to be compared: stage-boundary counters; command buffer",
    );
    expect(clockNote([])).toBe("");
  });
});

describe("texts", () => {
  it("have three digits, commas, and room for an axis", () => {
    expect([0, 0.01234, 75.06, 1234.5].map(timeNumber)).toEqual(["0", "0.0123", "75.1", "1,235"]);
    expect([75, 1_500_000].map(tickNumber)).toEqual(["75", "1.5e6"]);
  });

  it("name the day only where there are several", () => {
    const second = (index: number) => clockText(POINTS, index).slice(-2);
    expect([second(0), second(4)]).toEqual(["01", "03"]);
    expect(clockText(POINTS, 9)).toBe("");
    const later = { ...POINTS[0]!, startedAt: "2026-03-04T12:00:00.000Z" };
    expect(clockText([...POINTS, later], POINTS.length)).toMatch(/^03-04 /);
  });
});
