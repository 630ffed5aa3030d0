/** An acceptance record says again what the run and the files of its steps say; each is held against the other. */
import type * as z from "zod";
import { conformanceSummary } from "../../native/conformance/summary.ts";
import type { DeviceProfile } from "../../native/device.ts";
import type { StepReport } from "../accept/machine.ts";
import { devicesReport } from "../accept/profile.ts";
import {
  ACCEPTANCE_FILE,
  ACCEPTANCE_LOG,
  ACCEPTANCE_STEPS,
  type AcceptanceRecord,
  acceptanceSchema,
  buildFactsSchema,
  captureFactsSchema,
  conformanceFactsSchema,
  devicesFactsSchema,
  matmul2dFactsSchema,
  needsOf,
  route16x16FactsSchema,
  STEP_FILES,
  type StepId,
  type StepResult,
  stepCounts,
  stepLine,
  summaryLine,
  validationFactsSchema,
  verdictOf,
} from "../accept/record.ts";
import {
  acceptanceLimits,
  attemptReport,
  buildReport,
  forcedReport,
  parityWords,
  programReport,
  ROUTE_16X16,
  validationReport,
} from "../accept/reports.ts";
import type { RunRecord } from "../runs/record.ts";
import { VALIDATION_ENVIRONMENT } from "../validation/environment.ts";
import { FORMS_VERSION, readValidation } from "../validation/lines.ts";
import { recordValidation } from "../validation/report.ts";
import { stableJson } from "./json.ts";
import { payload, readJson, readText, type VerifyState } from "./verify_state.ts";

/** Steps that an emulated device cannot have run. */
const METAL_ALONE: readonly StepId[] = ["matrix_16x16", "matmul2d", "validation", "capture"];

/** What in an acceptance does not follow from the rest of the bundle, in words. Empty where a bundle has none. */
export function acceptanceReasons(state: VerifyState): readonly string[] {
  const { record } = state;
  if (record === null) return ["no record to check"];
  const present = payload(state)
    .map((file) => file.path)
    .filter((file) => file.startsWith("data/acceptance"));
  if (!present.includes(ACCEPTANCE_FILE)) return present.map((file) => `${file}: of no acceptance`);
  const parsed = acceptanceSchema.safeParse(readJson(state, ACCEPTANCE_FILE));
  if (!parsed.success) return [`${ACCEPTANCE_FILE}: cannot be read, so that nothing in it is checked`];
  const acceptance = parsed.data;
  const order = acceptance.steps.map(({ id }) => id).join(", ");
  const wanted = ACCEPTANCE_STEPS.map(({ id }) => id).join(", ");
  if (order !== wanted) return [`${ACCEPTANCE_FILE}: its steps are ${order}; they must be ${wanted}`];
  return [
    ...totals(acceptance),
    ...machine(acceptance, state, record),
    ...files(acceptance, present),
    ...acceptance.steps.flatMap((step) => stepReasons(step, acceptance, state, record)),
    ...log(acceptance, state),
  ];
}

function differs(what: string, is: unknown, must: unknown): readonly string[] {
  return is === must
    ? []
    : [`${ACCEPTANCE_FILE}: ${what} is ${JSON.stringify(is)}; it must be ${JSON.stringify(must)}`];
}

function totals({ steps, counts, verdict, interrupted }: AcceptanceRecord): readonly string[] {
  const actual = stepCounts(steps);
  return [
    ...differs("the count of passed steps", counts.passed, actual.passed),
    ...differs("the count of failed steps", counts.failed, actual.failed),
    ...differs("the count of steps that were not run", counts.notRun, actual.notRun),
    ...differs("the verdict", verdict, verdictOf(actual, interrupted)),
  ];
}

function machine(
  { device, command, startedAt, finishedAt, limits, machine: named }: AcceptanceRecord,
  state: VerifyState,
  record: RunRecord,
): readonly string[] {
  const built = builtFacts(state);
  return [
    ...differs("the device", device?.id, record.device?.id),
    ...differs("the execution", device?.execution, record.execution),
    ...differs("that the GPU is a virtual one", device?.virtualGpu, record.device?.virtualGpu?.value ?? false),
    ...differs("the command", stableJson(command), stableJson(record.command)),
    ...differs("the time at which it began", startedAt, record.startedAt),
    ...differs("the time at which it ended", finishedAt, record.finishedAt),
    ...differs(
      "what it does not show",
      stableJson(limits),
      stableJson(acceptanceLimits(record.execution === "emulated", record.device?.virtualGpu?.value === true)),
    ),
    ...(built === null ? [] : differs("the machine", named, built.platform)),
  ];
}

/** What was built; null where it cannot be read, which the step that left it says. */
function builtFacts(state: VerifyState): z.infer<typeof buildFactsSchema> | null {
  try {
    return buildFactsSchema.parse(readJson(state, STEP_FILES.build));
  } catch {
    return null;
  }
}

/** Each file of an acceptance is named by the step that it belongs to, and each that a step names is there. */
function files({ steps }: AcceptanceRecord, present: readonly string[]): readonly string[] {
  const reasons: string[] = [];
  const named = new Set<string>([ACCEPTANCE_FILE, ACCEPTANCE_LOG]);
  for (const { id, outcome, files: left } of steps) {
    const own: readonly string[] = ACCEPTANCE_STEPS.find((step) => step.id === id)?.files ?? [];
    for (const file of left) {
      if (!own.includes(file)) reasons.push(`${ACCEPTANCE_FILE}: step ${id} names ${file}, which is not its file`);
      if (!present.includes(file)) reasons.push(`${file}: named by step ${id} and missing`);
      named.add(file);
    }
    // The 16x16 route is one of the parity run where the hardware has it.
    const must = id === "matrix_16x16" ? undefined : own[0];
    if (outcome === "passed" && must !== undefined && !left.includes(must)) {
      reasons.push(`${ACCEPTANCE_FILE}: step ${id} passed without ${must}`);
    }
  }
  return [...reasons, ...present.filter((file) => !named.has(file)).map((file) => `${file}: named by no step`)];
}

/** A detection that found a device and a contradiction failed, and those behind it could go on. */
function usable(step: StepResult | undefined): boolean {
  return step?.outcome === "passed" || (step?.id === "devices" && step.files.includes(STEP_FILES.devices));
}

function stepReasons(
  step: StepResult,
  { steps, device }: AcceptanceRecord,
  state: VerifyState,
  record: RunRecord,
): readonly string[] {
  const name = `${ACCEPTANCE_FILE}: step ${step.id}`;
  if (step.outcome === "not_run" && step.files.length === 0 && step.id !== "parity") return [];
  const missed = needsOf(step.id).filter((id) => !usable(steps.find((one) => one.id === id)));
  if (missed.length > 0) return [`${name} ran although ${missed.join(", ")} had not passed`];
  if (device?.execution === "emulated" && METAL_ALONE.includes(step.id)) {
    return [`${name} is Metal's alone, and the device is an emulated one`];
  }
  try {
    const derived = derive(step, state, record);
    if (derived === undefined) return [];
    const same = derived.outcome === step.outcome && derived.words.slice(0, 8000) === step.words;
    if (same) return [];
    return [`${name} is ${step.outcome}: "${step.words}"; its files give ${derived.outcome}: "${derived.words}"`];
  } catch (error) {
    return [`${name}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function facts<T extends z.ZodType>(
  state: VerifyState,
  file: string,
  schema: T,
  device: string | undefined,
): z.infer<T> {
  const value = schema.parse(readJson(state, file)) as z.infer<T> & { readonly device?: string };
  if (value.device !== undefined && value.device !== device) {
    throw new Error(`${file} is of ${value.device}, the run of ${device}`);
  }
  return value;
}

/** What a step must have said by what it left; undefined where nothing left says it. Throws Error for a contradiction. */
function derive(step: StepResult, state: VerifyState, record: RunRecord): StepReport | undefined {
  const id = record.device?.id;
  const left = (file: string): boolean => step.files.includes(file);
  if (step.id === "build" && step.outcome === "passed") {
    const built = facts(state, STEP_FILES.build, buildFactsSchema, undefined);
    if (record.execution === "metal" && !built.metal.offered) {
      throw new Error(`${STEP_FILES.build}: the addon offers no Metal, and the run is on ${id}`);
    }
    return buildReport(built);
  }
  if (step.id === "devices") {
    const { chosen, entries } = facts(state, STEP_FILES.devices, devicesFactsSchema, undefined);
    const entry = entries.find((one) => one.available && one.profile.id === chosen);
    if (chosen !== id || !entry?.available) throw new Error(`${chosen} was chosen, the run is of ${id}`);
    // Its facts are as they were at that moment.
    const { facts: _, ...stated } = entry.profile;
    const { facts: __, ...ran } = record.device ?? {};
    for (const key of Object.keys({ ...stated, ...ran }) as (keyof typeof stated)[]) {
      if (stableJson(stated[key] ?? null) === stableJson((ran as typeof stated)[key] ?? null)) continue;
      throw new Error(`${key} of ${chosen} differs from that of the run`);
    }
    return devicesReport(entry.profile as DeviceProfile);
  }
  if (step.id === "conformance" && left(STEP_FILES.conformance)) {
    const { results } = facts(state, STEP_FILES.conformance, conformanceFactsSchema, id);
    if (new Set(results.map((one) => one.id)).size !== results.length) throw new Error("a check stands twice");
    const failed = results.some(({ outcome }) => outcome === "failed");
    return { outcome: failed ? "failed" : "passed", words: conformanceSummary(results) };
  }
  if (step.id === "parity") return parityReport(step, record);
  if (step.id === "matrix_16x16") return route16x16Report(step, state, record);
  if (step.id === "matmul2d") {
    const { attempt } = facts(state, STEP_FILES.matmul2d, matmul2dFactsSchema, id);
    return attemptReport(attempt, Number(record.device?.family.value.slice("apple".length)) >= 10);
  }
  if (step.id === "validation") return validationOf(state, id);
  if (step.id === "capture" && left(STEP_FILES.capture)) {
    const capture = facts(state, STEP_FILES.capture, captureFactsSchema, undefined);
    if (capture.answer.device.id !== id)
      throw new Error(`the capture is of ${capture.answer.device.id}, the run of ${id}`);
  }
  // How a program ended is no part of what it wrote, so that a failed one is not judged again.
  if ((step.id === "smoke" || step.id === "packaging") && step.outcome !== "failed") {
    return programReport(0, readText(state, STEP_FILES[step.id]));
  }
  return undefined;
}

function parityReport(step: StepResult, { outcome, results, planned, outcomeReason }: RunRecord): StepReport {
  const words = parityWords(results, planned.length);
  if (outcome === "passed" || outcome === "failed") return { outcome, words };
  if (outcome === "cancelled") return { outcome: "not_run", words: step.words };
  return { outcome: "failed", words: `${outcome}: ${outcomeReason}; ${words}` };
}

function route16x16Report(step: StepResult, state: VerifyState, record: RunRecord): StepReport {
  if (step.files.includes(STEP_FILES.route16x16)) {
    return forcedReport(facts(state, STEP_FILES.route16x16, route16x16FactsSchema, record.device?.id));
  }
  const results = record.results.filter(({ route }) => route === ROUTE_16X16);
  if (results.length === 0) throw new Error("it ran, and the run has no result of it");
  const passed = results.every(({ verdict }) => verdict === "pass");
  return { outcome: passed ? "passed" : "failed", words: parityWords(results, results.length) };
}

function validationOf(state: VerifyState, id: string | undefined): StepReport {
  const value = facts(state, STEP_FILES.validation, validationFactsSchema, id);
  const log = readValidation(readText(state, STEP_FILES.validationLog));
  if (log.forms === FORMS_VERSION) {
    const { log: _, ...derived } = recordValidation(log, VALIDATION_ENVIRONMENT);
    if (stableJson(derived) !== stableJson(value.validation)) {
      throw new Error(`${STEP_FILES.validation} is not what ${STEP_FILES.validationLog} says`);
    }
  }
  return validationReport(value);
}

/** What was printed of each step, and the summary; lines of facts between them are indented. */
function log({ steps, counts, verdict }: AcceptanceRecord, state: VerifyState): readonly string[] {
  const printed = readText(state, ACCEPTANCE_LOG)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("  "));
  const wanted = [...steps.map((step) => stepLine(step)), summaryLine(counts, verdict)];
  const at = wanted.findIndex((line, index) => line !== printed[index]);
  if (at < 0 && printed.length === wanted.length) return [];
  return [
    `${ACCEPTANCE_LOG}: ${at < 0 ? "it has more lines than steps" : `line of ${steps[at]?.id ?? "the summary"} is not that of the record`}`,
  ];
}
