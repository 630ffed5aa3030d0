/** The machine that runs or emulates: system, load, heat and power as they are now, each with how it is known. */
import type { ReactElement } from "react";
import { FailureNote } from "../../parts/failure.tsx";
import { KNOWN_BY } from "../../parts/known_by.ts";
import { PaneHead } from "../../parts/pane.tsx";
import { type MachineState, useMachine } from "./use_machine.ts";

type Fact = MachineState["facts"][number];

const GROUPS: Readonly<Record<Fact["group"], string>> = {
  machine: "Machine",
  load: "Load",
  thermal: "Heat",
  power: "Power",
};

function Row({ fact }: { readonly fact: Fact }): ReactElement {
  return (
    <tr>
      <td className="t2">{fact.label}</td>
      {fact.value === null ? (
        <td className="t3 micro unknown" colSpan={2} title={fact.source}>
          not known: {fact.reason}
        </td>
      ) : (
        <>
          <td className="m el" title={fact.value}>
            {fact.value}
          </td>
          <td className="t3" title={fact.source}>
            {KNOWN_BY[fact.by]}
          </td>
        </>
      )}
    </tr>
  );
}

export function MachinePane(): ReactElement {
  const answer = useMachine();
  const facts = answer.state === "there" ? answer.value.facts : [];
  return (
    <>
      <PaneHead title="This machine now" meta="read again every 4 s" line />
      {answer.state === "failed" ? (
        <div className="inset">
          <FailureNote failure={answer.failure} />
        </div>
      ) : null}
      <table className="tbl fix machine">
        <colgroup>
          <col className="c-label" />
          <col />
          <col className="c-by" />
        </colgroup>
        <thead>
          <tr>
            <th>value</th>
            <th>is</th>
            <th>by</th>
          </tr>
        </thead>
        {(Object.keys(GROUPS) as Fact["group"][]).map((group) => {
          const own = facts.filter((fact) => fact.group === group);
          return own.length === 0 ? null : (
            <tbody key={group}>
              <tr className="grp">
                <td colSpan={3}>{GROUPS[group]}</td>
              </tr>
              {own.map((fact) => (
                <Row key={fact.id} fact={fact} />
              ))}
            </tbody>
          );
        })}
      </table>
    </>
  );
}
