/** What is said aloud of a run: progress in a few words, and what went wrong, each once. Pure. */
import { missText } from "../../electron/words.ts";
import { type RunModel, shortCase } from "../state/run_model.ts";

export function progressText(run: RunModel): string {
  if (run.outcome === "running") return `${run.results.size} of ${run.planned.length} results`;
  return `Run ${run.outcome.replace("_", " ")}`;
}

/** What is to be told of a run that has not been told before. */
export interface News {
  /** Names of everything that went wrong in it, told or not. */
  readonly keys: readonly string[];
  /** Empty where there is nothing new. */
  readonly text: string;
}

/** What went wrong in `run` and is not in `told`; several at once become one text, so that none is lost. */
export function newsOf(run: RunModel, told: ReadonlySet<string>): News {
  const bad = [...run.results].filter(([, result]) => result.verdict !== "pass");
  const entries = bad.map(([key, result]) => ({
    key: `${run.id} ${key}`,
    text: `${result.verdict.replace("_", " ")}: ${shortCase(result.case)}, ${result.route}. ${missText(result as Parameters<typeof missText>[0])}`,
  }));
  if (run.outcome === "crashed") {
    entries.push({ key: `${run.id} crashed`, text: `Crashed: ${run.reason ?? "the host stopped"}` });
  }
  const fresh = entries.filter(({ key }) => !told.has(key));
  const last = fresh.at(-1)?.text ?? "";
  return {
    keys: entries.map(({ key }) => key),
    text: fresh.length > 1 ? `${fresh.length} new, the last one: ${last}` : last,
  };
}
