/** What the budget is asked about: memory, model, cache, context. Every field is a parameter of the URL. */
import { type ReactElement, useId, useState } from "react";
import { MEMORY_SIZES_GIB } from "../../../electron/device/budget.ts";
import { BUDGET_MODELS, type CacheShape } from "../../../electron/device/models.ts";
import { setParams } from "../../state/view.ts";
import {
  type Asked,
  CLEARED,
  contextOfStep,
  DTYPES,
  RULES,
  SHAPE_FIELDS,
  SLIDER,
  stepOfContext,
  type TypedField,
} from "./asked.ts";

const FORMS: Readonly<Record<CacheShape["form"], string>> = {
  gqa: "K and V",
  mla_expanded: "expanded",
  mla_latent: "latent",
};

/** Marks below the slider. */
const ENDS = [
  ["256", 256],
  ["4K", 4096],
  ["64K", 65_536],
  ["2M", 2_097_152],
] as const;

const SHAPE_LABELS: Readonly<Partial<Record<TypedField, string>>> = {
  heads: "heads",
  kv: "KV",
  dim: "width",
  nope: "nope",
  rope: "rope",
  value: "value",
  rank: "rank",
};

interface TypedProps {
  readonly field: TypedField;
  readonly label: string;
  readonly asked: Asked;
  readonly disabled?: boolean;
  readonly title?: string;
}

/** A typed field. What is not taken stays in the field with the reason until it is left. */
function Typed({ field, label, asked, disabled = false, title }: TypedProps): ReactElement {
  const [draft, setDraft] = useState<string | null>(null);
  const shown = draft ?? asked.texts[field] ?? "";
  const wrong = draft !== null && RULES[field].read(draft) === undefined;
  const changed = asked.changed.includes(field);
  return (
    <input
      className={`inp${changed ? " chg" : ""}${wrong ? " wrong" : ""}`}
      aria-label={label}
      aria-invalid={wrong}
      title={wrong ? `${label}: ${RULES[field].takes}` : (title ?? `${label}: ${RULES[field].takes}`)}
      value={shown}
      disabled={disabled}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => {
        setDraft(event.target.value);
        const text = RULES[field].read(event.target.value);
        if (text !== undefined) setParams({ [field]: text });
      }}
      onBlur={() => setDraft(null)}
      onKeyDown={(event) => {
        if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}

interface ChoiceProps {
  readonly field: "ram" | "model" | "cache" | "dtype";
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [string, string])[];
  readonly changed?: boolean;
  readonly title?: string;
}

function Choice({ field, label, value, choices, changed = false, title }: ChoiceProps): ReactElement {
  return (
    <select
      className={changed ? "inp chg" : "inp"}
      aria-label={label}
      title={title}
      value={value}
      onChange={(event) =>
        setParams({ ...(field === "model" || field === "cache" ? CLEARED : {}), [field]: event.target.value })
      }
    >
      {choices.map(([id, text]) => (
        <option key={id} value={id}>
          {text}
        </option>
      ))}
    </select>
  );
}

function ContextSlider({ asked }: { readonly asked: Asked }): ReactElement {
  const { context } = asked.question;
  const id = useId();
  return (
    <div className="ctx">
      <input
        id={id}
        type="range"
        aria-label="Context length, logarithmic"
        aria-valuetext={`${context.toLocaleString("en-US")} tokens`}
        min={0}
        max={SLIDER.steps}
        step={1}
        value={stepOfContext(context)}
        onChange={(event) => setParams({ ctx: String(contextOfStep(Number(event.target.value))) })}
      />
      <span className="ends micro t3" aria-hidden="true">
        {ENDS.map(([words, context]) => (
          <span key={words} style={{ left: `${(100 * stepOfContext(context)) / SLIDER.steps}%` }}>
            {words}
          </span>
        ))}
      </span>
    </div>
  );
}

export function BudgetForm({ asked }: { readonly asked: Asked }): ReactElement {
  const { model, question, form, memoryGib, weights } = asked;
  return (
    <div className="budgetform">
      <div className="line">
        <span className="t2">Memory</span>
        <Choice
          field="ram"
          label="Memory"
          value={String(memoryGib)}
          choices={MEMORY_SIZES_GIB.map((size) => [String(size), `${size} GiB`])}
          title="Chosen: the chip table does not say with how much memory a chip was sold"
        />
      </div>
      <div className="line">
        <span className="t2">Model</span>
        <Choice
          field="model"
          label="Model"
          value={model.id}
          choices={BUDGET_MODELS.map(({ id, label }) => [id, label])}
          title={`${model.parametersSource}; ${model.layersSource}; ${model.cacheSource}`}
        />
      </div>
      <div className="line two">
        <span className="t2">Weights</span>
        <Typed
          field="weights"
          label="Weights"
          asked={asked}
          title={`${RULES.weights.takes}; ${model.parametersSource}`}
        />
        <Typed
          field="bits"
          label="Bits per weight"
          asked={asked}
          disabled={weights.kind === "bytes"}
          title={weights.kind === "bytes" ? "not used: the weights are given in bytes" : model.bitsSource}
        />
        <span className="t3">bits</span>
      </div>
      <div className="line pairs">
        <span className="t2">KV cache</span>
        <Choice
          field="cache"
          label="Form of the cache"
          value={form}
          choices={model.caches.map((cache) => [cache.form, FORMS[cache.form]])}
          changed={asked.changed.includes("cache")}
          title={model.cacheSource}
        />
        <Choice
          field="dtype"
          label="Type of the cache"
          value={question.dtype}
          choices={DTYPES.map((dtype) => [dtype, dtype])}
          changed={asked.changed.includes("dtype")}
          title="The decode kernels take f32"
        />
      </div>
      <div className="line shape">
        <span className="t2">Shape</span>
        {SHAPE_FIELDS[form].map((field) => (
          <span key={field} className="figure">
            <Typed field={field} label={SHAPE_LABELS[field] ?? field} asked={asked} />
            <span className="micro t3">{SHAPE_LABELS[field]}</span>
          </span>
        ))}
      </div>
      <div className="line unit">
        <span className="t2">Layers</span>
        <Typed field="layers" label="Layers whose cache grows" asked={asked} title={model.layersSource} />
        <span className="t3 nw">grow with it</span>
      </div>
      <div className="line unit">
        <span className="t2">Runtime</span>
        <Typed
          field="runtime"
          label="Runtime, GiB"
          asked={asked}
          title="Activations, temporary buffers, allocator headroom: a figure of your own"
        />
        <span className="t3 nw">GiB, chosen</span>
      </div>
      <div className="line">
        <span className="t2">Context</span>
        <Typed field="ctx" label="Context, tokens" asked={asked} />
      </div>
      <ContextSlider asked={asked} />
    </div>
  );
}
