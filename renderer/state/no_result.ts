/** What is said of a planned case and route that has no result: why, and what to do. Pure. */
import type { Row } from "./rows.ts";
import type { RunModel } from "./run_model.ts";

export interface NoResultWords {
  /** Goes on after the word of the row's state. */
  readonly sentence: string;
  readonly next: string | null;
}

const GAP = "A required gate that did not run is not a pass";

export function noResultWords(run: RunModel, row: Row): NoResultWords {
  const next = run.execution === "imported" ? null : "run it again";
  switch (row.state) {
    case "running":
      return { sentence: "no result yet", next: null };
    case "queued":
      return { sentence: "its turn has not come", next: null };
    case "crash": {
      const how = run.reason?.split(". It was at:", 1)[0] ?? "the host stopped";
      return {
        sentence: `${how} at this result`,
        next: "run it by itself: if it crashes again, it is the kernel and not what ran before it",
      };
    }
    case "cancel":
      return { sentence: "by you before its gates were judged", next };
    default:
      return { sentence: `${endedText(run)} before its turn. ${GAP}`, next };
  }
}

function endedText({ outcome }: RunModel): string {
  if (outcome === "crashed") return "the host stopped";
  return outcome === "cancelled" ? "the run was cancelled" : "the run ended";
}
