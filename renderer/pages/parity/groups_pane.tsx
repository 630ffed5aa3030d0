/** The largest error of each head, of each sequence of the batch, or of each case of the run by its length. */
import type { ReactElement } from "react";
import { lengthPoints } from "../../../electron/analysis/lengths.ts";
import { Segments } from "../../parts/segments.tsx";
import { itemKey } from "../../state/run_model.ts";
import { setParams, useView } from "../../state/view.ts";
import { addressOf } from "./address.ts";
import { BarsPane } from "./bars_pane.tsx";
import { type ChartsProps, pick } from "./chart_props.tsx";
import { type GroupBars, headBars, lengthBars, sequenceBars } from "./groups.ts";

const GROUPS = ["head", "sequence", "length"] as const;
type Group = (typeof GROUPS)[number];

const WORDS: Readonly<Record<Group, string>> = { head: "head", sequence: "seq", length: "len" };

function barsOf(props: ChartsProps, group: Group): GroupBars {
  const { summary, limit, selected, extents, run, row } = props;
  const there = summary.state === "there" ? summary.value : null;
  if (group === "length") {
    const record = { cases: [...run.cases.values()], results: [...run.results.values()] };
    const points = row.record === undefined ? [] : lengthPoints(record, row.record.shape.operator);
    return lengthBars(
      points.filter(({ route }) => route === row.route),
      row.case,
    );
  }
  if (group === "sequence") return sequenceBars(there?.sequences ?? [], limit?.value ?? null, selected);
  const head = selected === null ? null : addressOf(extents, selected).head;
  return headBars(there?.heads ?? [], limit?.value ?? null, head);
}

export function GroupsPane(props: ChartsProps): ReactElement {
  const { summary, limit, row, onSelect } = props;
  const { params } = useView();
  const batch = summary.state === "there" && summary.value.sequences.length > 1;
  const choices = GROUPS.filter((group) => group !== "sequence" || batch);
  const group = choices.find((name) => name === params.groups) ?? "head";
  const { bars, axisTitle, at } = barsOf(props, group);
  return (
    <BarsPane
      {...props}
      id="groups"
      line
      title={batch ? "Worst" : "Worst by"}
      bars={bars}
      yTitle={group === "length" ? `max |error|, log; each with its limit` : "max |error|, log"}
      axisTitle={axisTitle}
      barLimit={group === "length" || limit === null || !(limit.value > 0) ? null : limit.value}
      counts={false}
      controls={
        <Segments
          label="Groups"
          choices={choices}
          chosen={group}
          word={(name) => WORDS[name]}
          onChoose={(name) => setParams({ groups: name === "head" ? null : name })}
        />
      }
      onBar={(index) => {
        const to = at[index];
        if (typeof to === "number") pick(to);
        else if (typeof to === "string") onSelect(itemKey(to, row.route));
      }}
    />
  );
}
