/** The largest error of each lane as bars on a log scale, with the gate's limit. */
import type { MouseEvent, ReactElement } from "react";
import { figureText } from "../../../electron/words.ts";
import { decadeText, decadeTicks, logPlace, logScaleOf } from "../../charts/scale.ts";
import { useSize } from "../../charts/use_size.ts";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { countText, lengthText, originText, runName } from "../../parts/text.ts";
import { type Row, STATE_WORDS } from "../../state/rows.ts";
import { setParams } from "../../state/view.ts";
import { barsOf, type LaneBar, laneVerdict } from "./lane_errors.ts";
import type { LaneErrorsView } from "./use_lane_errors.ts";

const LEFT = 48;
const RIGHT = 12;
const TOP = 16;
const BOTTOM = 22;

interface BarsProps {
  readonly bars: readonly LaneBar[];
  readonly limit: number | null;
  readonly lane: number;
  readonly onPick: (lane: number) => void;
}

function Bars({ bars, limit, lane, onPick }: BarsProps): ReactElement {
  const [holder, { width, height }] = useSize();
  const scale = logScaleOf([...bars.map(({ max }) => max), ...(limit === null ? [] : [limit])]);
  const base = height - BOTTOM;
  const wide = (width - LEFT - RIGHT) / bars.length;
  const gap = wide > 16 ? 2 : 1;
  const yOf = (value: number): number => base - logPlace(scale, value) * (base - TOP);
  const sharp = (y: number): number => Math.round(y) + 0.5;
  const worst = bars.reduce((before, bar) => (bar.max > before.max ? bar : before));
  const every = wide > 16 ? 1 : 4;
  const pick = (event: MouseEvent<HTMLElement>): void => {
    const at = Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT) / wide);
    if (at >= 0 && at < bars.length) onPick(at);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the page takes the keys, wherever the focus is.
    <div
      ref={holder}
      className="fm body"
      role="slider"
      tabIndex={0}
      aria-label="Lane by its largest error"
      aria-valuemin={0}
      aria-valuemax={bars.length - 1}
      aria-valuenow={lane}
      aria-valuetext={`lane ${lane}: ${figureText(bars[lane]!.max)}`}
      onClick={pick}
    >
      {width === 0 ? null : (
        <svg width={width} height={height} aria-hidden="true">
          {decadeTicks(scale).map((decade) => (
            <g key={decade}>
              <line
                x1={LEFT}
                x2={width - RIGHT}
                y1={sharp(yOf(10 ** decade))}
                y2={sharp(yOf(10 ** decade))}
                className="gl"
              />
              <text x={LEFT - 8} y={yOf(10 ** decade) + 4} textAnchor="end">
                {decadeText(decade)}
              </text>
            </g>
          ))}
          {bars.map((bar) => {
            const x = LEFT + bar.lane * wide;
            const top = bar.max > 0 ? Math.min(base - 1, yOf(bar.max)) : base;
            const me = bar.lane === lane;
            return (
              <g key={bar.lane}>
                <rect
                  x={x + gap}
                  y={top}
                  width={wide - 2 * gap}
                  height={base - top}
                  className={me ? "fm-me" : "fm-bar"}
                />
                {bar.flagged ? (
                  <rect x={x + gap} y={TOP - 6} width={wide - 2 * gap} height={4} className="fm-flag" />
                ) : null}
                {me || (bar.lane % every === 0 && (every === 1 || Math.abs(bar.lane - lane) > 2)) ? (
                  <text x={x + wide / 2} y={base + 14} textAnchor="middle" className={me ? "s" : ""}>
                    {bar.lane}
                  </text>
                ) : null}
              </g>
            );
          })}
          {worst.max > 0 ? (
            <text
              x={Math.max(LEFT + 22, Math.min(width - RIGHT - 22, LEFT + (worst.lane + 0.5) * wide))}
              y={yOf(worst.max) - 4}
              textAnchor="middle"
              className="s"
            >
              {figureText(worst.max)}
            </text>
          ) : null}
          {limit === null || limit <= 0 ? null : (
            <>
              <line x1={LEFT} x2={width - RIGHT} y1={sharp(yOf(limit))} y2={sharp(yOf(limit))} className="fm-limit" />
              <text x={width - RIGHT} y={yOf(limit) - 4} textAnchor="end" className="f halo">
                limit {figureText(limit)}
              </text>
            </>
          )}
          <line x1={LEFT} x2={width - RIGHT} y1={sharp(base)} y2={sharp(base)} className="axl" />
          <text x={LEFT - 8} y={base + 14} textAnchor="end" className="t2">
            lane
          </text>
        </svg>
      )}
    </div>
  );
}

/** `T 17 first_last f32, simdgroup_8x8, pass`: what tells results of one run apart. */
function choiceText({ case: key, route, record, state }: Row): string {
  const shape = record === undefined ? "" : `${lengthText(record.shape)} ${originText(key)} ${record.shape.dtype}, `;
  return `${shape}${route}, ${STATE_WORDS[state]}`;
}

interface ErrorsByLaneProps {
  readonly view: LaneErrorsView;
  readonly lane: number;
  readonly onPick: (lane: number) => void;
}

export function ErrorsByLane({ view, lane, onPick }: ErrorsByLaneProps): ReactElement {
  const { shown, run, row, choices } = view;
  const bars = shown.state === "there" ? barsOf(shown.errors) : null;
  const at = bars?.[lane]?.at ?? -1;
  return (
    <Pane label="Error by owning lane" line>
      <PaneHead title="Error by owning lane">
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
            <span className="t2">max |error|: {laneVerdict(bars, shown.limit)}</span>
            <span className="t3">
              lane {lane}: {figureText(bars[lane]!.max)}
              {at < 0 ? "" : ` at output ${countText(at)}`}
            </span>
          </p>
          <Bars bars={bars} limit={shown.limit} lane={lane} onPick={onPick} />
        </>
      ) : null}
    </Pane>
  );
}
