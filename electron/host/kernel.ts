/** Runs or checks the kernel of a manifest: reads it, opens the device, lets the checker's policy decide. */
import { type Addon, loadAddon } from "../../native/addon.ts";
import {
  type Device,
  DeviceError,
  type DeviceErrorCode,
  type Diagnostic,
  EMULATED_FAMILIES,
} from "../../native/device.ts";
import { metalEntries } from "../../native/devices.ts";
import { type DeviceParts, openDevice } from "../../native/open.ts";
import { judgeKernel, uncheckedStage } from "../checker/judge.ts";
import type {
  CheckStage,
  KernelAnswer,
  KernelEnd,
  KernelProgress,
  KernelRefused,
  KernelRequest,
} from "../checker/messages.ts";
import { StageCache, stageDigest } from "../checker/stage_cache.ts";
import { executionText } from "../evidence/execution.ts";
import { KernelRun } from "../manifest/run.ts";
import { type LoadedManifest, loadManifest, manifestOfTexts } from "../manifest/sources.ts";
import { chooseDevice, type DeviceChoice } from "./choose.ts";
import { CHECKS, deviceWanted, emulatedWanted } from "./device_name.ts";
import { refusalOf } from "./refusal.ts";
import { appVersion, type Places } from "./root.ts";

/** Resolves with the answer or the refusal. Rejects for defects of the program only. */
export async function kernelRequest(
  request: KernelRequest,
  where: Places,
  signal: AbortSignal,
  emit: (progress: KernelProgress) => void,
): Promise<KernelEnd> {
  let loaded: LoadedManifest | undefined;
  const opened: Device[] = [];
  try {
    loaded = loadedOf(request.from);
    const addon = loadAddon(where.addon);
    const choice = await choiceOf(request, addon);
    const devices = await openFor(choice, { addon, runnerPath: where.runner }, opened);
    const answer = await answerOf(loaded, devices, choice, { request, addon, where, signal, emit });
    return { type: "kernel_ended", answer };
  } catch (error) {
    const refused = refusedOf(error, loaded);
    if (refused === undefined) throw error;
    return refused;
  } finally {
    for (const device of opened) await device.close();
  }
}

function loadedOf(from: KernelRequest["from"]): LoadedManifest {
  return from.kind === "file"
    ? loadManifest(from.path, from.root ?? undefined)
    : manifestOfTexts(from.name, from.manifest, from.files);
}

/** A check is the emulated device's; so is a flavour that only it has. Throws `UsageError` where another one is named. */
async function choiceOf(request: KernelRequest, addon: Addon): Promise<DeviceChoice> {
  const { device, chip, purpose, flavour } = request;
  if (purpose === "check")
    return { wanted: emulatedWanted(device, chip, CHECKS), reasons: ["the checker is emulated"] };
  if (flavour !== null && flavour !== "fast") {
    const wanted = emulatedWanted(device, chip, `The flavour ${flavour} is there`);
    return { wanted, reasons: [`the flavour ${flavour} is emulated`] };
  }
  const asked = deviceWanted(device, chip);
  return chooseDevice(asked, asked?.kind === "emulated" ? [] : await metalEntries(addon.metal));
}

/** Devices of one request: what the result is computed on, and the emulated one that the checker needs. */
interface Devices {
  readonly result: Device;
  /** The same where the result is emulated; otherwise why there is none. */
  readonly checker: Device | { readonly missing: string };
}

async function openFor({ wanted }: DeviceChoice, parts: DeviceParts, opened: Device[]): Promise<Devices> {
  const result = await openDevice(wanted, { ...parts, logging: true });
  opened.push(result);
  if (wanted.kind === "emulated") return { result, checker: result };
  const family = EMULATED_FAMILIES.find((name) => name === result.profile.family.value);
  try {
    const checker = await openDevice({ kind: "emulated", ...(family === undefined ? {} : { chip: family }) }, parts);
    opened.push(checker);
    return { result, checker };
  } catch (error) {
    if (!(error instanceof DeviceError) || error.code !== "unavailable") throw error;
    return { result, checker: { missing: error.message } };
  }
}

interface Circumstances {
  readonly request: KernelRequest;
  readonly addon: Addon;
  readonly where: Places;
  readonly signal: AbortSignal;
  readonly emit: (progress: KernelProgress) => void;
}

async function answerOf(
  loaded: LoadedManifest,
  { result, checker }: Devices,
  choice: DeviceChoice,
  { request, addon, where, signal, emit }: Circumstances,
): Promise<KernelAnswer> {
  const { manifest } = loaded;
  const { profile } = result;
  const apart = checker !== result;
  const run = "missing" in checker ? null : new KernelRun(loaded, checker, addon, request.sizes);
  const on = apart ? new KernelRun(loaded, result, addon, request.sizes) : undefined;
  const sizes = (run ?? on)!.sizes;
  const digest = stageDigest({
    loaded,
    sizes,
    profile: "missing" in checker ? profile : checker.profile,
    runner: where.runner,
    version: appVersion(where.root),
  });
  const stages = new StageCache();
  // A check that was asked for runs; a run may cite the checker's earlier word.
  const cited = request.purpose === "run" && run !== null ? await stages.lookup(digest) : undefined;
  const known = "missing" in checker ? uncheckedStage(checker.missing) : cited;
  const judged = await judgeKernel(run, {
    purpose: request.purpose,
    flavour: request.flavour,
    timeoutMs: request.timeoutMs ?? undefined,
    workers: request.workers ?? undefined,
    signal,
    onProgress: emit,
    known,
    on,
  });
  if (!judged.stageCached) await stages.keep(digest, judged.stage);
  return {
    ...judged,
    stageDigest: digest,
    stageCached: cited !== undefined,
    name: manifest.name,
    project:
      manifest.project === undefined ? null : { name: manifest.project.name, commit: manifest.project.commit ?? null },
    note: manifest.note ?? null,
    source: manifest.source,
    sizes: { ...sizes },
    device: {
      id: profile.id,
      execution: profile.execution,
      name: profile.name.value,
      os: profile.os.value,
      metalVersion: profile.metalVersion.value,
      text: executionText({ execution: profile.execution, device: profile, producer: null }),
      reasons: [...choice.reasons],
      checkedOn: "missing" in checker ? null : checker.profile.id,
    },
    rights: judged.result.rights,
    texts: [...textsNamed(judged.stage, loaded)],
  };
}

/** Files that a report names: what carets are drawn under. */
function textsNamed(stage: CheckStage, loaded: LoadedManifest): KernelAnswer["texts"] {
  const named = new Set<string>();
  for (const { check } of stage.outcomes) {
    for (const { first, second } of check?.reports ?? []) {
      for (const site of [first, second]) if (site?.location) named.add(site.location.path);
    }
  }
  return filesOf(loaded, named);
}

function filesOf({ source, includes }: LoadedManifest, named: ReadonlySet<string>): KernelAnswer["texts"] {
  return [source, ...includes].filter(({ path }) => named.has(path)).map(({ path, text }) => ({ path, text }));
}

const CODES: Readonly<Partial<Record<DeviceErrorCode, KernelRefused["code"]>>> = {
  compile_failed: "compile_failed",
  pipeline_refused: "refused",
  dispatch_refused: "refused",
  cancelled: "cancelled",
};

function refusedOf(error: unknown, loaded: LoadedManifest | undefined): KernelRefused | undefined {
  const code = error instanceof DeviceError ? CODES[error.code] : undefined;
  if (error instanceof DeviceError && code !== undefined) {
    const diagnostics: readonly Diagnostic[] = error.diagnostics;
    const named = new Set(diagnostics.map(({ path }) => path));
    return {
      type: "kernel_refused",
      code,
      message: error.message,
      diagnostics: [...diagnostics],
      texts: loaded === undefined ? [] : filesOf(loaded, named),
    };
  }
  const refusal = refusalOf(error);
  if (refusal === undefined) return undefined;
  return { type: "kernel_refused", code: refusal.code, message: refusal.message, diagnostics: [], texts: [] };
}
