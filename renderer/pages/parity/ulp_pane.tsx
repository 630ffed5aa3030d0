/** The histogram of ULP distances. */
import type { ReactElement } from "react";
import { figureText } from "../../../electron/words.ts";
import { BarsPane } from "./bars_pane.tsx";
import type { ChartsProps } from "./chart_props.tsx";
import { ulpBars } from "./groups.ts";

export function UlpPane(props: ChartsProps): ReactElement {
  const { summary } = props;
  const there = summary.state === "there" ? summary.value : null;
  const share = there === null ? 0 : (100 * there.ulp.identical) / Math.max(1, there.whole.elements);
  return (
    <BarsPane
      {...props}
      id="ulp"
      title="ULP"
      meta={there === null ? "" : `${share.toFixed(1)} % identical`}
      axisTitle={there === null ? "ULP" : `ULP; p99.9 ${figureText(there.ulp.p999)}, max ${figureText(there.ulp.max)}`}
      bars={there === null ? [] : ulpBars(there.ulp)}
      column="ULP, output minus oracle"
      yTitle="elements, log"
      barLimit={null}
      counts
    />
  );
}
