/** The unified-memory budget: the question, the bar, its parts as a table, and the longest context by memory. */
import { type ReactElement, useMemo } from "react";
import {
  type Budget,
  type BudgetPart,
  type BudgetQuestion,
  binaryText,
  memoryBudget,
} from "../../../electron/device/budget.ts";
import { csvText, saveCsv, saveSvg } from "../../charts/save.ts";
import { Glyph } from "../../parts/glyph.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";

import { Segments } from "../../parts/segments.tsx";
import { countText } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { setParams } from "../../state/view.ts";
import { type Asked, CLEARED } from "./asked.ts";
import { BudgetBar } from "./budget_bar.tsx";
import { BudgetForm } from "./budget_form.tsx";
import { ByMemory } from "./by_memory.tsx";
import { longestText, memoryRows } from "./memory_rows.ts";
import { useWide } from "./use_wide.ts";

const BY: Readonly<Record<BudgetPart["by"], string>> = {
  formula: "formula",
  chosen: "chosen",
  estimate: "estimate",
  api: "API",
  unknown: "not known",
};

const GLYPHS = { fits: "pass", may_fit: "ambig", does_not_fit: "fail" } as const;

function noteOf({ model, memoryGib, question }: Asked): string {
  const { limit, dtype, layers, context } = question;
  return `memory budget, computed, not measured: ${memoryGib} GiB, ${model.label}, ${dtype} cache, ${layers} layers, ${context} tokens; limit: ${limit.by}, ${limit.rule} (${limit.source})`;
}

function fileOf({ model, memoryGib }: Asked): string {
  return `memory-budget-${model.id}-${memoryGib}GiB`;
}

function saveTable(asked: Asked, budget: Budget): void {
  const rows = budget.parts.map(({ label, bytes, by, how }) => [label, bytes, BY[by], how]);
  saveCsv(fileOf(asked), csvText(noteOf(asked), ["part", "bytes", "known by", "how"], rows));
}

function saveDrawing(asked: Asked): void {
  const svg = document.querySelector<SVGSVGElement>('[data-chart="budget"] svg');
  if (svg !== null) saveSvg(fileOf(asked), svg, noteOf(asked));
}

function Parts({ budget, memoryBytes }: { readonly budget: Budget; readonly memoryBytes: number }): ReactElement {
  return (
    <div className="body scroll">
      <table className="tbl fix parts">
        <thead>
          <tr>
            <th className="c-part">part</th>
            <th className="num c-bytes">bytes</th>
            <th className="num c-share">%</th>
            <th className="c-by">known by</th>
            <th>how</th>
          </tr>
        </thead>
        <tbody>
          {budget.parts.map(({ id, label, bytes, by, how }) => (
            <tr key={id}>
              <td className="el">
                <i className={`swatch seg-${id}`} aria-hidden="true" />
                {label}
              </td>
              <td className="num" title={`${countText(bytes)} bytes`}>
                {by === "unknown" ? "not known" : binaryText(bytes)}
              </td>
              <td className="num t2">{by === "unknown" ? "" : ((100 * bytes) / memoryBytes).toFixed(1)}</td>
              <td className={by === "formula" || by === "api" ? "t2" : "ambig"}>{BY[by]}</td>
              <td className="t3 el" title={how}>
                {how}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What one more token costs, and the longest context that fits. */
function Facts({ budget, question }: { readonly budget: Budget; readonly question: BudgetQuestion }): ReactElement {
  const { low, high } = budget.longest;
  return (
    <p className="small t2 facts-line">
      <span>
        <b className="m">{binaryText(budget.bytesPerToken)}</b> of KV per token
      </span>
      <span>
        longest context that fits: <b className="m">{longestText(low)}</b>
        {low.tokens === high.tokens ? "" : ` to ${longestText(high)}`}
      </span>
      <span className="t3 el" title={`${question.limit.rule} (${question.limit.source})`}>
        limit: {question.limit.rule}
      </span>
    </p>
  );
}

interface BudgetPaneProps {
  readonly asked: Asked;
  readonly view: "parts" | "memory";
}

const VIEW_WORDS = { parts: "Parts", memory: "By memory" } as const;

export function BudgetPane({ asked, view }: BudgetPaneProps): ReactElement {
  const { question, memoryGib, changed } = asked;
  const key = JSON.stringify(question);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the question.
  const budget = useMemo(() => memoryBudget(question), [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: likewise.
  const rows = useMemo(() => memoryRows(question), [key]);
  const wide = useWide();
  useAction("chart.export", () => saveTable(asked, budget));
  return (
    <Pane label="Memory budget" className="hl budget">
      <PaneHead title="Memory budget" meta="computed, not measured">
        {wide ? null : (
          <Segments
            label="Table of the budget"
            choices={["parts", "memory"] as const}
            chosen={view}
            word={(choice) => VIEW_WORDS[choice]}
            onChoose={(choice) => setParams({ budget: choice === "parts" ? null : choice })}
          />
        )}
        <button
          type="button"
          className="btn quiet"
          disabled={changed.length === 0}
          onClick={() => setParams(CLEARED)}
          title="Back to the model's own figures"
        >
          Reset
        </button>
        <button
          type="button"
          className="btn quiet"
          title="Save the figures (E)"
          onClick={() => saveTable(asked, budget)}
        >
          CSV
        </button>
        <button type="button" className="btn quiet" title="Save the picture" onClick={() => saveDrawing(asked)}>
          SVG
        </button>
      </PaneHead>
      <div className="budgetbody">
        <BudgetForm asked={asked} />
        <div className="budgetmain">
          <p className="row fit" aria-live="polite" data-fit={budget.state}>
            <Glyph name={GLYPHS[budget.state]} />
            <span className="m el" title={budget.sentence}>
              {budget.sentence}
            </span>
          </p>
          <BudgetBar budget={budget} limit={question.limit} memoryBytes={question.memoryBytes} />
          <Facts budget={budget} question={question} />
          {view === "parts" || wide ? (
            <Parts budget={budget} memoryBytes={question.memoryBytes} />
          ) : (
            <ByMemory rows={rows} current={memoryGib} />
          )}
        </div>
        {wide ? (
          <div className="budgetside vl">
            <PaneHead title="Longest context by memory" meta="low end of the estimated limit" />
            <ByMemory rows={rows} current={memoryGib} />
          </div>
        ) : null}
      </div>
    </Pane>
  );
}
