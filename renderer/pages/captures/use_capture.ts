/** What the panes of the page have in common: the selection, its receipts, the names of their files. */

import type { CallOutput } from "../../../electron/contract.ts";
import {
  type ContractCheck,
  checkContract,
  checkDispatch,
  type DispatchCheck,
  type PipelineFacts,
} from "../../../kernels/contract.ts";
import { contractFor, variantsOf } from "../../../kernels/contracts.ts";
import type { CaseShape } from "../../../kernels/route.ts";
import { geometryText, lengthText, originText } from "../../parts/text.ts";
import type { CaseRecord, RunModel } from "../../state/run_model.ts";
import { planFor } from "../kernels/plan.ts";
import type { Selected } from "./selection.ts";

export type Inspected = CallOutput<"captures.inspect">;
type Receipt = Inspected["receipts"][number]["receipt"];

export interface Capture {
  readonly run: RunModel;
  readonly selected: Selected;
}

/** The shape of a case for the tables beside the kernels. */
export function shapeOf({ shape }: CaseRecord): CaseShape {
  return shape;
}

/** Receipts that were made for the plan at hand, in the flavour whose times are recorded: lockstep where it is pinned. */
export function factsOf(
  receipts: readonly Receipt[],
  defines: Readonly<Record<string, string | number>>,
  flavour: "fast" | "lockstep" = "fast",
): readonly PipelineFacts[] {
  const wanted = JSON.stringify(Object.entries(defines).sort());
  return receipts.filter(
    (receipt) => receipt.flavour === flavour && JSON.stringify(Object.entries(receipt.defines).sort()) === wanted,
  );
}

/** The receipt of a kernel among those of the selected plan; undefined where no pipeline was built. */
export function receiptOf(selected: Selected, receipts: readonly Receipt[], kernel: string): Receipt | undefined {
  const planned = planFor(shapeOf(selected.record), selected.route);
  if (planned.plan === undefined) return undefined;
  const own = factsOf(receipts, planned.plan.defines, selected.result?.flavour) as readonly Receipt[];
  return own.find((receipt) => receipt.function === kernel);
}

export type Checked =
  | {
      readonly check: ContractCheck;
      /** Dispatches that were considered and are not taken. */
      readonly variants: readonly DispatchCheck[];
      readonly reason?: undefined;
    }
  | { readonly check?: undefined; readonly variants?: undefined; readonly reason: string };

/** The selected route against its contract, or why there is nothing to hold it against. */
export function checkOf(selected: Selected, receipts: readonly Receipt[]): Checked {
  const shape = shapeOf(selected.record);
  const contract = contractFor(shape, selected.route);
  const planned = planFor(shape, selected.route);
  if (contract === undefined) return { reason: `${selected.route} is no route of this version: no contract` };
  if (planned.plan === undefined) return { reason: planned.refusal };
  const { plan } = planned;
  const facts = factsOf(receipts, plan.defines, selected.result?.flavour);
  const variants = variantsOf(shape, plan).map((dispatch) => checkDispatch(contract, plan, dispatch, facts));
  return { check: checkContract(contract, plan, facts), variants };
}

/** What a file says of where its figures come from; how they were executed stands first, where no picture cuts it off. */
export function noteOf({ run, selected }: Capture, what: string): string {
  const { record, route, other } = selected;
  const routes = other === null ? route : `${route} and ${other}`;
  return `execution ${run.execution}; ${what}; ${record.key}, ${routes}, ${run.id}`;
}

export function fileOf({ run, selected }: Capture, what: string): string {
  return `${what}-${selected.record.key}-${selected.route}-${run.execution}`.replaceAll(/[^\w.-]+/g, "_");
}

/** `L 33 f32, spread, 32/4/512`: what tells cases of an operator apart comes first. */
export function caseText({ shape, key }: CaseRecord): string {
  return `${lengthText(shape)} ${shape.dtype}, ${originText(key)}, ${geometryText(shape)}`;
}
