/** The project's own kernels in check flavours: no report, and traffic that is exact to the byte. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findRoute } from "../../../kernels/routes.ts";
import type { CheckResult } from "../../../native/check.ts";
import type { Flavour } from "../../../native/device.ts";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { narrow } from "../../../oracle/tensor.ts";
import { decodeCase, prefillCase, type Tensors } from "../../kernels/run.ts";
import { testDevice } from "../msl/workbench.ts";
import { shownReport, submitPlan, trafficOf } from "./check_run.ts";

let device: EmulatedDevice;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

const FLAVOURS: readonly Flavour[] = ["check", "check+lockstep"];
const HEADS = 16;
const KV_HEADS = 2;
const DIM = 512;
const LIVE = 37;
const F32 = 4;

const decode = decodeCase(HEADS, KV_HEADS, DIM, LIVE);
const rows = [LIVE, KV_HEADS, DIM];
const decodeTensors: Tensors = {
  q: narrow(decode.q, "f32", [HEADS, DIM]),
  k: narrow(decode.k, "f32", rows),
  v: narrow(decode.v, "f32", rows),
};

async function checked(route: string, flavour: Flavour): Promise<CheckResult> {
  const plan = findRoute("gqa_decode", route).plan(decode.shape);
  const { check } = await submitPlan(device, plan, decodeTensors, flavour);
  if (!check) throw new Error("the device did not report");
  return check;
}

/** Nothing at all: neither errors nor warnings nor remarks. */
function expectSilence(check: CheckResult): void {
  expect(check.reports.map(shownReport)).toEqual([]);
  expect(check.complete).toBe(true);
  expect(check.traffic).toMatchObject({ exact: true, stage: "after optimisation" });
}

const SCORES = ["score", "normalise", "value"].map((label) => [label, "scores"] as const);

/** Bytes of the scores that the stages read and write, in both counts. */
function scoreTraffic(check: CheckResult): { readonly requested: number; readonly distinct: number } {
  let [requested, distinct] = [0, 0];
  for (const [label, name] of SCORES) {
    const { read, written } = trafficOf(check, label, name);
    requested += read.requested + written.requested;
    distinct += read.distinct + written.distinct;
  }
  return { requested, distinct };
}

describe.each(FLAVOURS)("decode, %s", (flavour) => {
  it("fused_split_kv is silent and reads K and V each exactly once", async () => {
    const check = await checked("fused_split_kv_p32", flavour);
    expectSilence(check);
    for (const name of ["k", "v"]) {
      const { read, written } = trafficOf(check, "partial", name);
      expect(read).toMatchObject({ requested: LIVE * DIM * F32 * KV_HEADS, distinct: LIVE * DIM * F32 * KV_HEADS });
      expect(written.requested).toBe(0);
    }
  });

  it("three_stage is silent; the scores travel 22 times by the second count", async () => {
    const check = await checked("three_stage", flavour);
    expectSilence(check);
    const { requested, distinct } = scoreTraffic(check);
    expect(distinct).toBe(22 * HEADS * LIVE * F32);
    // The eight lanes of a token read the same weight.
    expect(requested).toBe((6 + 8 * 16) * HEADS * LIVE * F32);
  });

  it("three_stage_staged is silent; the scores travel 22 times by both counts", async () => {
    const check = await checked("three_stage_staged", flavour);
    expectSilence(check);
    const bytes = 22 * HEADS * LIVE * F32;
    expect(scoreTraffic(check)).toEqual({ requested: bytes, distinct: bytes });
  });

  it("naive is silent", async () => {
    expectSilence(await checked("naive", flavour));
  });
});

describe.each(FLAVOURS)("prefill, %s", (flavour) => {
  it.each([
    ["simdgroup_8x8", "f32"],
    ["simdgroup_8x8", "f16"],
    ["simdgroup_8x8", "bf16"],
    ["naive", "f32"],
    ["naive", "bf16"],
  ] as const)("%s in %s is silent", async (route, dtype) => {
    const prefill = prefillCase({ queries: [11, 33], keys: [20, 33] }, 2, [32, 16, 32], dtype);
    const plan = findRoute("mla_prefill", route).plan(prefill.shape);
    const { check } = await submitPlan(device, plan, prefill.tensors, flavour);
    expectSilence(check!);
    // Every element of the output and of lse is written once.
    const [queries, heads] = [44, 2];
    const bytes = dtype === "f32" ? 4 : 2;
    expect(trafficOf(check!, "attention", "out").written.requested).toBe(queries * heads * 32 * bytes);
    expect(trafficOf(check!, "attention", "lse").written.requested).toBe(queries * heads * 4);
  });
});

it("a line's traffic names the author's file, and lines of two banks or many are told apart", async () => {
  const check = await checked("fused_split_kv_p32", "check");
  const lines = check.traffic.dispatches.flatMap((dispatch) => dispatch.lines);
  const named = lines.filter((line) => line.location?.path.startsWith("gqa_decode/"));
  // A load that the optimiser merged out of several lines has none.
  expect(lines.filter((line) => !named.includes(line)).every((line) => line.buffer === "params")).toBe(true);
  expect(named.length).toBeGreaterThan(20);
  const tile = lines.filter((line) => line.buffer === "tile" && line.access === "read");
  // 16 bytes a lane are 128 words over 32 banks: four cycles, the least there is.
  for (const { model, bytes } of tile) {
    expect(model).toEqual({
      kind: "banks_32x4",
      units: 4 * bytes.simdAccesses,
      ideal: 4 * bytes.simdAccesses,
      worst: 4,
    });
  }
});
