/** One request of a door: cases, plan, device, run. Everything that can be wrong with a request is found before a device opens. */
import fs from "node:fs";
import path from "node:path";
import { loadAddon } from "../../native/addon.ts";
import { metalEntries } from "../../native/devices.ts";
import { openDevice } from "../../native/open.ts";
import type { CheckRequest } from "../analysis/check_messages.ts";
import type { Inspector } from "../analysis/inspector.ts";
import { InspectError, type InspectRequest } from "../analysis/messages.ts";
import type { Case } from "../cases/case.ts";
import { casesFromFile } from "../cases/file.ts";
import { suiteCases } from "../cases/suites.ts";
import { catalogueFor } from "../runs/catalogue.ts";
import type { RunControl } from "../runs/control.ts";
import type { Emit } from "../runs/events.ts";
import { planImported, readProducer, runImported } from "../runs/imported.ts";
import { planRun, type Selection } from "../runs/plan.ts";
import { runPlan } from "../runs/run.ts";
import { UsageError } from "../runs/usage.ts";
import { missingEnvironment, VALIDATION_ENVIRONMENT } from "../validation/environment.ts";
import { markLine } from "../validation/lines.ts";
import { checkKernels } from "./check.ts";
import { chooseDevice, chosenProfile, type DeviceChoice } from "./choose.ts";
import { deviceWanted, wantedName } from "./device_name.ts";
import { hostFacts } from "./facts.ts";
import type { CheckEnd, InspectEnd, Refused, RunRequest } from "./messages.ts";
import { refusalOf } from "./refusal.ts";
import type { Places } from "./root.ts";

function casesOf(request: RunRequest, golden: string): readonly Case[] {
  if (request.inputs !== null) return casesFromFile(request.inputs);
  // Outputs may belong to any case there is.
  const suite = request.outputs === null ? request.suite : "full";
  return suiteCases(suite, { golden, ...(request.seed === null ? {} : { seed: request.seed }) });
}

function selectionOf(request: RunRequest): Selection {
  return {
    operator: request.operator ?? undefined,
    route: request.route ?? undefined,
    case: request.case ?? undefined,
  };
}

/** How a run is stopped, paused, or made to skip. Imported outputs can be stopped alone: nothing runs. */
export interface RunLeash {
  readonly signal: AbortSignal;
  readonly control: RunControl;
}

/** Runs a request to its last event. Rejects for defects of the program only. */
export async function runRequest(request: RunRequest, where: Places, leash: RunLeash, emit: Emit): Promise<void> {
  try {
    await (request.outputs === null
      ? runHere(request, where, leash, emit)
      : judgeOutputs(request, where, leash.signal, emit));
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    emit(refusal);
  }
}

async function runHere(request: RunRequest, where: Places, leash: RunLeash, emit: Emit): Promise<void> {
  const asked = deviceWanted(request.device, request.chip);
  // Whether there is Metal, only the addon knows; where it does not matter it is not asked.
  const addon = loadAddon(where.addon);
  const metal = asked?.kind === "emulated" ? [] : await metalEntries(addon.metal);
  const choice = chooseDevice(asked, metal);
  if (request.validation) refuseWithoutValidation(choice);
  const profile = chosenProfile(choice, metal);
  const cases = casesOf(request, where.golden);
  const suite = request.inputs === null ? request.suite : null;
  const plan = planRun(suite, cases, selectionOf(request), catalogueFor(profile));
  const device = await openDevice(choice.wanted, { addon, runnerPath: where.runner });
  try {
    await runPlan({
      device,
      addon,
      plan,
      staging: request.staging,
      readSource: (file) => fs.readFileSync(path.join(where.kernels, file), "utf8"),
      host: hostFacts(),
      choice: { asked: asked === null ? null : wantedName(asked), reasons: [...choice.reasons] },
      instrumented: request.validation,
      timeoutMs: request.timeoutMs ?? undefined,
      workers: request.workers ?? undefined,
      ...leash,
      emit: request.validation ? marking(emit) : emit,
    });
  } finally {
    await device.close();
  }
}

/** Validation is Metal's, and reads its variables once, before the first device of the process. */
function refuseWithoutValidation({ wanted, reasons }: DeviceChoice): void {
  if (wanted.kind !== "metal") {
    throw new UsageError(
      `--validation is Metal's own, and this run would be on the emulated device (${reasons.join("; ")}): ` +
        "run it on a Mac, or leave --validation out. The emulated device has a checker of its own: lockstep check.",
    );
  }
  const missing = missingEnvironment(process.env, VALIDATION_ENVIRONMENT);
  if (missing.length > 0)
    throw new Error(`The host was started without ${missing.join(", ")}, which validation needs.`);
}

/**
 * Says on standard error, where Metal's validation writes, which result is being computed: what comes after it is of that
 * result. Written at once, so that the order of the two is that of the pipe.
 */
function marking(emit: Emit): Emit {
  let last = "";
  return (event) => {
    if (event.type === "progress") {
      const mark = markLine(event.case, event.route);
      if (mark !== last) writeWhole(mark);
      last = mark;
    }
    emit(event);
  };
}

const pause = new Int32Array(new SharedArrayBuffer(4));

function writeWhole(text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += fs.writeSync(2, bytes, done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}

async function judgeOutputs(request: RunRequest, where: Places, signal: AbortSignal, emit: Emit): Promise<void> {
  if (request.outputs === null || request.producer === null) {
    throw new UsageError(
      "--outputs needs --producer: a JSON file with engine, chip, os, toolchain, build and command.",
    );
  }
  const producer = readProducer(request.producer);
  const cases = casesOf(request, where.golden);
  const items = planImported(request.outputs, cases, selectionOf(request));
  await runImported({
    addon: loadAddon(where.addon),
    items,
    outputs: request.outputs,
    producer,
    suite: null,
    staging: request.staging,
    host: hostFacts(),
    signal,
    emit,
  });
}

/** A question's refusal as a message. Rejects with what is no refusal. */
function refused(id: number, error: unknown): Refused {
  if (!(error instanceof InspectError)) throw error;
  const { code, message, mend } = error;
  return { type: "inspect_refused", id, code, message, mend };
}

/** Answers one question about a case. Rejects for defects of the program only. */
export async function inspectRequest(inspector: Inspector, id: number, request: InspectRequest): Promise<InspectEnd> {
  try {
    return { type: "inspected", id, answer: await inspector.inspect(request) };
  } catch (error) {
    return refused(id, error);
  }
}

/** Compiles a route's kernels. Rejects for defects of the program only. */
export async function checkRequest(id: number, request: CheckRequest, where: Places): Promise<CheckEnd> {
  try {
    return { type: "checked", id, answer: await checkKernels(request, where, () => loadAddon(where.addon)) };
  } catch (error) {
    return refused(id, error);
  }
}
