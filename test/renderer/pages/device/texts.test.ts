/** Texts, ticks and rows of the Device page. */
import { describe, expect, it } from "vitest";
import { GIB, workingSetLimit } from "../../../../electron/device/budget.ts";
import { askedOf } from "../../../../renderer/pages/device/asked.ts";
import { fitting, gibTicks } from "../../../../renderer/pages/device/budget_axis.ts";
import { longestText, memoryRows } from "../../../../renderer/pages/device/memory_rows.ts";
import { factText } from "../../../../renderer/pages/device/profile_table.tsx";
import { bandwidthText, type Chip, coresText, shortRequires } from "../../../../renderer/pages/device/words.ts";

function chip(variants: Chip["variants"]): Chip {
  return {
    name: "Apple X1",
    shortName: "X1",
    generation: "X1",
    family: "apple9",
    architecture: null,
    architectureConfidence: "expected",
    clockGhz: null,
    clockConfidence: "unknown",
    variants,
    sources: [],
  };
}

describe("a chip's variants", () => {
  it("are all named, a bandwidth that they share once", () => {
    const both = chip([
      { gpuCores: 30, memoryBandwidthGbS: 307.2 },
      { gpuCores: 40, memoryBandwidthGbS: 409.6 },
    ]);
    expect([coresText(both), bandwidthText(both)]).toEqual(["30 or 40", "307 or 410"]);
    const one = chip([
      { gpuCores: 8, memoryBandwidthGbS: 153 },
      { gpuCores: 10, memoryBandwidthGbS: 153 },
    ]);
    expect(bandwidthText(one)).toBe("153");
    expect(bandwidthText(chip([{ gpuCores: 5, memoryBandwidthGbS: null }]))).toBe("not known");
  });
});

describe("the bar", () => {
  it("has at most nine ticks, within the axis", () => {
    for (const gib of [8, 18, 29.8, 128, 512, 1300]) {
      const ticks = gibTicks(gib * GIB);
      expect(ticks.length).toBeLessThanOrEqual(9);
      expect(ticks.length).toBeGreaterThanOrEqual(2);
      expect(ticks.at(-1)).toBeLessThanOrEqual(gib * GIB);
    }
  });

  it("takes the longest label that fits", () => {
    expect(fitting(["weights 16.2 GiB", "weights"], 200)).toBe("weights 16.2 GiB");
    expect(fitting(["weights 16.2 GiB", "weights"], 60)).toBe("weights");
    expect(fitting(["weights 16.2 GiB", "weights"], 10)).toBe("");
  });
});

describe("the longest context by memory", () => {
  it("grows with the memory, and with a smaller type", () => {
    const rows = memoryRows(askedOf({}).question);
    expect(rows[0]?.longest.f32).toEqual({ tokens: 0, endedBy: "memory" });
    for (const [index, row] of rows.entries()) {
      expect(row.limit).toBe(workingSetLimit(row.gib * GIB).low);
      expect(row.longest.f16.tokens).toBeGreaterThanOrEqual(row.longest.f32.tokens);
      expect(row.longest.f32.tokens).toBeGreaterThanOrEqual(rows[index - 1]?.longest.f32.tokens ?? 0);
    }
  });

  it("is written as a count, none, or at least the end of the search", () => {
    expect(longestText({ tokens: 131_072, endedBy: "memory" })).toBe("131,072");
    expect(longestText({ tokens: 0, endedBy: "memory" })).toBe("none");
    expect(longestText({ tokens: 2_097_152, endedBy: "search" })).toBe("≥ 2,097,152");
  });
});

it("a requirement is short in the table", () => {
  expect(shortRequires("Apple10 or later, Metal 4 or later")).toBe("Apple10+, Metal 4+");
});

describe("facts of a Metal device", () => {
  it("have bytes and ticks that can be read; anything else stays as the device said it", () => {
    expect(factText("recommended_working_set_bytes", "51539607552")).toBe("48.0 GiB, 51,539,607,552 B");
    expect(factText("threadgroup_memory_alignment_bytes", "16")).toBe("16 B");
    expect(factText("timestamp_frequency_hz", "1000000000")).toBe("1,000,000,000");
    expect(factText("registry_id", "4294968432")).toBe("4294968432");
    expect(factText("families", "Apple5 (1005)")).toBe("Apple5 (1005)");
    // More than a JavaScript number holds.
    expect(factText("max_buffer_bytes", "18446744073709551615")).toBe("18446744073709551615");
  });
});
