/** The two views of the page: sources, and the checker's reports. */
import type { ReactElement } from "react";
import { Segments } from "../../parts/segments.tsx";
import { go, useView } from "../../state/view.ts";

const VIEWS = ["source", "reports"] as const;

export function ViewSegments(): ReactElement {
  const { params } = useView();
  const chosen = params.view === "reports" ? "reports" : "source";
  return (
    <Segments
      label="View"
      choices={VIEWS}
      chosen={chosen}
      word={(view) => (view === "source" ? "Source" : "Reports")}
      onChoose={(view) => {
        const { view: _view, report: _report, side: _side, line: _line, q: _q, ...rest } = params;
        if (view !== chosen) go("kernels", view === "reports" ? { ...rest, view } : rest);
      }}
    />
  );
}
