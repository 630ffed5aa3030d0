/** Exact traffic of one set that was looked at: a row a buffer, then a row a source line, busiest first. */
import { type ReactElement, useMemo } from "react";
import { TableTwin } from "../../charts/table_twin.tsx";
import { PaneHead } from "../../parts/pane.tsx";
import { countText } from "../../parts/text.ts";
import { exactBytes, exactLines, linePlace, modelText } from "../captures/traffic_exact.ts";
import type { CheckedSet } from "./report_rows.ts";

/** What the counts are: exact or not, of what, and that banks and lines are a model. */
function noteOf({ result, on }: CheckedSet): string {
  if (result === null) return "";
  const { exact, exactReason, stage } = result.traffic;
  return `${exact ? "exact" : `not exact (${exactReason})`}, ${stage}, emulated; on ${on}`;
}

export function SetTraffic({ set }: { readonly set: CheckedSet }): ReactElement {
  const { result } = set;
  const rows = useMemo(() => {
    if (result === null) return [];
    return [
      ...exactBytes({ shape: null, route: set.name, result }).map(
        ({ dispatch, buffer, space, access, requested, distinct }) => [
          `${buffer}, ${access}, ${dispatch}`,
          countText(requested),
          countText(distinct),
          space,
        ],
      ),
      ...exactLines({ result }).map((line) => [
        `${linePlace(line)} ${line.access} ${line.buffer}`,
        countText(line.bytes.requested),
        countText(line.bytes.distinct),
        modelText(line),
      ]),
    ];
  }, [result, set.name]);
  return (
    <>
      <PaneHead title={`Traffic of ${set.name}`} meta={<span title={noteOf(set)}>{noteOf(set)}</span>} line />
      <div className="settraffic" data-table="traffic">
        <TableTwin
          columns={[
            { title: "buffer, then line", text: true },
            { title: "requested B" },
            { title: "distinct B" },
            { title: "memory; model", text: true },
          ]}
          count={rows.length}
          row={(index) => rows[index]!}
        />
      </div>
    </>
  );
}
