/**
 * What stands behind every window: one host, one run at a time, the bundles of one folder, and the answers to the
 * contract's calls. It never loads the addon: only the host does.
 */
import os from "node:os";
import path from "node:path";
import { chipTable, shortName } from "../../native/chips.ts";
import { COMMANDS, usageOf } from "../actions.ts";
import type { Case } from "../cases/case.ts";
import { type SuiteName, suiteCases, suiteSummary } from "../cases/suites.ts";
import {
  type CallInput,
  type CallOutput,
  type Handlers,
  PIECE_BYTES,
  type StreamInput,
  type StreamItem,
} from "../contract.ts";
import { capabilitiesOf, dispatch } from "../dispatch/dispatch.ts";
import { exportZip, planZip, zipPieces } from "../evidence/zip.ts";
import { gatesDigest } from "../gates/digest.ts";
import { GATE_CONSTANTS, GATES, GATES_SCHEMA } from "../gates/gates.ts";
import type { MetalSource } from "../host/door_devices.ts";
import type { SystemReadings } from "../host/machine.ts";
import { appCommit, appVersion, type Places } from "../host/root.ts";
import type { StartHost } from "../host/transport.ts";
import { diffRuns } from "../runs/diff.ts";
import { UsageError, unknownName } from "../runs/usage.ts";
import { Attachments } from "./attachments.ts";
import { Captures } from "./captures.ts";
import { checkKinds, checkManifest, listChecks } from "./checks.ts";
import type { Desktop } from "./desktop.ts";
import { deviceFeatures, deviceState, listedDevices, namedProfile } from "./device.ts";
import { WorkbenchError } from "./failure.ts";
import { History } from "./history.ts";
import { kernelSource, listKernels } from "./kernels.ts";
import { Notes } from "./notes.ts";
import { OpenedBundles } from "./opened.ts";
import { Runs } from "./runs.ts";
import { Uploads } from "./uploads.ts";
import { Verifications } from "./verifications.ts";

export interface WorkbenchOptions {
  readonly places: Places;
  /** Folder of the bundles, made when the first is written. */
  readonly evidence: string;
  /** How the host is started: forked, unless the desktop shell has a way of its own. */
  readonly startHost?: StartHost;
  /** Dialogs and the file manager, where a desktop is behind the window. */
  readonly desktop?: Desktop;
  /** Thermal and power state, where a desktop shell can ask its system for them. */
  readonly system?: () => SystemReadings;
}

export interface OpenWorkbench {
  readonly handlers: Handlers;
  /** Folder of the bundles, absolute. */
  readonly evidence: string;
  /** Opens a bundle from elsewhere and has a window go to it: a double click, or the command line. */
  open(path: string): Promise<void>;
  close(): Promise<void>;
}

export function openWorkbench({
  places,
  evidence: given,
  desktop,
  startHost,
  system,
}: WorkbenchOptions): OpenWorkbench {
  const evidence = path.resolve(given);
  const opened: OpenedBundles = new OpenedBundles(evidence, (id) => history.entry(id));
  const history = new History(evidence, (id) => opened.folderOf(id));
  const uploads = new Uploads(opened);
  const verifications = new Verifications(places.verifier);
  const notes = new Notes(evidence);
  const importedBy = `lockstep ${appVersion(places.root)}`;
  const attachments = new Attachments(history, importedBy, (id) => opened.folderOf(id) !== undefined);
  const captures = new Captures(history);
  const runs = new Runs(places, evidence, startHost);
  const suites = new Map<SuiteName, readonly Case[]>();

  const casesOf = (suite: SuiteName): readonly Case[] => {
    const known = suites.get(suite) ?? suiteCases(suite, { golden: places.golden });
    suites.set(suite, known);
    return known;
  };

  const handlers: Handlers = {
    "app.info": () => ({
      name: "lockstep",
      version: appVersion(places.root),
      commit: appCommit(places.root),
      platform: process.platform,
      node: process.versions.node,
      memoryBytes: os.totalmem(),
      evidence,
      desktop: desktop !== undefined,
      gates: gatesDigest(),
    }),
    "devices.list": (input) => listedDevices(input, runs.host),
    "device.features": (input) => deviceFeatures(input, runs.host),
    "device.state": () => deviceState(system?.()),
    "chips.list": () => chips(),
    "cases.list": ({ suite }) => ({
      suite,
      summary: suiteSummary(suite),
      cases: casesOf(suite).map(({ key, alias, shape, source, boundary }) => ({ key, alias, shape, source, boundary })),
    }),
    "dispatch.explain": (input) => explain(input, casesOf, runs.host),
    "gates.table": () => ({
      schema: GATES_SCHEMA,
      sha256: gatesDigest(),
      constants: GATE_CONSTANTS,
      gates: GATES,
    }),
    "kernels.list": () => listKernels(places.kernels),
    "kernels.source": ({ path: file }) => kernelSource(places.kernels, file),
    "kernels.check": async (request) => {
      const end = await runs.host.check(request);
      if (end.type === "inspect_refused") throw new WorkbenchError(end.message, end.mend);
      return end.answer;
    },
    "checks.list": ({ id }) => listChecks(history, id),
    "checks.kinds": checkKinds,
    "runs.list": async () => {
      const kept = await history.list();
      const { running } = runs;
      return { runs: running === undefined ? kept : [running, ...kept] };
    },
    "runs.record": ({ id }) => history.record(id),
    "runs.metrics": ({ id, case: key, route }) => history.metrics(id, key, route),
    "runs.array": ({ id, path: file }) => history.array(id, file),
    "parity.inspect": async ({ id, case: key, route, what, inputs = null }) => {
      const bundle = await history.bundle(id);
      const end = await runs.host.inspect({ bundle, case: key, route, inputs, what });
      if (end.type === "inspect_refused") throw new WorkbenchError(end.message, end.mend);
      return end.answer;
    },
    "captures.inspect": ({ id, case: key, route }) => captures.inspect(id, key, route),
    "captures.timings": ({ id, case: key }) => captures.timings(id, key),
    "captures.take": (request, { signal }) => runs.capture(request, signal),
    "runs.start": (request) => ({ id: runs.start(request) }),
    "runs.cancel": ({ id }) => ({ cancelled: runs.cancel(id) }),
    "runs.pause": ({ id, paused }) => ({ asked: runs.pause(id, paused) }),
    "runs.skip": ({ id, case: key }) => ({ asked: runs.skip(id, key) }),
    "runs.log": async ({ id }) => ({ lines: await history.log(id) }),
    "runs.diff": async ({ a, b }) => diffRuns(await history.record(a), await history.record(b)),
    "evidence.verify": async ({ id }, { signal }) => ({
      id,
      ...(await verifications.run(await history.bundle(id), signal)),
    }),
    "evidence.save": async ({ id }) => {
      const folder = await history.bundle(id);
      if (desktop === undefined) {
        throw new WorkbenchError("There is no desktop that could ask where to", "download it, or use lockstep export");
      }
      const target = await desktop.chooseExport(`${id}.zip`);
      // The dialog has asked whether to replace what is there.
      const bytes = target === null ? 0 : exportZip(folder, target, { name: id, replace: true }).bytes;
      return { path: target, bytes };
    },
    "evidence.reveal": async ({ id }) => {
      const folder = await history.bundle(id);
      await desktop?.reveal(folder);
      return { path: folder, revealed: desktop !== undefined };
    },
    "notes.list": async () => ({ notes: await notes.list() }),
    "notes.write": async ({ id, text, was }) => {
      if (opened.folderOf(id) !== undefined) {
        const mend = `copy it into ${evidence} to keep notes beside it`;
        throw new WorkbenchError(`${id} was opened from elsewhere and is read-only`, mend);
      }
      await history.bundle(id);
      return { note: await notes.write(id, text, was) };
    },
    "attachments.list": ({ id }) => attachments.list(id),
    "attachments.attach": async ({ id, path: file, name, kind }) => {
      try {
        return await attachments.attach({ id, file, name, kind });
      } finally {
        uploads.discard(file);
      }
    },
    "attachments.remove": ({ id, attachment }) => attachments.remove(id, attachment),
    "bundle.open": async ({ path: given }) => {
      const chosen = given ?? (await chosenBundle(desktop));
      return { id: chosen === null ? null : await opened.openPath(chosen, false) };
    },
    "bundle.close": async ({ id }) => ({ closed: await opened.close(id) }),
    "upload.begin": (announced) => uploads.begin(announced),
    "upload.write": (piece) => uploads.write(piece),
    "upload.finish": ({ upload }) => uploads.finish(upload),
    "upload.cancel": ({ upload }) => {
      uploads.cancel(upload);
      return {};
    },
    "actions.list": () => ({
      commands: COMMANDS.map((command) => {
        const { id, title, summary } = command;
        return { id, title, summary, usage: usageOf(command) };
      }),
    }),
    "kernel.check": (asked, { signal }) => checkManifest(runs, absolute(asked), signal),
    "runs.events": (_, { signal }) => runs.follow(signal),
    "host.state": (_, { signal }) => runs.watch.follow(signal),
    "bundle.opened": (_, { signal }) => opened.follow(signal),
    "evidence.verifying": async function* ({ id }, { signal }) {
      yield* verifications.follow(await history.bundle(id), signal);
    },
    "evidence.export": async function* ({ id }) {
      const plan = planZip(await history.bundle(id), id);
      for (const data of zipPieces(plan)) yield* pieces(data, plan.bytes);
    },
  };
  const close = async (): Promise<void> => {
    verifications.close();
    uploads.close();
    await runs.close();
    opened.end();
  };
  return { handlers, evidence, open: async (given) => void (await opened.openPath(given, true)), close };
}

/** A manifest as the host takes it: its paths are absolute. */
function absolute(asked: StreamInput<"kernel.check">): StreamInput<"kernel.check"> {
  const { from } = asked;
  if (from.kind === "texts") return asked;
  const root = from.root === null ? null : path.resolve(from.root);
  return { ...asked, from: { ...from, path: path.resolve(from.path), root } };
}

async function chosenBundle(desktop: Desktop | undefined): Promise<string | null> {
  if (desktop !== undefined) return desktop.chooseBundle();
  throw new WorkbenchError(
    "There is no desktop that could ask for a bundle",
    "give its path, or drop it on the window",
  );
}

/** The directory of a large archive may be longer than a piece. */
function* pieces(data: Uint8Array, totalBytes: number): Generator<StreamItem<"evidence.export">> {
  for (let at = 0; at < data.length; at += PIECE_BYTES) yield { data: data.slice(at, at + PIECE_BYTES), totalBytes };
}

function chips(): CallOutput<"chips.list"> {
  const table = chipTable();
  return {
    note: table.note,
    chips: table.chips.map((chip) => ({
      name: chip.name,
      shortName: shortName(chip),
      generation: chip.generation,
      family: chip.mtl_gpu_family,
      architecture: chip.architecture_string,
      architectureConfidence: chip.architecture_confidence,
      clockGhz: chip.gpu_clock_ghz,
      clockConfidence: chip.gpu_clock_confidence,
      variants: chip.variants.map((variant) => ({
        gpuCores: variant.gpu_cores,
        memoryBandwidthGbS: variant.memory_bandwidth_gb_s ?? null,
      })),
      sources: chip.sources,
    })),
  };
}

async function explain(
  { subject, device: name, chip, forced }: CallInput<"dispatch.explain">,
  casesOf: (suite: SuiteName) => readonly Case[],
  host: MetalSource,
): Promise<CallOutput<"dispatch.explain">> {
  const { profile: device, reasons } = await namedProfile(name, chip, host);
  const capabilities = capabilitiesOf(device);
  const shape = subject.kind === "shape" ? subject.shape : named(subject.key, casesOf(subject.suite)).shape;
  try {
    const decision = dispatch(shape, capabilities, forced === null ? {} : { forced });
    return { device, reasons, capabilities, shape, decision };
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
}

function named(key: string, cases: readonly Case[]): Case {
  const found = cases.find((entry) => entry.key === key);
  if (found === undefined) {
    throw unknownName(
      "case",
      key,
      cases.map((entry) => entry.key),
    );
  }
  return found;
}
