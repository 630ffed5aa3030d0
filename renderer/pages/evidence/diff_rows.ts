/** A diff as lines of one table: verdicts that changed, figures that moved, what only one side has. Pure. */
import type { CallOutput } from "../../../electron/contract.ts";

export type Diff = CallOutput<"runs.diff">;
export type Delta = Diff["figures"][number]["deltas"][number];
type Verdict = Diff["figures"][number]["verdict"];

export interface DiffRow {
  readonly key: string;
  readonly group: "verdicts" | "figures" | "onlyA" | "onlyB";
  readonly case: string;
  readonly route: string;
  /** Null where a side does not have it. */
  readonly a: Verdict | null;
  readonly b: Verdict | null;
  readonly change: "broke" | "mended" | "other" | null;
  readonly reason: string | null;
  readonly deltas: readonly Delta[];
}

export function diffRows(diff: Diff): readonly DiffRow[] {
  const key = (group: string, item: { readonly case: string; readonly route: string }): string =>
    `${group} ${item.case}|${item.route}`;
  const none = { change: null, reason: null, deltas: [] } as const;
  return [
    ...diff.verdicts.map(
      (item): DiffRow => ({
        ...item,
        key: key("verdicts", item),
        group: "verdicts",
        a: item.a.verdict,
        b: item.b.verdict,
        reason: item.b.error ?? item.a.error,
      }),
    ),
    ...diff.figures.map(
      (item): DiffRow => ({
        key: key("figures", item),
        group: "figures",
        case: item.case,
        route: item.route,
        a: item.verdict,
        b: item.verdict,
        change: null,
        reason: null,
        deltas: item.deltas,
      }),
    ),
    ...diff.onlyA.map(
      (item): DiffRow => ({
        ...none,
        key: key("onlyA", item),
        group: "onlyA",
        case: item.case,
        route: item.route,
        a: item.verdict,
        b: null,
      }),
    ),
    ...diff.onlyB.map(
      (item): DiffRow => ({
        ...none,
        key: key("onlyB", item),
        group: "onlyB",
        case: item.case,
        route: item.route,
        a: null,
        b: item.verdict,
      }),
    ),
  ];
}

export const METRIC_WORDS: Readonly<Record<Delta["metric"], string>> = {
  maxAbs: "max abs",
  nmse: "NMSE",
  worstRowNmse: "NMSE of the worst row",
  ms: "time",
};

/** `15.6 ×`; empty where there is none. */
export function ratioText({ ratio, word }: Delta): string {
  if (ratio === null || word === "same") return "";
  return `${ratio >= 1000 || ratio < 0.01 ? ratio.toExponential(1) : ratio.toPrecision(3)} ×`;
}

/** The sentence of a diff: what matters first. */
export function diffSentence(diff: Diff): {
  readonly tone: "pass" | "fail" | "plain";
  readonly word: string;
  readonly sentence: string;
} {
  const broke = diff.verdicts.filter((item) => item.change === "broke").length;
  const mended = diff.verdicts.filter((item) => item.change === "mended").length;
  const others = diff.verdicts.length - broke - mended;
  const parts = [
    broke > 0 ? `${broke} broke` : "",
    mended > 0 ? `${mended} mended` : "",
    others > 0 ? `${others} changed otherwise` : "",
  ].filter(Boolean);
  const of = `of ${diff.shared.toLocaleString("en-US")} results that both have`;
  if (diff.shared === 0) return { tone: "plain", word: "Nothing in common", sentence: "no case and route is in both" };
  if (parts.length > 0) {
    return { tone: broke > 0 ? "fail" : "plain", word: "Verdicts changed", sentence: `${parts.join(", ")} ${of}` };
  }
  if (diff.onlyA.length > 0) {
    return {
      tone: "fail",
      word: "Results missing",
      sentence: `B lacks ${diff.onlyA.length} that A has; no verdict changed ${of}`,
    };
  }
  return diff.figures.length > 0
    ? { tone: "plain", word: "Same verdicts", sentence: `outputs differ in ${diff.figures.length} ${of}` }
    : { tone: "pass", word: "Same", sentence: `every output has the same bits ${of}` };
}
