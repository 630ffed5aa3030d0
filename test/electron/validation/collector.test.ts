/** From a child's standard error to gate, record and bundle: with children that write what Metal would write. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HostClient } from "../../../electron/host/client.ts";
import { hostEnvironment } from "../../../electron/host/host_environment.ts";
import { ValidationCollector } from "../../../electron/validation/collector.ts";
import { missingEnvironment, VALIDATION_ENVIRONMENT } from "../../../electron/validation/environment.ts";
import { validationGate, withValidation } from "../../../electron/validation/gate.ts";
import { markLine, readValidation } from "../../../electron/validation/lines.ts";
import { runRequest } from "../host/request.ts";
import { scratchFolder } from "../runs/harness.ts";

const BANNERS = "Metal API Validation Enabled\nMetal GPU Validation Enabled\n";
const LOAD = 'Invalid device load at offset 64, executing kernel function: "k"\n';
const RESULT = { case: "c", route: "r" };

let folder: string;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function child(name: string, text: string): string {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return file;
}

describe("a host under validation", () => {
  it("is started with Metal's variables, and all that it wrote is there when it has ended", async () => {
    // The last words are written after the last message, as the layer does.
    const file = child(
      "talks.mjs",
      `const names = ${JSON.stringify(Object.keys(VALIDATION_ENVIRONMENT))};
      process.on("message", () => {
        process.stderr.write(${JSON.stringify(BANNERS)} + names.map((name) => name + "=" + process.env[name]).join("\\n") + "\\n");
        process.send({ type: "finished", outcome: "passed", reason: null });
      });
      process.on("disconnect", () => { process.stderr.write(${JSON.stringify(LOAD)}.repeat(3000)); process.exit(0); });`,
    );
    const collector = new ValidationCollector();
    const client = new HostClient({
      path: file,
      environment: VALIDATION_ENVIRONMENT,
      onLog: (text) => collector.add(text),
    });
    expect(await client.run(runRequest(folder), () => undefined)).toMatchObject({ outcome: "passed" });
    await client.closeDrained();
    for (const [name, value] of Object.entries(VALIDATION_ENVIRONMENT)) {
      expect(collector.text).toContain(`${name}=${value}`);
    }
    const log = collector.read();
    expect(log).toMatchObject({ enabled: { api: true, shader: true }, counts: { errors: 3000, dropped: 0 } });
    expect(log.reports.filter(({ severity }) => severity === "error")).toMatchObject([{ times: 3000 }]);
  });

  it("another host has none of them", async () => {
    const file = child(
      "plain.mjs",
      `process.on("message", () => {
        process.stderr.write("layer: " + process.env.MTL_DEBUG_LAYER + "\\n");
        process.send({ type: "finished", outcome: "passed", reason: null });
      });`,
    );
    const said: string[] = [];
    const client = new HostClient({ path: file, onLog: (text) => said.push(text) });
    await client.run(runRequest(folder), () => undefined);
    await client.closeDrained();
    expect(said.join("")).toBe("layer: undefined\n");
    expect(missingEnvironment({}, VALIDATION_ENVIRONMENT)).toContain("MTL_SHADER_VALIDATION=1");
    expect(missingEnvironment({ ...VALIDATION_ENVIRONMENT }, VALIDATION_ENVIRONMENT)).toEqual([]);
  });
});

describe("the environment of a host", () => {
  it("has no variable of Metal's that was not asked for, and is left alone where nothing is", () => {
    const own = { PATH: "/bin", MTL_SHADER_VALIDATION_DISABLE_PIPELINES: "all", METAL_DEVICE_WRAPPER_TYPE: "1" };
    expect(hostEnvironment(VALIDATION_ENVIRONMENT, own)).toEqual({ PATH: "/bin", ...VALIDATION_ENVIRONMENT });
    expect(hostEnvironment({}, own)).toEqual(own);
  });
});

describe("the collector", () => {
  it("joins pieces that are cut anywhere", () => {
    const collector = new ValidationCollector();
    for (const letter of `${BANNERS}${LOAD}`) collector.add(letter);
    expect(collector.read()).toEqual(readValidation(`${BANNERS}${LOAD}`));
  });

  it("keeps up to its limit and counts the rest, which its text says as well", () => {
    const collector = new ValidationCollector(100);
    collector.add(BANNERS);
    collector.add(LOAD.repeat(10));
    collector.add(LOAD);
    expect(collector.read().counts).toMatchObject({ errors: 0, dropped: 11 });
    expect(readValidation(collector.text)).toEqual(collector.read());
  });
});

describe("the gate", () => {
  const gate = (text: string) => validationGate(readValidation(text), RESULT);
  const at = markLine("c", "r");

  it("passes where both layers are on and say nothing of the result", () => {
    const other = `${BANNERS}${markLine("c", "other")}${LOAD}${at}`;
    expect(gate(other)).toMatchObject({ verdict: "pass", value: 0, limit: 0 });
    expect(gate(`${BANNERS}an unrelated line\n`).verdict).toBe("pass");
  });

  it("fails by an error of the result, and by one outside any", () => {
    expect(gate(`${BANNERS}${at}${LOAD}${LOAD}`)).toMatchObject({ verdict: "fail", value: 2, limit: 0, where: "k" });
    expect(gate(`${BANNERS}${LOAD}`)).toMatchObject({ verdict: "fail", value: 1 });
    // An error counts whether or not the banners were seen.
    expect(gate(`${at}${LOAD}`).verdict).toBe("fail");
  });

  it("does not run where silence proves nothing: a layer not seen on, lines lost, a line of no known form", () => {
    expect(gate("")).toMatchObject({
      verdict: "not_run",
      note: expect.stringContaining("API and shader validation are"),
    });
    expect(gate("Metal API Validation Enabled\n").note).toContain("shader validation is");
    const full = new ValidationCollector(BANNERS.length);
    full.add(BANNERS);
    full.add("more\n");
    expect(validationGate(full.read(), RESULT)).toMatchObject({
      verdict: "not_run",
      note: expect.stringContaining("no room"),
    });
    expect(gate(`${BANNERS}${at}MTLNew: what is this\n`)).toMatchObject({
      verdict: "not_run",
      note: expect.stringContaining("no known form"),
    });
  });

  it("turns a result that held every other gate, and marks its times", () => {
    const passed = {
      ...RESULT,
      state: "completed",
      error: null,
      verdict: "pass",
      metrics: null,
      gates: [{ id: "finite", verdict: "pass", value: 0, limit: 0, where: null, note: null }],
      ms: 1,
      timings: [{ label: "scores", ns: 5, clock: "command_buffer" }],
      outputs: [],
      receipts: [],
      metricsPath: null,
    } as const;
    const [failed] = withValidation(
      [{ ...passed, gates: [...passed.gates], timings: [...passed.timings], outputs: [], receipts: [] }],
      readValidation(`${BANNERS}${at}${LOAD}`),
    );
    expect(failed).toMatchObject({ verdict: "fail", timings: [{ clock: "command_buffer", instrumented: true }] });
    expect(failed?.gates.map(({ id }) => id)).toEqual(["finite", "validation"]);
  });
});
