/** How an entry of the list of runs is shown: its glyph and its words. Pure. */
import type { RunEntryView } from "../state/session.ts";
import type { GlyphName } from "./sprite.tsx";
import type { Standing } from "./standing.tsx";
import { plural } from "./text.ts";

const GLYPHS = {
  passed: "pass",
  failed: "fail",
  cancelled: "cancel",
  crashed: "crash",
  timed_out: "timedout",
} as const;

const WORDS = {
  passed: "pass",
  failed: "fail",
  cancelled: "cancelled",
  crashed: "crashed",
  timed_out: "timed out",
} as const;

export type KeptOutcome = keyof typeof GLYPHS;

export function outcomeWord(outcome: KeptOutcome): string {
  return WORDS[outcome];
}

export function entryGlyph(entry: RunEntryView): GlyphName {
  if (entry.state === "running") return "running";
  return entry.state === "bad" ? "notrun" : GLYPHS[entry.outcome];
}

export function entryWord(entry: RunEntryView): string {
  if (entry.state === "running") return "running";
  return entry.state === "bad" ? "no bundle" : WORDS[entry.outcome];
}

/** `quick, 3 fail`, `standard, 40 of 96`. */
export function entrySummary(entry: RunEntryView): string {
  if (entry.state === "bad") return entry.reason;
  const suite = entry.suite ?? "file";
  if (entry.state === "running") return `${suite}, ${entry.finished} of ${entry.planned}`;
  if (entry.outcome === "passed") return `${suite}, ${plural(entry.passed, "result")}`;
  if (entry.outcome === "failed" && entry.passed === entry.planned) return `${suite}, contradicts itself`;
  if (entry.outcome === "failed" && entry.failed === 0) return `${suite}, ${entry.planned - entry.passed} not run`;
  if (entry.outcome === "failed") return `${suite}, ${entry.failed} fail`;
  return `${suite}, at ${entry.passed + entry.failed} of ${entry.planned}`;
}

/** What the results of a kept run are worth; its claims say whether they support a chip. */
export function entryStanding(entry: Extract<RunEntryView, { readonly state: "kept" }>): Standing {
  const { execution, virtualGpu, claims } = entry;
  if (execution === "imported" || execution === "emulated") return execution;
  if (virtualGpu) return "virtual";
  return claims.some(({ supportsChip }) => supportsChip === null) ? "unsure" : "chip";
}

/** True for a run under Metal's validation. */
export function underValidation({ command }: { readonly command: readonly string[] }): boolean {
  return command.includes("--validation");
}
