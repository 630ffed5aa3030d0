/** `lockstep dispatch`: the decision for a case on this machine's device or any chip, with every predicate. */
import type { CaseShape } from "../../kernels/route.ts";
import { capabilitiesOf, type Decision, dispatch } from "../dispatch/dispatch.ts";
import { stableJson } from "../evidence/json.ts";
import type { Places } from "../host/root.ts";
import { catalogueFor } from "../runs/catalogue.ts";
import { checkRoute, selectCases } from "../runs/plan.ts";
import { shapeSchema } from "../runs/record.ts";
import { UsageError } from "../runs/usage.ts";
import { type CasesOptions, namedCases } from "./cases.ts";
import { chosenDevice } from "./device_options.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export interface DispatchCommandOptions extends CasesOptions {
  readonly case?: string;
  readonly shape?: string;
  readonly route?: string;
}

/** The production shapes, for a question without a case. */
const DEFAULT_CASES = ["L8192.spread", "mla_prefill_ragged_h2_x16"];

export async function explainDispatch(options: DispatchCommandOptions, where: Places, output: Output): Promise<number> {
  const { profile, reasons } = await chosenDevice(options, where);
  const capabilities = capabilitiesOf(profile);
  const chosen = options.shape === undefined ? chosenCases(options, where) : [givenShape(options.shape, options)];
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
    output.line(stableJson({ device: profile, reasons, capabilities, decisions }).trimEnd());
    return EXIT.passed;
  }
  const system = `${profile.os.value}, Metal ${profile.metalVersion.value}`;
  const how = profile.os.by === "assumed" ? " (assumed)" : "";
  // The name of an emulated device has it.
  const family = profile.name.value.includes(profile.family.value) ? "" : `, ${profile.family.value}`;
  output.line(`${profile.name.value}: ${system}${how}${family}`);
  output.line(`${profile.id}: ${reasons.join("; ")}`);
  for (const decision of decisions) {
    output.line("");
    output.line(`${decision.case}: ${decision.route ?? "no route is taken by itself"}`);
    for (const line of candidateLines(decision)) output.line(line);
  }
  return EXIT.passed;
}

/** What a decision is asked for. */
interface Asked {
  readonly key: string;
  readonly shape: CaseShape;
}

function chosenCases(options: DispatchCommandOptions, where: Places): readonly Asked[] {
  const all = namedCases({ suite: options.suite ?? "full", ...options }, where);
  return options.case === undefined && options.inputs === undefined
    ? DEFAULT_CASES.flatMap((name) => selectCases(all, { case: name }).slice(0, 1))
    : selectCases(all, { case: options.case });
}

/** The shape of `--shape`. Throws `UsageError` where the text is none, or cases are named beside it. */
function givenShape(text: string, { case: key, suite, inputs }: DispatchCommandOptions): Asked {
  if (key !== undefined || suite !== undefined || inputs !== undefined) {
    throw new UsageError("--shape stands by itself: leave out --case, --suite and --inputs.");
  }
  const example =
    '{"operator":"gqa_decode","heads":32,"kvHeads":4,"dim":512,"live":100,"capacity":104,"scale":1,"dtype":"f32"}';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`--shape is no JSON: give a shape such as '${example}'.`);
  }
  const parsed = shapeSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = issue?.path.join(".") || "shape";
    throw new UsageError(`--shape, ${at}: ${issue?.message ?? "does not fit"}. A shape is such as '${example}'.`);
  }
  return { key: `${parsed.data.operator}, given shape`, shape: parsed.data };
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
