/**
 * Runs a manifest on a device in one flavour: compile, build pipelines, fill buffers, submit, compare what the oracle
 * knows. The reference is computed once and shared by the flavours.
 */
import type { Addon } from "../../native/addon.ts";
import type { CheckReport } from "../../native/check.ts";
import {
  type Device,
  type DeviceBuffer,
  DeviceError,
  type Dispatch,
  type Flavour,
  isCheckFlavour,
  type Library,
  type Pipeline,
  type Size3,
  type SubmitOptions,
  type SubmitResult,
} from "../../native/device.ts";
import { narrow, tensorBytes } from "../../oracle/tensor.ts";
import { outputLayout } from "../cases/case.ts";
import { evaluate, type GateResult, verdictOf } from "../gates/evaluate.ts";
import { compare } from "../runs/comparison.ts";
import { differingBytes } from "../runs/execute.ts";
import { type Reference, referenceOf } from "../runs/reference.ts";
import { UsageError } from "../runs/usage.ts";
import { type BuiltBuffers, type BuiltOutput, buildBuffers } from "./buffers.ts";
import { type Expression, numberOf, type Sizes, sizeOf } from "./expression.ts";
import type { Manifest, ManifestDispatch } from "./manifest.ts";
import { oversteps } from "./padding.ts";
import { type Problem, problemOf } from "./problem.ts";
import { evaluateSizes } from "./sizes.ts";
import type { LoadedManifest } from "./sources.ts";
import { packStruct } from "./struct.ts";

/** A gate that does not apply, and why: it is named, so that its absence is no secret. */
export interface LeftOutGate {
  readonly id: GateResult["id"];
  readonly why: string;
}

export interface KernelResult {
  readonly flavour: Flavour;
  /** Null where the manifest has no case or no output that the oracle knows. */
  readonly verdict: "pass" | "fail" | "not_run" | null;
  readonly gates: readonly GateResult[];
  readonly leftOut: readonly LeftOutGate[];
  readonly maxAbs: number | null;
  readonly nmse: number | null;
  readonly submitted: SubmitResult;
  readonly pipelines: readonly Pipeline[];
  /** Bytes that each dynamic threadgroup array was lent beyond what its host asks for, by dispatch. */
  readonly padding: readonly PaddedDispatch[];
}

export interface PaddedDispatch {
  readonly dispatch: string;
  readonly bytes: number;
}

/** What a run is doing. */
export type KernelPhase = "compile" | "run" | "repeat" | "oracle";

export interface KernelRunOptions extends SubmitOptions {
  /** Run twice from the same state and compare every byte of the outputs; the flavours that check run once. */
  readonly repeat?: boolean;
  readonly onPhase?: (phase: KernelPhase) => void;
}

/** What one submission left behind. */
interface Once {
  readonly submitted: SubmitResult;
  readonly padding: readonly PaddedDispatch[];
  readonly read: readonly (BuiltOutput & { readonly values: Float64Array; readonly unwritten: number })[];
  readonly bytes: ReadonlyMap<string, Uint8Array>;
  readonly broken: readonly string[];
}

/** A manifest that is ready to run on a device, again and again. */
export class KernelRun {
  readonly manifest: Manifest;
  readonly sizes: Sizes;
  readonly #loaded: LoadedManifest;
  readonly #device: Device;
  readonly #addon: Addon;
  readonly #problem: Problem | undefined;
  #library: Promise<Library> | undefined;
  #reference: Promise<Reference> | undefined;

  /** Throws `UsageError` where the sizes or the case do not fit. */
  constructor(loaded: LoadedManifest, device: Device, addon: Addon, overrides: Sizes = {}) {
    this.manifest = loaded.manifest;
    this.sizes = evaluateSizes(loaded.manifest.sizes, overrides);
    this.#loaded = loaded;
    this.#device = device;
    this.#addon = addon;
    this.#problem = loaded.manifest.case && problemOf(loaded.manifest.case, this.sizes);
  }

  /** Throws `DeviceError` where the kernel does not compile or run, `UsageError` where the manifest does not fit. */
  async run(flavour: Flavour, options: KernelRunOptions = {}): Promise<KernelResult> {
    const { repeat = false, onPhase, ...submit } = options;
    const wanted = this.manifest.dispatches.filter(
      ({ when }, index) => when === undefined || numberOf(when, this.sizes, `dispatch ${index}: when`) !== 0,
    );
    if (wanted.length === 0) throw new UsageError('No dispatch is left: every "when" is 0 for these sizes.');
    onPhase?.("compile");
    const pipelines: Pipeline[] = [];
    for (const dispatch of wanted) pipelines.push(await this.#pipeline(dispatch, flavour, submit.signal));
    onPhase?.("run");
    const first = await this.#once(wanted, pipelines, submit);
    const twice = repeat && !isCheckFlavour(flavour);
    if (twice) onPhase?.("repeat");
    const second = twice ? await this.#once(wanted, pipelines, submit) : undefined;
    const difference = second && differingBytes(first.bytes, second.bytes);
    const lent = isCheckFlavour(flavour) && first.padding.length > 0;
    const apart = lent ? await this.#oversteps(wanted, pipelines, submit, first.padding) : [];
    onPhase?.("oracle");
    const { padding } = first;
    const submitted = withReports(first.submitted, apart);
    return { flavour, submitted, pipelines, padding, ...(await this.#judge(first, difference)) };
  }

  /** What the kernel does with the padding: the same run with nothing lent, whose oversteps alone are taken. */
  async #oversteps(
    wanted: readonly ManifestDispatch[],
    pipelines: readonly Pipeline[],
    submit: SubmitOptions,
    padding: readonly PaddedDispatch[],
  ): Promise<readonly CheckReport[]> {
    try {
      const { submitted } = await this.#once(wanted, pipelines, submit, false);
      return oversteps(submitted.check?.reports ?? [], padding);
    } catch (error) {
      // It may well end at the overstep.
      if (!(error instanceof DeviceError) || error.code !== "crashed") throw error;
      return oversteps(error.check?.reports ?? [], padding);
    }
  }

  /** One submission on buffers of its own, filled anew. `lend` is false where threadgroup padding is left out. */
  async #once(
    wanted: readonly ManifestDispatch[],
    pipelines: readonly Pipeline[],
    submit: SubmitOptions,
    lend = true,
  ): Promise<Once> {
    const buffers = buildBuffers(this.manifest, this.#problem, this.sizes, this.#device);
    try {
      const built = wanted.map((dispatch, index) => this.#dispatch(dispatch, pipelines[index]!, buffers));
      const padding = built.flatMap(({ dispatch, padding: bytes }) =>
        bytes > 0 ? [{ dispatch: dispatch.label, bytes }] : [],
      );
      const options = isCheckFlavour(pipelines[0]!.flavour)
        ? { ...submit, check: { outputs: wholeOutputs(buffers.outputs) } }
        : submit;
      const submitted = await this.#device.submit(
        built.map(({ dispatch }) => (lend ? dispatch : { ...dispatch, threadgroupPadding: [] })),
        options,
      );
      return {
        submitted,
        padding,
        read: buffers.outputs.map((output) => ({ ...output, ...output.read() })),
        bytes: new Map(buffers.outputs.map(({ name, buffer }) => [name, buffer.read(0, buffer.bytes)])),
        broken: [...buffers.byName].filter(([, buffer]) => !buffer.sentinelIntact()).map(([name]) => name),
      };
    } finally {
      buffers.release();
    }
  }

  async #pipeline(dispatch: ManifestDispatch, flavour: Flavour, signal: AbortSignal | undefined): Promise<Pipeline> {
    const library = await this.#compiled(signal);
    const constants = Object.fromEntries(
      Object.entries(dispatch.constants ?? {}).map(([name, value]) => [
        name,
        typeof value === "boolean" ? value : numberOf(value, this.sizes, `constant ${name}`),
      ]),
    );
    return this.#device.pipeline(library, this.#functionName(dispatch), { constants, flavour }, signal);
  }

  /** Compiled once; a failure is remembered, unless it was a cancel. */
  async #compiled(signal: AbortSignal | undefined): Promise<Library> {
    const { defines, languageVersion, mathMode } = this.manifest;
    const options = {
      includes: this.#loaded.includes,
      mathMode: mathMode ?? "safe",
      ...(defines === undefined ? {} : { defines }),
      ...(languageVersion === undefined ? {} : { languageVersion }),
    };
    this.#library ??= this.#device.compile(this.#loaded.source, options, signal);
    try {
      return await this.#library;
    } catch (error) {
      if (error instanceof DeviceError && error.code === "cancelled") this.#library = undefined;
      throw error;
    }
  }

  /** The kernel's name with `{expression}` replaced, as in `attention_bd{D}`. */
  #functionName(dispatch: ManifestDispatch): string {
    return dispatch.function.replace(/\{([^{}]+)\}/g, (_, expression: string) =>
      String(sizeOf(expression, this.sizes, `function ${dispatch.function}`)),
    );
  }

  #dispatch(
    given: ManifestDispatch,
    pipeline: Pipeline,
    buffers: BuiltBuffers,
  ): { readonly dispatch: Dispatch; readonly padding: number } {
    const label = given.label ?? this.#functionName(given);
    const what = `dispatch "${label}"`;
    const padding = sizeOf(given.threadgroupPadding ?? 0, this.sizes, `${what}: threadgroupPadding`);
    const memory = given.threadgroupMemory?.map(({ index, bytes }) => ({
      index,
      bytes: sizeOf(bytes, this.sizes, `${what}: threadgroup memory ${index}`, 1),
    }));
    return {
      padding: memory === undefined ? 0 : padding,
      dispatch: {
        label,
        pipeline,
        threadgroups: this.#size3(given.threadgroups, `${what}: threadgroups`),
        threadsPerThreadgroup: this.#size3(given.threadsPerThreadgroup, `${what}: threads per threadgroup`),
        arguments: given.arguments.map((argument) => {
          const { index } = argument;
          if ("struct" in argument) {
            return { index, bytes: packStruct(argument.struct, this.sizes, `${what}: argument ${index}`) };
          }
          const buffer = buffers.byName.get(argument.buffer);
          if (buffer === undefined) {
            const names = [...buffers.byName.keys()].join(", ") || "none";
            throw new UsageError(`${what}: argument ${index} names buffer "${argument.buffer}"; there are ${names}.`);
          }
          const offset = sizeOf(argument.offset ?? 0, this.sizes, `${what}: argument ${index}: offset`);
          return { index, buffer, offset };
        }),
        ...(memory === undefined ? {} : { threadgroupMemory: memory }),
        ...(memory === undefined || padding === 0
          ? {}
          : { threadgroupPadding: memory.map(({ index }) => ({ index, bytes: padding })) }),
      },
    };
  }

  #size3(given: readonly Expression[], what: string): Size3 {
    const at = (axis: number): number => sizeOf(given[axis] ?? 1, this.sizes, what, 1);
    return [at(0), at(1), at(2)];
  }

  async #judge(
    once: Once,
    repeatDifference: number | undefined,
  ): Promise<Pick<KernelResult, "verdict" | "gates" | "leftOut" | "maxAbs" | "nmse">> {
    const problem = this.#problem;
    const out = once.read.find(({ output }) => output === "out");
    if (problem === undefined || out === undefined) {
      return { verdict: null, gates: [], leftOut: [], maxAbs: null, nmse: null };
    }
    const reference = await this.#referenceOf(problem);
    const lse = once.read.find(({ output }) => output === "lse");
    const axes = problem.output;
    const comparison = compare(
      outputLayout(problem.shape),
      {
        out: byToken(out.values, axes),
        lse: lse && byToken(lse.values, axes.slice(0, -1)),
        unwritten: out.unwritten + (lse?.unwritten ?? 0),
      },
      reference.oracle,
      reference.twin,
    );
    const leftOut: LeftOutGate[] = [
      { id: "lockstep", why: "the flavours that check look for what it stands for, access by access" },
      { id: "resources", why: "the manifest states no resource contract" },
    ];
    if (repeatDifference === undefined) leftOut.push({ id: "repeat", why: "the flavours that check run once" });
    if (lse === undefined) leftOut.push({ id: "lse", why: "the manifest has no output lse" });
    const gates = evaluate({
      dtype: problem.dtype,
      comparison,
      hasStored: false,
      stored: undefined,
      run: {
        failure: null,
        brokenSentinels: once.broken,
        repeatDifference,
        lockstep: { expected: false, difference: undefined },
        checker: { expected: false, errors: undefined },
        resources: [],
      },
    }).filter(({ id }) => !leftOut.some((gate) => gate.id === id));
    const { whole } = comparison;
    const nmse = whole.errorSquares / whole.referenceSquares;
    return { verdict: verdictOf(gates), gates, leftOut, maxAbs: whole.maxError, nmse };
  }

  #referenceOf(problem: Problem): Promise<Reference> {
    this.#reference ??= computeReference(problem, this.#device, this.#addon);
    return this.#reference;
  }
}

function withReports(submitted: SubmitResult, apart: readonly CheckReport[]): SubmitResult {
  if (submitted.check === undefined || apart.length === 0) return submitted;
  return { ...submitted, check: { ...submitted.check, reports: [...submitted.check.reports, ...apart] } };
}

/** Outputs without gaps: of these every byte must be written once. */
function wholeOutputs(outputs: readonly BuiltOutput[]): readonly DeviceBuffer[] {
  return outputs.filter(({ whole }) => whole).map(({ buffer }) => buffer);
}

/** Rows of the oracle are tokens, then heads: attention's outputs, heads first, are turned. */
function byToken(values: Float64Array, axes: Problem["output"]): Float64Array {
  if (axes[0]?.name !== "head") return values;
  const [heads, queries, width] = [axes[0].size, axes[1]?.size ?? 1, axes[2]?.size ?? 1];
  const out = new Float64Array(values.length);
  for (let head = 0; head < heads; head++) {
    for (let query = 0; query < queries; query++) {
      const from = (head * queries + query) * width;
      out.set(values.subarray(from, from + width), (query * heads + head) * width);
    }
  }
  return out;
}

async function computeReference(problem: Problem, device: Device, addon: Addon): Promise<Reference> {
  const buffers = new Map(
    [...problem.oracle].map(([name, values]) => {
      const bytes = tensorBytes(narrow(values, problem.dtype, [values.length]));
      // A tensor without elements still needs memory to point at.
      const buffer = device.allocate(Math.max(1, bytes.length), `oracle.${name}`);
      if (bytes.length > 0) buffer.write(0, bytes);
      return [name, buffer] as const;
    }),
  );
  try {
    return await referenceOf(problem.shape, problem.dtype, buffers, addon);
  } finally {
    for (const buffer of buffers.values()) buffer.release();
  }
}
