/** The emulated device passes the conformance suite; a device with one fault fails exactly the checks that are about it. */
import { afterAll, describe, expect, it } from "vitest";
import { lint } from "../../../kernels/lint.ts";
import { MSL_SURFACE, type SurfaceEntry, type SurfaceKind } from "../../../kernels/msl_surface.ts";
import type { ConformanceCheck, ConformanceResult } from "../../../native/conformance/check.ts";
import { CONFORMANCE_CHECKS, runConformance } from "../../../native/conformance/conformance.ts";
import { CONFORMANCE_KERNELS, HELPER } from "../../../native/conformance/kernels.ts";
import { conformanceSummary } from "../../../native/conformance/summary.ts";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { testDevice } from "../msl/workbench.ts";
import { FAULTY_DEVICES } from "./faulty_devices.ts";

const NOT_ASKED = ["pipeline.fast_alone", "refused.too_small", "control.capture"];
const open: EmulatedDevice[] = [];

async function freshDevice(): Promise<EmulatedDevice> {
  const device = await testDevice();
  open.push(device);
  return device;
}

afterAll(async () => {
  for (const device of open) await device.close();
});

function idsOf(results: readonly ConformanceResult[], outcome: ConformanceResult["outcome"]): string[] {
  return results.filter((result) => result.outcome === outcome).map((result) => result.id);
}

describe("the emulated device", () => {
  it("passes every check; what it cannot be asked says why", async () => {
    const emitted: ConformanceResult[] = [];
    const results = await runConformance(await freshDevice(), (result) => emitted.push(result));
    expect(results.filter((result) => result.outcome === "failed")).toEqual([]);
    expect(idsOf(results, "not_run")).toEqual(NOT_ASKED);
    expect(results.every((result) => result.words !== "")).toBe(true);
    expect(emitted).toEqual(results);
    expect(conformanceSummary(results)).toBe(`${CONFORMANCE_CHECKS.length - 3} passed, 0 failed, 3 not run`);
  });
});

/** These take most of the time: work, failing compilers. A device whose fault has nothing to do with them is not asked. */
const COSTLY = new Set([
  "buffer.large",
  "compile.error",
  "compile.error_include",
  "compile.identity",
  "compile.syntax",
  "constants.missing",
  "timing.positive",
  "timing.clock",
  ...CONFORMANCE_CHECKS.map(({ id }) => id).filter((id) => id.startsWith("control.") && id !== "control.close"),
]);

describe("a device with one fault fails exactly the checks that are about it", () => {
  it.each(FAULTY_DEVICES.map((one) => [one.name, one] as const))("%s", async (_, { fails, spoil }) => {
    const checks = CONFORMANCE_CHECKS.filter(({ id }) => !COSTLY.has(id) || fails.includes(id));
    const results = await runConformance(spoil(await freshDevice()), () => {}, { checks });
    expect(idsOf(results, "failed").sort()).toEqual([...fails].sort());
  });

  it("every check that an emulated device can be asked is failed by one of them", () => {
    const failed = new Set(FAULTY_DEVICES.flatMap(({ fails }) => fails));
    const never = CONFORMANCE_CHECKS.map(({ id }) => id).filter((id) => !failed.has(id));
    expect(never).toEqual(NOT_ASKED);
  });
});

const HELPER_INCLUDE = '#include "conformance_helper.h"';

function names(kind: SurfaceKind, section: string, since: string, list: readonly string[]): readonly SurfaceEntry[] {
  return list.map((name) => ({ name, kind, section, since }));
}

/** What the conformance kernels use beyond the project's own, with where the language specification has it. */
const MORE_NAMES: readonly SurfaceEntry[] = [
  ...names("keyword", "1.5 (C++17)", "1.0", ["volatile", "while"]),
  ...names("type", "2.1", "1.0", ["uchar"]),
  ...names("type", "2.6", "1.0", ["atomic_uint"]),
  ...names("attribute", "5.1.3", "1.0", ["max_total_threads_per_threadgroup"]),
  ...names("attribute", "5.8.1", "1.2", ["function_constant"]),
  ...names("attribute", "5.2.3.6", "1.0", [
    "thread_position_in_threadgroup",
    "threads_per_grid",
    "threads_per_threadgroup",
    "threadgroups_per_grid",
  ]),
  ...names("attribute", "5.2.3.6", "2.0", ["simdgroups_per_threadgroup"]),
  ...names("function", "5.8.1", "1.2", ["is_function_constant_defined"]),
  ...names("function", "6.4", "1.0", ["isinf", "isnan"]),
  ...names("function", "6.7.1", "2.3", ["simdgroup_store"]),
  ...names("function", "6.9.2", "2.0", ["simd_broadcast"]),
  ...names("function", "6.15", "1.0", [
    "atomic_fetch_add_explicit",
    "atomic_fetch_max_explicit",
    "atomic_load_explicit",
    "atomic_store_explicit",
  ]),
  ...names("constant", "6.15", "1.0", ["memory_order_relaxed"]),
];

describe("the suite itself", () => {
  const check = (id: string, run: ConformanceCheck["run"]): ConformanceCheck => ({ id, title: id, needs: [], run });

  it("has one check of each id, and a title for each", () => {
    const ids = CONFORMANCE_CHECKS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(CONFORMANCE_CHECKS.every(({ title }) => title.length > 10 && !title.endsWith("."))).toBe(true);
    expect(ids.at(-1)).toBe("control.close");
  });

  it("is written in names of the language that are there in every version from 2.4 on", () => {
    const surface = [...MSL_SURFACE, ...MORE_NAMES];
    // These three have what the lint does not read: another header, macros of the host, a constant named in an attribute.
    const left = ["logging", "macros", "predicated"];
    const sources = CONFORMANCE_KERNELS.filter(({ name }) => !left.includes(name));
    const findings = sources.flatMap((one) => {
      const files = one.text.includes(HELPER_INCLUDE) ? [one, HELPER] : [one];
      return lint(files, { languageVersion: "2.4", surface }).findings.map(
        ({ path, line, message }) => `${path}:${line}: ${message}`,
      );
    });
    expect(findings).toEqual([]);
  });

  it("fails a check that never ends, that says nothing or that throws no Error, and goes on", async () => {
    const results = await runConformance(await freshDevice(), () => {}, {
      checks: [
        check("a", () => new Promise(() => {})),
        check("b", async () => ""),
        check("c", () => Promise.reject("a word")),
        check("d", async () => "seen"),
      ],
      checkTimeoutMs: 20,
    });
    expect(results.map(({ outcome, words }) => `${outcome}: ${words}`)).toEqual([
      "failed: it had not ended after 20 ms",
      "failed: the check says nothing of what it saw",
      "failed: it threw a word",
      "passed: seen",
    ]);
  });

  it("says of the checks that a stop kept from running that they were not run", async () => {
    const stop = new AbortController();
    const results = await runConformance(await freshDevice(), () => stop.abort(), {
      checks: [check("a", async () => "seen"), check("b", async () => "seen")],
      signal: stop.signal,
    });
    expect(results.map(({ outcome }) => outcome)).toEqual(["passed", "not_run"]);
    expect(results[1]?.words).toBe("the suite was stopped before it");
  });
});
