/** Two routes on the same case: which is right, and where along position they differ. */
import { type ReactElement, useRef } from "react";
import { figureText } from "../../../electron/words.ts";
import { ChartPane } from "../../charts/chart_pane.tsx";
import { DenseChart } from "../../charts/dense_chart.tsx";
import { csvText, saveCsv, savePng } from "../../charts/save.ts";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { countText } from "../../parts/text.ts";
import { setParams } from "../../state/view.ts";
import { addressOf, addressText, type OutputExtents } from "./address.ts";
import { type Subject, useInspect } from "./use_inspect.ts";

interface ComparePaneProps {
  readonly subject: Subject;
  readonly other: string;
  readonly extents: OutputExtents;
  readonly selected: number | null;
  readonly execution: string;
  readonly table: boolean;
  readonly onTable: () => void;
}

export function ComparePane(props: ComparePaneProps): ReactElement {
  const { subject, other, extents, selected, execution, table, onTable } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { answer, last } = useInspect(subject, { kind: "compare", other: { bundle: null, route: other } });
  const title = `${subject.route} against ${other}`;
  const note = `${title}, ${subject.case}, ${subject.id}; execution ${execution}`;
  const file = note.replaceAll(/[^\w.-]+/g, "_");
  const pick = (place: number): void => {
    const at = last?.profile.at[place];
    if (at !== undefined && at >= 0) setParams({ el: String(at), key: null });
  };
  const axis = last?.profile.axis ?? "dim";
  const address = selected === null ? null : addressOf(extents, selected);
  return (
    <ChartPane
      id="position"
      top
      title={title}
      table={table}
      twin={
        last === null
          ? null
          : {
              columns: [{ title: axis }, { title: "largest A - B" }, { title: "element", text: true }],
              count: last.profile.max.length,
              row: (place) => [
                countText(place),
                figureText(last.profile.max[place]!),
                addressText(extents, addressOf(extents, Math.max(0, last.profile.at[place]!))),
              ],
              onPick: pick,
            }
      }
      onTable={onTable}
      onCsv={() => {
        if (last === null) return;
        const { max, at, flags } = last.profile;
        const rows = Array.from(max, (value, place) => [place, value, at[place]!, flags[place]!]);
        saveCsv(file, csvText(note, [axis, "largest A - B", "element", "flags"], rows));
      }}
      picture={{
        kind: "PNG",
        save: () => canvas.current !== null && savePng(file, canvas.current, note),
      }}
      controls={
        <>
          <ActionButton action="compare.swap" look="quiet">
            Swap
          </ActionButton>
          <button type="button" className="btn quiet" onClick={() => setParams({ other: null })}>
            End comparison
          </button>
        </>
      }
    >
      {answer.state === "failed" ? (
        <div className="inset">
          <FailureNote failure={answer.failure} />
        </div>
      ) : last === null ? (
        <p className="nothing t3">Comparing the routes</p>
      ) : (
        <>
          <p className="comparison small" data-compared={last.word}>
            <span className="m">{last.sentence}.</span>{" "}
            <span className="t3">
              {subject.route} is closer to the oracle in {countText(last.aCloser)}, {other} in {countText(last.bCloser)}
            </span>
          </p>
          <DenseChart
            canvas={canvas}
            data={{
              title: "largest |A − B|, log",
              xTitle: axis === "token" ? "query" : axis,
              scale: "log",
              series: [{ label: "|A − B|", values: last.profile.max, color: "--cat-1", look: "marked", width: 1.5 }],
              flags: last.profile.flags,
              edges: last.profile.edges,
            }}
            selected={
              address === null
                ? null
                : {
                    index: axis === "token" ? address.token : axis === "head" ? address.head : address.dim,
                    label: addressText(extents, address),
                  }
            }
            onPick={pick}
          />
        </>
      )}
    </ChartPane>
  );
}
