/** Questions through the host: a real quick run, its bundle, answers over the process boundary. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InspectRequest, InspectWhat } from "../../../electron/analysis/messages.ts";
import { HostClient } from "../../../electron/host/client.ts";
import { toHostSchema } from "../../../electron/host/messages.ts";
import type { RunEvent } from "../../../electron/runs/events.ts";
import { runRequest } from "../host/request.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";
import { bundleOf } from "./bundles.ts";

const CASE = "gqa_decode/h32kv4d512/L33/spread/f32";

let folder: string;
let bundle: string;
let client: HostClient;
let hostPid: number | undefined;

function question(what: InspectWhat, change: Partial<InspectRequest> = {}): InspectRequest {
  return { bundle, case: CASE, route: "naive", inputs: null, what, ...change };
}

beforeAll(async () => {
  folder = scratchFolder();
  client = new HostClient({
    path: WHERE.host,
    onStart: (pid) => {
      hostPid = pid;
    },
  });
  const events: RunEvent[] = [];
  const request = runRequest(folder);
  const end = await client.run(request, (event) => events.push(event));
  expect(end).toMatchObject({ type: "finished", outcome: "passed" });
  bundle = bundleOf(folder, "quick", { staging: request.staging, events, outcome: "passed" });
});

afterAll(async () => {
  await client?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

describe("a question to the host", () => {
  it("is answered with numbers and arrays", async () => {
    const summary = await client.inspect(question({ kind: "summary" }));
    if (summary.type !== "inspected" || summary.answer.kind !== "summary") throw new Error(JSON.stringify(summary));
    expect(summary.answer).toMatchObject({ extents: { heads: 32, width: 512 }, oracle: { asRecorded: true } });

    const index = summary.answer.whole.at!;
    const answered = await client.inspect(question({ kind: "element", index, measure: "abs", key: null, top: 8 }));
    if (answered.type !== "inspected" || answered.answer.kind !== "element") throw new Error(JSON.stringify(answered));
    const element = answered.answer;
    expect(element.scores).toBeInstanceOf(Float64Array);
    expect(element.weights.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
    expect(element.rebuilt.f64).toBeCloseTo(element.oracle, 12);
    expect(element.trace.partitions.m).toHaveLength(8);
    expect(element.abs).toBe(summary.answer.whole.maxAbs);
  });

  it("is refused with what is wrong and what to do", async () => {
    expect(await client.inspect(question({ kind: "summary" }, { route: "absent" }))).toMatchObject({
      type: "inspect_refused",
      code: "usage",
      mend: "take a route of the record",
    });
    const spoiled = path.join(folder, "spoiled.lockstep");
    fs.cpSync(bundle, spoiled, { recursive: true });
    const files = fs.readdirSync(spoiled, { recursive: true, encoding: "utf8" });
    const out = files.find((file) => file.endsWith("out.f32"))!;
    fs.appendFileSync(path.join(spoiled, out), "0000");
    expect(await client.inspect(question({ kind: "summary" }, { bundle: spoiled }))).toMatchObject({
      type: "inspect_refused",
      code: "changed",
    });
  });

  it("is refused while a run is going on, and one before it is still answered", async () => {
    // Stopped meanwhile, so that question and run reach it together.
    process.kill(hostPid!, "SIGSTOP");
    const before = client.inspect(question({ kind: "summary" }));
    let during: Promise<unknown> | undefined;
    const running = client.run(runRequest(folder), () => {
      during ??= client.inspect(question({ kind: "summary" }));
    });
    process.kill(hostPid!, "SIGCONT");
    const end = await running;
    expect(await before).toMatchObject({ type: "inspected" });
    expect(await during).toMatchObject({
      type: "inspect_refused",
      code: "busy",
      message: expect.stringMatching(/^A run is going on; outputs can be looked at/),
      mend: "wait for it, or cancel it",
    });
    expect(end).toMatchObject({ type: "finished", outcome: "passed" });
    expect(await client.inspect(question({ kind: "lanes", measure: "abs" }))).toMatchObject({ type: "inspected" });
  });

  it("ends when the host does, and the next one starts a fresh host", async () => {
    // Stopped first, so that it cannot answer before the signal that kills it arrives.
    process.kill(hostPid!, "SIGSTOP");
    const asked = client.inspect(question({ kind: "summary" }));
    client.kill();
    expect(await asked).toMatchObject({
      type: "inspect_refused",
      code: "stopped",
      message: "The host stopped by SIGKILL",
    });
    expect(await client.inspect(question({ kind: "summary" }))).toMatchObject({ type: "inspected" });
  });

  it("and a host that answers nonsense is stopped", async () => {
    const nonsense = path.join(folder, "nonsense.mjs");
    for (const message of ['{ type: "inspected", id: 1, answer: {} }', '{ type: "hello" }']) {
      fs.writeFileSync(nonsense, `process.on("message", () => process.send(${message}));\n`);
      const end = await new HostClient({ path: nonsense }).inspect(question({ kind: "summary" }));
      expect(end).toMatchObject({ type: "inspect_refused", code: "stopped" });
    }
  });
});

describe("the request", () => {
  it("is strict", () => {
    const message = { type: "inspect", id: 1, request: question({ kind: "summary" }) };
    expect(toHostSchema.safeParse(message).success).toBe(true);
    expect(toHostSchema.safeParse({ ...message, id: 0 }).success).toBe(false);
    for (const what of [
      { kind: "everything" },
      { kind: "summary", extra: 1 },
      { kind: "worst", measure: "abs", count: 4097 },
      { kind: "element", index: -1, measure: "abs", key: null, top: 0 },
      { kind: "profile", axis: "page", measure: "abs", fixed: {} },
    ]) {
      expect(toHostSchema.safeParse({ ...message, request: { ...message.request, what } }).success).toBe(false);
    }
  });
});
