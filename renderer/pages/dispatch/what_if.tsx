/** The question: a case or production shape, and what is changed of it. Every change is asked at once. */
import { type ReactElement, useState } from "react";
import { OPERATORS, routesFor } from "../../../kernels/routes.ts";
import { DeviceSelect } from "../../parts/device_select.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { AT_HAND, type DeviceEntry, type Profile, paramsOf } from "../../state/device_choice.ts";
import { useAnswer } from "../../state/session.ts";
import { setParams } from "../../state/view.ts";
import type { Asked, ListedCase } from "./asked.ts";
import { variationsOf } from "./flips.ts";
import { DTYPES, FIELDS, type Field, type FieldId, PRODUCTION, presetOf, readField, type Texts } from "./shape_form.ts";
import type { Decision } from "./words.ts";

const NO_DEVICES: readonly DeviceEntry[] = [];

/** Parameters of the URL that a new base takes away. */
const CLEARED: Readonly<Record<string, null>> = Object.fromEntries(
  Object.values(FIELDS)
    .flat()
    .map(({ id }) => [id, null]),
);

function setBase(id: string): void {
  setParams({ ...CLEARED, case: id, route: null, open: null });
}

interface RowProps {
  /** More room for the value. */
  readonly wide?: boolean;
  readonly label: string;
  readonly hint: string;
  /** What it was before it was changed; undefined where it was not. */
  readonly was: string | undefined;
  readonly children: ReactElement;
}

function FieldRow({ label, hint, was, wide = false, children }: RowProps): ReactElement {
  return (
    <div className={wide ? "fld wide" : "fld"} title={hint}>
      <span className="t2">{label}</span>
      {children}
      {was === undefined ? <span /> : <span className="d" title={`was ${was}`} role="img" aria-label={`was ${was}`} />}
    </div>
  );
}

interface InputProps {
  readonly field: Field;
  readonly asked: Asked;
}

function ShapeField({ field, asked }: InputProps): ReactElement {
  const { operator } = asked.shape;
  const [draft, setDraft] = useState<string | null>(null);
  const changed = asked.changed.includes(field.id);
  const own = asked.baseTexts[field.id] ?? "";
  const text = asked.texts[field.id] ?? "";
  const shown = draft ?? (field.kind === "count" ? Number(text).toLocaleString("en-US") : text);
  const read = readField(operator, field, shown);
  const fault = "fault" in read ? read.fault : undefined;
  const put = (next: string): void => {
    const value = readField(operator, field, next);
    if ("text" in value) setParams({ [field.id]: value.text === own ? null : value.text });
  };
  const look = `inp${changed ? " chg" : ""}${fault === undefined ? "" : " wrong"}`;
  const options = DTYPES[operator];
  return (
    <>
      <FieldRow label={field.label} hint={field.hint} was={changed ? own : undefined}>
        {field.kind === "dtype" ? (
          <select
            className={look}
            aria-label={field.label}
            value={text}
            disabled={options.length === 1}
            onChange={(event) => put(event.target.value)}
          >
            {options.map((dtype) => (
              <option key={dtype}>{dtype}</option>
            ))}
          </select>
        ) : (
          <input
            className={look}
            aria-label={field.label}
            aria-invalid={fault !== undefined}
            spellCheck={false}
            autoComplete="off"
            inputMode={field.kind === "count" ? "numeric" : "text"}
            value={shown}
            onChange={(event) => {
              setDraft(event.target.value);
              put(event.target.value);
            }}
            onBlur={() => setDraft(null)}
            onKeyDown={(event) => {
              if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
            }}
          />
        )}
      </FieldRow>
      {fault === undefined ? null : (
        <p className="fault fail" role="alert">
          {fault}
        </p>
      )}
    </>
  );
}

function BaseSelect({ asked, cases }: { readonly asked: Asked; readonly cases: readonly ListedCase[] }): ReactElement {
  return (
    <select
      className="inp base"
      aria-label="Case to begin with"
      title="A production shape or a case of the suites to begin with"
      value={asked.base}
      onChange={(event) => setBase(event.target.value)}
    >
      {OPERATORS.map((operator) => (
        <optgroup key={operator} label={`Production shapes of ${operator}`}>
          {PRODUCTION.filter(({ shape }) => shape.operator === operator).map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </optgroup>
      ))}
      {OPERATORS.map((operator) => (
        <optgroup key={operator} label={`Cases of ${operator}`}>
          {cases
            .filter(({ shape }) => shape.operator === operator)
            .map(({ key }) => (
              <option key={key} value={key}>
                {key.slice(operator.length + 1)}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}

interface FlipsProps {
  readonly asked: Asked;
  readonly decisions: readonly (Decision | null)[];
  readonly now: string | null;
}

/** Single changes that flip the route, as the workbench answered them. */
function Flips({ asked, decisions, now }: FlipsProps): ReactElement {
  const flips = variationsOf(asked).flatMap(({ label, changes }, index) => {
    const decision = decisions[index];
    return decision == null || decision.route === now ? [] : [{ label, changes, route: decision.route }];
  });
  const apply = (changes: Texts): void => {
    const entries = Object.entries(changes).map(([id, text]) => {
      const own = asked.baseTexts[id as FieldId];
      return [id, text === own ? null : text] as const;
    });
    setParams(Object.fromEntries(entries));
  };
  return (
    <>
      <PaneHead title="What flips it" meta="one change each" line />
      {flips.length === 0 ? <p className="nothing t3">None of the single changes tried gives another route</p> : null}
      {flips.map(({ label, changes, route }) => (
        <button key={label} type="button" className="flip" title="Make this change" onClick={() => apply(changes)}>
          <span className="t2">{label}</span>
          <span className={route === null ? "m fail nw" : "m nw"}>{route ?? "no route"}</span>
        </button>
      ))}
    </>
  );
}

interface WhatIfProps extends FlipsProps {
  readonly cases: readonly ListedCase[];
  /** The device at hand, which is asked about where none is chosen. */
  readonly standard: Profile | undefined;
}

export function WhatIf({ asked, cases, standard, decisions, now }: WhatIfProps): ReactElement {
  const { shape, choice, forced } = asked;
  const listed = useAnswer("devices.list", { chip: choice.chip });
  const devices = listed.state === "there" ? listed.value.devices : NO_DEVICES;
  const isDefault = choice.device === null && choice.chip === null;
  const changes = asked.changed.length + (isDefault ? 0 : 1) + (forced === null ? 0 : 1);
  return (
    <Pane label="What if" className="scroll whatif">
      <PaneHead title="What if" meta={changes === 0 ? "nothing changed" : `${changes} changed`}>
        <button
          type="button"
          className="btn quiet"
          disabled={changes === 0}
          onClick={() => setParams({ ...CLEARED, ...paramsOf(AT_HAND), route: null, open: null })}
        >
          Reset
        </button>
      </PaneHead>
      <div className="fields">
        <BaseSelect asked={asked} cases={cases} />
        <FieldRow label="Operator" hint="a new operator begins with its production shape" was={undefined}>
          <select
            className="inp"
            aria-label="Operator"
            value={shape.operator}
            onChange={(event) => {
              const operator = OPERATORS.find((name) => name === event.target.value);
              if (operator !== undefined) setBase(presetOf(operator).id);
            }}
          >
            {OPERATORS.map((operator) => (
              <option key={operator}>{operator}</option>
            ))}
          </select>
        </FieldRow>
        {FIELDS[shape.operator].map((field) => (
          <ShapeField key={`${asked.base} ${field.id}`} field={field} asked={asked} />
        ))}
        <hr />
        <FieldRow
          label="Device"
          wide
          hint="whose family, system and limits the predicates look at"
          was={isDefault ? undefined : standard?.name.value}
        >
          <DeviceSelect
            label="Device to ask about"
            devices={devices}
            choice={choice}
            onChoose={(next) => setParams(paramsOf(next))}
          />
        </FieldRow>
        <FieldRow
          label="Force"
          wide
          hint="takes this route whatever the policy says; its own requirements must still hold"
          was={forced === null ? undefined : "none"}
        >
          <select
            className={forced === null ? "inp t3" : "inp chg"}
            aria-label="Force route"
            value={forced ?? ""}
            onChange={(event) => setParams({ route: event.target.value })}
          >
            <option value="">none</option>
            {routesFor(shape.operator).map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </FieldRow>
      </div>
      <Flips asked={asked} decisions={decisions} now={now} />
    </Pane>
  );
}
