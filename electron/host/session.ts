/** One request of a door: cases, plan, device, run. Everything that can be wrong with a request is found before a device opens. */
import fs from "node:fs";
import path from "node:path";
import { loadAddon } from "../../native/addon.ts";
import type { Device } from "../../native/device.ts";
import { openEmulatedDevice } from "../../native/emulator/open.ts";
import { emulatedProfile } from "../../native/emulator/profile.ts";
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
import { checkKernels } from "./check.ts";
import { chipOf } from "./device_name.ts";
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
  const chip = chipOf(request.device, request.chip);
  const profile = emulatedProfile(chip);
  const cases = casesOf(request, where.golden);
  const suite = request.inputs === null ? request.suite : null;
  const plan = planRun(suite, cases, selectionOf(request), catalogueFor(profile));
  const addon = loadAddon(where.addon);
  const device: Device = await openEmulatedDevice({
    addon,
    runnerPath: where.runner,
    ...(chip === undefined ? {} : { chip }),
  });
  try {
    await runPlan({
      device,
      addon,
      plan,
      staging: request.staging,
      readSource: (file) => fs.readFileSync(path.join(where.kernels, file), "utf8"),
      host: hostFacts(),
      timeoutMs: request.timeoutMs ?? undefined,
      workers: request.workers ?? undefined,
      ...leash,
      emit,
    });
  } finally {
    await device.close();
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
