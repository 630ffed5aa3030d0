/** Fragments: which lane of a simdgroup owns which element of an 8x8 and of a 16x16 matrix tile. */
import { type ReactElement, type RefObject, useCallback, useRef, useState } from "react";
import { FRAGMENT_MAPS, type FragmentMap } from "../../../kernels/fragments.ts";
import { saveCsv } from "../../charts/save.ts";
import { ActionButton, Key } from "../../parts/button.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { Panes } from "../../parts/panes.tsx";
import { Segments } from "../../parts/segments.tsx";
import { useAction } from "../../shell/actions.ts";
import { useViewCommand } from "../../shell/command.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { go, setParams, useView } from "../../state/view.ts";
import { ErrorsByLane } from "./errors_by_lane.tsx";
import { FragmentMapView, type Ground, type Marks } from "./fragment_map.tsx";
import { LaneInspector } from "./inspector.tsx";
import { type LaneErrors, worstOf } from "./lane_errors.ts";
import { LaneTable } from "./lane_table.tsx";
import { type Cursor, cursorOf, type Direction, LANES, laneOf, ownershipCsv, walk } from "./ownership.ts";
import { Reduction } from "./reduction.tsx";
import { useLaneErrors } from "./use_lane_errors.ts";
import "../../styles/fragments.css";

const MAP_TITLES: Readonly<Record<FragmentMap["name"], { readonly title: string; readonly where: string }>> = {
  "8x8": { title: "8x8 simdgroup_matrix", where: "all families" },
  "16x16": { title: "16x16 matmul2d", where: "Apple10" },
};

const MARKS = [
  ["xora", "xor1", "xor 1"],
  ["xorb", "xor8", "xor 8"],
  ["group", "group", "row group"],
] as const;

/** What is framed: both masks unless the view says otherwise. */
function marksOf(params: Readonly<Record<string, string>>): Marks {
  return { xor1: params.xora !== "off", xor8: params.xorb !== "off", group: params.group === "on" };
}

function put({ map, lane, element }: Cursor): void {
  setParams({ map: map.name, lane: String(lane), element: String(element) });
}

function saveMaps(errors: LaneErrors | null): void {
  saveCsv("fragment-maps", ownershipCsv(errors));
}

interface HeadProps {
  readonly lane: number;
  readonly pinned: boolean;
  readonly grounds: readonly Ground[];
  readonly ground: Ground;
  readonly marks: Marks;
  readonly table: boolean;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly onLane: (lane: number) => void;
}

function Head({ lane, pinned, grounds, ground, marks, table, field, onLane }: HeadProps): ReactElement {
  const [typed, setTyped] = useState<string | null>(null);
  const wrong = typed !== null && typed !== "" && laneOf(typed) === undefined;
  return (
    <PaneHead title={`Lane ${lane}`} meta={pinned ? "pinned; Space or Esc frees it" : "hover or arrows, Space pins"}>
      <Segments
        label="What the ground says"
        choices={grounds}
        chosen={ground}
        onChoose={(name) => setParams({ ground: name === "lane" ? null : name })}
      />
      {MARKS.map(([param, mark, label]) => (
        <label key={param} className="tog">
          <input
            type="checkbox"
            checked={marks[mark]}
            onChange={({ target }) =>
              setParams({ [param]: mark === "group" ? (target.checked ? "on" : null) : target.checked ? null : "off" })
            }
          />
          {label}
        </label>
      ))}
      <label className={wrong ? "filter golane wrong" : "filter golane"} title="0 to 31">
        <span className="small t2">Lane</span>
        <input
          ref={field}
          inputMode="numeric"
          maxLength={2}
          aria-label="Go to lane, 0 to 31"
          aria-invalid={wrong}
          value={typed ?? String(lane)}
          onFocus={(event) => event.target.select()}
          onChange={(event) => {
            setTyped(event.target.value);
            const wanted = laneOf(event.target.value);
            if (wanted !== undefined) onLane(wanted);
          }}
          onBlur={() => setTyped(null)}
          onKeyDown={(event) => {
            if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
          }}
        />
        <Key stroke="g" />
      </label>
      <ActionButton action="chart.table">{table ? "Maps" : "Table"}</ActionButton>
    </PaneHead>
  );
}

function ExportButton(): ReactElement {
  return (
    <ActionButton action="chart.export" title="Every element of both maps as CSV">
      CSV
    </ActionButton>
  );
}

interface MapsProps {
  readonly cursor: Cursor;
  readonly errors: LaneErrors | null;
  readonly ground: Ground;
  readonly marks: Marks;
  readonly onHover: (cursor: Cursor | null) => void;
  readonly onPick: (cursor: Cursor) => void;
}

function Maps({ cursor, errors, ground, marks, onHover, onPick }: MapsProps): ReactElement {
  return (
    <div className="page fragments-maps hl">
      {FRAGMENT_MAPS.map((map, index) => (
        <Pane key={map.name} label={MAP_TITLES[map.name].title} line={index > 0}>
          <PaneHead
            title={MAP_TITLES[map.name].title}
            meta={`${map.elementsPerLane} elements a lane, ${MAP_TITLES[map.name].where}`}
          >
            {index === FRAGMENT_MAPS.length - 1 ? <ExportButton /> : null}
          </PaneHead>
          <FragmentMapView
            map={map}
            lane={cursor.lane}
            element={map === cursor.map ? cursor.element : null}
            ground={ground === "error" && errors?.map !== map.name ? "lane" : ground}
            errors={errors}
            marks={marks}
            onHover={onHover}
            onPick={onPick}
            onEnter={() => {
              if (map !== cursor.map) put({ map, lane: cursor.lane, element: 0 });
            }}
          />
        </Pane>
      ))}
    </div>
  );
}

export function FragmentsPage(): ReactElement {
  const { params } = useView();
  const [hovered, setHovered] = useState<Cursor | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const pinned = params.pin === "on";
  const kept = cursorOf(params);
  const cursor = pinned ? kept : (hovered ?? kept);
  const { lane } = cursor;
  const table = params.view === "table";
  const marks = marksOf(params);

  const errors = useLaneErrors(params.run, params.sel);
  const held = errors.shown.state === "there" ? errors.shown.errors : null;
  const grounds: readonly Ground[] = held === null ? ["lane", "register"] : ["lane", "register", "error"];
  const ground = grounds.find((name) => name === params.ground) ?? "lane";

  useTrail("Fragments", `lane ${lane}`);
  useViewCommand(["lockstep", "dispatch", "--route", "simdgroup_8x8"]);

  const hover = useCallback((next: Cursor | null) => {
    setHovered((before) =>
      before?.map === next?.map && before?.lane === next?.lane && before?.element === next?.element ? before : next,
    );
  }, []);
  const goTo = (wanted: number): void => {
    setHovered(null);
    put({ map: cursor.map, lane: wanted, element: 0 });
  };
  const pick = (next: Cursor): void => {
    const same = next.map === kept.map && next.lane === kept.lane && next.element === kept.element;
    put(next);
    setParams({ pin: pinned && same ? null : "on" });
  };
  const step = (direction: Direction): void => {
    setHovered(null);
    // In the table the next row is the next lane.
    const by = { up: -1, down: 1, left: 0, right: 0 }[direction];
    if (!table) put(walk(cursor, direction));
    else if (LANES.includes(lane + by)) goTo(lane + by);
  };
  useAction("list.next", () => step("down"));
  useAction("list.previous", () => step("up"));
  useAction("list.left", () => step("left"));
  useAction("list.right", () => step("right"));
  useAction("list.pin", () => {
    put(cursor);
    setParams({ pin: pinned ? null : "on" });
  });
  useAction("window.close", () => setParams({ pin: null }));
  useAction("list.goto", () => field.current?.focus());
  useAction("chart.table", () => setParams({ view: table ? null : "table" }));
  useAction("chart.export", () => saveMaps(held));
  const worst = held === null ? -1 : worstOf(held, cursor);
  useAction(
    "element.lane",
    () => {
      const { run, row } = errors;
      if (run !== undefined && row !== undefined) go("parity", { run, sel: row.key, el: String(worst) });
    },
    worst < 0 ? "no result has an error of this lane" : undefined,
  );
  return (
    <Panes
      page="fragments"
      rightLabel="Inspector"
      right={<LaneInspector cursor={cursor} pinned={pinned} errors={errors} />}
    >
      <div className="page fragments-rows">
        <Head
          lane={lane}
          pinned={pinned}
          grounds={grounds}
          ground={ground}
          marks={marks}
          table={table}
          field={field}
          onLane={goTo}
        />
        {table ? (
          <Pane label="Both maps as a table" className="hl">
            <PaneHead title="Both maps as a table" meta="32 lanes">
              <ExportButton />
            </PaneHead>
            <LaneTable lane={lane} errors={held} onPick={goTo} />
          </Pane>
        ) : (
          <Maps cursor={cursor} errors={held} ground={ground} marks={marks} onHover={hover} onPick={pick} />
        )}
        <div className="page fragments-lower hl">
          <Pane label="Reduction over a row">
            <PaneHead
              title="Reduction over a row"
              meta={`${cursor.map.name}, row ${cursor.map.positionOf(lane, cursor.element).row}: columns held`}
            />
            <Reduction map={cursor.map} lane={lane} />
          </Pane>
          <ErrorsByLane view={errors} lane={lane} onPick={goTo} />
        </div>
      </div>
    </Panes>
  );
}
