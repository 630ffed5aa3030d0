/** The kernels: routes and files at the left, the source in the middle, the route's table for a shape at the right. */
import { type ReactElement, useMemo } from "react";
import type { CallOutput } from "../../../electron/contract.ts";
import type { RoutePlan } from "../../../kernels/route.ts";
import { OPERATORS } from "../../../kernels/routes.ts";
import { FailureNote } from "../../parts/failure.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { Panes } from "../../parts/panes.tsx";
import { geometryText, lengthText, plural } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { useViewCommand } from "../../shell/command.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { type FailureView, useAnswer, useLive } from "../../state/session.ts";
import { go, setParams, useView } from "../../state/view.ts";
import { type Asked, askedOf, caseOf, dispatchWords, type ListedCase } from "../dispatch/asked.ts";
import { PRODUCTION, presetOf } from "../dispatch/shape_form.ts";
import "../../styles/kernels.css";
import { CheckLine } from "./check_line.tsx";
import { ManifestReports } from "./manifest_reports.tsx";
import { planFor } from "./plan.ts";
import { PlanTables } from "./plan_tables.tsx";
import type { RunChecks } from "./report_rows.ts";
import { TrafficToggle } from "./report_source.tsx";
import { RunReports, useCheckedRun } from "./run_reports.tsx";
import { type Diagnostic, saidOf } from "./said.ts";
import { checkFor, checksOf, sourceBytes } from "./source_bytes.ts";
import { SourceStrip } from "./source_strip.tsx";
import { findingsOn, kernelLines } from "./source_text.ts";
import { SourceView } from "./source_view.tsx";
import { useCheck } from "./use_check.ts";
import { useSources } from "./use_sources.ts";

type Listed = CallOutput<"kernels.list">;
type ListedRoute = Listed["routes"][number];

interface Shown {
  readonly asked: Asked;
  readonly route: ListedRoute;
  /** The source of the route or another file, and everything that is compiled with it. */
  readonly file: string | undefined;
  readonly line: number | undefined;
}

/** The route of the view; the first built one of its operator where it names none. */
function routeOf(listed: Listed, asked: Asked, name: string | undefined): ListedRoute {
  const own = listed.routes.filter(({ operator }) => operator === asked.shape.operator);
  return own.find((entry) => entry.name === name) ?? own.find(({ status }) => status === "built") ?? own[0]!;
}

/** Goes to a route of either operator; the shape goes along where it is one of the operator. */
function showRoute(route: ListedRoute, asked: Asked): void {
  const change = { route: route.name, file: null, line: null };
  if (route.operator === asked.shape.operator) setParams(change);
  else go("kernels", { case: presetOf(route.operator).id, route: route.name });
}

interface ListProps {
  readonly listed: Listed;
  readonly shown: Shown;
  readonly used: readonly string[];
}

function RouteList({ listed, shown, used }: ListProps): ReactElement {
  return (
    <Pane label="Routes and files" className="scroll">
      <PaneHead title="Routes" meta={plural(listed.routes.length, "route")} />
      {OPERATORS.map((operator) => (
        <div key={operator}>
          <div className="gh">{operator}</div>
          {listed.routes
            .filter((entry) => entry.operator === operator)
            .map((entry) => {
              const current = entry === shown.route;
              return (
                <button
                  key={entry.name}
                  type="button"
                  className={current ? "li sel kroute" : "li kroute"}
                  aria-current={current ? "true" : undefined}
                  title={entry.summary}
                  data-route={entry.name}
                  onClick={() => showRoute(entry, shown.asked)}
                >
                  <span className="el">{entry.name}</span>
                  {entry.status === "planned" ? <span className="micro t3">not built</span> : null}
                </button>
              );
            })}
        </div>
      ))}
      <PaneHead title="Files" meta="dots: in this route" />
      {OPERATORS.map((operator) => (
        <div key={operator}>
          <div className="gh">kernels/{operator}</div>
          {listed.files
            .filter((path) => path.startsWith(`${operator}/`))
            .map((path) => (
              <button
                key={path}
                type="button"
                className={path === shown.file ? "li sel kroute" : "li kroute"}
                aria-current={path === shown.file ? "true" : undefined}
                title={path}
                data-file={path}
                onClick={() => setParams({ file: path, line: null })}
              >
                <span className="el">{path.slice(operator.length + 1)}</span>
                {used.includes(path) ? (
                  <span className="usedot" role="img" aria-label="compiled into this route" />
                ) : null}
              </button>
            ))}
        </div>
      ))}
    </Pane>
  );
}

const NO_DIAGNOSTICS: readonly Diagnostic[] = [];

interface SourcePaneProps {
  readonly shown: Shown;
  /** Why the route's kernels cannot be compiled; undefined where they can. */
  readonly blocked: string | undefined;
  readonly used: readonly string[];
  readonly plan: RoutePlan | undefined;
  readonly checks: RunChecks | undefined;
}

function SourcePane({ shown, used, blocked, plan, checks }: SourcePaneProps): ReactElement {
  const { file, line } = shown;
  const { name } = shown.route;
  const wanted = useMemo(() => {
    if (file === undefined) return [];
    return used.includes(file) ? used : [file];
  }, [file, used]);
  const sources = useSources(wanted);
  const text = sources.texts?.find(({ path }) => path === file)?.text;
  // A header by itself does not declare what the files around it do.
  const alone = file !== undefined && !used.includes(file);
  const findings = useMemo(
    () => (sources.texts === null || file === undefined || alone ? [] : findingsOn(file, sources.texts)),
    [sources.texts, file, alone],
  );
  const { check, start } = useCheck(name, shown.asked.shape, shown.asked.choice.chip);
  const diagnostics = check.state === "there" ? check.answer.diagnostics : NO_DIAGNOSTICS;
  const said = useMemo(
    () => (file === undefined ? [] : saidOf(file, findings, diagnostics)),
    [file, findings, diagnostics],
  );
  const wantsBytes = useView().params.bytes === "on";
  const bytes = useMemo(() => {
    if (!wantsBytes || checks === undefined || file === undefined || text === undefined) return undefined;
    const own = checksOf(checks.checks, shown.asked.shape.operator, name);
    return sourceBytes(checks, checkFor(own, plan), file, text);
  }, [wantsBytes, checks, file, text, plan, name, shown.asked.shape.operator]);
  useAction("kernels.check", start, blocked);
  if (file === undefined) {
    return (
      <Pane label="Source" line>
        <PaneHead title="No source" />
        <div className="inset">
          <p className="note">{name} has no source yet. The files of the other routes stand at the left.</p>
        </div>
      </Pane>
    );
  }
  const kernels = text === undefined ? [] : kernelLines(text);
  return (
    <Pane label="Source" line>
      <PaneHead title={file} meta={text === undefined ? undefined : plural(text.trimEnd().split("\n").length, "line")}>
        <TrafficToggle on={wantsBytes} disabled={checks === undefined || checks.checks.length === 0} />
      </PaneHead>
      {kernels.length === 0 ? null : (
        <div className="kernelrow small">
          <span className="t3">{kernels.length === 1 ? "kernel" : "kernels"}</span>
          {kernels.map((kernel) => (
            <button
              key={kernel.name}
              type="button"
              className="btn quiet"
              title={`line ${kernel.line}`}
              onClick={() => setParams({ line: String(kernel.line) })}
            >
              <code>{kernel.name}</code>
            </button>
          ))}
        </div>
      )}
      <CheckLine check={check} blocked={blocked} />
      <Lint alone={alone} done={sources.texts !== null} count={findings.length} />
      {bytes === undefined ? null : (
        <p className="bytesnote micro t3" title={bytes.note}>
          {bytes.reason === undefined ? `Beside the lines: ${bytes.note}` : `No bytes: ${bytes.reason}`}
        </p>
      )}
      {sources.failure === null ? null : <Failed failure={sources.failure} />}
      {text === undefined ? null : <SourceView key={file} text={text} line={line} said={said} traffic={bytes?.lines} />}
    </Pane>
  );
}

function Failed({ failure }: { readonly failure: FailureView }): ReactElement {
  return (
    <div className="inset">
      <FailureNote failure={failure} />
    </div>
  );
}

/** What is known of the source without compiling it. */
function Lint({ alone, done, count }: { readonly alone: boolean; readonly done: boolean; readonly count: number }) {
  if (!done) return null;
  return (
    <div className="row small lintline">
      {alone ? (
        <span className="t3">
          This file is no part of the route, so it is not held to the table of the language here.
        </span>
      ) : count === 0 ? (
        <>
          <Verdict name="pass">lint holds</Verdict>
          <span className="t2">every name is the kernel's own or in the table of MSL 3.1</span>
        </>
      ) : (
        <Verdict name="fail">{plural(count, "finding")} of the lint</Verdict>
      )}
    </div>
  );
}

function ShapeSelect({ asked, cases }: { readonly asked: Asked; readonly cases: readonly ListedCase[] }): ReactElement {
  const { operator } = asked.shape;
  const own = <T extends { readonly shape: { readonly operator: string } }>(list: readonly T[]): readonly T[] =>
    list.filter(({ shape }) => shape.operator === operator);
  return (
    <select
      className="inp shapesel"
      aria-label="Shape"
      value={asked.base}
      onChange={(event) =>
        go("kernels", { case: event.target.value, ...(asked.forced === null ? {} : { route: asked.forced }) })
      }
    >
      <optgroup label="Production shapes">
        {own(PRODUCTION).map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </optgroup>
      <optgroup label="Cases">
        {own(cases).map(({ key }) => (
          <option key={key} value={key}>
            {key.slice(operator.length + 1)}
          </option>
        ))}
      </optgroup>
    </select>
  );
}

interface ViewProps {
  readonly listed: Listed;
  readonly asked: Asked;
  readonly cases: readonly ListedCase[];
}

function KernelsView({ listed, asked, cases }: ViewProps): ReactElement {
  const { params } = useView();
  const route = routeOf(listed, asked, params.route);
  const { plan, refusal } = planFor(asked.shape, route.name);
  // The files of a route do not depend on the shape; where this one is refused, those of the usual shape are shown.
  const files = plan ?? planFor(presetOf(route.operator).shape, route.name).plan;
  const used = useMemo(() => (files === undefined ? [] : [files.source, ...files.includes]), [files]);
  const file = listed.files.find((path) => path === params.file) ?? files?.source;
  const line = /^\d{1,6}$/.test(params.line ?? "") ? Number(params.line) : undefined;
  const shown: Shown = { asked, route, file, line };
  const move = (by: number): void => {
    const at = listed.routes.indexOf(route);
    const next = listed.routes[Math.max(0, Math.min(listed.routes.length - 1, at + by))];
    if (next !== undefined && next !== route) showRoute(next, asked);
  };
  useAction("list.next", () => move(1));
  useAction("list.previous", () => move(-1));
  useAction("kernel.manifest", () => go("kernels", { view: "reports", from: "manifest" }));
  useTrail("Kernels", route.name, ...(file === undefined ? [] : [line === undefined ? file : `${file}:${line}`]));
  useViewCommand(dispatchWords({ ...asked, forced: route.name }, caseOf(asked, cases)));
  const { id } = useCheckedRun();
  const live = useLive();
  const running = live !== null && live.id === id && live.outcome === "running";
  const answer = useAnswer("checks.list", id === undefined || running ? null : { id });
  const checks = answer.state === "there" ? answer.value : undefined;
  return (
    <div className="page kernels-page">
      <SourceStrip route={route.name} operator={route.operator} run={id} checks={checks} />
      <Panes
        page="kernels"
        leftLabel="Routes and files"
        rightLabel="Table of the route"
        left={<RouteList listed={listed} shown={shown} used={used} />}
        right={
          <Pane label="Table of the route" line className="scroll">
            <PaneHead title={route.name} meta={route.status === "built" ? undefined : "not built yet"}>
              <ShapeSelect asked={asked} cases={cases} />
            </PaneHead>
            <div className="inset small">
              <p className="t2">{route.summary}</p>
              <p className="t3">
                {asked.shape.operator}, {geometryText(asked.shape)}, {lengthText(asked.shape)}, {asked.shape.dtype}
                {asked.changed.length > 0 ? ", changed" : ""}
              </p>
              {refusal === undefined ? null : <p className="note fail">{refusal}</p>}
            </div>
            {plan === undefined ? null : <PlanTables plan={plan} />}
          </Pane>
        }
      >
        <SourcePane shown={shown} used={used} blocked={refusal} plan={plan} checks={checks} />
      </Panes>
    </div>
  );
}

export function KernelsPage(): ReactElement {
  const { params } = useView();
  if (params.view !== "reports") return <Sources />;
  return params.from === "manifest" ? <ManifestReports /> : <RunReports />;
}

function Sources(): ReactElement {
  const { params } = useView();
  const listed = useAnswer("kernels.list", {});
  const cases = useAnswer("cases.list", { suite: "full" });
  const known = cases.state === "there" ? cases.value.cases : cases.state === "failed" ? [] : undefined;
  const asked = askedOf(params, known);
  if (listed.state === "failed") return <Failed failure={listed.failure} />;
  if (listed.state === "asking" || asked === undefined) return <div className="page" />;
  return <KernelsView listed={listed.value} asked={asked} cases={known ?? []} />;
}
