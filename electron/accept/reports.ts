/** What a step makes of what came back: passed or failed, and in which words. Pure. */
import type { RunRecord } from "../runs/record.ts";
import type { StepReport } from "./machine.ts";
import type { BuildFacts, ValidationFacts } from "./record.ts";

/** The route that M5 is for. */
export const ROUTE_16X16 = "matrix_16x16";

/** What of the build came to be used. */
export function buildReport({ node, metal }: Pick<BuildFacts, "node" | "metal">): StepReport {
  const offers = metal.offered ? `offers Metal, built with SDK ${metal.sdk}` : "offers no Metal here";
  return { outcome: "passed", words: `Node ${node}; the addon loads and ${offers}` };
}

/** What an acceptance does not show, whatever its verdict. */
export function acceptanceLimits(emulated: boolean, virtualGpu: boolean): readonly string[] {
  return [
    "A step that was not run shows nothing. The verdict is about the steps that ran.",
    ...(emulated
      ? ["The device was an emulated one: this shows that the command works, and nothing about Metal or a chip."]
      : []),
    ...(virtualGpu ? ["The GPU is a virtual one, which a hypervisor lends: this supports no chip."] : []),
  ];
}

/** What a parity run showed: results by route. */
export function parityWords(results: RunRecord["results"], planned: number): string {
  const routes = [...new Set(results.map(({ route }) => route))];
  const passed = results.filter(({ verdict }) => verdict === "pass").length;
  const first = results.find(({ verdict }) => verdict === "fail");
  const miss =
    first === undefined ? "" : `; first ${first.case}, ${first.route}: ${first.error ?? "a gate was missed"}`;
  return `${passed} of ${planned} results passed, on ${routes.join(", ") || "no route"}${miss}`;
}

/** On a GPU without the matrix hardware a refusal and a miss are both answers; a kernel that crashes is a fault. */
export function forcedReport(facts: {
  readonly state: string;
  readonly verdict: string;
  readonly words: string;
}): StepReport {
  if (facts.state === "compile_failed" || facts.state === "refused") {
    return { outcome: "passed", words: `refused: ${facts.words}` };
  }
  if (facts.state !== "completed") return { outcome: "failed", words: `${facts.state}: ${facts.words}` };
  return {
    outcome: "passed",
    words: facts.verdict === "pass" ? "it ran and parity holds" : `it ran and was caught by parity: ${facts.words}`,
  };
}

/** On M5 it must compile and build; before it every answer is one. */
export function attemptReport(
  attempt: { readonly compiled: boolean; readonly pipeline: boolean; readonly words: string },
  mustBuild: boolean,
): StepReport {
  const { compiled, pipeline, words } = attempt;
  if (pipeline) return { outcome: "passed", words: `compiled, pipeline built: ${words}` };
  const how = compiled ? "compiled, pipeline refused" : "not compiled";
  return { outcome: mustBuild ? "failed" : "passed", words: `${how}: ${words}` };
}

/** Silence proves nothing unless Metal said that both validations are on. */
export function validationReport({ outcome, results, validation: said }: ValidationFacts): StepReport {
  const { enabled, counts } = said;
  const off = [...(enabled.api ? [] : ["API"]), ...(enabled.shader ? [] : ["shader"])];
  const passed = results.filter(({ verdict }) => verdict === "pass").length;
  const words = `${passed} of ${results.length} results passed; ${counts.errors} errors, ${counts.warnings} warnings, ${counts.unclear} lines of no known form`;
  if (off.length > 0)
    return { outcome: "failed", words: `Metal did not say that ${off.join(" and ")} validation is on; ${words}` };
  return { outcome: outcome === "passed" && counts.errors === 0 ? "passed" : "failed", words };
}

export function programReport(code: number | null, text: string): StepReport {
  const lines = text.trim().split("\n");
  const last = lines.at(-1) ?? "it said nothing";
  const failed = lines.filter((line) => line.startsWith("failed"));
  const notRun = lines.find((line) => line.startsWith("not run: "));
  if (code !== 0)
    return { outcome: "failed", words: failed.length > 0 ? failed.join("; ") : `exit code ${code}: ${last}` };
  if (notRun !== undefined) return { outcome: "not_run", words: notRun.slice("not run: ".length) };
  return { outcome: "passed", words: last };
}
