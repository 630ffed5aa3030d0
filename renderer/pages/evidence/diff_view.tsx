/** Two runs or bundles held against each other: circumstances that differ, changed verdicts first, then figures. */
import type { ReactElement } from "react";
import { figureText, timeText } from "../../../electron/words.ts";
import { ActionButton, Key } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { FilterField } from "../../parts/filter_field.tsx";
import { Glyph, Verdict } from "../../parts/glyph.tsx";
import { Empty, Pane, PaneHead } from "../../parts/pane.tsx";
import { WIDE_FROM } from "../../parts/pane_widths.ts";
import { Panes, useMedia } from "../../parts/panes.tsx";
import { outcomeWord } from "../../parts/run_entry.ts";
import type { GlyphName } from "../../parts/sprite.tsx";
import { countText, runName, shortDigest } from "../../parts/text.ts";
import { rowHeight, useRowInSight, useWindowed } from "../../parts/windowed.ts";
import { useAction } from "../../shell/actions.ts";
import { useViewCommand } from "../../shell/command.ts";
import { matchWords } from "../../shell/match.ts";
import { ViewLink } from "../../shell/nav.tsx";
import { useTrail } from "../../shell/top_bar.tsx";
import { togglePinned, useBaseline } from "../../state/baseline.ts";
import { shortCase } from "../../state/run_model.ts";
import { type RunEntryView, useAnswer, useRuns, useSession } from "../../state/session.ts";
import { useStore } from "../../state/store.ts";
import { go, setParams, useView } from "../../state/view.ts";
import { type Delta, type Diff, type DiffRow, diffRows, diffSentence, METRIC_WORDS, ratioText } from "./diff_rows.ts";

const VERDICT_GLYPHS = { pass: "pass", fail: "fail", not_run: "notrun" } as const satisfies Readonly<
  Record<string, GlyphName>
>;
const VERDICT_WORDS = { pass: "pass", fail: "fail", not_run: "not run" } as const;

function VerdictCell({ verdict }: { readonly verdict: DiffRow["a"] }): ReactElement {
  if (verdict === null) return <span className="t3">not there</span>;
  return <Verdict name={VERDICT_GLYPHS[verdict]}>{VERDICT_WORDS[verdict]}</Verdict>;
}

function valueText(delta: Delta, side: "a" | "b"): string {
  const value = delta[side];
  if (value === null) return "none";
  return delta.metric === "ms" ? timeText(value) : figureText(value);
}

/** The figure that the table shows of a row: the largest error; the inspector has the others. */
function shownDelta(row: DiffRow): Delta | undefined {
  return row.deltas.find((delta) => delta.metric === "maxAbs");
}

const GROUP_TITLES: Readonly<Record<DiffRow["group"], string>> = {
  verdicts: "Verdicts that changed",
  figures: "Other outputs, the same verdict",
  onlyA: "Only in A",
  onlyB: "Only in B",
};

function Cells({ row, wide }: { readonly row: DiffRow; readonly wide: boolean }): ReactElement {
  const delta = shownDelta(row);
  return (
    <>
      <td>
        <VerdictCell verdict={row.a} />
      </td>
      <td>
        <VerdictCell verdict={row.b} />
      </td>
      <td className="el" title={row.case}>
        {shortCase(row.case)}
      </td>
      <td className="t2">{row.case.split("/").at(-1)}</td>
      <td className="el" title={row.route}>
        {row.route}
      </td>
      <td className="num">{delta === undefined ? "" : valueText(delta, "a")}</td>
      <td className="num">{delta === undefined ? "" : valueText(delta, "b")}</td>
      {wide ? (
        <td className="num t2">{delta?.delta == null || delta.word === "same" ? "" : figureText(delta.delta)}</td>
      ) : null}
      <td className={row.change === "broke" && delta?.word === "larger" ? "num bad" : "num"}>
        {delta === undefined ? "" : ratioText(delta)}
      </td>
      <td className="t2">{delta?.word ?? ""}</td>
    </>
  );
}

interface TableProps {
  readonly rows: readonly DiffRow[];
  readonly selected: string | undefined;
  readonly same: number;
}

function DiffTable({ rows, selected, same }: TableProps): ReactElement {
  /** Room for the difference beside the ratio. */
  const wide = useMedia(`(min-width: ${WIDE_FROM}px)`);
  const height = rowHeight();
  const { ref, from, to, before, after } = useWindowed(rows.length, height);
  useRowInSight(
    ref,
    rows.findIndex((row) => row.key === selected),
    height,
  );
  const shown = rows.slice(from, to);
  return (
    <div className="body scroll" ref={ref}>
      <table className="tbl fix difft">
        <thead>
          <tr>
            <th className="c-change">A</th>
            <th className="c-change">B</th>
            <th>case</th>
            <th className="c-type">type</th>
            <th className="c-route">route</th>
            <th className="num c-figure">max A</th>
            <th className="num c-figure">max B</th>
            {wide ? <th className="num c-figure">B − A</th> : null}
            <th className="num c-ratio">B over A</th>
            <th className="c-word">error is</th>
          </tr>
        </thead>
        <tbody>
          {before > 0 ? <tr className="spacer" style={{ height: before }} /> : null}
          {shown.map((row, index) => (
            <Group
              key={row.key}
              head={row.group !== rows[from + index - 1]?.group}
              rows={rows}
              row={row}
              selected={selected}
              wide={wide}
            />
          ))}
          {after > 0 ? <tr className="spacer" style={{ height: after }} /> : null}
        </tbody>
      </table>
      {rows.length === 0 ? (
        <p className="nothing t3">
          {same > 0
            ? `No difference is listed: ${countText(same)} results have the same bits in both`
            : "Nothing to list"}
        </p>
      ) : null}
    </div>
  );
}

interface GroupProps {
  readonly head: boolean;
  readonly row: DiffRow;
  readonly rows: readonly DiffRow[];
  readonly selected: string | undefined;
  readonly wide: boolean;
}

function Group({ head, row, rows, selected, wide }: GroupProps): ReactElement {
  const count = head ? rows.filter((entry) => entry.group === row.group).length : 0;
  return (
    <>
      {head ? (
        <tr className="group">
          <td colSpan={wide ? 10 : 9}>
            {GROUP_TITLES[row.group]}, {countText(count)}
          </td>
        </tr>
      ) : null}
      <tr
        className={row.key === selected ? "sel pickable" : "pickable"}
        aria-selected={row.key === selected}
        data-diff={row.group}
        onClick={() => setParams({ sel: row.key })}
      >
        <Cells row={row} wide={wide} />
      </tr>
    </>
  );
}

function SideLine({
  side,
  entry,
  id,
}: {
  readonly side: "a" | "b";
  readonly entry: RunEntryView | undefined;
  readonly id: string;
}) {
  const pinned = useBaseline();
  return (
    <div className="diff-side">
      <span className={`side-${side}`}>{side.toUpperCase()}</span>
      <ViewLink view={{ page: "run", params: { run: id } }} title={id}>
        {runName(id)}
      </ViewLink>
      {entry?.state === "kept" ? (
        <span className="t2 el">
          {outcomeWord(entry.outcome)}, {entry.device}
        </span>
      ) : null}
      {pinned === id ? <span className="tag">baseline</span> : null}
    </div>
  );
}

/** A digest is recognised by its first eight digits. */
function factText(value: string | null): string {
  if (value === null) return "none";
  return /^[0-9a-f]{40,64}$/.test(value) ? shortDigest(value) : value;
}

function ConfigPane({ diff }: { readonly diff: Diff }): ReactElement {
  return (
    <>
      <PaneHead title="Circumstances" meta={diff.config.length === 0 ? "none differs" : "only those that differ"} />
      <div className="body scroll">
        <table className="tbl fix config">
          <thead>
            <tr>
              <th className="c-fact">fact</th>
              <th>A</th>
              <th>B</th>
            </tr>
          </thead>
          <tbody>
            {diff.config.map(({ fact, a, b, note }) => (
              <tr key={fact}>
                <td className="t2 breakable">
                  {fact}
                  {note === null ? null : <span className="micro t3 block">{note}</span>}
                </td>
                <td className="breakable" title={a ?? ""}>
                  {factText(a)}
                </td>
                <td className="breakable" title={b ?? ""}>
                  {factText(b)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {diff.config.length === 0 ? (
          <p className="nothing t3">Device, gates, program, kernels and seeds are the same</p>
        ) : null}
      </div>
    </>
  );
}

function RowPane({
  row,
  comparable,
  a,
  b,
}: {
  readonly row: DiffRow;
  readonly comparable: boolean;
  readonly a: string;
  readonly b: string;
}) {
  const sel = `${row.case}|${row.route}`;
  return (
    <>
      <PaneHead title={row.route} meta={row.change ?? ""} line />
      <div className="inset">
        <p className="mono micro t3 breakable">{row.case}</p>
        {row.reason === null ? null : <p className="note fail">{row.reason}</p>}
        <div className="row small">
          {row.a === null ? null : <ViewLink view={{ page: "run", params: { run: a, sel } }}>Result in A</ViewLink>}
          {row.b === null ? null : <ViewLink view={{ page: "run", params: { run: b, sel } }}>Result in B</ViewLink>}
        </div>
      </div>
      {row.deltas.length === 0 ? null : (
        <table className="tbl fix">
          <thead>
            <tr>
              <th>figure</th>
              <th className="num">A</th>
              <th className="num">B</th>
              <th className="num">B over A</th>
            </tr>
          </thead>
          <tbody>
            {row.deltas.map((delta) => (
              <tr key={delta.metric}>
                <td className="t2 el" title={METRIC_WORDS[delta.metric]}>
                  {METRIC_WORDS[delta.metric]}
                </td>
                <td className="num">{valueText(delta, "a")}</td>
                <td className="num">{valueText(delta, "b")}</td>
                <td className="num">
                  {delta.word === "not comparable" ? "not comparable" : ratioText(delta) || delta.word}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {comparable ? null : (
        <p className="inset micro t3">The times are of other machines or devices: they are not compared</p>
      )}
    </>
  );
}

function Compared({ diff, a, b }: { readonly diff: Diff; readonly a: string; readonly b: string }): ReactElement {
  const { params } = useView();
  const runs = useRuns() ?? [];
  const opened = useStore(useSession().opened);
  const entryOf = (id: string): RunEntryView | undefined =>
    [...runs, ...opened.map(({ entry }) => entry)].find((entry) => entry.id === id);
  const text = params.q ?? "";
  const match = matchWords(text);
  const rows = diffRows(diff).filter((row) =>
    match.test(`${row.case} ${row.route} ${row.change ?? ""} ${row.b === null ? "" : VERDICT_WORDS[row.b]}`),
  );
  const selected = rows.find((row) => row.key === params.sel) ?? rows[0];
  const move = (by: number): void => {
    const at = rows.findIndex((row) => row.key === selected?.key);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next !== undefined) setParams({ sel: next.key });
  };
  useAction("list.next", () => move(1));
  useAction("list.previous", () => move(-1));
  const { tone, word, sentence } = diffSentence(diff);
  const edge = tone === "fail" ? "f" : tone === "pass" ? "p" : "i";
  return (
    <div className="page diff-rows" data-diff-of={`${a} ${b}`}>
      <div className={`strip ${edge}`}>
        <div className="row">
          <Glyph name={tone === "fail" ? "fail" : tone === "pass" ? "pass" : "ambig"} big />
          <span className="say el">
            <span className={tone === "plain" ? "" : tone}>{word}: </span>
            {sentence}
          </span>
          <span className="sp" />
          <ActionButton action="diff.swap">Swap A and B</ActionButton>
          <button type="button" className="btn" onClick={() => go("evidence", { bundle: b })}>
            Close <Key stroke="escape" />
          </button>
        </div>
        <div className="diff-sides">
          <SideLine side="a" id={a} entry={entryOf(a)} />
          <SideLine side="b" id={b} entry={entryOf(b)} />
        </div>
      </div>
      <Panes
        page="evidence"
        rightLabel="Circumstances"
        right={
          <Pane label="Circumstances" line>
            <ConfigPane diff={diff} />
            {selected === undefined ? null : <RowPane row={selected} comparable={diff.timesComparable} a={a} b={b} />}
          </Pane>
        }
      >
        <Pane label="Differences">
          <PaneHead
            title="Differences"
            meta={`${countText(diff.same)} of ${countText(diff.shared)} have the same bits`}
          >
            <FilterField label="Filter the differences" value={text} onChange={(q) => setParams({ q })} />
          </PaneHead>
          <DiffTable rows={rows} selected={selected?.key} same={diff.same} />
        </Pane>
      </Panes>
    </div>
  );
}

export function DiffView({
  a,
  b,
  folder,
}: {
  readonly a: string;
  readonly b: string;
  readonly folder: string;
}): ReactElement {
  const answer = useAnswer("runs.diff", { a, b });
  const words = ["lockstep", "diff", `${folder}/${a}`, `${folder}/${b}`];
  useTrail("Evidence", "diff", runName(a), runName(b));
  useViewCommand(words);
  useAction("diff.swap", () => go("evidence", { a: b, b: a }));
  useAction("diff.show", () => go("evidence", { bundle: b }));
  useAction("diff.pin", () => togglePinned(a));
  useAction("window.close", () => go("evidence", { bundle: b }));
  if (answer.state === "there") return <Compared diff={answer.value} a={a} b={b} />;
  if (answer.state === "asking") return <div className="page" />;
  return (
    <Empty title="These two cannot be compared">
      <FailureNote failure={answer.failure} />
      <button type="button" className="btn" onClick={() => go("evidence")}>
        Back to the bundles
      </button>
    </Empty>
  );
}
