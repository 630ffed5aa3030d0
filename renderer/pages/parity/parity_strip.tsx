/** The verdict strip of a result: what happened, by how much, how far the route's claim reaches, what to do next. */
import type { ReactElement } from "react";
import { ActionButton } from "../../parts/button.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Pinned } from "../../parts/pinned.tsx";
import { underValidation } from "../../parts/run_entry.ts";
import { StandingTag, standingOf, ValidationTag } from "../../parts/standing.tsx";
import { ViewLink } from "../../shell/nav.tsx";
import { noResultWords } from "../../state/no_result.ts";
import { type Row, STATE_WORDS } from "../../state/rows.ts";
import type { RunModel } from "../../state/run_model.ts";
import { setParams } from "../../state/view.ts";
import { stateGlyph } from "../run/run_strip.tsx";
import { type Level, ladderOf, type ResultWords, wordsOf } from "./verdict.ts";

interface ParityStripProps {
  readonly run: RunModel;
  readonly row: Row;
  readonly claimed: Level | null;
  /** Other routes with an output on the same case, and the one that is compared with. */
  readonly others: readonly Row[];
  readonly other: string | null;
}

const EDGES: Readonly<Partial<Record<Row["state"], string>>> = {
  pass: "p",
  crash: "c",
  running: "r",
  queued: "i",
  cancel: "i",
};

export function ParityStrip({ run, row, claimed, others, other }: ParityStripProps): ReactElement {
  const { result } = row;
  const words: ResultWords = result === undefined ? { ...noResultWords(run, row), over: null } : wordsOf(result);
  const state = STATE_WORDS[row.state];
  return (
    <div className={`strip ${EDGES[row.state] ?? "f"}`} data-verdict={row.state}>
      <div className="row">
        <Glyph name={stateGlyph(row.state)} big />
        <span className="say el" title={words.sentence}>
          <span className={stateGlyph(row.state)}>{`${state.charAt(0).toUpperCase()}${state.slice(1)} `}</span>
          {words.sentence}
        </span>
        {words.over === null ? null : <span className="t3 small nw">{words.over}</span>}
        <span className="sp" />
        {others.length === 0 ? null : (
          <select
            className="inp compare"
            aria-label="Compare with another route on the same case"
            title="Compare with another route on the same case (C)"
            value={other ?? ""}
            onChange={({ target }) => setParams({ other: target.value === "" ? null : target.value })}
          >
            <option value="">Compare routes</option>
            {others.map(({ route }) => (
              <option key={route} value={route}>
                {route}
              </option>
            ))}
          </select>
        )}
        <ActionButton action="run.reproducer">Copy reproducer</ActionButton>
        {run.execution === "imported" ? null : (
          <ActionButton action="run.start" look="primary">
            Run again
          </ActionButton>
        )}
      </div>
      <div className="row wrap">
        {result === undefined ? null : (
          <div className="ladder">
            {ladderOf(result, claimed, standingOf(run.execution, run.device)).map(({ level, state: rung, title }) => (
              <span key={level} className={rung === "open" ? "" : rung} title={title}>
                {rung === "at" ? <Glyph name="fail" /> : <i />}
                {level}
              </span>
            ))}
          </div>
        )}
        <StandingTag standing={standingOf(run.execution, run.device)} />
        {underValidation(run) ? <ValidationTag /> : null}
        <Pinned result={result} />
        {result?.check !== undefined &&
        result.gates.some(({ id, verdict }) => id === "checker" && verdict !== "pass") ? (
          <ViewLink
            view={{ page: "kernels", params: { view: "reports", run: run.id, q: row.route } }}
            className="small nw"
            title="The checker's reports, at their lines"
          >
            Reports
          </ViewLink>
        ) : null}
        <span className="sp" />
        {words.next ? (
          <span className="small t2" title={words.next}>
            Next: {words.next}
          </span>
        ) : null}
      </div>
    </div>
  );
}
