/** What the palette lists: actions, runs, cases, an element of the result at hand. */
import { useMemo } from "react";
import { commandLine, PAGE_IDS } from "../../electron/actions.ts";
import { addressOf, addressText, extentsOf, parseElement } from "../pages/parity/address.ts";
import { useShownRun } from "../pages/run/use_run.ts";
import { entryGlyph, entrySummary } from "../parts/run_entry.ts";
import type { GlyphName, IconName } from "../parts/sprite.tsx";
import { countText, runName } from "../parts/text.ts";
import { filterRows, type Row, type RowState, rowsOf, STATE_WORDS, sortRows } from "../state/rows.ts";
import { type RunModel, shortCase } from "../state/run_model.ts";
import { type RunEntryView, useAnswer, useRuns } from "../state/session.ts";
import { go, useView } from "../state/view.ts";
import { type ListedAction, listActions, perform } from "./actions.ts";

/** What a query begins with to narrow the list down. */
export const SIGNS = {
  ">": "actions",
  "@": "cases",
  "#": "runs",
  ":": "index",
} as const;
export type Sign = keyof typeof SIGNS;

/** The sign that a query begins with, and what follows it. */
export function readQuery(query: string): { readonly sign: Sign | ""; readonly text: string } {
  const first = query.trimStart().slice(0, 1);
  const sign = (Object.keys(SIGNS) as Sign[]).find((each) => each === first);
  return sign === undefined ? { sign: "", text: query } : { sign, text: query.trimStart().slice(1).trimStart() };
}

export interface Item {
  readonly id: string;
  readonly section: string;
  readonly title: string;
  readonly detail: string;
  readonly stroke: string | undefined;
  /** Why it cannot be done now. */
  readonly blocked: string | undefined;
  readonly glyph: GlyphName | undefined;
  readonly icon: IconName;
  /** The command line that does the same; null where it concerns the window alone. */
  readonly line: string | null;
  readonly run: () => void;
}

const SECTION_ICONS: Readonly<Record<string, IconName>> = {
  Run: "run",
  Evidence: "evidence",
  List: "gates",
  Window: "settings",
};

const PLAIN = { detail: "", stroke: undefined, blocked: undefined, glyph: undefined, line: null } as const;

function actionItem({ action, blocked, line }: ListedAction): Item {
  const page = PAGE_IDS.find((id) => action.id === `page.${id}`);
  return {
    id: action.id,
    section: action.section,
    title: action.title,
    detail: line ?? "",
    stroke: action.keys[0],
    blocked,
    glyph: undefined,
    icon: page ?? SECTION_ICONS[action.section] ?? "run",
    line,
    run: () => void perform(action.id),
  };
}

function runItem(entry: RunEntryView, folder: string): Item {
  return {
    ...PLAIN,
    id: `run ${entry.id}`,
    section: "Runs",
    title: runName(entry.id),
    detail: entrySummary(entry),
    blocked: entry.state === "bad" ? "no bundle" : undefined,
    glyph: entryGlyph(entry),
    icon: "run",
    line: entry.state === "kept" ? commandLine(["lockstep", "verify", `${folder}/${entry.id}`]) : null,
    run: () => go("run", { run: entry.id }),
  };
}

/** The states of a row are names of glyphs too. */
const ROW_GLYPHS: Readonly<Record<RowState, GlyphName>> = {
  running: "running",
  fail: "fail",
  crash: "crash",
  timedout: "timedout",
  notrun: "notrun",
  cancel: "cancel",
  skip: "notrun",
  pass: "pass",
  queued: "queued",
};

function resultItem(run: RunModel, row: Row): Item {
  const words = ["lockstep", "parity", "--suite", run.suite ?? "full", "--route", row.route, "--case", row.case];
  return {
    ...PLAIN,
    id: `case ${row.key}`,
    section: `Results of ${runName(run.id)}`,
    title: `${shortCase(row.case)}, ${row.route}`,
    detail: `${row.record === undefined ? "" : `${row.record.shape.dtype}, `}${STATE_WORDS[row.state]}`,
    glyph: ROW_GLYPHS[row.state],
    icon: "parity",
    line: run.execution === "imported" ? commandLine(run.command) : commandLine(words),
    run: () => go(row.result === undefined ? "run" : "parity", { run: run.id, sel: row.key }),
  };
}

function caseItem(key: string, dtype: string): Item {
  return {
    ...PLAIN,
    id: `dispatch ${key}`,
    section: "Cases of the suites, in Dispatch",
    title: shortCase(key),
    detail: dtype,
    icon: "dispatch",
    line: commandLine(["lockstep", "dispatch", "--suite", "full", "--case", key]),
    run: () => go("dispatch", { case: key }),
  };
}

/** The one item of `:`: the element that the text names, or why it names none. */
export function indexItem(
  shown: { readonly id: string; readonly row: Row } | undefined,
  text: string,
  show: (index: number) => void,
): Item {
  const item = { ...PLAIN, id: "index", section: "Element", icon: "parity", run: () => undefined } as const;
  const shape = shown?.row.record?.shape;
  if (shown === undefined || shape === undefined) {
    return { ...item, title: "Go to an element", blocked: "no result is at hand" };
  }
  const extents = extentsOf(shape);
  const last = extents.tokens * extents.heads * extents.width - 1;
  const form = addressText(extents, addressOf(extents, last));
  const where = `${shortCase(shown.row.case)}, ${shown.row.route}`;
  if (text === "")
    return { ...item, title: `Go to an element of ${where}`, blocked: `0 to ${countText(last)}, or ${form}` };
  const index = parseElement(extents, text);
  if (index === undefined) {
    return {
      ...item,
      title: `"${text}" is no element of ${where}`,
      blocked: `0 to ${countText(last)}, or up to ${form}`,
    };
  }
  return {
    ...item,
    title: `Go to ${addressText(extents, addressOf(extents, index))}, index ${countText(index)}`,
    detail: where,
    run: () => show(index),
  };
}

/** The row that the view at hand is about: what is selected, else the first of its list. */
function rowAtHand(run: RunModel, params: Readonly<Record<string, string>>): Row | undefined {
  const all = sortRows(rowsOf(run));
  const key = params.sel ?? params.row;
  return all.find((row) => row.key === key) ?? filterRows(all, "all", params.q ?? "")[0] ?? all[0];
}

/** The items of a sign, not yet narrowed down by words; `text` is what follows the sign. */
export function useItems(sign: Sign | "", text: string): readonly Item[] {
  const runs = useRuns();
  const { params } = useView();
  const shown = useShownRun(params.run);
  const info = useAnswer("app.info", {});
  const suites = useAnswer("cases.list", sign === "@" ? { suite: "full" } : null);
  const run = shown.state === "there" ? shown.run : undefined;
  const folder = info.state === "there" ? info.value.evidence : "evidence";
  const results = useMemo(() => (run === undefined ? [] : sortRows(rowsOf(run))), [run]);
  switch (sign) {
    case "@":
      return [
        ...(run === undefined ? [] : results.map((row) => resultItem(run, row))),
        ...(suites.state === "there" ? suites.value.cases.map(({ key, shape }) => caseItem(key, shape.dtype)) : []),
      ];
    case "#":
      return (runs ?? []).map((entry) => runItem(entry, folder));
    case ":": {
      const row = run === undefined ? undefined : rowAtHand(run, params);
      const subject = run === undefined || row === undefined ? undefined : { id: run.id, row };
      return [indexItem(subject, text, (index) => go("parity", { run: run!.id, sel: row!.key, el: String(index) }))];
    }
    case ">":
      return listActions().map(actionItem);
    case "":
      return [...listActions().map(actionItem), ...(runs ?? []).map((entry) => runItem(entry, folder))];
  }
}
