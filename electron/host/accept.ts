/**
 * The child of `npm run mac:accept`: does one task that needs the addon, says what came of it over its channel, and ends. It is a
 * process of its own because Metal may abort it.
 */
import fs from "node:fs";
import path from "node:path";
import { loadAddon } from "../../native/addon.ts";
import { runConformance } from "../../native/conformance/conformance.ts";
import { type Device, DeviceError } from "../../native/device.ts";
import { listDevices, metalEntries } from "../../native/devices.ts";
import { openDevice } from "../../native/open.ts";
import { forcing, outcomeFacts } from "../accept/forced.ts";
import { MATMUL2D_FUNCTION, MATMUL2D_LANGUAGE, MATMUL2D_SOURCE, MATMUL2D_THREADS } from "../accept/matmul2d.ts";
import { type Task, type TaskEvent, taskSchema } from "../accept/tasks.ts";
import { caseSlug } from "../cases/case.ts";
import { suiteCases } from "../cases/suites.ts";
import { catalogueFor } from "../runs/catalogue.ts";
import { planRun } from "../runs/plan.ts";
import type { ResultRecord } from "../runs/record.ts";
import { runPlan } from "../runs/run.ts";
import { chooseDevice, chosenProfile } from "./choose.ts";
import { deviceWanted } from "./device_name.ts";
import { hostFacts } from "./facts.ts";
import { type Places, places } from "./root.ts";

type Say = (event: TaskEvent) => void;

async function open(device: string, where: Places, logging: boolean): Promise<Device> {
  const addon = loadAddon(where.addon);
  const choice = chooseDevice(deviceWanted(device, null), await metalEntries(addon.metal));
  return await openDevice(choice.wanted, { addon, runnerPath: where.runner, logging });
}

async function devices(device: string, where: Places, say: Say): Promise<void> {
  const addon = loadAddon(where.addon);
  const metal = { offered: addon.metal !== null, sdk: addon.metal?.system().sdkVersion ?? null };
  const asked = deviceWanted(device, null);
  const chip = asked?.kind === "emulated" ? asked.chip : undefined;
  const entries = await listDevices({ addon, ...(chip === undefined ? {} : { chip }) });
  const asMessages = JSON.parse(JSON.stringify(entries)) as Extract<TaskEvent, { type: "devices" }>["entries"];
  try {
    const choice = chooseDevice(asked, entries);
    const unavailable = entries.find((entry) => entry.kind === choice.wanted.kind && !entry.available);
    if (unavailable?.available === false) throw new Error(`${unavailable.reason}; mend: ${unavailable.mend}`);
    const { id } = chosenProfile(
      choice,
      entries.filter((entry) => entry.kind === "metal"),
    );
    say({ type: "devices", metal, entries: asMessages, chosen: id, reason: null });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say({ type: "devices", metal, entries: asMessages, chosen: null, reason });
  }
}

async function conformance(device: string, where: Places, signal: AbortSignal, say: Say): Promise<void> {
  const opened = await open(device, where, true);
  try {
    const results = await runConformance(opened, (result) => say({ type: "check", result }), { signal, logging: true });
    say({ type: "conformance", results: [...results] });
  } finally {
    await opened.close();
  }
}

/** Compiles and builds, and keeps the words. Rejects for what is no answer of the compiler or the device. */
async function matmul2d(device: string, where: Places, say: Say): Promise<void> {
  const opened = await open(device, where, false);
  const refused = (error: unknown): string => {
    if (!(error instanceof DeviceError) || !["compile_failed", "pipeline_refused"].includes(error.code)) throw error;
    return error.message.slice(0, 4000);
  };
  try {
    const library = await opened
      .compile(MATMUL2D_SOURCE, { languageVersion: MATMUL2D_LANGUAGE, mathMode: "safe" })
      .catch((error: unknown) => refused(error));
    if (typeof library === "string") {
      say({ type: "matmul2d", attempt: { compiled: false, pipeline: false, words: library } });
      return;
    }
    const pipeline = await opened
      .pipeline(library, MATMUL2D_FUNCTION, { requiredThreadsPerThreadgroup: MATMUL2D_THREADS })
      .catch((error: unknown) => refused(error));
    if (typeof pipeline === "string") {
      say({ type: "matmul2d", attempt: { compiled: true, pipeline: false, words: pipeline } });
      return;
    }
    const { simdWidth, maxTotalThreadsPerThreadgroup: threads } = pipeline.receipt;
    const words = `SIMD width ${simdWidth.value}, at most ${threads.value} threads`;
    say({ type: "matmul2d", attempt: { compiled: true, pipeline: true, words } });
  } finally {
    await opened.close();
  }
}

/** Runs the first case of the quick suite that the route has, and says what became of it. */
async function forced(
  { device, route, staging }: Extract<Task, { kind: "forced" }>,
  where: Places,
  signal: AbortSignal,
  say: Say,
): Promise<void> {
  const opened = await open(device, where, false);
  try {
    const cases = suiteCases("quick", { golden: where.golden });
    const catalogue = forcing(catalogueFor(opened.profile), route);
    const plan = planRun(null, cases, { route }, catalogue);
    const first = plan.cases[0]!;
    const results: ResultRecord[] = [];
    await runPlan({
      device: opened,
      addon: loadAddon(where.addon),
      plan: { suite: null, cases: [first] },
      staging,
      readSource: (file) => fs.readFileSync(path.join(where.kernels, file), "utf8"),
      host: hostFacts(),
      signal,
      emit: (event) => {
        if (event.type === "result") results.push(event.result);
      },
    });
    const result = results[0];
    if (result === undefined) throw new Error(`${route} on ${caseSlug(first.case.key)} has no result`);
    say({ type: "forced", facts: { ...outcomeFacts(result), device: opened.profile.id } });
  } finally {
    await opened.close();
  }
}

async function perform(task: Task, where: Places, signal: AbortSignal, say: Say): Promise<void> {
  if (task.kind === "devices") await devices(task.device, where, say);
  else if (task.kind === "conformance") await conformance(task.device, where, signal, say);
  else if (task.kind === "matmul2d") await matmul2d(task.device, where, say);
  else await forced(task, where, signal, say);
}

function main(): void {
  let sent: Promise<unknown> = Promise.resolve();
  const say: Say = (event) => {
    sent = new Promise((resolve) => (process.connected && process.send ? process.send(event, resolve) : resolve(null)));
  };
  const stop = new AbortController();
  // The parent has gone, or everything was said.
  process.on("disconnect", () => process.exit());
  process.on("message", (message) => {
    if (message === "stop") {
      stop.abort();
      return;
    }
    perform(taskSchema.parse(message), places(), stop.signal, say)
      .catch((error: unknown) =>
        say({ type: "refused", message: error instanceof Error ? error.message : String(error) }),
      )
      .finally(() => void sent.then(() => process.connected && process.disconnect()));
  });
}

main();
