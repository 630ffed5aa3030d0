/** What the strip says of a result: sentence, how far over, next step, and the ladder. Pure. */
import { LEVELS } from "../../../electron/contract.ts";
import { missedGate, missText } from "../../../electron/words.ts";
import type { Standing } from "../../parts/standing.tsx";
import type { Result } from "../../state/run_model.ts";
import { ratioText } from "./address.ts";

export type Level = (typeof LEVELS)[number];

export interface ResultWords {
  readonly sentence: string;
  readonly next: string | null;
  /** `20.1 times the limit`; null where there is no such number. */
  readonly over: string | null;
}

/** Where the terminal names a file, the window has what is in it on this page. */
const NEXT_HERE: Readonly<Record<string, string>> = {
  max_abs: "the inspector has the worst element, its operands and a diagnosis",
  nmse_case: "the map and the charts below it show where the error lies",
};

/** The first failing gate with value and limit, or what ended the route; for a pass how many gates held. */
export function wordsOf(result: Result): ResultWords {
  if (result.verdict === "pass") {
    const held = result.gates.filter((gate) => gate.verdict === "pass").length;
    return { sentence: `${held} of ${result.gates.length} gates held`, next: null, over: null };
  }
  const [sentence = "", next = null] = missText(result as Parameters<typeof missText>[0]).split(". Next: ");
  const missed = missedGate(result.gates);
  const { value = null, limit = null } = missed?.verdict === "fail" ? missed : {};
  const over =
    value !== null && limit !== null && limit > 0 && Number.isFinite(value) && value > limit
      ? `${ratioText(value, limit)} times the limit`
      : null;
  return { sentence, next: next === null ? null : (NEXT_HERE[missed?.id ?? ""] ?? next), over };
}

/** The gate whose limit the errors are drawn against. */
export function errorLimit(result: Result): { readonly value: number; readonly where: string | null } | null {
  const gate = result.gates.find(({ id }) => id === "max_abs") ?? result.gates.find(({ id }) => id === "subnormal");
  return gate === undefined || gate.limit === null ? null : { value: gate.limit, where: gate.where };
}

/** Largest error over its limit, for the list of cases; null where either is missing. */
export function errorShare(result: Result): string | null {
  const gate = result.gates.find(({ id }) => id === "max_abs");
  if (gate === undefined || gate.value === null || gate.limit === null || !(gate.limit > 0)) return null;
  return ratioText(gate.value, gate.limit);
}

export interface Rung {
  readonly level: Level;
  /** `at`: the result fails here. `off`: cannot be reached by this execution, and why. */
  readonly state: "on" | "at" | "open" | "off";
  readonly title: string;
}

const NO_TIMING: Readonly<Record<Exclude<Standing, "chip">, string>> = {
  emulated: "emulated outputs have",
  imported: "imported outputs have",
  virtual: "a virtual GPU has",
  unsure: "a GPU whose chip is not known has",
};

/** The ladder of a result: what its route's claim reaches in this run, the rung that the result fails at. */
export function ladderOf(result: Result, claimed: Level | null, standing: Standing): readonly Rung[] {
  const reached = claimed === null ? -1 : LEVELS.indexOf(claimed);
  return LEVELS.map((level, rung): Rung => {
    if (rung <= reached) return { level, state: "on", title: "reached by this route in this run" };
    if (level === "parity" && result.verdict === "fail") return { level, state: "at", title: "this result fails it" };
    if (rung >= LEVELS.indexOf("screened") && standing !== "chip") {
      return { level, state: "off", title: `${NO_TIMING[standing]} no timing that counts for a chip` };
    }
    return { level, state: "open", title: "not reached" };
  });
}
