/** The largest error of each head, or of each length. */
import type { ReactElement } from "react";
import { figureText } from "../../../electron/words.ts";
import type { SummaryBar } from "../../charts/summary_model.ts";
import { Segments } from "../../parts/segments.tsx";
import { countText } from "../../parts/text.ts";
import { setParams, useView } from "../../state/view.ts";
import { addressOf } from "./address.ts";
import { BarsPane } from "./bars_pane.tsx";
import { type ChartsProps, pick } from "./chart_props.tsx";

export function GroupsPane(props: ChartsProps): ReactElement {
  const { summary, limit, selected, extents } = props;
  const { params } = useView();
  const there = summary.state === "there" ? summary.value : null;
  const byLength = params.groups === "length" && (there?.sequences.length ?? 0) > 0;
  const head = selected === null ? -1 : addressOf(extents, selected).head;
  const groups = there === null ? [] : byLength ? there.sequences : there.heads;
  const bars = groups.map((group, index): SummaryBar => {
    const over = limit !== null && group.maxAbs > limit.value;
    const label = byLength ? countText(there!.sequences[index]!.keys) : String(index);
    const chosen = !byLength && index === head;
    return {
      key: group.label,
      label,
      value: group.maxAbs,
      tone: chosen ? (over ? "selected over" : "selected") : over ? "over" : "plain",
      title: `${group.label}: max ${figureText(group.maxAbs)}, mean ${figureText(group.meanAbs)}, ${figureText(group.maxUlp)} ULP${
        group.nan + group.infinite > 0 ? `, ${group.nan} NaN, ${group.infinite} Inf` : ""
      }`,
    };
  });
  return (
    <BarsPane
      {...props}
      id="groups"
      line
      title={(there?.sequences.length ?? 0) > 0 ? "Worst by" : "Worst by head"}
      bars={bars}
      yTitle="max |error|, log"
      axisTitle={byLength ? "keys of the sequence" : "head"}
      barLimit={limit !== null && limit.value > 0 ? limit.value : null}
      counts={false}
      controls={
        (there?.sequences.length ?? 0) > 0 ? (
          <Segments
            label="Groups"
            choices={["head", "length"] as const}
            chosen={byLength ? "length" : "head"}
            word={(name) => (name === "length" ? "len" : name)}
            onChoose={(name) => setParams({ groups: name === "length" ? name : null })}
          />
        ) : null
      }
      onBar={(index) => {
        const at = groups[index]?.at;
        if (at !== null && at !== undefined) pick(at);
      }}
    />
  );
}
