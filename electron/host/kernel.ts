/** Runs or checks the kernel of a manifest: reads it, opens the device, lets the checker's policy decide. */
import { loadAddon } from "../../native/addon.ts";
import { type Device, DeviceError, type DeviceErrorCode, type Diagnostic } from "../../native/device.ts";
import { openEmulatedDevice } from "../../native/emulator/open.ts";
import { judgeKernel } from "../checker/judge.ts";
import type {
  CheckStage,
  KernelAnswer,
  KernelEnd,
  KernelProgress,
  KernelRefused,
  KernelRequest,
} from "../checker/messages.ts";
import { StageCache, stageDigest } from "../checker/stage_cache.ts";
import { KernelRun } from "../manifest/run.ts";
import { type LoadedManifest, loadManifest, manifestOfTexts } from "../manifest/sources.ts";
import { chipOf } from "./device_name.ts";
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
  let device: Device | undefined;
  try {
    loaded = loadedOf(request.from);
    const chip = chipOf(null, request.chip);
    const addon = loadAddon(where.addon);
    device = await openEmulatedDevice({
      addon,
      runnerPath: where.runner,
      ...(chip === undefined ? {} : { chip }),
    });
    const run = new KernelRun(loaded, device, addon, request.sizes);
    return { type: "kernel_ended", answer: await answerOf(run, loaded, device, request, where, signal, emit) };
  } catch (error) {
    const refused = refusedOf(error, loaded);
    if (refused === undefined) throw error;
    return refused;
  } finally {
    await device?.close();
  }
}

function loadedOf(from: KernelRequest["from"]): LoadedManifest {
  return from.kind === "file"
    ? loadManifest(from.path, from.root ?? undefined)
    : manifestOfTexts(from.name, from.manifest, from.files);
}

async function answerOf(
  run: KernelRun,
  loaded: LoadedManifest,
  device: Device,
  request: KernelRequest,
  where: Places,
  signal: AbortSignal,
  emit: (progress: KernelProgress) => void,
): Promise<KernelAnswer> {
  const { manifest } = loaded;
  const { profile } = device;
  const digest = stageDigest({
    loaded,
    sizes: run.sizes,
    profile,
    runner: where.runner,
    version: appVersion(where.root),
  });
  const stages = new StageCache();
  // A check that was asked for runs; a run may cite the checker's earlier word.
  const known = request.purpose === "run" ? await stages.lookup(digest) : undefined;
  const judged = await judgeKernel(run, {
    purpose: request.purpose,
    flavour: request.flavour,
    timeoutMs: request.timeoutMs ?? undefined,
    workers: request.workers ?? undefined,
    signal,
    onProgress: emit,
    known,
  });
  if (!judged.stageCached) await stages.keep(digest, judged.stage);
  return {
    ...judged,
    stageDigest: digest,
    name: manifest.name,
    project:
      manifest.project === undefined ? null : { name: manifest.project.name, commit: manifest.project.commit ?? null },
    note: manifest.note ?? null,
    source: manifest.source,
    sizes: { ...run.sizes },
    device: {
      id: profile.id,
      execution: profile.execution,
      name: profile.name.value,
      os: profile.os.value,
      metalVersion: profile.metalVersion.value,
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
