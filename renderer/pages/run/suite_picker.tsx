/** The suites to choose from. */
import type { ReactElement } from "react";
import { plural } from "../../parts/text.ts";
import { useAnswer } from "../../state/session.ts";
import { setParams } from "../../state/view.ts";

const SUITES = ["quick", "standard", "full"] as const;
export type Suite = (typeof SUITES)[number];

export function suiteOf(text: string | undefined | null): Suite {
  return SUITES.find((suite) => suite === text) ?? "quick";
}

function SuiteRow({ suite, chosen }: { readonly suite: Suite; readonly chosen: boolean }): ReactElement {
  const cases = useAnswer("cases.list", { suite });
  return (
    <label className={chosen ? "pick on" : "pick"}>
      <input type="radio" name="suite" value={suite} checked={chosen} onChange={() => setParams({ suite })} />
      <span className="sp">
        <span className="m block">{suite}</span>
        <span className="small t2 block">{cases.state === "there" ? cases.value.summary : ""}</span>
      </span>
      <span className="num t2 small">{cases.state === "there" ? plural(cases.value.cases.length, "case") : ""}</span>
    </label>
  );
}

export function SuitePicker({ suite }: { readonly suite: Suite }): ReactElement {
  return (
    <fieldset className="picks">
      <legend className="sr">Suite</legend>
      {SUITES.map((name) => (
        <SuiteRow key={name} suite={name} chosen={name === suite} />
      ))}
    </fieldset>
  );
}

/** The same choice in a row of controls. */
export function SuiteSegments({ suite }: { readonly suite: Suite }): ReactElement {
  return (
    <fieldset className="seg" aria-label="Suite of the next run">
      {SUITES.map((name) => (
        <label key={name} className={name === suite ? "on" : ""}>
          <input
            type="radio"
            className="sr"
            name="suite"
            value={name}
            checked={name === suite}
            onChange={() => setParams({ suite: name })}
          />
          {name}
        </label>
      ))}
    </fieldset>
  );
}
