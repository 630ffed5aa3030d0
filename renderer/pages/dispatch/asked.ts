/** What a view asks, read from its parameters: base, changes, device, forced route; and the command that asks the same. Pure. */
import type { CallOutput } from "../../../electron/contract.ts";
import type { CaseShape } from "../../../kernels/route.ts";
import { routesFor } from "../../../kernels/routes.ts";
import { choiceOf, choiceWords, type DeviceChoice } from "../../state/device_choice.ts";
import {
  changedFields,
  DEFAULT_PRESET,
  FIELDS,
  type FieldId,
  mergedTexts,
  PRODUCTION,
  shapeKey,
  shapeOf,
  type Texts,
} from "./shape_form.ts";

export type ListedCase = CallOutput<"cases.list">["cases"][number];

export interface Asked {
  /** Id of a production shape or key of a case. */
  readonly base: string;
  readonly baseShape: CaseShape;
  readonly baseTexts: Texts;
  /** Fields that the view sets. */
  readonly given: Texts;
  readonly texts: Texts;
  readonly changed: readonly FieldId[];
  readonly shape: CaseShape;
  /** The device or chip that is asked about. */
  readonly choice: DeviceChoice;
  readonly forced: string | null;
}

/** Undefined while the view names a case and the cases are not there yet. A name that nothing has is the default. */
export function askedOf(
  params: Readonly<Record<string, string>>,
  cases: readonly ListedCase[] | undefined,
): Asked | undefined {
  const name = params.case;
  const preset = name === undefined ? DEFAULT_PRESET : PRODUCTION.find(({ id }) => id === name);
  if (preset === undefined && cases === undefined) return undefined;
  const listed = preset === undefined ? cases?.find(({ key, alias }) => key === name || alias === name) : undefined;
  const base = listed === undefined ? (preset ?? DEFAULT_PRESET) : { id: listed.key, shape: listed.shape };
  const texts = mergedTexts(base.shape, params);
  const shape = shapeOf(base.shape.operator, texts);
  const forced = routesFor(shape.operator).find((route) => route.name === params.route)?.name ?? null;
  return {
    base: base.id,
    baseShape: base.shape,
    given: Object.fromEntries(
      FIELDS[base.shape.operator].flatMap(({ id }) => (params[id] === undefined ? [] : [[id, params[id]]])),
    ),
    baseTexts: mergedTexts(base.shape, {}),
    texts,
    changed: changedFields(base.shape, texts),
    shape,
    choice: choiceOf(params),
    forced,
  };
}

/** The shape after one more change. */
export function changedShape(asked: Asked, changes: Texts): CaseShape {
  const { baseShape, given } = asked;
  return shapeOf(baseShape.operator, mergedTexts(baseShape, { ...given, ...changes }));
}

/** The case that has this shape, that of the base first. */
export function caseOf(asked: Asked, cases: readonly ListedCase[]): ListedCase | undefined {
  const key = shapeKey(asked.shape);
  const same = cases.filter(({ shape }) => shapeKey(shape) === key);
  return same.find((entry) => entry.key === asked.base) ?? same[0];
}

/** The words of `lockstep dispatch` that give the same decision. */
export function dispatchWords(asked: Asked, same: ListedCase | undefined): readonly string[] {
  const { choice, forced, shape } = asked;
  return [
    "lockstep",
    "dispatch",
    ...(same === undefined ? ["--shape", JSON.stringify(shape)] : ["--case", same.key]),
    ...choiceWords(choice),
    ...(forced === null ? [] : ["--route", forced]),
  ];
}
