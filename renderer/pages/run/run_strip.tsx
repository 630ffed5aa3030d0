/** Verdict first: one sentence on what happened, by how much, and what to do next; or how far a run has come. */
import { type ReactElement, useEffect, useState } from "react";
import { ActionButton } from "../../parts/button.tsx";
import { Glyph, Icon, Verdict } from "../../parts/glyph.tsx";
import { underValidation } from "../../parts/run_entry.ts";
import type { GlyphName } from "../../parts/sprite.tsx";
import { StandingTag, standingOf, ValidationTag } from "../../parts/standing.tsx";
import { clockText, countText, plural } from "../../parts/text.ts";
import { type Row, type RowState, STATE_WORDS, tally } from "../../state/rows.ts";
import type { RunModel } from "../../state/run_model.ts";
import { useSession } from "../../state/session.ts";
import { useStore } from "../../state/store.ts";
import { setParams } from "../../state/view.ts";
import { DevicePicker, type RunTarget } from "./device_picker.tsx";
import { type Suite, SuiteSegments } from "./suite_picker.tsx";

/** A second hand, while there is something to time. */
function useNow(running: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}

interface Headline {
  readonly glyph: GlyphName;
  readonly word: string;
  readonly sentence: string;
  readonly edge: string;
}

function headlineOf(run: RunModel, counts: ReadonlyMap<RowState, number>, ending: boolean): Headline {
  const planned = run.planned.length;
  const of = (state: RowState): number => counts.get(state) ?? 0;
  switch (run.outcome) {
    case "running": {
      const done = run.results.size;
      const share = `${countText(done)} of ${plural(planned, "result")}`;
      if (ending) {
        return { glyph: "running", word: "", sentence: `Cancelling at ${share}, after the step at hand`, edge: "r" };
      }
      if (run.pausing === "paused") {
        return {
          glyph: "cancel",
          word: "Paused",
          sentence: `by you at ${share}; nothing runs until you go on`,
          edge: "i",
        };
      }
      const sentence = planned === 0 ? "Making the plan" : `Running ${share}`;
      const asked = run.pausing === "asked" ? ", pauses after this case" : "";
      return { glyph: "running", word: "", sentence: `${sentence}${asked}`, edge: "r" };
    }
    case "passed":
      return {
        glyph: "pass",
        word: "Pass",
        sentence: `every required gate held in ${countText(of("pass"))} of ${plural(planned, "result")}`,
        edge: "p",
      };
    case "failed": {
      const rest = planned - of("pass") - of("fail");
      if (of("fail") === 0 && rest === 0) {
        const sentence = "the record says so, yet every result of it passed: verify the bundle";
        return { glyph: "fail", word: "Fail", sentence, edge: "f" };
      }
      if (of("fail") === 0) {
        const whole = rest === of("skip") ? "skipped by you" : "did not run";
        const sentence = `${countText(rest)} of ${plural(planned, "result")} ${whole}; none failed a gate, but a run with gaps is no pass`;
        return { glyph: "notrun", word: "Not run", sentence, edge: "f" };
      }
      const sentence =
        `${countText(of("fail"))} of ${plural(planned, "result")} failed a gate` +
        (rest > 0 ? `, ${countText(rest)} did not run` : "");
      return { glyph: "fail", word: "Fail", sentence, edge: "f" };
    }
    case "cancelled":
      return { glyph: "cancel", word: "Cancelled", sentence: withoutWord(run.reason ?? "by you"), edge: "i" };
    case "crashed":
      return { glyph: "crash", word: "Crashed", sentence: crashSentence(run), edge: "c" };
    case "timed_out":
      return {
        glyph: "timedout",
        word: "Timed out",
        sentence: `${countText(of("timedout"))} of ${plural(planned, "result")} took longer than the limit`,
        edge: "f",
      };
    case "refused":
      return {
        glyph: "notrun",
        word: "Not run",
        sentence: run.failure?.message ?? "the run left no bundle",
        edge: "f",
      };
  }
}

/** How the host ended and where; the page has the rest. A run in which a kernel alone crashed goes on to its end. */
function crashSentence(run: RunModel): string {
  const how = run.reason?.split(". It was at:", 1)[0];
  if (how === undefined) return "a kernel crashed; the run went on to its end";
  return `${how} at result ${countText(run.results.size + 1)} of ${countText(run.planned.length)}`;
}

/** The reason begins with the word that the strip sets before it. */
function withoutWord(reason: string): string {
  return reason.replace(/^Cancelled /, "");
}

const BAR: Readonly<Partial<Record<RowState, string>>> = {
  pass: "pass",
  fail: "fail",
  timedout: "fail",
  crash: "crash",
  cancel: "idle",
  running: "line-strong",
};

const GLYPH_OF: Readonly<Record<RowState, GlyphName>> = {
  pass: "pass",
  fail: "fail",
  timedout: "timedout",
  crash: "crash",
  notrun: "notrun",
  skip: "notrun",
  cancel: "cancel",
  running: "running",
  queued: "queued",
};

export function stateGlyph(state: RowState): GlyphName {
  return GLYPH_OF[state];
}

export function Bar({ counts, total }: { readonly counts: ReadonlyMap<RowState, number>; readonly total: number }) {
  return (
    <div className="bar" aria-hidden="true">
      {[...counts].map(([state, count]) => {
        const tone = BAR[state];
        return tone === undefined ? null : (
          <i key={state} style={{ width: `${(100 * count) / Math.max(1, total)}%`, background: `var(--${tone})` }} />
        );
      })}
    </div>
  );
}

/** The file whose cases the next run takes, in the place of a suite. */
export function InputsTag({ inputs }: { readonly inputs: string }): ReactElement {
  return (
    <span className="inputs-tag small" title={inputs}>
      <span className="el">{fileName(inputs)}</span>
      <button
        type="button"
        className="btn icon quiet"
        aria-label="Take a suite instead of the file"
        onClick={() => setParams({ inputs: null })}
      >
        <Icon name="close" size={12} />
      </button>
    </span>
  );
}

/** The last part of a path, of either kind of system. */
function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

/** `, Emulated M3 Max (apple9)`: the device may be another than the one that the next run takes. */
function ranOn({ execution, device }: RunModel): string {
  if (execution === "imported") return ", outputs of another engine";
  return device === null ? "" : `, ${device.name.value}`;
}

interface RunStripProps {
  readonly run: RunModel;
  readonly rows: readonly Row[];
  readonly suite: Suite;
  /** File of the next run's cases, in the place of a suite. */
  readonly inputs: string | undefined;
  /** Device of the next run. */
  readonly on: RunTarget;
  readonly selected: boolean;
}

export function RunStrip({ run, rows, suite, inputs, on, selected }: RunStripProps): ReactElement {
  const what = inputs === undefined ? suite : "the file's cases";
  const running = run.outcome === "running";
  const now = useNow(running);
  const counts = tally(rows);
  const ending = useStore(useSession().cancelling) === run.id;
  const { glyph, word, sentence, edge } = headlineOf(run, counts, ending);
  const took = run.tookMs ?? now - Date.parse(run.startedAt);
  return (
    <div className={`strip ${edge}`} data-outcome={run.outcome}>
      <div className="row">
        <Glyph name={glyph} big />
        <span className="say el" title={sentence}>
          {word === "" ? null : <span className={glyph}>{word} </span>}
          {sentence}
        </span>
        <span className="t3 small nw">
          {clockText(took)}
          {running ? " elapsed" : ""}
          {ranOn(run)}
        </span>
        {run.device === null && run.execution !== "imported" ? null : (
          <StandingTag standing={standingOf(run.execution, run.device)} />
        )}
        {underValidation(run) ? <ValidationTag /> : null}
        <span className="sp" />
        {running ? (
          <>
            <ActionButton action="run.pause">{run.pausing === "no" ? "Pause after case" : "Go on"}</ActionButton>
            <ActionButton action="run.cancel" disabled={ending}>
              Cancel run
            </ActionButton>
          </>
        ) : (
          <>
            {inputs === undefined ? <SuiteSegments suite={suite} /> : <InputsTag inputs={inputs} />}
            {selected ? <ActionButton action="run.suite">Run {what}</ActionButton> : null}
            <ActionButton action="run.start" look="primary">
              {selected ? "Run result again" : `Run ${what}`}
            </ActionButton>
          </>
        )}
      </div>
      <div className="row">
        <Bar counts={counts} total={rows.length} />
        {[...counts].map(([state, count]) => (
          <span key={state} className="small nw">
            <Verdict name={GLYPH_OF[state]}>
              {countText(count)} {STATE_WORDS[state]}
            </Verdict>
          </span>
        ))}
        {run.outcome === "refused" && run.failure?.mend !== undefined ? (
          <span className="small t2">Next: {run.failure.mend}</span>
        ) : null}
      </div>
      {running ? null : (
        <div className="row">
          <DevicePicker target={on} />
        </div>
      )}
    </div>
  );
}
