/** The lane at hand in both maps: its elements with row, column and place in the tile, the formulas, its partners. */
import type { ReactElement } from "react";
import { figureText } from "../../../electron/words.ts";
import { FRAGMENT_MAPS, type FragmentMap } from "../../../kernels/fragments.ts";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { ViewLink } from "../../shell/nav.tsx";
import { type Cursor, elementsOf, FORMULAS, laneBits, partnersOf, placeWords } from "./ownership.ts";
import type { LaneErrorsView } from "./use_lane_errors.ts";

interface ErrorCellProps {
  readonly view: LaneErrorsView;
  /** Place among the errors of the map. */
  readonly slot: number;
}

/** The largest error of an element over all tiles; it leads to the output that has it. */
function ErrorCell({ view, slot }: ErrorCellProps): ReactElement {
  const { shown, run, row } = view;
  const errors = shown.state === "there" ? shown.errors : null;
  const at = errors?.at[slot] ?? -1;
  if (errors === null || at < 0 || run === undefined || row === undefined) return <td className="num t3">no error</td>;
  return (
    <td className="num">
      <ViewLink
        view={{ page: "parity", params: { run, sel: row.key, el: String(at) } }}
        title={`Output ${at.toLocaleString("en-US")} in Parity`}
      >
        {errors.flags[slot] === 0 ? figureText(errors.max[slot]!) : "not finite"}
      </ViewLink>
    </td>
  );
}

interface MapFactsProps {
  readonly errors: LaneErrorsView;
  readonly map: FragmentMap;
  readonly lane: number;
  readonly element: number | null;
}

function MapFacts({ map, lane, element: selected, errors }: MapFactsProps): ReactElement {
  const held = errors.shown.state === "there" && errors.shown.errors.map === map.name;
  return (
    <>
      <div className="gh">
        {map.name}: {placeWords(map, lane)}
      </div>
      <table className="tbl fix elements">
        <thead>
          <tr>
            <th className="c-element">element</th>
            <th className="num c-place">row, column</th>
            <th className="num">{held ? "max |error|" : "index, row by row"}</th>
          </tr>
        </thead>
        <tbody>
          {elementsOf(map).map((element) => {
            const { row, column } = map.positionOf(lane, element);
            return (
              <tr key={`e${element}`} className={element === selected ? "sel" : ""}>
                <td className="t3">e{element}</td>
                <td className="num">
                  ({row}, {column})
                </td>
                {held ? (
                  <ErrorCell view={errors} slot={lane * map.elementsPerLane + element} />
                ) : (
                  <td className="num t3">
                    {row} * {map.side} + {column} = {row * map.side + column}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
      <div className="formula mono t2">
        {FORMULAS[map.name].map(([name, formula]) => (
          <div key={name}>
            {name} = {formula}
          </div>
        ))}
      </div>
    </>
  );
}

function Partners({ lane }: { readonly lane: number }): ReactElement {
  return (
    <>
      <div className="gh">Reduction partners, both maps</div>
      <div className="partners">
        {partnersOf(FRAGMENT_MAPS[0]!, lane).map(({ name, lanes, meaning }) => (
          <div key={name} className="row small">
            <span className="p-name t3">{name}</span>
            <span className="p-lanes m">{lanes.length === 1 ? `lane ${lanes[0]}` : lanes.join(", ")}</span>
            <span className="t3 el">{meaning}</span>
          </div>
        ))}
      </div>
    </>
  );
}

/** How far the maps can be relied on. */
function Standing(): ReactElement {
  return (
    <div className="hl standing micro t3">
      <p>
        Apple documents neither map: the Metal specification, section 2.4, leaves the 8x8 one open. The kernels of MLX,
        metal-flash-attention and MAX agree on 8x8 for all 32 lanes; those of MLX, MAX and vllm-metal on 16x16.
      </p>
      <p>
        16x16 holds for relaxed matmul2d on Apple10. Earlier families run matmul2d on the 8x8 engine, with a layout of
        its own.
      </p>
    </div>
  );
}

interface InspectorProps {
  readonly errors: LaneErrorsView;
  readonly cursor: Cursor;
  readonly pinned: boolean;
}

export function LaneInspector({ cursor, pinned, errors }: InspectorProps): ReactElement {
  const { lane, element } = cursor;
  return (
    <Pane label="Inspector" line className="fragments-side">
      <PaneHead title="Inspector" meta={`lane ${lane} = ${laneBits(lane)}`}>
        {pinned ? <span className="tag">pinned</span> : null}
      </PaneHead>
      <div className="body scroll">
        {FRAGMENT_MAPS.map((map) => (
          <MapFacts
            key={map.name}
            map={map}
            lane={lane}
            element={map === cursor.map ? element : null}
            errors={errors}
          />
        ))}
        <Partners lane={lane} />
      </div>
      <Standing />
    </Pane>
  );
}
