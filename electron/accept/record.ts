/**
 * The record of an acceptance on a machine: `data/acceptance.json` of a bundle, schema `lockstep.acceptance/1`. What can be
 * said again from other files of the bundle is held against them by `electron/evidence/verify_acceptance.ts`. Pure.
 */
import * as z from "zod";
import { CONFORMANCE_OUTCOMES } from "../../native/conformance/check.ts";
import { captureAnswerSchema } from "../captures/gputrace.ts";
import { deviceEntrySchema, digestSchema, outcomeSchema, pathSchema } from "../runs/record.ts";
import { recordValidationSchema } from "../validation/report.ts";

/** Where the record and the files of its steps stand in a bundle. */
export const ACCEPTANCE_FILE = "data/acceptance.json";
export const ACCEPTANCE_LOG = "data/acceptance/log.txt";
export const STEP_FILES = {
  build: "data/acceptance/build.json",
  devices: "data/acceptance/devices.json",
  conformance: "data/acceptance/conformance.json",
  route16x16: "data/acceptance/matrix_16x16.json",
  matmul2d: "data/acceptance/matmul2d.json",
  validation: "data/acceptance/validation.json",
  validationLog: "data/acceptance/validation_log.txt",
  capture: "data/acceptance/capture.json",
  smoke: "data/acceptance/smoke.txt",
  packaging: "data/acceptance/package.txt",
} as const;

/**
 * Every step in its order, whether it ran or not: the files that it may leave, the first of them whenever it passed, and the
 * steps that must have passed before it.
 */
export const ACCEPTANCE_STEPS = [
  { id: "build", title: "the native parts are built and load", files: [STEP_FILES.build], needs: [] },
  { id: "devices", title: "the device is detected", files: [STEP_FILES.devices], needs: ["build"] },
  {
    id: "conformance",
    title: "the device passes the conformance suite",
    files: [STEP_FILES.conformance],
    needs: ["devices"],
  },
  { id: "parity", title: "every route agrees with the oracle", files: [], needs: ["devices"] },
  { id: "matrix_16x16", title: "the 16x16 route", files: [STEP_FILES.route16x16], needs: ["devices"] },
  { id: "matmul2d", title: "the compiler on the path of M5", files: [STEP_FILES.matmul2d], needs: ["devices"] },
  {
    id: "validation",
    title: "Metal's validation has no errors",
    files: [STEP_FILES.validation, STEP_FILES.validationLog],
    needs: ["devices"],
  },
  { id: "capture", title: "one case is captured", files: [STEP_FILES.capture], needs: ["devices"] },
  { id: "smoke", title: "the desktop app runs", files: [STEP_FILES.smoke], needs: ["build"] },
  { id: "packaging", title: "the app is packaged", files: [STEP_FILES.packaging], needs: ["build"] },
] as const;

export type StepId = (typeof ACCEPTANCE_STEPS)[number]["id"];
export const STEP_IDS: readonly StepId[] = ACCEPTANCE_STEPS.map(({ id }) => id);

/** Steps that must have passed before a step. */
export function needsOf(id: StepId): readonly StepId[] {
  return ACCEPTANCE_STEPS.find((step) => step.id === id)?.needs ?? [];
}

export const stepOutcomeSchema = z.enum(["passed", "failed", "not_run"]);
export type StepOutcome = z.infer<typeof stepOutcomeSchema>;

const sentence = z.string().min(1).max(8192);
const count = z.number().int().min(0);

export const stepResultSchema = z.strictObject({
  id: z.enum(STEP_IDS as [StepId, ...StepId[]]),
  outcome: stepOutcomeSchema,
  /** What was seen, what is wrong, or why it was not run. */
  words: sentence,
  ms: z.number().min(0),
  /** Files of the bundle that it left. */
  files: z.array(pathSchema),
});
export type StepResult = z.infer<typeof stepResultSchema>;

/** `failed` if a step failed; else `interrupted` if it was stopped; `nothing_ran` if no step passed. */
export const acceptanceVerdictSchema = z.enum(["accepted", "failed", "interrupted", "nothing_ran"]);
export type AcceptanceVerdict = z.infer<typeof acceptanceVerdictSchema>;

export const acceptanceSchema = z.strictObject({
  schema: z.literal("lockstep.acceptance/1"),
  command: z.array(z.string()),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  /** Platform and CPU of the machine: `darwin arm64`. */
  machine: z.string().min(1),
  /** The device that the steps ran on, as the run's record has it. */
  device: z
    .strictObject({ id: z.string(), execution: z.enum(["metal", "emulated"]), virtualGpu: z.boolean() })
    .nullable(),
  steps: z.array(stepResultSchema).length(STEP_IDS.length),
  counts: z.strictObject({ passed: count, failed: count, notRun: count }),
  interrupted: z.boolean(),
  verdict: acceptanceVerdictSchema,
  /** What this record does not show. */
  limits: z.array(sentence),
});
export type AcceptanceRecord = z.infer<typeof acceptanceSchema>;

/** `build.json`: what was built, by digest. */
export const buildFactsSchema = z.strictObject({
  schema: z.literal("lockstep.acceptance.build/1"),
  node: z.string(),
  platform: z.string(),
  files: z.array(z.strictObject({ name: z.string(), bytes: count, sha256: digestSchema })),
  /** Whether the addon offers Metal, and the SDK that it was built with. */
  metal: z.strictObject({ offered: z.boolean(), sdk: z.number().nullable() }),
});

export type BuildFacts = z.infer<typeof buildFactsSchema>;

/** `devices.json`: every device that was found; the one that the steps ran on by its id. */
export const devicesFactsSchema = z.strictObject({
  schema: z.literal("lockstep.acceptance.devices/1"),
  chosen: z.string().nullable(),
  entries: z.array(deviceEntrySchema),
});

export const conformanceResultSchema = z.strictObject({
  id: z.string().min(1),
  title: sentence,
  outcome: z.enum(CONFORMANCE_OUTCOMES),
  words: sentence,
});

/** `conformance.json`. */
export const conformanceFactsSchema = z.strictObject({
  schema: z.literal("lockstep.acceptance.conformance/1"),
  device: z.string(),
  results: z.array(conformanceResultSchema),
});
export type ConformanceFacts = z.infer<typeof conformanceFactsSchema>;

/** What Metal did with a source: compiled it or not, built its pipeline or not, and in which words. */
export const attemptSchema = z.strictObject({
  compiled: z.boolean(),
  pipeline: z.boolean(),
  /** Metal's own words where it refused, else what the receipt says. */
  words: sentence,
});

/** `matmul2d.json`. */
export const matmul2dFactsSchema = z.strictObject({
  schema: z.literal("lockstep.acceptance.matmul2d/1"),
  device: z.string(),
  languageVersion: z.string(),
  source: z.string(),
  attempt: attemptSchema,
});
export type Matmul2dFacts = z.infer<typeof matmul2dFactsSchema>;

/** `matrix_16x16.json`: what became of the route where its predicates do not hold. */
export const route16x16FactsSchema = z.strictObject({
  schema: z.literal("lockstep.acceptance.matrix_16x16/1"),
  device: z.string(),
  case: z.string(),
  /** How the result of the route stood; see `state` of a result. */
  state: z.string(),
  verdict: z.enum(["pass", "fail", "not_run"]),
  words: sentence,
});
export type Route16x16Facts = z.infer<typeof route16x16FactsSchema>;

/** `validation.json`: a run under Metal's validation, whose log is `validation_log.txt`. */
export const validationFactsSchema = z.strictObject({
  schema: z.literal("lockstep.acceptance.validation/1"),
  device: z.string(),
  outcome: outcomeSchema,
  results: z.array(
    z.strictObject({ case: z.string(), route: z.string(), verdict: z.enum(["pass", "fail", "not_run"]) }),
  ),
  validation: recordValidationSchema.omit({ log: true }),
});
export type ValidationFacts = z.infer<typeof validationFactsSchema>;

/** `capture.json`: the `.gputrace` stands beside the bundle, for it is too large to be in it. */
export const captureFactsSchema = z.strictObject({
  schema: z.literal("lockstep.acceptance.capture/1"),
  /** Name of the document beside the bundle. */
  name: z.string(),
  answer: captureAnswerSchema.omit({ path: true }),
  /** SHA-256 over a line `digest  path` for each of its files, sorted by path. */
  sha256: digestSchema,
});
export type CaptureFacts = z.infer<typeof captureFactsSchema>;

/** Schema of each JSON file of an acceptance. */
export const ACCEPTANCE_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  [ACCEPTANCE_FILE]: acceptanceSchema,
  [STEP_FILES.build]: buildFactsSchema,
  [STEP_FILES.devices]: devicesFactsSchema,
  [STEP_FILES.conformance]: conformanceFactsSchema,
  [STEP_FILES.route16x16]: route16x16FactsSchema,
  [STEP_FILES.matmul2d]: matmul2dFactsSchema,
  [STEP_FILES.validation]: validationFactsSchema,
  [STEP_FILES.capture]: captureFactsSchema,
};

/** How many steps ended how. */
export function stepCounts(steps: readonly Pick<StepResult, "outcome">[]): AcceptanceRecord["counts"] {
  const of = (outcome: StepOutcome): number => steps.filter((step) => step.outcome === outcome).length;
  return { passed: of("passed"), failed: of("failed"), notRun: of("not_run") };
}

/** The verdict that follows from counts. */
export function verdictOf(counts: AcceptanceRecord["counts"], interrupted: boolean): AcceptanceVerdict {
  if (counts.failed > 0) return "failed";
  if (interrupted) return "interrupted";
  return counts.passed === 0 ? "nothing_ran" : "accepted";
}

const WORD: Readonly<Record<StepOutcome, string>> = { passed: "passed", failed: "failed", not_run: "not run" };

/** The line of a step, as it is printed and kept in the log. */
export function stepLine({ id, outcome, words }: Pick<StepResult, "id" | "outcome" | "words">): string {
  const title = ACCEPTANCE_STEPS.find((step) => step.id === id)?.title ?? id;
  return `${WORD[outcome].padEnd(8)} ${id}: ${title}: ${words.replaceAll("\n", " ")}`;
}

/** The last line. */
export function summaryLine(
  { passed, failed, notRun }: AcceptanceRecord["counts"],
  verdict: AcceptanceVerdict,
): string {
  const meaning: Readonly<Record<AcceptanceVerdict, string>> = {
    accepted: "nothing failed; what was not run is shown by nothing",
    failed: "a step failed",
    interrupted: "stopped by you",
    nothing_ran: "nothing ran, so that nothing is shown",
  };
  return `${passed} passed, ${failed} failed, ${notRun} not run: ${meaning[verdict]}`;
}
