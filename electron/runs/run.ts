/**
 * Executes a plan on a device. A failure of one route on one case is a result and never ends the run; a cancel keeps what
 * was finished. Everything that happens goes out as events; blobs go straight into the staged bundle.
 */
import path from "node:path";

import type { Addon } from "../../native/addon.ts";
import { type Device, DeviceError, type SubmitOptions } from "../../native/device.ts";
import { ModuleCache } from "../../native/emulator/cache.ts";
import type { Case } from "../cases/case.ts";
import { caseSlug } from "../cases/case.ts";
import { type CaseInputs, InputPool, materialise } from "../cases/inputs.ts";
import { workingSetOf } from "../device/working_set.ts";
import { sha256 } from "../evidence/bag.ts";
import { BundleError, writeFailure, writePayload } from "../evidence/bundle.ts";
import { stableJson } from "../evidence/json.ts";
import type { RunFacts } from "../gates/evaluate.ts";
import { plannedCaseRecord, preparedCaseRecord } from "./case_record.ts";
import { RunControl } from "./control.ts";
import type { Emit, Phase } from "./events.ts";
import {
  Builder,
  differingBytes,
  type Execution,
  execute,
  libraryKey,
  type PreparedRoute,
  type ReadSource,
  receiptName,
  WorkPool,
} from "./execute.ts";
import { judge, type RawOutput } from "./judge.ts";
import { writeJudged } from "./judged.ts";
import { availableMemory } from "./memory.ts";
import { outcomeOf } from "./outcome.ts";
import type { PlannedCase, PlannedRoute, RunPlan } from "./plan.ts";
import type { ChoiceRecord, HostFacts, Outcome, ResultRecord } from "./record.ts";
import { type Reference, referenceOf } from "./reference.ts";
import { checkErrors, checkRoute, type RouteCheck } from "./route_check.ts";

export interface RunOptions {
  readonly device: Device;
  readonly addon: Addon;
  readonly plan: RunPlan;
  /** Folder of the staged bundle. */
  readonly staging: string;
  readonly readSource: ReadSource;
  readonly host: HostFacts;
  /** Which device was asked for, and why this one was taken. */
  readonly choice?: ChoiceRecord | undefined;
  /** Under Metal's validation. */
  readonly instrumented?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  readonly workers?: number | undefined;
  /** Memory that a case may take. Default: what the system says is available when the case begins. */
  readonly availableBytes?: number | undefined;
  readonly signal: AbortSignal;
  /** Pause and skip; without it nobody can ask for them. */
  readonly control?: RunControl | undefined;
  readonly emit: Emit;
}

/** Thrown through the run of a case that the user skipped; never leaves this module. */
class Skipped extends Error {}

const SKIPPED = { state: "skipped", reason: "skipped by you" } as const;

/** Thrown through the run when it was cancelled; never leaves this module. */
class Cancelled extends Error {}

/** What the small case of a set of pipelines showed. */
interface SmallCase {
  readonly check: RouteCheck;
  readonly path: string;
}

/** What the routes of one case share. */
interface CaseContext {
  readonly planned: PlannedCase;
  readonly inputs: CaseInputs;
  readonly reference: Reference;
}

/** How a result stands when the route did not complete. */
function failureOf(error: unknown): { readonly state: ResultRecord["state"]; readonly reason: string } {
  const reason = error instanceof Error ? error.message : String(error);
  if (!(error instanceof DeviceError)) return { state: "failed", reason };
  const first = error.diagnostics.find((diagnostic) => diagnostic.severity === "error");
  const place = first === undefined ? "" : ` (${first.path}:${first.line}:${first.column}: ${first.message})`;
  switch (error.code) {
    case "compile_failed":
      // Most compilers' words begin with the place already.
      return { state: "compile_failed", reason: reason.includes(first?.message ?? "") ? reason : `${reason}${place}` };
    case "pipeline_refused":
    case "dispatch_refused":
      return { state: "refused", reason };
    case "timed_out":
      return { state: "timed_out", reason };
    case "crashed":
      return { state: "crashed", reason };
    case "cancelled":
      return { state: "cancelled", reason };
    case "unavailable":
      return { state: "failed", reason };
  }
}

/** Runs the plan to its end. Rejects only if the bundle cannot be written. */
export async function runPlan(options: RunOptions): Promise<Outcome> {
  const run = new Run(options);
  return run.execute();
}

class Run {
  readonly #options: RunOptions;
  readonly #builder: Builder;
  readonly #inputs: InputPool;
  /** Inputs of small generated cases, apart, so that a cache of gigabytes stays where it is. */
  readonly #smallInputs: InputPool;
  readonly #work: WorkPool;
  readonly #results: ResultRecord[] = [];
  readonly #written = new Set<string>();
  readonly #control: RunControl;
  readonly #verdicts = new ModuleCache();
  /** Sets of pipelines whose lanes exchange data without a barrier. */
  readonly #pinned = new Set<string>();
  /** Aborts when the case that runs is to be skipped. */
  #skip: AbortSignal;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#control = options.control ?? new RunControl(options.emit);
    this.#skip = options.signal;
    this.#builder = new Builder(options.device, options.readSource);
    const allocate: Device["allocate"] = (bytes, label) => options.device.allocate(bytes, label);
    this.#inputs = new InputPool(allocate);
    this.#smallInputs = new InputPool(allocate);
    this.#work = new WorkPool(options.device);
  }

  async execute(): Promise<Outcome> {
    const { plan, device, host, emit, choice, instrumented } = this.#options;
    const planned = plan.cases.flatMap((entry) =>
      entry.routes.map((item) => ({ case: entry.case.key, route: item.route })),
    );
    emit({
      type: "planned",
      suite: plan.suite,
      execution: device.profile.execution,
      device: device.profile,
      ...(choice === undefined ? {} : { choice }),
      ...(instrumented === true ? { instrumented } : {}),
      producer: null,
      host,
      planned,
      cases: plan.cases.map((entry) => plannedCaseRecord(entry.case)),
    });
    for (const { case: testCase, decision } of plan.cases) {
      this.#write(`data/dispatch/${caseSlug(testCase.key)}.json`, stableJson(decision));
    }
    let cancelled = false;
    try {
      for (const entry of plan.cases) {
        await this.#control.pausePoint(this.#options.signal);
        this.#skip = this.#control.begin(entry.case.key);
        await this.#runCase(entry);
        this.#control.end();
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      cancelled = true;
    } finally {
      this.#work.release();
      this.#inputs.release();
      this.#smallInputs.release();
      this.#writeSources();
    }
    const outcome = cancelled ? "cancelled" : outcomeOf(planned.length, this.#results);
    const share = Math.floor((100 * this.#results.length) / planned.length);
    emit({
      type: "finished",
      outcome,
      reason: cancelled ? `Cancelled by you at ${share} %. Finished cases are kept` : null,
    });
    return outcome;
  }

  #write(file: string, data: Uint8Array | string): void {
    if (this.#written.has(file)) return;
    try {
      writePayload(this.#options.staging, file, data);
    } catch (error) {
      throw error instanceof BundleError
        ? error
        : new BundleError(writeFailure(path.dirname(this.#options.staging), error));
    }
    this.#written.add(file);
  }

  #writeSources(): void {
    for (const [file, text] of this.#builder.sources) this.#write(`data/kernels/${file.toLowerCase()}`, text);
  }

  #progress(testCase: Case, route: string | null, phase: Phase, fraction: number | null = null): void {
    this.#stopIfAsked();
    this.#options.emit({ type: "progress", case: testCase.key, route, phase, fraction });
  }

  /** Aborts when the run is cancelled or the running case skipped. */
  #stop(): AbortSignal {
    return AbortSignal.any([this.#options.signal, this.#skip]);
  }

  #stopIfAsked(): void {
    if (this.#options.signal.aborted) throw new Cancelled();
    if (this.#skip.aborted) throw new Skipped();
  }

  #result(result: ResultRecord): void {
    this.#results.push(result);
    this.#options.emit({ type: "result", result });
  }

  async #prepareCase(planned: PlannedCase): Promise<CaseContext> {
    const { case: testCase, routes } = planned;
    this.#progress(testCase, null, "inputs");
    this.#checkMemory(planned);
    const inputs = await this.#materialise(testCase, routes[0]!, this.#inputs);
    this.#progress(testCase, null, "oracle");
    const reference = await referenceOf(testCase.shape, testCase.shape.dtype, inputs.buffers, this.#options.addon);
    this.#options.emit({ type: "case", case: preparedCaseRecord(testCase, inputs, reference) });
    return { planned, inputs, reference };
  }

  /** Memory that is not there is found by the system's killer, long after; better said before. */
  #checkMemory({ case: { key }, routes }: PlannedCase): void {
    const bytesOf = (item: PlannedRoute): number => item.plan.buffers.reduce((sum, buffer) => sum + buffer.bytes, 0);
    const needed = routes.reduce((most, item) => Math.max(most, bytesOf(item)), 0);
    const available = this.#options.availableBytes ?? availableMemory() + this.#inputs.bytes;
    const bytesText = (bytes: number): string => `${bytes.toLocaleString("en-US")} bytes`;
    const reported = workingSetOf(this.#options.device.profile);
    if (reported !== null && needed > reported) {
      const limit = `recommendedMaxWorkingSetSize of the device is ${bytesText(reported)}`;
      throw new Error(`${key} needs ${bytesText(needed)} of memory; ${limit}: use a shorter case`);
    }
    if (needed <= available) return;
    const sides = `${bytesText(needed)} of memory; ${available.toLocaleString("en-US")} are available`;
    throw new Error(`${key} needs ${sides}: free some, or use a shorter case`);
  }

  #materialise(testCase: Case, item: Pick<PlannedRoute, "plan">, pool: InputPool): Promise<CaseInputs> {
    const wanted = item.plan.buffers.filter((buffer) => buffer.role === "input");
    return materialise(testCase, wanted, pool, this.#options.addon);
  }

  #isEmulated(): boolean {
    return this.#options.device.profile.execution === "emulated";
  }

  /** True for the first case of a set of pipelines, which its small case stands beside. */
  #hasSmallCase(item: PlannedRoute): boolean {
    return item.lockstep !== null && this.#isEmulated();
  }

  async #runCase(planned: PlannedCase): Promise<void> {
    let context: CaseContext;
    try {
      context = await this.#prepareCase(planned);
    } catch (error) {
      if (error instanceof Cancelled || error instanceof BundleError) throw error;
      // Without inputs or oracle no route can be judged, but the other cases can.
      const failure = error instanceof Skipped ? SKIPPED : failureOf(error);
      for (const item of planned.routes) this.#result(this.#unjudged(planned, item, failure));
      return;
    }
    for (const [index, item] of planned.routes.entries()) {
      let passed: boolean;
      try {
        passed = await this.#runRoute(context, item);
        if (index + 1 < planned.routes.length) this.#stopIfAsked();
      } catch (error) {
        if (!(error instanceof Skipped)) throw error;
        // A kernel that was stopped may have written into its inputs.
        this.#inputs.distrust();
        this.#smallInputs.distrust();
        const done = new Set(
          this.#results.filter((entry) => entry.case === planned.case.key).map((entry) => entry.route),
        );
        for (const open of planned.routes) {
          if (!done.has(open.route)) this.#result(this.#unjudged(planned, open, SKIPPED));
        }
        return;
      }
      if (passed) continue;
      // A route that failed may have written into its inputs.
      this.#inputs.distrust();
      context = { ...context, inputs: await this.#materialise(planned.case, item, this.#inputs) };
    }
  }

  #unjudged(
    planned: PlannedCase,
    item: PlannedRoute,
    failure: { readonly state: ResultRecord["state"]; readonly reason: string },
    known: {
      readonly receipts?: readonly string[];
      readonly resources?: RunFacts["resources"];
      readonly stored?: CaseInputs["stored"];
    } = {},
  ): ResultRecord {
    const stopped = ["timed_out", "crashed", "failed", "skipped"].includes(failure.state);
    const facts: RunFacts = {
      failure: { verdict: stopped ? "not_run" : "fail", reason: failure.reason },
      brokenSentinels: undefined,
      repeatDifference: undefined,
      lockstep: { expected: this.#hasSmallCase(item), difference: undefined },
      checker: { expected: this.#hasSmallCase(item), errors: undefined },
      resources: known.resources,
    };
    const { key, shape } = planned.case;
    const judgement = judge(key, item.route, shape, undefined, undefined, known.stored, facts);
    return {
      case: key,
      route: item.route,
      state: failure.state,
      error: failure.reason,
      verdict: judgement.verdict,
      metrics: null,
      gates: [...judgement.gates],
      ms: null,
      timings: [],
      outputs: [],
      receipts: [...(known.receipts ?? [])],
      metricsPath: null,
    };
  }

  /** True if the route passed. */
  async #runRoute(context: CaseContext, item: PlannedRoute): Promise<boolean> {
    const { planned, inputs, reference } = context;
    const testCase = planned.case;
    let prepared: PreparedRoute | undefined;
    let receipts: readonly string[] = [];
    try {
      this.#progress(testCase, item.route, "compile");
      const small = this.#hasSmallCase(item) ? await this.#check(context, item) : undefined;
      const flavour = this.#pinned.has(pipelinesKey(item)) ? "lockstep" : "fast";
      prepared = await this.#builder.prepare(item.plan, flavour, this.#stop());
      receipts = this.#writeReceipts(prepared);
      const first = await this.#submit(testCase, item.route, "run", prepared, inputs);
      const second = await this.#submit(testCase, item.route, "repeat", prepared, inputs);
      const compared = small !== undefined && flavour === "fast";
      const lockstep = compared ? await this.#lockstep(context, item) : undefined;
      if (lockstep !== undefined) receipts = [...receipts, ...lockstep.receipts];
      this.#progress(testCase, item.route, "compare");
      const broken = [...new Set([...first.brokenSentinels, ...second.brokenSentinels])];
      const facts: RunFacts = {
        failure: null,
        brokenSentinels: broken,
        repeatDifference: differingBytes(first.outputs, second.outputs),
        lockstep: {
          expected: compared,
          difference: lockstep?.difference,
          ...(lockstep === undefined ? {} : { note: `on ${lockstep.key}` }),
        },
        checker: checkerFact(small?.check),
        resources: prepared.resources,
      };
      const raw = rawOutputs(item, first);
      const { key, shape } = testCase;
      const judgement = judge(key, item.route, shape, raw, reference, inputs.stored, facts);
      this.#result({
        ...writeJudged({ key, route: item.route }, raw, judgement, (file, data) => this.#write(file, data)),
        ms: first.timings.reduce((sum, timing) => sum + timing.ns, 0) / 1e6,
        timings: first.timings.map((timing) => ({ ...timing })),
        receipts: [...new Set(receipts)],
        ...(small === undefined ? {} : { check: small.path }),
        ...(this.#isEmulated() ? { flavour } : {}),
      });
      return judgement.verdict === "pass";
    } catch (error) {
      if (error instanceof Cancelled || error instanceof Skipped) throw error;
      const failure = failureOf(error);
      this.#stopIfAsked();
      if (failure.state === "cancelled") throw new Cancelled();
      if (error instanceof BundleError) throw error;
      this.#result(
        this.#unjudged(planned, item, failure, { receipts, resources: prepared?.resources, stored: inputs.stored }),
      );
      return false;
    }
  }

  #writeReceipts(prepared: PreparedRoute): readonly string[] {
    return prepared.receipts.map((receipt) => {
      const file = receiptName(receipt);
      this.#write(file, stableJson(receipt));
      return file;
    });
  }

  #submit(
    testCase: Case,
    route: string,
    phase: "run" | "repeat" | "lockstep" | "check",
    prepared: PreparedRoute,
    inputs: CaseInputs,
  ): Promise<Execution> {
    this.#progress(testCase, route, phase);
    const { timeoutMs, workers, device } = this.#options;
    const dispatches = prepared.plan.dispatches.length;
    const options: SubmitOptions = {
      signal: this.#stop(),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(workers === undefined ? {} : { workers }),
      onProgress: (progress) => {
        const part = progress.threadgroups === 0 ? 1 : progress.threadgroupsDone / progress.threadgroups;
        const fraction = Math.min(1, (progress.dispatch + part) / dispatches);
        this.#options.emit({ type: "progress", case: testCase.key, route, phase, fraction });
      },
    };
    return execute(device, prepared, inputs.buffers, this.#work, options);
  }

  /** Asks the checker about the item's pipelines, on its small case; a kernel that needs lockstep is pinned to it. */
  async #check(context: CaseContext, item: PlannedRoute): Promise<SmallCase> {
    const testCase = context.planned.case;
    const { case: small, plan } = item.lockstep!;
    this.#progress(testCase, item.route, "check");
    const check = await checkRoute(
      {
        caseKey: small.key,
        route: item.route,
        prepare: (flavour) => this.#builder.prepare(plan, flavour, this.#stop()),
        submit: async (prepared) => {
          const inputs = await this.#materialise(small, { plan }, this.#smallInputs);
          return this.#submit(testCase, item.route, "check", prepared, inputs);
        },
      },
      this.#verdicts,
    );
    if (check.pinned) this.#pinned.add(pipelinesKey(item));
    const tag = sha256(JSON.stringify(check.pipelines)).slice(0, 12);
    const path = `data/checks/${item.route}.${tag}.json`;
    this.#write(path, stableJson(check));
    return { check, path };
  }

  /** Compares the flavours fast and lockstep on the item's small case. */
  async #lockstep(
    context: CaseContext,
    item: PlannedRoute,
  ): Promise<{ readonly difference: number; readonly key: string; readonly receipts: readonly string[] }> {
    const testCase = context.planned.case;
    const { case: small, plan } = item.lockstep!;
    const slow = await this.#builder.prepare(plan, "lockstep", this.#stop());
    const receipts = this.#writeReceipts(slow);
    const inputs = await this.#materialise(small, { plan }, this.#smallInputs);
    const quick = await this.#builder.prepare(plan, "fast", this.#stop());
    const fast = await this.#submit(testCase, item.route, "lockstep", quick, inputs);
    const execution = await this.#submit(testCase, item.route, "lockstep", slow, inputs);
    return { difference: differingBytes(fast.outputs, execution.outputs), key: small.key, receipts };
  }
}

/** What the pipelines of a planned route are known by. */
function pipelinesKey(item: PlannedRoute): string {
  return `${item.route}\n${libraryKey(item.plan)}`;
}

function checkerFact(check: RouteCheck | undefined): RunFacts["checker"] {
  if (check === undefined) return { expected: false, errors: undefined };
  const { result } = check;
  if (!result.complete || result.dropped > 0) return { expected: true, errors: undefined };
  const [first] = result.reports.filter(({ severity }) => severity === "error");
  const place = first?.first.location;
  const where = place == null ? "" : `; ${first!.kind} at ${place.path}:${place.line}`;
  return {
    expected: true,
    errors: checkErrors(result),
    note: `on ${check.case}${check.pinned ? ", in lockstep" : ""}${where}`,
  };
}

function rawOutputs(item: PlannedRoute, execution: Execution): readonly RawOutput[] {
  return item.plan.buffers
    .filter((buffer) => buffer.role === "output")
    .map((buffer): RawOutput => {
      const { name, dtype } = buffer;
      if ((name !== "out" && name !== "lse") || dtype === "i32") {
        throw new Error(
          `${item.route} has an output "${name}" of ${dtype}; outputs are out and lse in f32, f16 or bf16.`,
        );
      }
      return { name, dtype, shape: buffer.shape, bytes: execution.outputs.get(buffer.name)! };
    });
}
