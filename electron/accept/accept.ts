/** One acceptance from its options to its bundle. Knows no command line: `main.ts` reads it. */
import fs from "node:fs";
import path from "node:path";
import { BundleError, bundleName, closeBundle, discardStaging, openStaging, writePayload } from "../evidence/bundle.ts";
import { stableJson } from "../evidence/json.ts";
import { verifyBundle } from "../evidence/verify.ts";
import { appCommit, appVersion, type Places } from "../host/root.ts";
import { Recorder } from "../runs/recorder.ts";
import { type AcceptContext, type AcceptStep, noMetal } from "./context.ts";
import { runSteps, withNeeds } from "./machine.ts";
import {
  ACCEPTANCE_FILE,
  ACCEPTANCE_LOG,
  type AcceptanceRecord,
  acceptanceSchema,
  type StepId,
  stepCounts,
  stepLine,
  summaryLine,
  verdictOf,
} from "./record.ts";
import { acceptanceLimits } from "./reports.ts";

export interface AcceptOptions {
  readonly where: Places;
  /** The bundled child that loads the addon. */
  readonly child: string;
  readonly steps: readonly AcceptStep[];
  /** `metal`, `metal:1`, or for the development of this command `emulated`. */
  readonly device: string;
  readonly suite: string;
  readonly packaging: boolean;
  /** Folder that the bundle goes into, or the bundle itself. */
  readonly out: string;
  readonly only?: readonly StepId[] | undefined;
  readonly skip?: readonly StepId[] | undefined;
  readonly command: readonly string[];
  readonly platform: NodeJS.Platform;
  readonly signal: AbortSignal;
  /** A line of the result: of a step, of facts, the summary. */
  readonly line: (text: string) => void;
  readonly progress: (text: string) => void;
}

export interface Accepted {
  readonly record: AcceptanceRecord;
  /** Where the bundle stands, or the record by itself where no run was planned; null where nothing ran. */
  readonly path: string | null;
  readonly kind: "bundle" | "record" | null;
  /** What the program itself finds wrong with its bundle. */
  readonly broken: readonly string[];
}

/** Runs the steps and writes the bundle. Rejects with `BundleError` where it cannot be written. */
export async function accept(options: AcceptOptions): Promise<Accepted> {
  const { where, device, steps, signal, platform } = options;
  const startedAt = new Date().toISOString();
  const made = !fs.existsSync(path.resolve(options.out));
  const staging = openStaging(options.out, bundleName(startedAt, "acceptance", device));
  const onExit = (): void => discardStaging(staging);
  process.on("exit", onExit);
  const lines: string[] = [];
  const say = (words: string): void => {
    const text = words.replaceAll(/\s*\n\s*/g, " ");
    lines.push(text);
    options.line(text);
  };
  const recorder = new Recorder({
    app: { name: "lockstep", version: appVersion(where.root), commit: appCommit(where.root) },
    command: options.command,
    startedAt,
  });
  const context: AcceptContext = {
    where,
    child: options.child,
    device,
    suite: options.suite,
    packaging: options.packaging,
    platform,
    staging: staging.folder,
    target: staging.target,
    recorder,
    signal,
    say,
    progress: options.progress,
    profile: null,
    run: null,
  };
  try {
    const results = await runSteps(steps, context, {
      ...(options.only === undefined ? {} : { only: withNeeds(steps, options.only) }),
      ...(options.skip === undefined ? {} : { skip: options.skip }),
      signal,
      onStart: (id) => options.progress(`${id} ...`),
      onResult: (result) => say(stepLine(result)),
    });
    const counts = stepCounts(results);
    const verdict = verdictOf(counts, signal.aborted);
    const finishedAt = new Date().toISOString();
    say(summaryLine(counts, verdict));
    const { profile } = context;
    const record: AcceptanceRecord = acceptanceSchema.parse({
      schema: "lockstep.acceptance/1",
      command: [...options.command],
      startedAt,
      finishedAt,
      machine: `${platform} ${process.arch}`,
      device:
        profile === null || profile.execution === "nvidia"
          ? null
          : { id: profile.id, execution: profile.execution, virtualGpu: profile.virtualGpu?.value ?? false },
      steps: results,
      counts,
      interrupted: signal.aborted,
      verdict,
      limits: [
        ...acceptanceLimits(
          profile?.execution === "emulated" || device.startsWith("emulated"),
          profile?.virtualGpu?.value === true,
        ),
      ],
    });
    return close(context, record, lines);
  } finally {
    process.off("exit", onExit);
    discardStaging(staging);
    if (made) removeIfEmpty(path.dirname(staging.target));
  }

  function close({ run }: AcceptContext, record: AcceptanceRecord, log: readonly string[]): Accepted {
    if (noMetal(context) !== undefined) return { record, path: null, kind: null, broken: [] };
    if (run === null) {
      // Without a run there is no bundle; what was found out is kept all the same, with the files of the steps.
      const kept = staging.target.replace(/\.lockstep$/, ".acceptance");
      writeRecord(kept, path.join(staging.folder, "data", "acceptance"), record, log);
      return { record, path: kept, kind: "record", broken: [] };
    }
    writePayload(staging.folder, ACCEPTANCE_FILE, stableJson(record));
    writePayload(staging.folder, ACCEPTANCE_LOG, `${log.join("\n")}\n`);
    const draft = recorder.draft(run.outcome, run.reason, record.finishedAt);
    const bundle = closeBundle(staging, draft, recorder.endedLog(run.outcome, run.reason));
    const verified = verifyBundle(bundle.path);
    return {
      record,
      path: bundle.path,
      kind: "bundle",
      broken: verified.checks.flatMap(({ reasons }) => reasons),
    };
  }
}

/** The record and the files of its steps in a folder, whole or not at all. Throws BundleError where it cannot be written. */
function writeRecord(folder: string, files: string, record: AcceptanceRecord, log: readonly string[]): void {
  const partial = `${folder}.${process.pid}.partial`;
  try {
    fs.mkdirSync(partial, { recursive: true });
    if (fs.existsSync(files)) fs.cpSync(files, partial, { recursive: true });
    fs.writeFileSync(path.join(partial, "acceptance.json"), stableJson(record));
    fs.writeFileSync(path.join(partial, "log.txt"), `${log.join("\n")}\n`);
    fs.renameSync(partial, folder);
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    throw new BundleError(`${folder} cannot be written (${code ?? message}). Nothing was kept; name another --out.`);
  }
}

function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder);
  } catch {
    // not empty, or not ours to remove
  }
}
