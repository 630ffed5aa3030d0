/** The line below the head of a source: checks the route's kernels, and says what the compiler said and where. */
import type { ReactElement } from "react";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { plural } from "../../parts/text.ts";
import { setParams } from "../../state/view.ts";
import { countsText, type Diagnostic, isRefused } from "./said.ts";
import type { Check, CheckAnswer } from "./use_check.ts";

/** So many places are listed; the others stand in their lines. */
const PLACES = 4;

function Place({ diagnostic }: { readonly diagnostic: Diagnostic }): ReactElement {
  const { path, line, column, message } = diagnostic;
  return (
    <li>
      <button
        type="button"
        className="place"
        title="Show the line"
        onClick={() => setParams({ file: path, line: String(line) })}
      >
        <code>
          {path}:{line}:{column}
        </code>
        <span className="el">{message}</span>
      </button>
    </li>
  );
}

function Answer({ answer }: { readonly answer: CheckAnswer }): ReactElement {
  const { pipelines, device, toolchain, diagnostics, refusal } = answer;
  const refused = isRefused(answer);
  const cached = pipelines.length > 0 && pipelines.every((pipeline) => pipeline.cached);
  return (
    <>
      <Verdict name={refused ? "fail" : "pass"}>{refused ? "does not compile" : "compiles"}</Verdict>
      <span className="t2 el" title={`${device}, ${toolchain}`}>
        {countsText(diagnostics)}; {plural(pipelines.length, "kernel")} built on {device}
        {cached ? ", from the cache" : ""}
      </span>
      {refusal === null ? null : <p className="fail whole">{refusal}</p>}
      {diagnostics.length === 0 ? null : (
        <ul className="places whole">
          {diagnostics.slice(0, PLACES).map((diagnostic) => (
            <Place
              key={`${diagnostic.path}:${diagnostic.line}:${diagnostic.column} ${diagnostic.message}`}
              diagnostic={diagnostic}
            />
          ))}
          {diagnostics.length > PLACES ? (
            <li className="t3 micro">{plural(diagnostics.length - PLACES, "more message")}, in their lines</li>
          ) : null}
        </ul>
      )}
    </>
  );
}

interface CheckLineProps {
  readonly check: Check;
  /** Why it cannot be checked; undefined where it can. */
  readonly blocked: string | undefined;
}

export function CheckLine({ check, blocked }: CheckLineProps): ReactElement {
  return (
    <div className="row small checkline" aria-live="polite" data-check={check.state}>
      <ActionButton
        action="kernels.check"
        disabled={blocked !== undefined || check.state === "running"}
        title={blocked ?? "Compile every kernel of the route; nothing is run"}
      >
        Check
      </ActionButton>
      {check.state === "none" ? (
        <span className="t3 el">{blocked ?? "not compiled here yet; a run compiles it as well"}</span>
      ) : check.state === "running" ? (
        <Verdict name="running">compiling</Verdict>
      ) : check.state === "failed" ? (
        <div className="whole">
          <FailureNote failure={check.failure} />
        </div>
      ) : (
        <Answer answer={check.answer} />
      )}
    </div>
  );
}
