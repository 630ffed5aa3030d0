/** The largest error of each lane as bars on a log scale, with the gate's limit. */
import type { ReactElement } from "react";
import { figureText } from "../../../electron/words.ts";
import { SummaryChart } from "../../charts/summary_chart.tsx";
import { type SummaryBar, toneOf } from "../../charts/summary_model.ts";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { countText, lengthText, originText, runName } from "../../parts/text.ts";
import { ViewLink } from "../../shell/nav.tsx";
import { type Row, STATE_WORDS } from "../../state/rows.ts";
import { setParams } from "../../state/view.ts";
import { barsOf, type LaneBar, laneVerdict } from "./lane_errors.ts";
import type { LaneErrorsView } from "./use_lane_errors.ts";

/** `T 17 first_last f32, simdgroup_8x8, pass`: what tells results of one run apart. */
function choiceText({ case: key, route, record, state }: Row): string {
  const shape = record === undefined ? "" : `${lengthText(record.shape)} ${originText(key)} ${record.shape.dtype}, `;
  return `${shape}${route}, ${STATE_WORDS[state]}`;
}

function barOf({ lane, max, at, flagged }: LaneBar, limit: number | null, chosen: number): SummaryBar {
  return {
    key: String(lane),
    label: String(lane),
    value: max,
    tone: toneOf({ over: limit !== null && max > limit, chosen: lane === chosen, flagged }),
    title: `lane ${lane}: ${figureText(max)}${flagged ? ", NaN or Inf" : ""}${at < 0 ? "" : ` at output ${countText(at)}`}`,
  };
}

interface ErrorsByLaneProps {
  readonly view: LaneErrorsView;
  readonly lane: number;
  readonly onPick: (lane: number) => void;
}

export function ErrorsByLane({ view, lane, onPick }: ErrorsByLaneProps): ReactElement {
  const { shown, run, row, choices } = view;
  const bars = shown.state === "there" ? barsOf(shown.errors) : null;
  const mine = bars?.[lane];
  return (
    <Pane label="Error by lane" line>
      <PaneHead title="Error by lane">
        {choices.length === 0 ? null : (
          <select
            className="inp result"
            aria-label="Result whose errors are shown"
            title={run === undefined ? undefined : runName(run)}
            value={row?.key ?? ""}
            onChange={(event) => setParams({ run: run ?? null, sel: event.target.value })}
          >
            {choices.map((choice) => (
              <option key={choice.key} value={choice.key}>
                {choiceText(choice)}
              </option>
            ))}
          </select>
        )}
      </PaneHead>
      {shown.state === "none" ? (
        <div className="inset small">
          <p className="t2 after-small">{shown.why}</p>
          <ActionButton action="page.run">Show the results</ActionButton>
        </div>
      ) : null}
      {shown.state === "asking" ? <p className="inset small t3">Sorting the errors by lane</p> : null}
      {shown.state === "failed" ? (
        <div className="inset">
          <FailureNote failure={shown.failure} />
        </div>
      ) : null}
      {shown.state === "there" && bars !== null ? (
        <>
          <p className="inset lane-words micro">
            <span className="t2 el">{laneVerdict(bars, shown.limit)}</span>
            {run === undefined || row === undefined || mine === undefined || mine.at < 0 ? null : (
              <ViewLink
                view={{ page: "parity", params: { run, sel: row.key, el: String(mine.at) } }}
                title={`Output ${countText(mine.at)}, the worst of lane ${lane}, in Parity (⇧F)`}
              >
                lane {lane}: {mine.flagged ? "not finite" : figureText(mine.max)}
              </ViewLink>
            )}
          </p>
          <SummaryChart
            title="max |error| of the lane, log"
            axisTitle="lane"
            scale="log"
            bars={bars.map((bar) => barOf(bar, shown.limit, lane))}
            limit={shown.limit !== null && shown.limit > 0 ? shown.limit : null}
            onPick={onPick}
          />
        </>
      ) : null}
    </Pane>
  );
}
