/** The whole command on the emulated device: its steps, its bundle, its exit codes; and bundles that lie about it. */
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ACCEPTANCE_FILE, type AcceptanceRecord, STEP_FILES, stepLine } from "../../../electron/accept/record.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import { places } from "../../../electron/host/root.ts";
import { reseal } from "../evidence/fixture.ts";
import { edited, forged as forgedOf } from "./forge.ts";

const where = places();
const COMMAND = path.join(where.root, "out", "accept.mjs");

/** A first run compiles every kernel, maybe beside other tests. */
const FIRST_RUN_MS = 300_000;

let folder: string;
let bundle: string;
let output: string;
let record: AcceptanceRecord;

function runCommand(...args: readonly string[]) {
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8", cwd: where.root });
}

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-test-"));
  bundle = path.join(folder, "accepted.lockstep");
  const run = runCommand("--device", "emulated:apple8", "--suite", "quick", "--skip", "smoke", "--out", bundle);
  output = `${run.stdout}\n${run.stderr}`;
  if (run.status !== 0) throw new Error(`exit ${run.status}: ${output}`);
  record = JSON.parse(fs.readFileSync(path.join(bundle, ACCEPTANCE_FILE), "utf8")) as AcceptanceRecord;
}, FIRST_RUN_MS);

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

describe("on the emulated device", () => {
  it("runs what it has and says why the rest is not run", () => {
    const said = Object.fromEntries(record.steps.map(({ id, outcome, words }) => [id, `${outcome}: ${words}`]));
    expect(said.devices).toContain("passed: emulated:apple8: ");
    expect(said.conformance).toBe("passed: 95 passed, 0 failed, 3 not run");
    expect(said.parity).toContain("passed: 51 of 51 results passed, on three_stage,");
    expect(said.matrix_16x16).toBe("not_run: the route is not built yet");
    for (const id of ["matmul2d", "validation", "capture"]) expect(said[id]).toContain("the device emulated:apple8");
    expect(said.smoke).toBe("not_run: left out by --skip");
    expect(said.packaging).toBe("not_run: packaging is made with --package alone");
    expect(record).toMatchObject({
      counts: { passed: 4, failed: 0, notRun: 6 },
      verdict: "accepted",
      interrupted: false,
      device: { id: "emulated:apple8", execution: "emulated", virtualGpu: false },
    });
  });

  it("prints a line for each step, each fact with how it is known, and that it shows nothing of a chip", () => {
    for (const step of record.steps) expect(output).toContain(stepLine(step));
    expect(output).toContain("  family: apple8 (table: native/chips.json");
    expect(output).toContain("nothing about Metal or a chip");
    expect(record.limits.join(" ")).toContain("The device was an emulated one");
  });

  it("writes one bundle that verifies", () => {
    const { checks, result } = verifyBundle(bundle);
    expect(checks.flatMap(({ reasons }) => reasons)).toEqual([]);
    expect(result).toBe("valid");
    expect(fs.readdirSync(folder)).toEqual(["accepted.lockstep"]);
  });
});

const forged = (change: (root: string) => void): string => forgedOf(bundle, change);

const acceptance = (change: (value: AcceptanceRecord) => unknown): string => forged(edited(ACCEPTANCE_FILE, change));
const withStep = (id: string, change: object) => (value: AcceptanceRecord) => ({
  ...value,
  steps: value.steps.map((step) => (step.id === id ? { ...step, ...change } : step)),
});

describe("a bundle that lies about its acceptance is invalid", () => {
  it("to lockstep verify, even where every digest was made to fit", () => {
    expect(forged(() => {})).toBe("");
    const copy = path.join(folder, "copy.lockstep");
    fs.cpSync(bundle, copy, { recursive: true });
    edited(ACCEPTANCE_FILE, withStep("parity", { words: "52 of 52 results passed, on naive" }))(copy);
    reseal(copy);
    const broken = verifyBundle(copy).checks.filter(({ reasons }) => reasons.length > 0);
    fs.rmSync(copy, { recursive: true });
    // The record lists the file by its digest, and the step is not what the results give.
    expect(broken.map(({ id }) => id)).toEqual(["references", "derived"]);
    expect(broken[1]?.reasons[0]).toContain('step parity is passed: "52 of 52');
  });

  it("where counts or verdict do not follow from the steps", () => {
    expect(acceptance((value) => ({ ...value, counts: { ...value.counts, passed: 5 } }))).toContain(
      "the count of passed steps is 5; it must be 4",
    );
    expect(acceptance((value) => ({ ...value, verdict: "failed" }))).toContain(
      'the verdict is "failed"; it must be "accepted"',
    );
  });

  it("where a step is missing, or stands twice", () => {
    expect(acceptance((value) => ({ ...value, steps: value.steps.slice(1) }))).toContain("cannot be read");
    expect(acceptance((value) => ({ ...value, steps: [...value.steps.slice(0, -1), value.steps[0]] }))).toContain(
      "its steps are build, devices",
    );
  });

  it("where a step that did not run passes", () => {
    const passes = { outcome: "passed", words: "compiled, pipeline built: SIMD width 32" };
    const said = acceptance(withStep("matmul2d", passes));
    expect(said).toContain("step matmul2d passed without data/acceptance/matmul2d.json");
    expect(said).toContain("step matmul2d is Metal's alone, and the device is an emulated one");
    expect(said).toContain("the count of passed steps is 4; it must be 5");
  });

  it("where a step ran although what it needs had not passed", () => {
    expect(acceptance(withStep("build", { outcome: "failed" }))).toContain(
      "step devices ran although build had not passed",
    );
    expect(acceptance(withStep("devices", { outcome: "failed" }))).toContain("step devices is failed: ");
    expect(acceptance(withStep("devices", { outcome: "not_run", words: "left out", files: [] }))).toContain(
      "step conformance ran although devices had not passed",
    );
  });

  it("where parity says what the record does not", () => {
    expect(acceptance(withStep("parity", { words: "52 of 52 results passed, on naive" }))).toContain(
      'step parity is passed: "52 of 52',
    );
    expect(acceptance(withStep("parity", { outcome: "not_run" }))).toContain("step parity is not_run");
  });

  it("where the suite's results are not those that are counted", () => {
    const results = (change: (one: { id: string; outcome: string }, index: number) => object) =>
      forged(
        edited<{ results: { id: string; outcome: string }[] }>(STEP_FILES.conformance, (value) => ({
          ...value,
          results: value.results.map((one, index) => ({ ...one, ...change(one, index) })),
        })),
      );
    expect(results((one) => (one.id === "buffer.poisoned" ? { outcome: "failed" } : {}))).toContain(
      'its files give failed: "94 passed, 1 failed, 3 not run"',
    );
    expect(results(() => ({ id: "same" }))).toContain("a check stands twice");
    expect(forged(edited(STEP_FILES.conformance, (value: object) => ({ ...value, device: "metal:0" })))).toContain(
      "is of metal:0, the run of emulated:apple8",
    );
  });

  it("where the device is another, or has other facts", () => {
    const device = { id: "metal:0", execution: "metal", virtualGpu: false };
    const said = acceptance((value) => ({ ...value, device }));
    expect(said).toContain('the device is "metal:0"; it must be "emulated:apple8"');
    expect(said).toContain('the execution is "metal"; it must be "emulated"');
    type Entries = { entries: { profile?: { id: string; chip: { value: string } } }[] };
    expect(
      forged(
        edited<Entries>(STEP_FILES.devices, (value) => ({
          ...value,
          entries: value.entries.map((entry) =>
            entry.profile
              ? { ...entry, profile: { ...entry.profile, chip: { ...entry.profile.chip, value: "M5" } } }
              : entry,
          ),
        })),
      ),
    ).toContain("chip of emulated:apple8 differs from that of the run");
  });

  it("where what was built, how long it took, its machine or its limits are others", () => {
    type Built = { node: string; platform: string; metal: { offered: boolean; sdk: number | null } };
    const build = (change: (value: Built) => object) =>
      forged(edited<Built>(STEP_FILES.build, (value) => ({ ...value, ...change(value) })));
    expect(build(() => ({ node: "1.0.0" }))).toContain("step build is passed");
    expect(build(() => ({ metal: { offered: true, sdk: 260100 } }))).toContain("offers Metal, built with SDK 260100");
    expect(build(() => ({ platform: "darwin arm64" }))).toContain('it must be "darwin arm64"');
    expect(build(() => ({ more: 1 }))).toContain("step build: ");
    expect(acceptance((value) => ({ ...value, machine: "darwin arm64" }))).toContain('the machine is "darwin arm64"');
    expect(acceptance((value) => ({ ...value, limits: [] }))).toContain("what it does not show is");
    const later = "2099-01-01T00:00:00.000Z";
    expect(acceptance((value) => ({ ...value, finishedAt: later }))).toContain("the time at which it ended");
    type Entries = { entries: { profile?: { metalVersion: { value: string } } }[] };
    expect(
      forged(
        edited<Entries>(STEP_FILES.devices, (value) => {
          for (const { profile } of value.entries) if (profile) profile.metalVersion.value = "9.0";
          return value;
        }),
      ),
    ).toContain("metalVersion of emulated:apple8 differs from that of the run");
  });

  it("where files are added, taken away or unknown to the schema", () => {
    expect(forged((root) => fs.writeFileSync(path.join(root, STEP_FILES.smoke), "passed\n"))).toContain(
      `${STEP_FILES.smoke}: named by no step`,
    );
    expect(forged((root) => fs.rmSync(path.join(root, STEP_FILES.conformance)))).toContain(
      `${STEP_FILES.conformance}: named by step conformance and missing`,
    );
    expect(forged((root) => fs.rmSync(path.join(root, ACCEPTANCE_FILE)))).toContain("of no acceptance");
    expect(acceptance((value) => ({ ...value, more: 1 }))).toContain("nothing in it is checked");
  });

  it("where the log tells another story", () => {
    const log = (change: (text: string) => string) =>
      forged((root) => {
        const file = path.join(root, "data/acceptance/log.txt");
        fs.writeFileSync(file, change(fs.readFileSync(file, "utf8")));
      });
    expect(log((text) => text.replace("passed   parity", "failed   parity"))).toContain("line of parity is not that");
    expect(log((text) => `${text}passed   more\n`)).toContain("it has more lines than steps");
  });
});

describe("exit codes", () => {
  it("2 where nothing ran: a machine without Metal must not look accepted", () => {
    const out = path.join(folder, "nothing");
    // On a Mac this would run for minutes.
    const [device, why] =
      process.platform === "darwin" ? ["emulated", "left out"] : ["metal", "Metal is a part of macOS"];
    const run = runCommand(
      "--device",
      device,
      "--out",
      out,
      "--skip",
      process.platform === "darwin" ? "build" : "smoke",
    );
    expect(run.status).toBe(2);
    expect(run.stdout.match(/^not run {2}/gm)).toHaveLength(10);
    expect(run.stdout).toContain(why);
    expect(run.stdout).toContain("0 passed, 0 failed, 10 not run: nothing ran, so that nothing is shown");
    expect(fs.existsSync(out)).toBe(false);
  });

  it("2 for an option that is none, with the mend", () => {
    for (const [args, words] of [
      [["--only", "nothing"], '--only names "nothing"; the steps are build'],
      [["--suite", "long"], '--suite is "long"; it takes quick, standard, full'],
      [["--device", "cpu"], "cpu"],
      [["--fast"], "--fast"],
    ] as const) {
      const run = runCommand(...args);
      expect([run.status, run.stderr]).toEqual([2, expect.stringContaining(words)]);
    }
  });

  it("0 for --help, which lists the steps", () => {
    const run = runCommand("--help");
    expect(run.status).toBe(0);
    for (const { id } of record.steps) expect(run.stdout).toContain(`\n  ${id}`);
  });

  it("0 with --only, and what was found out without a run is kept as a folder", () => {
    const out = path.join(folder, "only");
    const run = runCommand("--device", "emulated", "--only", "devices", "--json", "--out", out);
    expect(run.status).toBe(0);
    const told = JSON.parse(run.stdout) as AcceptanceRecord & { readonly path: string; readonly kind: string };
    expect(told).toMatchObject({ kind: "record", verdict: "accepted", counts: { passed: 2, failed: 0, notRun: 8 } });
    expect(fs.readdirSync(told.path).sort()).toEqual(["acceptance.json", "build.json", "devices.json", "log.txt"]);
  });

  it("2 where the record cannot be written, and nothing half-written stays", () => {
    const out = path.join(folder, "taken");
    fs.mkdirSync(out);
    fs.writeFileSync(path.join(out, "x.acceptance"), "");
    const run = runCommand("--device", "emulated", "--only", "build", "--out", path.join(out, "x.lockstep"));
    expect([run.status, run.stderr]).toEqual([2, expect.stringContaining("x.acceptance cannot be written (ENOTDIR)")]);
    expect(fs.readdirSync(out)).toEqual(["x.acceptance"]);
  });

  it("1 where a step fails, with its reason and the mend", () => {
    const args = [COMMAND, "--device", "emulated", "--only", "parity", "--out", path.join(folder, "failed")];
    // Without a compiler there is no emulated device.
    const env = { ...process.env, PATH: "", XDG_CACHE_HOME: path.join(folder, "cache") };
    const run = spawnSync(process.execPath, args, { encoding: "utf8", cwd: where.root, env });
    expect(run.status).toBe(1);
    expect(run.stdout).toMatch(/^failed {3}devices: the device is detected: .*mend: /m);
    expect(run.stdout).toContain("not run  parity: every route agrees with the oracle: it needs the step devices");
  });

  it("130 after an interrupt, and the finished cases are in a bundle that verifies", async () => {
    // The long suite: the first line of its progress may come seconds after the begin, and must come before its end.
    const stopped = path.join(folder, "stopped.lockstep");
    const args = [COMMAND, "--device", "emulated", "--suite", "full", "--only", "parity", "--out", stopped];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], cwd: where.root });
    let text = "";
    let asked = false;
    const take = (piece: string): void => {
      text += piece;
      if (asked || !text.includes("parity: ")) return;
      asked = true;
      child.kill("SIGINT");
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect([code, text]).toEqual([130, expect.stringContaining("stopped by you")]);
    expect(verifyBundle(stopped).checks.flatMap(({ reasons }) => reasons)).toEqual([]);
    const kept = JSON.parse(fs.readFileSync(path.join(stopped, ACCEPTANCE_FILE), "utf8")) as AcceptanceRecord;
    expect(kept).toMatchObject({ verdict: "interrupted", interrupted: true });
  });
});
