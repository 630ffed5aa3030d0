/** `lockstep dispatch`: the decision for a case on this machine's device or any chip, with every predicate. */
import { emulatedProfile } from "../../native/emulator/profile.ts";
import { capabilitiesOf, type Decision, dispatch } from "../dispatch/dispatch.ts";
import { stableJson } from "../evidence/json.ts";
import { chipOf } from "../host/device_name.ts";
import type { Places } from "../host/root.ts";
import { catalogueFor } from "../runs/catalogue.ts";
import { checkRoute, selectCases } from "../runs/plan.ts";
import { UsageError } from "../runs/usage.ts";
import { type CasesOptions, namedCases } from "./cases.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export interface DispatchCommandOptions extends CasesOptions {
  readonly case?: string;
  readonly route?: string;
  readonly device?: string;
  readonly chip?: string;
}

/** The production shapes, for a question without a case. */
const DEFAULT_CASES = ["L8192.spread", "mla_prefill_ragged_h2_x16"];

export function explainDispatch(options: DispatchCommandOptions, where: Places, output: Output): number {
  const profile = emulatedProfile(chipOf(options.device ?? null, options.chip ?? null));
  const capabilities = capabilitiesOf(profile);
  const all = namedCases({ suite: options.suite ?? "full", ...options }, where);
  const chosen =
    options.case === undefined && options.inputs === undefined
      ? DEFAULT_CASES.flatMap((name) => selectCases(all, { case: name }).slice(0, 1))
      : selectCases(all, { case: options.case });
  const forced = options.route;
  if (forced !== undefined) checkRoute(forced, catalogueFor(profile));
  const decisions = chosen.map((entry) => {
    try {
      const decision = dispatch(entry.shape, capabilities, forced === undefined ? {} : { forced });
      return { case: entry.key, ...decision };
    } catch (error) {
      throw error instanceof RangeError ? new UsageError(`${entry.key}: ${error.message}`) : error;
    }
  });
  if (options.json) {
    output.line(stableJson({ device: profile, capabilities, decisions }).trimEnd());
    return EXIT.passed;
  }
  output.line(
    `${profile.name.value}: ${profile.os.value}, Metal ${profile.metalVersion.value} (assumed), ${profile.family.value}`,
  );
  for (const decision of decisions) {
    output.line("");
    output.line(`${decision.case}: ${decision.route ?? "no route can run"}`);
    for (const line of candidateLines(decision)) output.line(line);
  }
  return EXIT.passed;
}

function candidateLines(decision: Decision): readonly string[] {
  return decision.candidates.flatMap((candidate) => {
    const word = candidate.chosen
      ? "chosen"
      : candidate.applicable && candidate.status === "built"
        ? "applies"
        : "refused";
    return [
      `  ${word.padEnd(8)} ${candidate.route}: ${candidate.why}`,
      ...[...candidate.predicates, ...candidate.policy].map(
        (predicate) =>
          `    ${predicate.holds ? "held  " : "FAILED"}  ${predicate.id.padEnd(24)} requires ${predicate.requires}; actual ${predicate.actual}`,
      ),
    ];
  });
}
