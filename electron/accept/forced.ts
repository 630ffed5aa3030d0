/** A route where its predicates do not hold: what is run all the same, and what is said of it. Pure. */
import type { Catalogue } from "../runs/plan.ts";
import type { ResultRecord } from "../runs/record.ts";
import type { Route16x16Facts } from "./record.ts";

/** The catalogue of a device that says of one route that it applies, whatever its predicates say. */
export function forcing(catalogue: Catalogue, route: string): Catalogue {
  return {
    routesFor: (operator) => catalogue.routesFor(operator),
    decide: (shape) => {
      const decision = catalogue.decide(shape);
      return {
        ...decision,
        candidates: decision.candidates.map((one) => (one.route === route ? { ...one, applicable: true } : one)),
      };
    },
  };
}

/** What the result of a route says, in words: Metal's where it refused, the gate that was missed where it ran. */
export function outcomeFacts(result: ResultRecord): Omit<Route16x16Facts, "device"> {
  const missed = result.gates.find((gate) => gate.verdict === "fail");
  const gate = missed === undefined ? null : `gate ${missed.id}: ${missed.value ?? "no value"}, ${missed.note ?? ""}`;
  return {
    schema: "lockstep.acceptance.matrix_16x16/1",
    case: result.case,
    state: result.state,
    verdict: result.verdict,
    words: (result.error ?? gate ?? "every gate held").slice(0, 4000),
  };
}
