/** Bundles of Metal runs, made by hand: what they claim, and what `verify` must not let pass. Nothing here ran on a Mac. */
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RecordDraft } from "../../../electron/evidence/bundle.ts";
import { stableJson } from "../../../electron/evidence/json.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import type { RunRecord } from "../../../electron/runs/record.ts";
import { markLine } from "../../../electron/validation/lines.ts";
import { VALIDATION_LOG, VALIDATION_TEXT } from "../../../electron/validation/report.ts";
import { type FixtureOptions, fixtureBundle, metalProfile, reseal, temporary } from "./fixture.ts";

let folder: string;

beforeEach(() => {
  folder = temporary();
});

afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

const REAL: FixtureOptions = { device: metalProfile() };
const VIRTUAL: FixtureOptions = { device: metalProfile(true) };
const BANNERS = "Metal API Validation Enabled\nMetal GPU Validation Enabled\n";
const LOAD = 'Invalid device load at offset 64, executing kernel function: "gqa_naive"\n';

const validated = (text: (keys: readonly string[]) => string): FixtureOptions => ({ ...REAL, validation: text });
const SILENT = validated((keys) => `${BANNERS}${keys.map((key) => markLine(key, "naive")).join("")}`);
/** An error while the first of the two cases is computed. */
const LOUD = validated(
  ([first, second]) => `${BANNERS}${markLine(first!, "naive")}${LOAD}${markLine(second!, "naive")}`,
);

function reasonsOf(root: string): readonly string[] {
  return verifyBundle(root).checks.flatMap(({ reasons }) => reasons);
}

/** What is wrong with a bundle whose draft was changed before it was written. */
function forged(options: FixtureOptions, change: (draft: RecordDraft) => RecordDraft): string {
  return reasonsOf(fixtureBundle(folder, { ...options, change }).path).join("\n");
}

/** What is wrong with a bundle whose record was changed afterwards, and made to fit its manifests. */
function tampered(options: FixtureOptions, change: (record: RunRecord) => RunRecord): string {
  const { path: root, record } = fixtureBundle(folder, options);
  fs.writeFileSync(path.join(root, "data/record.json"), stableJson(change(record)));
  reseal(root);
  return reasonsOf(root).join("\n");
}

const claims = (draft: RecordDraft, supportsChip: string | null): RecordDraft => ({
  ...draft,
  claims: draft.claims.map((claim) => ({ ...claim, supportsChip })),
});

describe("a Metal run", () => {
  it("on a real GPU supports its chip, says what did not run, and is valid", () => {
    const { path: root, record } = fixtureBundle(folder, REAL);
    expect(reasonsOf(root)).toEqual([]);
    expect(record).toMatchObject({ outcome: "passed", choice: { reasons: ["made by hand"] } });
    expect(record.claims).toMatchObject([{ execution: "metal", level: "parity", supportsChip: "M3 Max" }]);
    expect(record.limits.join(" ")).toContain("The checker and the comparison with lockstep");
    expect(record.results[0]?.timings).toEqual([
      { label: "attention", ns: 1_500_000, clock: "stage_boundary_counters" },
    ]);
    const page = fs.readFileSync(path.join(root, "data/report/index.html"), "utf8");
    expect(page).toContain("on Metal, Apple M3 Max: M3 Max, apple9, macOS 26.1 (25B78). This is evidence about M3 Max");
  });

  it("on a virtual GPU supports none, and says so in claim, limits and report", () => {
    const { path: root, record } = fixtureBundle(folder, VIRTUAL);
    expect(reasonsOf(root)).toEqual([]);
    expect(record.claims).toMatchObject([{ level: "parity", supportsChip: null }]);
    expect(record.claims[0]?.doesNotProvide).toContain("a virtual one");
    expect(record.limits.join(" ")).toContain("supports no chip: the GPU is a virtual one");
    expect(fs.readFileSync(path.join(root, "data/report/junit.xml"), "utf8")).toContain("no evidence about a chip");
  });
});

describe("is invalid", () => {
  it("where it claims a chip from a virtual GPU", () => {
    expect(forged(VIRTUAL, (draft) => claims(draft, "M3 Max"))).toContain("the claims do not follow");
  });

  it("where a virtual GPU is said to be none, against its own name, machine or family", () => {
    const lie = (draft: RecordDraft, change: object): RecordDraft => ({
      ...draft,
      device: { ...draft.device!, virtualGpu: { value: false, by: "api", source: "test" }, ...change },
    });
    expect(forged(VIRTUAL, (draft) => claims(lie(draft, {}), "M3 Max"))).toContain("it runs in a virtual machine");
    const named = { facts: [] };
    expect(forged(VIRTUAL, (draft) => lie(draft, named))).toContain('its name is "Apple Paravirtual device"');
    const renamed = { facts: [], name: { value: "Apple M3 Max", by: "api", source: "test" } };
    expect(forged(VIRTUAL, (draft) => lie(draft, renamed))).toContain("no M-series chip is of apple5");
  });

  it("where a virtual GPU is betrayed by its architecture or its processor", () => {
    const known = (value: string) => ({ value, by: "api", source: "test" }) as const;
    const changed = (change: object) => (draft: RecordDraft) => ({ ...draft, device: { ...draft.device!, ...change } });
    expect(forged(REAL, changed({ architecture: known("applegpu_virtual") }))).toContain(
      'but its architecture is "applegpu_virtual"',
    );
    const brand = (value: string) => ({
      facts: [{ id: "cpu_brand", label: "CPU", value, by: "api", source: "test", reason: null }],
    });
    expect(forged(REAL, changed(brand("Apple M1 (Virtual)")))).toContain('but the processor is "Apple M1 (Virtual)"');
    expect(forged(REAL, changed(brand("Apple M5")))).toContain(
      "the chip is said to be M3 Max, the processor to be Apple M5",
    );
    expect(forged(REAL, changed(brand("Apple M3 Max")))).toBe("");
  });

  it("where the device is not the one that was asked for", () => {
    const asked = (name: string, reason = `${name} was asked for`) =>
      forged(REAL, (draft) => ({ ...draft, choice: { asked: name, reasons: [reason] } }));
    expect(asked("metal")).toBe("");
    expect(asked("metal:0")).toBe("");
    expect(asked("metal:1")).toContain("metal:1 was asked for, and the run is of metal:0");
    expect(asked("emulated:apple9")).toContain("emulated:apple9 was asked for, and the run is of metal:0");
    expect(asked("metal", "it was there")).toContain('the reason of the choice is "it was there"');
  });

  it("where a time is of a clock that the device does not have, or of none", () => {
    type Timing = RunRecord["results"][number]["timings"][number];
    const timed = (options: FixtureOptions, timing: Timing, facts?: object[]) =>
      forged(options, (draft) => ({
        ...draft,
        device: facts === undefined ? draft.device : ({ ...draft.device!, facts } as RecordDraft["device"]),
        results: draft.results.map((result) => ({ ...result, timings: [timing] })),
      }));
    const time = { label: "attention", ns: 1000 };
    const counters = "stage_boundary_counters";
    expect(timed({}, { ...time, clock: "command_buffer" })).toContain("a clock of Metal's, and the run is emulated");
    expect(timed({}, { ...time, commandBufferNs: 2000 })).toContain("a clock of Metal's, and the run is emulated");
    expect(timed(REAL, time)).toContain("names no clock");
    expect(timed(REAL, { ...time, clock: "command_buffer", commandBufferNs: 1 })).toContain("of counters as well");
    expect(timed(REAL, { ...time, clock: counters, clockReason: "x" })).toContain("says why they were not read");
    const none = { id: "stage_boundary_sampling", label: "s", value: "no", by: "api", source: "test", reason: null };
    expect(timed(REAL, { ...time, clock: counters }, [none])).toContain("that the device does not sample");
    expect(timed(REAL, { ...time, clock: "command_buffer", clockReason: "none" }, [none])).toBe("");
  });

  it("where a receipt tells registers that its family does not tell", () => {
    const { path: root } = fixtureBundle(folder, REAL);
    const receipts = path.join(root, "data/receipts");
    const [name] = fs.readdirSync(receipts);
    const receipt = JSON.parse(fs.readFileSync(path.join(receipts, name!), "utf8")) as object;
    const registers = { value: { least: 1, most: 52 }, by: "table", source: "made up" };
    fs.writeFileSync(path.join(receipts, name!), stableJson({ ...receipt, registers }));
    reseal(root);
    expect(reasonsOf(root).join("\n")).toContain(`data/receipts/${name}: its registers do not follow from`);
  });

  it("where the record's execution is not that of its device", () => {
    expect(forged({}, (draft) => ({ ...draft, execution: "metal" }))).toContain(
      "the device emulated:m3-max is emulated",
    );
    expect(forged(REAL, (draft) => ({ ...draft, device: null }))).toContain("no device is named");
  });

  it("where a gate or a flavour of the emulated device stands in it", () => {
    const gate = { id: "lockstep", verdict: "pass", value: 0, limit: 0, where: null, note: null } as const;
    const change = (draft: RecordDraft): RecordDraft => ({
      ...draft,
      results: draft.results.map((result) => ({ ...result, gates: [...result.gates, gate], flavour: "fast" })),
    });
    const reasons = forged(REAL, change);
    expect(reasons).toContain("the gate lockstep is the emulated device's alone");
    expect(reasons).toContain("the flavour fast is the emulated device's alone");
  });
});

describe("a run under validation", () => {
  it("passes where both layers are on and silent; its times are marked, its claim shows no timing", () => {
    const { path: root, record } = fixtureBundle(folder, SILENT);
    expect(reasonsOf(root)).toEqual([]);
    expect(record.outcome).toBe("passed");
    expect(record.validation).toMatchObject({
      environment: { MTL_SHADER_VALIDATION: "1" },
      enabled: { api: true, shader: true },
      counts: { errors: 0 },
    });
    expect(record.results.every(({ timings }) => timings.every(({ instrumented }) => instrumented === true))).toBe(
      true,
    );
    expect(record.claims[0]).toMatchObject({ level: "parity", supportsChip: "M3 Max" });
    expect(record.claims[0]?.doesNotProvide).toContain("any timing");
    expect(record.files.filter(({ role }) => role === "validation").map(({ path: file }) => file)).toEqual([
      VALIDATION_LOG,
      VALIDATION_TEXT,
    ]);
  });

  it("fails the result during which an error came, and no other", () => {
    const { path: root, record } = fixtureBundle(folder, LOUD);
    expect(reasonsOf(root)).toEqual([]);
    expect(record.outcome).toBe("failed");
    expect(record.results.map(({ verdict }) => verdict)).toEqual(["fail", "pass"]);
    expect(record.claims[0]?.level).toBe("smoke");
  });

  it("is no pass where Metal never said that it validates", () => {
    const { path: root, record } = fixtureBundle(
      folder,
      validated(() => ""),
    );
    expect(reasonsOf(root)).toEqual([]);
    expect(record.outcome).toBe("failed");
    expect(record.results.map(({ verdict }) => verdict)).toEqual(["not_run", "not_run"]);
  });

  it("is invalid where its error is hidden: gate, record, log or mark", () => {
    const pass = (record: RunRecord): RunRecord => ({
      ...record,
      outcome: "passed",
      results: record.results.map((result) => ({
        ...result,
        verdict: "pass",
        gates: result.gates.map((gate) =>
          gate.id === "validation" ? { ...gate, verdict: "pass", value: 0, where: "both layers", note: null } : gate,
        ),
      })),
    });
    expect(tampered(LOUD, pass)).toContain(`its gate validation is not what ${VALIDATION_LOG} gives`);
    const out = (record: RunRecord): RunRecord => ({
      ...record,
      results: record.results.map((result) => ({
        ...result,
        gates: result.gates.filter(({ id }) => id !== "validation"),
      })),
    });
    expect(tampered({ ...LOUD, change: (draft) => draft }, out)).toContain("the gate validation is left out");
    expect(
      tampered(SILENT, (record) => ({
        ...record,
        validation: { ...record.validation!, enabled: { api: true, shader: false } },
      })),
    ).toContain(`its validation is not that of ${VALIDATION_LOG}`);
    const unmarked = (record: RunRecord): RunRecord => ({
      ...record,
      results: record.results.map((result) => ({
        ...result,
        timings: result.timings.map(({ instrumented: _, ...timing }) => timing),
      })),
    });
    expect(tampered(SILENT, unmarked)).toContain("is not marked");
    const { validation: _gone, ...rest } = fixtureBundle(folder, SILENT).record;
    expect(tampered(SILENT, () => rest)).toContain("speaks of validation, which the record does not have");
  });

  it("is invalid where its log is not what Metal wrote", () => {
    const { path: root } = fixtureBundle(folder, LOUD);
    fs.writeFileSync(path.join(root, VALIDATION_TEXT), BANNERS);
    reseal(root);
    expect(reasonsOf(root).join("\n")).toContain(`${VALIDATION_LOG}: not what ${VALIDATION_TEXT} says`);
  });

  it("is invalid on an emulated device", () => {
    const reasons = forged({ validation: SILENT.validation! }, (draft) => draft);
    expect(reasons).toContain("validation is Metal's, and this run is emulated");
  });
});
