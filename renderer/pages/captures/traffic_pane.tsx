/**
 * Traffic: logical bytes of both routes by the formulas of their kernels, and the exact counts of the checker on the small
 * case of the pipelines, with the formulas of that case beside them.
 */
import type { ReactElement } from "react";
import { minimumBytes, trafficFor } from "../../../kernels/contracts.ts";
import type { TrafficEntry } from "../../../kernels/traffic.ts";
import { ChartPane, svgOf, useTable } from "../../charts/chart_pane.tsx";
import { csvText, saveCsv, saveSvg } from "../../charts/save.ts";
import type { Twin } from "../../charts/table_twin.tsx";
import { Segments } from "../../parts/segments.tsx";
import { countText, sizeText } from "../../parts/text.ts";
import { type Answer, useAnswer } from "../../state/session.ts";
import { setParams, useView } from "../../state/view.ts";
import { TrafficChart } from "./traffic_chart.tsx";
import {
  type Check,
  type Checks,
  checkOfResult,
  deviceBytes,
  EXACT_HEAD,
  exactBytes,
  exactFields,
  exactFoot,
  exactLines,
  exactNote,
  linePlace,
  modelText,
  smallText,
  totalOf,
} from "./traffic_exact.ts";
import { ExactChart } from "./traffic_exact_chart.tsx";
import { type Capture, fileOf, noteOf, shapeOf } from "./use_capture.ts";

const HEAD = ["route", "dispatch", "buffer", "read bytes", "written bytes", "formula"] as const;
const WAYS = ["derived", "exact"] as const;

type Entry = TrafficEntry & { readonly route: string };

function derivedTwin(entries: readonly Entry[], route: string): Twin {
  return {
    columns: [
      { title: "dispatch", text: true },
      { title: "buffer", text: true },
      { title: "bytes" },
      { title: "formula", text: true },
    ],
    count: entries.length,
    row: (index) => {
      const { route: name, stage, buffer, readBytes, writtenBytes, formula } = entries[index]!;
      const access = readBytes > 0 ? "read" : "written";
      const series = name === route ? "A" : "B";
      return [`${series} ${stage}`, `${buffer}, ${access}`, countText(readBytes + writtenBytes), formula];
    },
  };
}

/** Buffers, then source lines, of the routes that have counts. */
function exactTwin(checks: readonly (readonly [series: string, check: Check])[]): Twin {
  const rows = checks.flatMap(([series, check]) => [
    ...exactBytes(check).map(({ dispatch, buffer, space, access, requested, distinct, derived }) => [
      `${series} ${dispatch} ${buffer}, ${access}`,
      countText(requested),
      countText(distinct),
      derived === null ? (space === "threadgroup" ? "threadgroup" : "no formula") : `derived ${countText(derived)}`,
    ]),
    ...exactLines(check).map((line) => [
      `${series} ${linePlace(line)} ${line.access} ${line.buffer}`,
      countText(line.bytes.requested),
      countText(line.bytes.distinct),
      modelText(line),
    ]),
  ]);
  return {
    columns: [
      { title: "buffer, then line", text: true },
      { title: "requested B" },
      { title: "distinct B" },
      { title: "derived; model", text: true },
    ],
    count: rows.length,
    row: (index) => rows[index]!,
  };
}

function footOf(answer: Answer<{ readonly checks: Checks }>, check: Check | undefined, kept: boolean): string {
  if (check !== undefined) {
    const rows = deviceBytes(exactBytes(check));
    const [requested, distinct] = [totalOf(rows, "requested"), totalOf(rows, "distinct")].map(sizeText);
    return `Exact on the small case ${smallText(check)}: ${requested} requested, ${distinct} distinct`;
  }
  if (!kept) return "Exact counts can be read when the run has ended";
  if (answer.state === "asking") return "";
  if (answer.state === "failed") return answer.failure.message;
  return answer.value.checks.length === 0
    ? "No exact counts: no run of this bundle counted its accesses"
    : "No exact counts of this route: its pipelines were not checked";
}

export function TrafficPane({ capture }: { readonly capture: Capture }): ReactElement {
  const [table, onTable] = useTable("traffic");
  const { params } = useView();
  const { run } = capture;
  const { record, route, other } = capture.selected;
  const kept = run.outcome !== "running" && run.outcome !== "refused";
  const answer = useAnswer("checks.list", kept ? { id: run.id } : null);
  const checks = answer.state === "there" ? answer.value.checks : [];
  const check = checkOfResult(checks, record.key, route);
  const beside = other === null ? undefined : checkOfResult(checks, record.key, other);
  const exact = params.traffic === "exact" && check !== undefined;
  const shape = shapeOf(record);
  const routes = [route, other].flatMap((name) => (name === null ? [] : (trafficFor(shape, name) ?? [])));
  const entries = routes.flatMap((traffic) => traffic.entries.map((entry) => ({ route: traffic.route, ...entry })));
  const counted = [
    ...(check === undefined ? [] : [["A", check] as const]),
    ...(beside === undefined ? [] : [["B", beside] as const]),
  ];
  const note = exact
    ? noteOf(capture, `bytes counted by the checker, ${exactNote(check)}; banks and lines are a model`)
    : noteOf(capture, "logical bytes, derived from the loops of the kernels");
  const file = fileOf(capture, exact ? "traffic-exact" : "traffic");
  const onCsv = (): void => {
    const text = exact
      ? csvText(
          note,
          EXACT_HEAD,
          counted.flatMap(([, each]) => exactFields(each)),
        )
      : csvText(
          note,
          HEAD,
          entries.map((each) => [each.route, each.stage, each.buffer, each.readBytes, each.writtenBytes, each.formula]),
        );
    saveCsv(file, text);
  };
  return (
    <ChartPane
      id="traffic"
      line
      title="Traffic"
      meta={exact ? `A ${route}, counted` : "derived, logical"}
      controls={
        check === undefined ? null : (
          <Segments
            label="Traffic"
            choices={WAYS}
            chosen={exact ? "exact" : "derived"}
            onChoose={(way) => setParams({ traffic: way === "exact" ? way : null })}
          />
        )
      }
      table={table}
      twin={exact ? exactTwin(counted) : derivedTwin(entries, route)}
      onTable={onTable}
      onCsv={onCsv}
      picture={{
        kind: "SVG",
        save: () => {
          const svg = svgOf("traffic");
          if (svg !== null) saveSvg(file, svg, note);
        },
      }}
    >
      {exact ? (
        <ExactChart route={route} rows={deviceBytes(exactBytes(check))} />
      ) : routes.length === 0 ? (
        <p className="nothing t3">{route} has no formula: it is no route of this version</p>
      ) : (
        <TrafficChart routes={routes} minimum={minimumBytes(shape)} />
      )}
      <p
        className="capture-foot t3 el"
        data-exact={check === undefined ? "none" : "there"}
        title={
          exact
            ? `${exactNote(check)}; ${check.result.traffic.exactReason}. Banks and lines in the table are a model`
            : "Derived: a byte counts once for each pass of a threadgroup; caches are not looked at"
        }
      >
        {exact ? exactFoot(check) : footOf(answer, check, kept)}
      </p>
    </ChartPane>
  );
}
