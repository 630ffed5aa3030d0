/** The gates: what must hold, its threshold and why. Read-only; the digest says which table a verdict was reached with. */
import type { ReactElement } from "react";
import type { CallOutput } from "../../electron/contract.ts";
import { figureText } from "../../electron/words.ts";
import { FailureNote } from "../parts/failure.tsx";
import { FilterField } from "../parts/filter_field.tsx";
import { Pane, PaneHead } from "../parts/pane.tsx";
import { Panes } from "../parts/panes.tsx";
import { digestText, plural } from "../parts/text.ts";
import { useAction } from "../shell/actions.ts";
import { useViewCommand } from "../shell/command.ts";
import { matchWords } from "../shell/match.ts";
import { useTrail } from "../shell/top_bar.tsx";
import { useAnswer } from "../state/session.ts";
import { setParams, useView } from "../state/view.ts";

type Table = CallOutput<"gates.table">;
type Gate = Table["gates"][number];

function constantText(value: Table["constants"][string]): string {
  if (typeof value === "number") return figureText(value);
  return Object.entries(value)
    .map(([dtype, number]) => `${dtype} ${figureText(number)}`)
    .join(", ");
}

/** `unitRoundoff` -> `unit roundoff`. */
function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function Inspector({ gate, table }: { readonly gate: Gate; readonly table: Table }): ReactElement {
  return (
    <>
      <PaneHead title={gate.title} meta={<span className="mono">{gate.id}</span>} />
      <dl className="prose">
        <dt>What must hold</dt>
        <dd className="rule">{gate.formula}</dd>
        <dt>Threshold</dt>
        <dd className="rule">{gate.threshold}</dd>
        <dt>Why</dt>
        <dd>{gate.reason}</dd>
        <dt>Applies to</dt>
        <dd>{gate.appliesTo}</dd>
        <dt>Required</dt>
        <dd>{gate.required ? "yes: where it did not run, the result is not a pass" : "no"}</dd>
      </dl>
      <PaneHead title="Constants" meta="all that the formulas use" line />
      <div className="body scroll">
        <table className="tbl constants">
          <tbody>
            {Object.entries(table.constants).map(([name, value]) => (
              <tr key={name}>
                <td className="t3">{spaced(name)}</td>
                <td className="num mono">{constantText(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

export function GatesPage(): ReactElement {
  const { params } = useView();
  const answer = useAnswer("gates.table", {});
  useTrail("Gates", answer.state === "there" ? answer.value.schema : "");
  useViewCommand(["lockstep", "parity", "--json"]);
  const text = params.q ?? "";
  const match = matchWords(text);
  const gates =
    answer.state === "there"
      ? answer.value.gates.filter((gate) => match.test(`${gate.id} ${gate.title} ${gate.formula} ${gate.appliesTo}`))
      : [];
  const selected = gates.find((gate) => gate.id === params.gate) ?? gates[0];
  const move = (by: number): void => {
    const at = gates.findIndex((gate) => gate.id === selected?.id);
    const next = gates[Math.max(0, Math.min(gates.length - 1, at + by))];
    if (next !== undefined) setParams({ gate: next.id });
  };
  useAction("list.next", () => move(1));
  useAction("list.previous", () => move(-1));
  useAction("window.close", () => setParams({ q: null }));
  if (answer.state === "asking") return <div className="page" />;
  if (answer.state === "failed") return <FailureNote failure={answer.failure} />;
  const table = answer.value;
  return (
    <Panes
      page="gates"
      rightLabel="Selected gate"
      right={
        <Pane label="Selected gate" line>
          {selected === undefined ? <PaneHead title="No gate" /> : <Inspector gate={selected} table={table} />}
        </Pane>
      }
    >
      <Pane label="Gates">
        <PaneHead
          title="Gates"
          meta={`${plural(table.gates.length, "gate")}, frozen; sha256 ${digestText(table.sha256)}`}
        >
          <FilterField label="Filter the gates" value={text} onChange={(q) => setParams({ q })} />
        </PaneHead>
        <div className="body scroll gates-body">
          <table className="tbl fix gates-table">
            <thead>
              <tr>
                <th className="c-gate">gate</th>
                <th>what must hold</th>
                <th className="c-threshold">threshold</th>
                <th className="c-applies">applies to</th>
              </tr>
            </thead>
            <tbody>
              {gates.map((gate) => (
                <tr
                  key={gate.id}
                  className={gate.id === selected?.id ? "sel pickable" : "pickable"}
                  aria-selected={gate.id === selected?.id}
                  onClick={() => setParams({ gate: gate.id })}
                >
                  <td>
                    <span className="m">{gate.title}</span>
                    <span className="mono t3 second">{gate.id}</span>
                  </td>
                  <td className="wrap t2">{gate.formula}</td>
                  <td className="wrap t2">{gate.threshold}</td>
                  <td className="wrap t3">{gate.appliesTo}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {gates.length === 0 ? <p className="nothing t3">No gate matches "{text}"</p> : null}
        </div>
      </Pane>
    </Panes>
  );
}
