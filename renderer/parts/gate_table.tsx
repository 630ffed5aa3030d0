/** The gates of a result: value against limit, and where. */
import type { ReactElement } from "react";
import { GATES } from "../../electron/gates/gates.ts";
import { figureText } from "../../electron/words.ts";
import { ViewLink } from "../shell/nav.tsx";
import type { Result } from "../state/run_model.ts";
import { Glyph } from "./glyph.tsx";

const GLYPH = { pass: "pass", fail: "fail", not_run: "notrun" } as const;
const WORD = { pass: "held", fail: "fail", not_run: "not run" } as const;

interface GateTableProps {
  readonly result: Result;
  /** The run of the result: from its gate on the checker a link leads to the reports. */
  readonly run: string;
  /** For a narrow pane. */
  readonly dense?: boolean;
}

export function GateTable({ result, run, dense = false }: GateTableProps): ReactElement {
  return (
    <table className={`tbl fix gatelist${dense ? " dense" : ""}`}>
      <thead>
        <tr>
          <th>gate</th>
          <th className="num c-figure">value</th>
          <th className="num c-figure">limit</th>
        </tr>
      </thead>
      <tbody>
        {result.gates.map((gate) => (
          <tr
            key={gate.id}
            title={[GATES.find(({ id }) => id === gate.id)?.title, gate.where, gate.note].filter(Boolean).join("; ")}
          >
            <td>
              <Glyph name={GLYPH[gate.verdict]} /> <span className="sr">{WORD[gate.verdict]}</span>
              {gate.id === "checker" && result.check !== undefined ? (
                <ViewLink
                  view={{ page: "kernels", params: { view: "reports", run, q: result.route } }}
                  title="The checker's reports, at their lines"
                >
                  {gate.id}
                </ViewLink>
              ) : (
                gate.id
              )}
            </td>
            <td className={gate.verdict === "fail" ? "num bad" : "num"}>
              {gate.value === null ? WORD[gate.verdict] : figureText(gate.value)}
            </td>
            <td className="num t2">{gate.limit === null ? "" : figureText(gate.limit)}</td>
          </tr>
        ))}
        {result.gates.length === 0 ? (
          <tr>
            <td colSpan={3} className="t3">
              No gate was judged
            </td>
          </tr>
        ) : null}
      </tbody>
    </table>
  );
}
