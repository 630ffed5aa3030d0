/** What a decision comes to, in words. Pure. */
import type { CallOutput } from "../../../electron/contract.ts";
import type { GlyphName } from "../../parts/sprite.tsx";
import { isDevicePredicate, predicateTitle } from "./known_by.ts";

export type Decision = CallOutput<"dispatch.explain">["decision"];
export type Candidate = Decision["candidates"][number];

export interface Standing {
  readonly glyph: GlyphName;
  readonly word: string;
  readonly tone: "pass" | "fail" | "t2";
}

function failedIn(candidate: Candidate): Candidate["predicates"] {
  return [...candidate.predicates, ...candidate.policy].filter(({ holds }) => !holds);
}

export function standingOf(candidate: Candidate): Standing {
  const all = candidate.predicates.length + candidate.policy.length;
  const failed = failedIn(candidate);
  if (candidate.chosen) {
    const needed = candidate.predicates.length;
    return { glyph: "pass", word: `chosen, ${needed} of ${needed} held`, tone: "pass" };
  }
  if (!candidate.applicable)
    return { glyph: "fail", word: `rejected, ${failed.length} of ${all} failed`, tone: "fail" };
  if (candidate.status === "planned") {
    return { glyph: "blocked", word: "would hold, its kernel is not built yet", tone: "t2" };
  }
  const [first] = failed;
  if (first === undefined) return { glyph: "queued", word: "not reached, would hold", tone: "t2" };
  const when = first.id === "forced_or_promoted" ? `taken only when ${first.requires}` : `needs ${first.requires}`;
  return { glyph: "queued", word: `would hold; ${when}`, tone: "t2" };
}

/** Whether a candidate shows its predicates without being asked: the chosen one and what could not run before it. */
export function opensByItself(decision: Decision, candidate: Candidate): boolean {
  const chosen = decision.candidates.findIndex((entry) => entry.chosen);
  const at = decision.candidates.indexOf(candidate);
  if (chosen < 0) return at === 0;
  return at === chosen || (at < chosen && (!candidate.applicable || candidate.status === "planned"));
}

/** The sentence under the headline: what kept the routes before the chosen one from it, and what would change that. */
export function whySentence(decision: Decision, forced: string | null): string {
  const chosen = decision.candidates.findIndex((entry) => entry.chosen);
  if (forced !== null) {
    const own = decision.candidates.find((entry) => entry.route === forced);
    return `${forced} is forced: ${own?.why.replace(/^forced, and /, "") ?? "there is no such route"}`;
  }
  if (chosen < 0) {
    const shared = decision.candidates.map((entry) => new Set(failedIn(entry).map(({ id }) => id)));
    const common = [...(shared[0] ?? [])].filter((id) => shared.every((set) => set.has(id)));
    const first = failedIn(decision.candidates[0]!).find(({ id }) => common.includes(id));
    return first === undefined
      ? "Every candidate fails at least one requirement"
      : `Every candidate needs ${first.requires}; it is ${first.actual}`;
  }
  const before = decision.candidates.slice(0, chosen).at(0);
  if (before === undefined) return "It comes first in the order, and every requirement holds";
  const failed = failedIn(before);
  const own = failed.filter(({ id }) => id !== "kernel_built");
  const planned = before.status === "planned";
  if (own.length === 0) return `${before.route} would hold, but its kernel is not built yet`;
  const names = [...new Set(own.map(({ id }) => predicateTitle(id)))].join(", ");
  const all = before.predicates.length + before.policy.length;
  const fails = `${before.route} fails ${failed.length} of ${all}: ${names}`;
  if (planned) return `${fails}; its kernel is not built yet`;
  return own.every(({ id }) => isDevicePredicate(id)) ? `${fails}. Only another chip or system changes that` : fails;
}

/** A figure with more than six significant digits, shortened to six; anything else as it is. */
export function shortFigure(text: string): string {
  return /^-?0?\.\d{8,}$/.test(text) ? Number(text).toPrecision(6) : text;
}
