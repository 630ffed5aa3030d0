/** The reduction over a row as a drawing: which columns each lane of the row holds after each exchange. */
import type { ReactElement } from "react";
import type { FragmentMap } from "../../../kernels/fragments.ts";
import { useSize } from "../../charts/use_size.ts";
import { columnWords, reductionSteps } from "./ownership.ts";

const GUTTER = 56;
const MARGIN = 12;
const BOX = 32;
const WIDEST = 180;
const GAP = 10;

interface ReductionProps {
  readonly map: FragmentMap;
  readonly lane: number;
}

export function Reduction({ map, lane }: ReductionProps): ReactElement {
  const [holder, { width, height }] = useSize();
  const steps = reductionSteps(map, lane);
  const lanes = steps[0]!.held.length;
  const wide = Math.min(WIDEST, (width - GUTTER - MARGIN - (lanes - 1) * GAP) / lanes);
  const pitch = Math.min(78, (height - 8 - MARGIN - BOX) / (steps.length - 1));
  const left = (place: number): number => GUTTER + place * (wide + GAP);
  const words = steps
    .map(({ mask, held }) => {
      const mine = held.find((entry) => entry.lane === lane)!;
      return `${mask === null ? "own elements" : `xor ${mask}`}: ${columnWords(mine.first, mine.last)}`;
    })
    .join("; ");
  return (
    <div
      ref={holder}
      className="body reduction"
      role="img"
      aria-label={`Reduction over the row of lane ${lane}. ${words}`}
    >
      {width === 0 ? null : (
        <svg width={width} height={height} aria-hidden="true">
          {steps.map(({ mask, held }, index) => {
            const y = 8 + index * pitch;
            const before = steps[index - 1]?.held ?? [];
            return (
              <g key={mask ?? "own"}>
                <text x={MARGIN} y={y + BOX / 2 + 4} className="t2">
                  {mask === null ? "own" : `xor ${mask}`}
                </text>
                {held.flatMap((entry, to) =>
                  before.map((other, from) => {
                    const itself = other.lane === entry.lane;
                    if (!itself && other.lane !== (entry.lane ^ (mask ?? 0))) return null;
                    return (
                      <line
                        key={`${other.lane} ${entry.lane}`}
                        x1={left(from) + wide / 2}
                        y1={y - pitch + BOX}
                        x2={left(to) + wide / 2}
                        y2={y}
                        className={`fm-way${entry.lane === lane ? " me" : ""}${!itself && mask === 8 ? " xor8" : ""}`}
                      />
                    );
                  }),
                )}
                {held.map((entry, place) => {
                  const me = entry.lane === lane ? " me" : "";
                  return (
                    <g key={entry.lane}>
                      <rect x={left(place)} y={y} width={wide} height={BOX} rx={3} className={`fm-box${me}`} />
                      <text x={left(place) + wide / 2} y={y + 13} textAnchor="middle" className={`fm-step${me}`}>
                        lane {entry.lane}
                      </text>
                      <text x={left(place) + wide / 2} y={y + 26} textAnchor="middle" className={`fm-held${me}`}>
                        {entry.first} to {entry.last}
                      </text>
                    </g>
                  );
                })}
              </g>
            );
          })}
        </svg>
      )}
    </div>
  );
}
