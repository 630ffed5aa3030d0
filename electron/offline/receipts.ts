/**
 * Registers and spilled bytes of a route's kernels, compiled for architectures that need not be there, without a GPU. Figures
 * of an architecture are given only where the self-test held for it; otherwise they are withheld with the reason.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { KERNEL_LANGUAGE_VERSION } from "../../kernels/predicates.ts";
import type { RoutePlan } from "../../kernels/route.ts";
import type { KnownBy } from "../../native/device.ts";
import { flatten } from "../../native/msl/source.ts";
import { type GpuFigures, readGpuBinary, UNDOCUMENTED } from "./gpu_binary.ts";
import { OfflineFormatError } from "./macho.ts";
import { librarySteps, pipelineScript, SCRIPT_ENDING, translateStep } from "./plan.ts";
import { LIVE_FLOATS, selfTestKernel, selfTestReasons, selfTestSource } from "./self_test.ts";
import { findToolchain, runStep } from "./toolchain.ts";

/** One kernel on one architecture; null with the reason where it has no figures. */
export interface OfflineReceipt {
  readonly kernel: string;
  /** Stages of the route that dispatch it. */
  readonly stages: readonly string[];
  readonly architecture: string;
  readonly figures: GpuFigures | null;
  readonly reason: string | null;
  readonly by: KnownBy;
  readonly source: string;
}

export interface SelfTest {
  readonly architecture: string;
  /** In the order of `LIVE_FLOATS`; null where a kernel could not be read. */
  readonly figures: readonly (GpuFigures | null)[];
  /** Empty where it held. */
  readonly reasons: readonly string[];
}

export type OfflineAnswer =
  | {
      readonly available: true;
      readonly compiler: string;
      readonly language: string;
      readonly selfTests: readonly SelfTest[];
      readonly receipts: readonly OfflineReceipt[];
    }
  | { readonly available: false; readonly reason: string; readonly mend: string };

export interface OfflineRequest {
  readonly plan: RoutePlan;
  /** Folder of the kernel sources. */
  readonly kernels: string;
  /** `applegpu_g16s`, ... */
  readonly architectures: readonly string[];
  readonly onProgress?: (words: string) => void;
}

/** An architecture as `metal-tt` takes it. It becomes a word of a command and part of a file's name. */
export const ARCHITECTURE = /^applegpu_[a-z0-9]{2,12}$/;

/** Compiles, tests and reads. Never rejects for what the tools say: that is in the answer. Nothing is left on the disk. */
export async function offlineReceipts(request: OfflineRequest): Promise<OfflineAnswer> {
  const toolchain = await findToolchain();
  if (!toolchain.available) return toolchain;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-offline-"));
  try {
    const work = new Work(folder);
    const { plan, architectures, onProgress = () => undefined } = request;
    onProgress("compiling the self-test");
    const test = await work.library("self_test", selfTestSource(), {});
    onProgress(`compiling ${plan.source}`);
    const library = await work.library("kernels", routeSource(request), plan.defines);
    const kernels = [...new Set(plan.dispatches.map((dispatch) => dispatch.kernel))];
    const selfTests: SelfTest[] = [];
    const receipts: OfflineReceipt[] = [];
    for (const architecture of architectures) {
      onProgress(`${architecture}: self-test`);
      const tested = await selfTest(work, test, architecture);
      selfTests.push(tested);
      for (const kernel of kernels) {
        onProgress(`${architecture}: ${kernel}`);
        const read = await figuresOf(work, library, kernel, architecture, tested);
        const stages = plan.dispatches
          .filter((dispatch) => dispatch.kernel === kernel)
          .map((dispatch) => dispatch.stage);
        const source = `metal-tt, __GPU_METADATA fields 0 and 14; ${UNDOCUMENTED}`;
        receipts.push({ kernel, stages, architecture, ...read, by: "probe", source });
      }
    }
    return { available: true, compiler: toolchain.compiler, language: KERNEL_LANGUAGE_VERSION, selfTests, receipts };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The flattened source of the route, as Metal gets it at run time. */
function routeSource({ plan, kernels }: OfflineRequest): string {
  const source = (file: string) => ({ path: file, text: fs.readFileSync(path.join(kernels, file), "utf8") });
  const flattened = flatten(source(plan.source), plan.includes.map(source));
  if (!flattened.ok) throw new Error(`${plan.source}: ${flattened.diagnostics[0]?.message ?? "cannot be flattened"}`);
  return flattened.flat.text;
}

type Made = { readonly ok: true; readonly file: string } | { readonly ok: false; readonly words: string };
type ReadFigures =
  | { readonly figures: GpuFigures; readonly reason: null }
  | { readonly figures: null; readonly reason: string };

class Work {
  readonly #folder: string;
  #binaries = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async library(name: string, text: string, defines: Readonly<Record<string, string | number>>): Promise<Made> {
    const file = (ending: string): string => path.join(this.#folder, `${name}.${ending}`);
    const files = { source: file("metal"), air: file("air"), library: file("metallib") };
    fs.writeFileSync(files.source, text);
    for (const step of librarySteps(files, KERNEL_LANGUAGE_VERSION, defines)) {
      const end = await runStep(step, this.#folder);
      if (!end.ok) return end;
    }
    return { ok: true, file: files.library };
  }

  async figures(library: Made, kernel: string, architecture: string): Promise<ReadFigures> {
    if (!library.ok) return { figures: null, reason: library.words };
    const stem = path.join(this.#folder, `binary_${++this.#binaries}`);
    const script = `${stem}${SCRIPT_ENDING}`;
    fs.writeFileSync(script, pipelineScript(kernel));
    const end = await runStep(translateStep(architecture, library.file, script, `${stem}.gpubin`), this.#folder);
    if (!end.ok) return { figures: null, reason: end.words };
    try {
      return { figures: readGpuBinary(fs.readFileSync(`${stem}.gpubin`)), reason: null };
    } catch (error) {
      if (!(error instanceof OfflineFormatError)) throw error;
      return { figures: null, reason: `the binary is not of the form that is known: ${error.message}` };
    }
  }
}

async function selfTest(work: Work, library: Made, architecture: string): Promise<SelfTest> {
  const read: ReadFigures[] = [];
  for (const live of LIVE_FLOATS) read.push(await work.figures(library, selfTestKernel(live), architecture));
  const failed = read.find((entry) => entry.figures === null);
  const [narrow, middle, wide] = read.map((entry) => entry.figures);
  const reasons =
    narrow == null || middle == null || wide == null
      ? [failed?.reason ?? "a kernel of the self-test has no figures"]
      : selfTestReasons([narrow, middle, wide]);
  return { architecture, figures: read.map((entry) => entry.figures), reasons };
}

async function figuresOf(
  work: Work,
  library: Made,
  kernel: string,
  architecture: string,
  tested: SelfTest,
): Promise<ReadFigures> {
  const [reason] = tested.reasons;
  if (reason !== undefined) return { figures: null, reason: `withheld, the self-test did not hold: ${reason}` };
  return work.figures(library, kernel, architecture);
}
