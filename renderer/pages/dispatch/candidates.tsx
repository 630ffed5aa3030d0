/** The candidates in order on a rail, each with every predicate: required, actual, how that is known, held or failed. */
import type { ReactElement } from "react";
import { M3_REFUSAL } from "../../../kernels/mla_prefill/routes.ts";
import type { CaseShape, RoutePlan } from "../../../kernels/route.ts";
import { Glyph, Verdict } from "../../parts/glyph.tsx";
import { setParams } from "../../state/view.ts";
import { sizeText3 } from "../kernels/plan.ts";
import { knownBy, predicateTitle } from "./known_by.ts";
import type { Explained } from "./use_explain.ts";
import { type Candidate, opensByItself, shortFigure, standingOf } from "./words.ts";

type Predicate = Candidate["predicates"][number];

interface PredicateRowProps {
  readonly predicate: Predicate;
  readonly policy: boolean;
  readonly device: Explained["device"];
  /** A rule of dispatch that a forced route passes over. */
  readonly passedOver: boolean;
}

function PredicateRow({ predicate, policy, device, passedOver }: PredicateRowProps): ReactElement {
  const { id, requires, actual, holds, reason } = predicate;
  const known = knownBy(device, id, policy);
  const bad = !holds && !passedOver;
  return (
    <>
      <tr className={bad ? "failed" : undefined} title={reason} data-predicate={id} data-holds={holds}>
        <td className="m">{predicateTitle(id)}</td>
        <td className="t2">{requires}</td>
        <td className={bad ? "b fail" : "m"} title={actual === shortFigure(actual) ? undefined : actual}>
          {shortFigure(actual)}
        </td>
        <td className={known.soft ? "ambig" : "t3"} title={known.source}>
          {known.word}
        </td>
        <td>
          {passedOver ? (
            <span className="t2">passed over</span>
          ) : (
            <Verdict name={holds ? "pass" : "fail"}>{holds ? "held" : "failed"}</Verdict>
          )}
        </td>
      </tr>
      {bad ? (
        <tr className="failed why">
          <td colSpan={5} className="t2">
            {id === "apple10" ? <Refusal /> : reason}
          </td>
        </tr>
      ) : null}
    </>
  );
}

/** Metal's own words, as an M3 said them. */
function Refusal(): ReactElement {
  return (
    <div className="note fail quote">
      Metal, at pipeline creation, recorded on an M3:
      <code>{M3_REFUSAL}</code>
    </div>
  );
}

interface CardProps {
  readonly candidate: Candidate;
  readonly number: number;
  readonly open: boolean;
  readonly onToggle: () => void;
  readonly device: Explained["device"];
  readonly plan: RoutePlan | undefined;
  readonly onSource: (() => void) | undefined;
}

function Card({ candidate, number, open, onToggle, device, plan, onSource }: CardProps): ReactElement {
  const { route, predicates, policy, chosen } = candidate;
  const standing = standingOf(candidate);
  const rows = [
    ...predicates.map((predicate) => ({ predicate, policy: false })),
    ...policy.map((predicate) => ({ predicate, policy: true })),
  ];
  // What failed comes first; apart from that the order is the route's own.
  const sorted = [...rows.filter((row) => !row.predicate.holds), ...rows.filter((row) => row.predicate.holds)];
  return (
    <li className="cand" data-route={route} data-chosen={chosen} data-open={open}>
      <div className="rail">
        <Glyph name={standing.glyph} />
      </div>
      <div className={chosen ? "card on" : candidate.applicable ? "card dim" : "card"}>
        <button type="button" className="hd" aria-expanded={open} onClick={onToggle}>
          <code className="b">{route}</code>
          <span className={`${standing.tone} el`}>{standing.word}</span>
          <span className="sp" />
          <span className="micro t3 nw">candidate {number}</span>
        </button>
        {open ? (
          <table className="tbl fix preds">
            <thead>
              <tr>
                <th className="c-name">predicate</th>
                <th>required</th>
                <th className="c-actual">actual</th>
                <th className="c-by">known by</th>
                <th className="c-held">
                  <span className="sr">held or failed</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {sorted.map((row) => (
                <PredicateRow
                  key={row.predicate.id}
                  predicate={row.predicate}
                  policy={row.policy}
                  device={device}
                  passedOver={chosen && row.policy && !row.predicate.holds}
                />
              ))}
            </tbody>
          </table>
        ) : null}
        {plan === undefined || !open ? null : (
          <div className="dispatches small">
            {plan.dispatches.map((entry) => (
              <div key={entry.stage} className="row">
                <span className="t3">{entry.stage}</span>
                <code>{entry.kernel}</code>
                <span className="sp" />
                <span className="t2 nw">
                  grid {sizeText3(entry.threadgroups)}, group {sizeText3(entry.threadsPerThreadgroup)}
                </span>
              </div>
            ))}
            {onSource === undefined ? null : (
              <button type="button" className="btn" onClick={onSource}>
                Source and table of this route
              </button>
            )}
          </div>
        )}
      </div>
    </li>
  );
}

interface CandidatesProps {
  readonly explained: Explained;
  /** Routes whose cards are not as they open by themselves. */
  readonly toggled: readonly string[];
  readonly planOf: (route: string, shape: CaseShape) => RoutePlan | undefined;
  readonly onSource: (route: string) => void;
}

export function Candidates({ explained, toggled, planOf, onSource }: CandidatesProps): ReactElement {
  const { decision, device, shape } = explained;
  const toggle = (route: string): void => {
    const next = toggled.includes(route) ? toggled.filter((name) => name !== route) : [...toggled, route];
    setParams({ open: next.join(" ") });
  };
  return (
    <ol className="tree">
      {decision.candidates.map((candidate, index) => (
        <Card
          key={candidate.route}
          candidate={candidate}
          number={index + 1}
          open={opensByItself(decision, candidate) !== toggled.includes(candidate.route)}
          onToggle={() => toggle(candidate.route)}
          device={device}
          plan={candidate.chosen ? planOf(candidate.route, shape) : undefined}
          onSource={candidate.chosen ? () => onSource(candidate.route) : undefined}
        />
      ))}
    </ol>
  );
}
