/** What an element was computed from: the query row, the key row, the values, the largest terms, the softmax as it went. */
import { type ReactElement, useState } from "react";
import type { AnswerOf } from "../../../electron/analysis/messages.ts";
import { figureText } from "../../../electron/words.ts";
import { ValueStrip } from "../../charts/value_strip.tsx";
import { PaneHead } from "../../parts/pane.tsx";
import { Segments } from "../../parts/segments.tsx";
import { countText, plural } from "../../parts/text.ts";

type Element = AnswerOf<"element">;

/** Seven digits: enough to tell two f32 values apart. */
function digits(value: number): string {
  if (!Number.isFinite(value) || value === 0) return String(value).replace("-", "−");
  const size = Math.abs(value);
  const text = size >= 1e-3 && size < 1e6 ? value.toPrecision(7) : value.toExponential(5);
  return text.replace("-", "−");
}

/** `q row`, `k rope`. */
function partText(name: string): string {
  return name.length === 1 ? `${name} row` : name.replace("_", " ");
}

export function SoftmaxState({ element }: { readonly element: Element }): ReactElement {
  const { row, max, sum, lse, rebuilt } = element;
  const rows = [
    ["max m", max.f64, max.f32],
    ["sum s", sum.f64, sum.f32],
    ["lse", lse.f64, lse.f32],
    ["output", rebuilt.f64, rebuilt.f32],
  ] as const;
  return (
    <>
      <PaneHead
        title="Softmax of the row"
        meta={`${plural(element.keys, "key")}, scale ${figureText(element.scale)}`}
        line
      />
      <table className="el3 inset-x">
        <thead>
          <tr>
            <th />
            <th className="num">f64</th>
            <th className="num">f32</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, f64, f32]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="mono num">{digits(f64)}</td>
              <td className="mono num t2">{digits(f32)}</td>
            </tr>
          ))}
          {row.outputLse === null ? null : (
            <tr>
              <th scope="row">lse written</th>
              <td />
              <td className="mono num">{digits(row.outputLse)}</td>
            </tr>
          )}
        </tbody>
      </table>
    </>
  );
}

function Strip({
  name,
  meta,
  values,
  magnitudes = false,
}: {
  readonly name: string;
  readonly meta: string;
  readonly values: Float32Array;
  readonly magnitudes?: boolean;
}): ReactElement {
  return (
    <div className="strip1">
      <div className="row micro">
        <span className="t2">{name}</span>
        <span className="sp" />
        <span className="t3">{meta}</span>
      </div>
      <ValueStrip values={values} label={`${name}, ${values.length} values`} magnitudes={magnitudes} />
    </div>
  );
}

interface OperandsProps {
  readonly element: Element;
  readonly onCsv: () => void;
}

export function Operands({ element, onCsv }: OperandsProps): ReactElement {
  const { key, window: range } = element;
  const kv = element.kvHead === element.address.head ? "" : `KV head ${element.kvHead}, `;
  const keys = `keys ${countText(range.begin)} to ${countText(Math.max(range.begin, range.end - 1))}`;
  return (
    <>
      <PaneHead
        title="Operands"
        meta={key === null ? "the row sees no key" : `key ${countText(key.term.key)}, score ${digits(key.term.score)}`}
        line
      >
        <button type="button" className="btn quiet" title="Save the operands as CSV" onClick={onCsv}>
          CSV
        </button>
      </PaneHead>
      <div className="operands">
        {element.query.map((part) => (
          <Strip
            key={`q${part.name}`}
            name={partText(part.name)}
            meta={`${part.values.length} wide`}
            values={part.values}
          />
        ))}
        {key?.parts.map((part) => (
          <Strip
            key={`k${part.name}`}
            name={`${partText(part.name)}, key ${countText(key.term.key)}`}
            meta={`${kv}row ${countText(element.firstKey + key.term.key)}`}
            values={part.values}
          />
        ))}
        {element.values.length === 0 ? null : (
          <>
            <Strip name={`v column ${element.address.dim}`} meta={keys} values={element.values} />
            <Strip name="weights" meta={`sum ${digits(element.sum.f64)}`} values={element.weights32} magnitudes />
          </>
        )}
      </div>
    </>
  );
}

interface TopKeysProps {
  readonly element: Element;
  readonly onKey: (key: number | null) => void;
}

export function TopKeys({ element, onKey }: TopKeysProps): ReactElement {
  return (
    <>
      <PaneHead title="Largest terms" meta="weight × v, by weight" line />
      <table className="tbl fix topkeys">
        <thead>
          <tr>
            <th className="num">key</th>
            <th className="num">score</th>
            <th className="num">weight</th>
            <th className="num">v</th>
            <th className="num">term</th>
          </tr>
        </thead>
        <tbody>
          {element.top.map((term) => (
            <tr
              key={term.key}
              className={term.key === element.key?.term.key ? "pickable sel" : "pickable"}
              title="Show the row of this key above"
              tabIndex={0}
              onClick={() => onKey(term.key)}
              onKeyDown={({ key }) => key === "Enter" && onKey(term.key)}
            >
              <td className="num">{countText(term.key)}</td>
              <td className="num">{figures(term.score)}</td>
              <td className="num">{figureText(term.weight)}</td>
              <td className="num">{figures(term.value)}</td>
              <td className="num m">{signed(term.term)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {element.top.length === 0 ? <p className="nothing t3">The row sees no key; its output is 0 by contract</p> : null}
    </>
  );
}

function figures(value: number): string {
  return Number.isFinite(value) ? value.toFixed(3).replace("-", "−") : String(value).replace("-", "−");
}

function signed(value: number): string {
  return figureText(value).replace(/^-/, "−");
}

/** Steps that are shown around the largest drift of the f32 sums. */
const AROUND = 12;

export function Trace({ element }: { readonly element: Element }): ReactElement {
  const [all, setAll] = useState(false);
  const { trace } = element;
  const steps = trace.begin.length;
  let worst = 0;
  const drift = (step: number): number => Math.abs(trace.o32[step]! - trace.o[step]!);
  for (let step = 1; step < steps; step++) if (drift(step) > drift(worst)) worst = step;
  const from = all ? 0 : Math.max(0, Math.min(steps - AROUND, worst - AROUND + 3));
  const to = all ? Math.min(steps, 2000) : Math.min(steps, from + AROUND);
  return (
    <>
      <PaneHead title={trace.online ? "Online softmax" : "Softmax"} meta={plural(steps, "step")} line>
        {steps > AROUND ? (
          <Segments
            label="Steps to show"
            choices={["around", "all"] as const}
            chosen={all ? "all" : "around"}
            word={(name) => name}
            onChoose={(name) => setAll(name === "all")}
          />
        ) : null}
      </PaneHead>
      <table className="tbl fix trace">
        <thead>
          <tr>
            <th>keys</th>
            <th className="num">m f32</th>
            <th className="num">s f32</th>
            <th className="num">s f64</th>
            <th className="num">Δ o</th>
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: Math.max(0, to - from) }, (_, offset) => {
            const step = from + offset;
            return (
              <tr key={step} className={step === worst ? "sel" : ""}>
                <td className="t2">
                  {trace.begin[step]} to {trace.end[step]! - 1}
                </td>
                <td className="num">{figures(trace.m32[step]!)}</td>
                <td className="num">{figures(trace.s32[step]!)}</td>
                <td className="num t2">{figures(trace.s[step]!)}</td>
                <td className="num">{figureText(drift(step))}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p className="micro t3 inset-small">
        As the route goes: {trace.words}. Rebuilt here in f32 and in f64, step by step; Δ o is how far f32 alone drifts.
      </p>
    </>
  );
}
