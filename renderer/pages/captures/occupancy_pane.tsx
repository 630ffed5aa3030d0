/** Occupancy, what if: sliders that begin at the selected pipeline, and the estimate of a named model. */
import { type ReactElement, useId } from "react";
import {
  estimateOccupancy,
  type LimitId,
  type OccupancyInput,
  type RegisterBracket,
  registerBracket,
} from "../../../electron/captures/occupancy.ts";
import type { DispatchCheck, Requirement, RequirementId } from "../../../kernels/contract.ts";
import { ChartPane, svgOf, useTable } from "../../charts/chart_pane.tsx";
import { csvText, saveCsv, saveSvg } from "../../charts/save.ts";
import type { Twin } from "../../charts/table_twin.tsx";
import { countText } from "../../parts/text.ts";
import { setParams, useView } from "../../state/view.ts";
import { OccupancyChart, spanText } from "./occupancy_chart.tsx";
import { type Capture, fileOf, type Inspected, noteOf } from "./use_capture.ts";

type Model = NonNullable<Inspected["occupancy"]>;

interface DialProps {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  /** Another value than the pipeline's. */
  readonly changed: boolean;
  /** What stands instead of the number. */
  readonly text?: string;
  readonly onValue: (value: number) => void;
}

function Dial({ label, value, min, max, step, changed, text, onValue }: DialProps): ReactElement {
  const id = useId();
  return (
    <div className="dial">
      <label htmlFor={id} className="t2">
        {label}
      </label>
      <input
        id={id}
        type="range"
        min={min}
        max={max}
        step={step}
        value={value}
        style={{ backgroundSize: `${(100 * (value - min)) / (max - min)}% 4px` }}
        aria-valuetext={text ?? countText(value)}
        onChange={(event) => onValue(Number(event.target.value))}
      />
      <span className={changed ? "inp num chg" : "inp num"} title={changed ? "changed by you" : "of the pipeline"}>
        {text ?? countText(value)}
      </span>
    </div>
  );
}

/** A whole number of the URL within the ends; undefined where there is none. */
function given(text: string | undefined, min: number, max: number): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isInteger(value) && value >= min && value <= max ? value : undefined;
}

interface OccupancyPaneProps {
  readonly capture: Capture;
  readonly dispatch: DispatchCheck | undefined;
  readonly model: Model;
}

function requirementOf(dispatch: DispatchCheck | undefined, id: RequirementId): Requirement | undefined {
  return dispatch?.requirements.find((each) => each.id === id);
}

/** Registers that the launchable threads of the pipeline tell, if they tell any. */
export function bracketOf(model: Model, dispatch: DispatchCheck | undefined): RegisterBracket | undefined {
  const launchable = requirementOf(dispatch, "launchable_threads");
  if (launchable === undefined || launchable.actual === null) return undefined;
  return registerBracket(model, { value: launchable.actual, by: launchable.by });
}

/** What the pipeline itself has: dispatched threads, bytes, and registers where they can be told. */
function pipelineInput(model: Model, dispatch: DispatchCheck | undefined): OccupancyInput {
  const bracket = bracketOf(model, dispatch);
  const dynamic = requirementOf(dispatch, "dynamic_bytes")?.actual ?? 0;
  return {
    threads: requirementOf(dispatch, "dispatched_threads")?.actual ?? 256,
    bytes: requirementOf(dispatch, "threadgroup_bytes")?.actual ?? dynamic,
    // The upper end of the bracket: it holds fewest threadgroups.
    registers: bracket?.high ?? null,
  };
}

export function OccupancyPane({ capture, dispatch, model }: OccupancyPaneProps): ReactElement {
  const { params } = useView();
  const [table, onTable] = useTable("occupancy");
  const own = pipelineInput(model, dispatch);
  const registers = given(params.regs, 0, model.registersPerThread);
  const input: OccupancyInput = {
    threads: given(params.threads, 1, model.maxThreadsPerThreadgroup) ?? own.threads,
    bytes: given(params.bytes, 0, model.maxThreadgroupBytes) ?? own.bytes,
    registers: registers === undefined ? own.registers : registers === 0 ? null : registers,
  };
  const changed = params.threads !== undefined || params.bytes !== undefined || params.regs !== undefined;
  const estimate = estimateOccupancy(model, input);
  const limits = estimate.state === "fits" ? estimate.limits : [];
  const twin: Twin = {
    columns: [{ title: "limit", text: true }, { title: "groups a core" }, { title: "rests on", text: true }],
    count: limits.length,
    row: (index) => {
      const { id, groups, note } = limits[index]!;
      return [id, spanText(groups), note];
    },
  };
  const note = `estimate by ${model.id}: ${input.threads} threads, ${input.bytes} B, registers ${input.registers ?? "not known"}`;
  const sources: Readonly<Record<LimitId, string>> = {
    threads: model.threadsPerCore.source,
    registers: model.registers.source,
    memory: model.threadgroupBytesPerCore.source,
  };
  return (
    <ChartPane
      id="occupancy"
      line
      top
      title="Occupancy, what if"
      controls={
        <>
          {changed ? (
            <button
              type="button"
              className="btn quiet"
              onClick={() => setParams({ threads: null, bytes: null, regs: null })}
            >
              Reset
            </button>
          ) : null}
          <span className="tag ambig">estimate</span>
        </>
      }
      table={table}
      twin={twin}
      onTable={onTable}
      onCsv={() =>
        saveCsv(
          fileOf(capture, "occupancy"),
          csvText(
            noteOf(capture, note),
            ["limit", "threadgroups low", "threadgroups high", "rests on", "source"],
            limits.map(({ id, groups, note: words }) => [id, groups.low, groups.high, words, sources[id]]),
          ),
        )
      }
      picture={{
        kind: "SVG",
        save: () => {
          const svg = svgOf("occupancy");
          if (svg !== null) saveSvg(fileOf(capture, "occupancy"), svg, noteOf(capture, note));
        },
      }}
    >
      <div className="dials">
        <Dial
          label="threads of a group"
          value={input.threads}
          min={32}
          max={model.maxThreadsPerThreadgroup}
          step={32}
          changed={input.threads !== own.threads}
          onValue={(value) => setParams({ threads: value === own.threads ? null : String(value) })}
        />
        <Dial
          label="threadgroup bytes"
          value={input.bytes}
          min={0}
          max={model.maxThreadgroupBytes}
          step={16}
          changed={input.bytes !== own.bytes}
          onValue={(value) => setParams({ bytes: value === own.bytes ? null : String(value) })}
        />
        <Dial
          label="registers"
          value={input.registers ?? 0}
          min={0}
          max={model.registersPerThread}
          step={1}
          changed={input.registers !== own.registers}
          {...(input.registers === null ? { text: "not known" } : {})}
          onValue={(value) => setParams({ regs: value === (own.registers ?? 0) ? null : String(value) })}
        />
        {estimate.state === "fits" ? (
          <p className="occ-sum" role="status">
            <span className="t3">{dispatch?.stage ?? "no pipeline"}</span>
            <span className="sp" />
            <b>
              {spanText(estimate.groups)} {estimate.groups.high === 1 ? "group" : "groups"},{" "}
              {spanText(estimate.simdgroups)} of {model.simdgroupsPerCore.value} simdgroups,{" "}
              {spanText({
                low: Math.round((100 * estimate.simdgroups.low) / model.simdgroupsPerCore.value),
                high: Math.round((100 * estimate.simdgroups.high) / model.simdgroupsPerCore.value),
              })}{" "}
              %
            </b>
          </p>
        ) : null}
      </div>
      <OccupancyChart estimate={estimate} model={model.id} />
      <ul className="occ-sources">
        {Object.entries(sources).map(([id, source]) => (
          <li key={id}>
            <span className="t2">{id}:</span> {source}
          </li>
        ))}
      </ul>
    </ChartPane>
  );
}
