/**
 * The steps that Metal alone has, over the stand-in for Metal: every process of the command is real, the Metal device's own code is
 * executed, kernels run in the emulator. The stand-in is no GPU and no evidence of one. What Metal's validation would write, a
 * line in front of the children writes here.
 */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Accepted, accept } from "../../../electron/accept/accept.ts";
import { ACCEPTANCE_FILE, type AcceptanceRecord, STEP_FILES, type StepId } from "../../../electron/accept/record.ts";
import { STEPS } from "../../../electron/accept/steps.ts";
import { type Places, places } from "../../../electron/host/root.ts";
import { buildStandIn } from "../../native/metal/stand_in/build.ts";
import { openStandIn, STAND_IN_TIMEOUT_MS } from "../../native/metal/stand_in/open.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";
import { edited, forged as forgedOf } from "./forge.ts";

let folder: string;
let where: Places;
let control: string;

/** A checkout whose addon is the one over the stand-in. */
async function standInCheckout(root: string): Promise<Places> {
  await openStandIn();
  const files = await buildStandIn();
  control = files.control;
  fs.mkdirSync(path.join(root, "out"), { recursive: true });
  for (const name of ["package.json", "kernels", "native", "test", "build"]) {
    fs.symlinkSync(path.join(WHERE.root, name), path.join(root, name));
  }
  for (const name of ["accept_host.mjs", "host.mjs", "cli.mjs"]) {
    fs.copyFileSync(path.join(WHERE.root, "out", name), path.join(root, "out", name));
  }
  fs.copyFileSync(files.addon, path.join(root, "out", "lockstep.node"));
  fs.copyFileSync(files.control, path.join(root, "out", path.basename(files.control)));
  fs.copyFileSync(WHERE.runner, path.join(root, "out", "lockstep-runner"));
  fs.chmodSync(path.join(root, "out", "lockstep-runner"), 0o755);
  return places(root);
}

beforeAll(async () => {
  folder = scratchFolder();
  where = await standInCheckout(path.join(folder, "checkout"));
}, STAND_IN_TIMEOUT_MS);

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const M3_MAX = {
  os: "26.1.0",
  "sysctl.machdep.cpu.brand_string": "Apple M3 Max",
  "sysctl.kern.hv_vmm_present": 0,
  architecture: "applegpu_g15s",
  cores: 40,
  families: "1005 1006 1007 1008 1009 5001 5002",
};

interface Scenario {
  readonly machine?: Readonly<Record<string, string | number>>;
  /** What is written to standard error where validation is asked for. */
  readonly validation?: string;
  readonly only?: readonly StepId[];
}

const BANNERS = "Metal API Validation Enabled\\nMetal GPU Validation Enabled\\n";

/** Runs the command as on a Mac, children and all. */
async function acceptOn(name: string, { machine = M3_MAX, validation = BANNERS, only }: Scenario): Promise<Accepted> {
  const settings = Object.entries(machine)
    .map(([key, value]) => `${key}=${value}`)
    .join("\\n");
  const preload = path.join(folder, `${name}.cjs`);
  const standIn = path.join(where.root, "out", path.basename(control));
  fs.writeFileSync(
    preload,
    `require(${JSON.stringify(standIn)}).scenario("${settings}");
if (process.env.MTL_SHADER_VALIDATION === "1") process.stderr.write("${validation}");\n`,
  );
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = `--require ${preload}`;
  try {
    return await accept({
      where,
      child: path.join(where.root, "out", "accept_host.mjs"),
      steps: STEPS,
      device: "metal",
      suite: "quick",
      packaging: false,
      out: path.join(folder, `${name}.lockstep`),
      only,
      skip: ["smoke"],
      command: ["npm", "run", "mac:accept"],
      platform: "darwin",
      signal: new AbortController().signal,
      line: () => {},
      progress: () => {},
    });
  } finally {
    if (before === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = before;
  }
}

const saidBy = ({ record }: Accepted): Record<string, string> =>
  Object.fromEntries(record.steps.map(({ id, outcome, words }) => [id, `${outcome}: ${words}`]));

describe("over the stand-in for Metal", () => {
  let accepted: Accepted;

  beforeAll(async () => {
    accepted = await acceptOn("whole", {});
  }, STAND_IN_TIMEOUT_MS);

  it("every step of Metal runs", () => {
    const said = saidBy(accepted);
    expect(said).toMatchObject({
      build: expect.stringContaining("passed: Node"),
      devices: expect.stringContaining("passed: metal:0: Stand-in for Metal"),
      conformance: expect.stringMatching(/^passed: \d+ passed, 0 failed, \d+ not run$/),
      parity: expect.stringContaining("passed: "),
      matrix_16x16: "not_run: the route is not built yet",
      matmul2d: expect.stringContaining("passed: not compiled: "),
      validation: expect.stringMatching(/^passed: .* 0 errors/),
      capture: expect.stringContaining(
        "passed: whole.gputrace beside the bundle: gqa_decode/h32kv4d512/L1023/tail4/f32",
      ),
    });
    expect(accepted).toMatchObject({ kind: "bundle", broken: [], record: { verdict: "accepted" } });
    expect(fs.existsSync(path.join(folder, "whole.gputrace"))).toBe(true);
  });

  const forged = <T>(file: string, change: (value: T) => unknown): string =>
    forgedOf(accepted.path!, edited(file, change));

  it("a bundle that lies about them is invalid", () => {
    expect(forged(ACCEPTANCE_FILE, (value) => value)).toBe("");
    const attempt = { compiled: true, pipeline: true, words: "SIMD width 32" };
    expect(forged(STEP_FILES.matmul2d, (value: object) => ({ ...value, attempt }))).toContain(
      'step matmul2d is passed: "not compiled',
    );
    expect(forged(STEP_FILES.validationLog, (text: string) => text.replace("GPU Validation", "CPU"))).toContain(
      `${STEP_FILES.validation} is not what ${STEP_FILES.validationLog} says`,
    );
    expect(
      forged(STEP_FILES.validation, (value: { results: object[] }) => ({ ...value, results: value.results.slice(1) })),
    ).toContain("step validation is passed");
    type Capture = { answer: { device: { id: string } } };
    expect(
      forged(STEP_FILES.capture, (value: Capture) => ({
        ...value,
        answer: { ...value.answer, device: { ...value.answer.device, id: "metal:1" } },
      })),
    ).toContain("the capture is of metal:1, the run of metal:0");
    const virtual = (value: AcceptanceRecord) => ({ ...value, device: { ...value.device, virtualGpu: true } });
    expect(forged(ACCEPTANCE_FILE, virtual)).toContain("that the GPU is a virtual one is true; it must be false");
  });
});

describe("where something is wrong", () => {
  it("a device that does not fit the table of chips fails the detection, and the rest goes on", async () => {
    const machine = { ...M3_MAX, "sysctl.machdep.cpu.brand_string": "Apple M1" };
    const said = saidBy(await acceptOn("other", { machine, only: ["matmul2d"] }));
    expect(said.devices).toMatch(/^failed: metal:0: .*the device and the table of chips: differs/);
    expect(said.matmul2d).toContain("passed: not compiled");
  });

  it("a virtual GPU is marked", async () => {
    const machine = { ...M3_MAX, "sysctl.kern.hv_vmm_present": 1 };
    const accepted = await acceptOn("virtual", { machine, only: ["devices"] });
    expect(saidBy(accepted).devices).toContain("a virtual GPU: its results support no chip");
    expect(accepted.record.device?.virtualGpu).toBe(true);
    expect(accepted.record.limits.join(" ")).toContain("this supports no chip");
  });

  it("a macOS without MSL 4.0 cannot be asked about cooperative tensors", async () => {
    const machine = { ...M3_MAX, os: "15.4.0" };
    const said = saidBy(await acceptOn("older", { machine, only: ["matmul2d"] }));
    expect(said.matmul2d).toContain("not_run: it needs MSL 4.0; the newest here is 3.2");
  });

  it("a compiler that compiles nothing fails the suite", async () => {
    const machine = { ...M3_MAX, "fail.compile": "program_source:1:1: error: no such thing" };
    const said = saidBy(await acceptOn("broken", { machine, only: ["conformance"] }));
    expect(said.conformance).toMatch(/^failed: \d+ passed, \d+ failed/);
  });
});
