/** The gate `checker` of a record must say what the reports beside it say. */
import fs from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeBundle, openStaging, writePayload } from "../../../electron/evidence/bundle.ts";
import { stableJson } from "../../../electron/evidence/json.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import type { RouteCheck } from "../../../electron/runs/route_check.ts";
import type { CheckReport } from "../../../native/check.ts";
import { fixtureDraft, temporary } from "./fixture.ts";

const FILE = "data/checks/naive.0123456789ab.json";

/** A check without reports. */
const CLEAN: RouteCheck = {
  schema: "lockstep.check/1",
  case: "gqa_decode/h2kv1d32/L3/spread/f32",
  route: "naive",
  pipelines: ["0".repeat(64)],
  flavour: "check",
  pinned: false,
  result: {
    complete: true,
    dropped: 0,
    reports: [],
    traffic: { stage: "after optimisation", exact: false, exactReason: "a test", dispatches: [] },
  },
};

const RACE: CheckReport = {
  kind: "race",
  severity: "error",
  dispatch: "attention",
  message: "Two simdgroups access part.",
  first: {
    access: "write",
    location: null,
    threadgroup: [0, 0, 0],
    thread: 32,
    simdgroup: 1,
    lane: 0,
  },
  addressSpace: "threadgroup",
  buffer: null,
  offset: 4,
  size: 4,
  count: 6,
  mechanism: "a test",
  blindSpot: "a test",
};

let folder: string;

beforeAll(() => {
  folder = temporary();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Reasons of the check `checks` for a bundle whose first result points to this text. */
function reasons(text: string): readonly string[] {
  const staging = openStaging(folder, "checks.lockstep");
  const draft = fixtureDraft(staging.folder);
  writePayload(staging.folder, FILE, text);
  const results = draft.results.map((result, index) => (index === 0 ? { ...result, check: FILE } : result));
  const { path } = closeBundle(staging, { ...draft, results });
  const { checks } = verifyBundle(path);
  fs.rmSync(path, { recursive: true });
  return checks.find(({ id }) => id === "checks")?.reasons ?? ["there is no such check"];
}

describe("the checker's reports", () => {
  it("agree with the gate", () => {
    expect(reasons(stableJson(CLEAN))).toEqual([]);
    const warned = { ...CLEAN.result, reports: [{ ...RACE, severity: "warning" }] };
    expect(reasons(stableJson({ ...CLEAN, result: warned }))).toEqual([]);
  });

  it("with an error are not what a gate of 0 says", () => {
    const raced = { ...CLEAN.result, reports: [RACE] };
    expect(reasons(stableJson({ ...CLEAN, result: raced }))).toEqual([
      expect.stringMatching(/gate "checker" is 0; .* has 1 error$/),
    ]);
  });

  it("that are not whole are not what a gate of 0 says", () => {
    for (const part of [{ complete: false }, { dropped: 3 }]) {
      const cut = { ...CLEAN.result, ...part };
      expect(reasons(stableJson({ ...CLEAN, result: cut }))).toEqual([expect.stringContaining("is not whole")]);
    }
  });

  it("of another route are refused", () => {
    expect(reasons(stableJson({ ...CLEAN, route: "three_stage" }))).toEqual([
      expect.stringContaining("of three_stage, named by"),
    ]);
  });

  it("that cannot be read are refused", () => {
    expect(reasons("{}")).toEqual([expect.stringContaining(`${FILE}: schema`)]);
    expect(reasons("{")).toEqual([expect.stringContaining(FILE)]);
  });
});
