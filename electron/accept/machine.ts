/**
 * Runs steps one after another: a step that throws is `failed`, one whose needs failed or did not run is `not run`, and so is
 * everything behind a stop. Knows nothing of what the steps do.
 */
import { STEP_IDS, type StepId, type StepOutcome, type StepResult } from "./record.ts";

export interface StepReport {
  readonly outcome: StepOutcome;
  readonly words: string;
  readonly files?: readonly string[];
  /** A failed step that those behind it can build on all the same. */
  readonly usable?: true;
}

export interface Step<Context> {
  readonly id: StepId;
  /** Steps that must have passed, or be usable. */
  readonly needs: readonly StepId[];
  /** Why it cannot be run here; undefined if it can. Asked when its turn has come. */
  readonly missing?: (context: Context) => string | undefined;
  run(context: Context): Promise<StepReport>;
}

/** Thrown by a step that found out that it cannot run: `not run`, with the reason. */
export class NotRun extends Error {
  override readonly name = "NotRun";
}

export interface MachineOptions {
  readonly only?: readonly StepId[];
  readonly skip?: readonly StepId[];
  readonly signal: AbortSignal;
  readonly onStart?: (id: StepId) => void;
  readonly onResult: (result: StepResult) => void;
}

/** Runs the steps in their order and gives a result for each. Never rejects. */
export async function runSteps<Context>(
  steps: readonly Step<Context>[],
  context: Context,
  options: MachineOptions,
): Promise<readonly StepResult[]> {
  const results: StepResult[] = [];
  const usable = new Set<StepId>();
  for (const step of steps) {
    const began = performance.now();
    const report = await one(step, context, results, usable, options);
    if (report.outcome === "passed" || report.usable) usable.add(step.id);
    const { outcome, words, files = [] } = report;
    const result = {
      id: step.id,
      outcome,
      words: words === "" ? "the step said nothing" : words.slice(0, 8000),
      ms: Math.round(performance.now() - began),
      files: [...files],
    };
    results.push(result);
    options.onResult(result);
  }
  return results;
}

async function one<Context>(
  step: Step<Context>,
  context: Context,
  done: readonly StepResult[],
  usable: ReadonlySet<StepId>,
  { only, skip, signal, onStart }: MachineOptions,
): Promise<StepReport> {
  const notRun = (words: string): StepReport => ({ outcome: "not_run", words });
  if (only !== undefined && !only.includes(step.id)) return notRun(`left out by --only ${only.join(",")}`);
  if (skip?.includes(step.id)) return notRun("left out by --skip");
  if (signal.aborted) return notRun("stopped by you before it began");
  const missing = step.missing?.(context);
  if (missing !== undefined) return notRun(missing);
  for (const need of step.needs) {
    if (usable.has(need)) continue;
    const earlier = done.find(({ id }) => id === need);
    const how = earlier?.outcome === "failed" ? "failed" : "was not run";
    return notRun(`it needs the step ${need}, which ${how}`);
  }
  onStart?.(step.id);
  try {
    return await step.run(context);
  } catch (error) {
    if (error instanceof NotRun) return notRun(error.message);
    if (signal.aborted) return notRun("stopped by you while it ran");
    return { outcome: "failed", words: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Steps that `only` asks for, with those that they need: `--only parity` runs the build and the detection as well.
 * Throws Error for a name that is none.
 */
export function stepNames(option: string, text: string | undefined): readonly StepId[] | undefined {
  if (text === undefined) return undefined;
  return text.split(",").map((name) => {
    const found = STEP_IDS.find((id) => id === name.trim());
    if (found === undefined) throw new Error(`${option} names "${name}"; the steps are ${STEP_IDS.join(", ")}.`);
    return found;
  });
}

/** `wanted` and everything that it needs, in order. */
export function withNeeds(
  steps: readonly { readonly id: StepId; readonly needs: readonly StepId[] }[],
  wanted: readonly StepId[],
): readonly StepId[] {
  const all = new Set(wanted);
  for (const step of [...steps].reverse()) if (all.has(step.id)) for (const need of step.needs) all.add(need);
  return STEP_IDS.filter((id) => all.has(id));
}
