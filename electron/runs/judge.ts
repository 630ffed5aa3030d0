/** From outputs to a result: comparison, gates, verdict, figures per head and row. */
import type { CaseShape, KernelDtype } from "../../kernels/route.ts";
import { tensorFromBytes, widenToF64 } from "../../oracle/tensor.ts";
import { outputLayout } from "../cases/case.ts";
import type { StoredReference } from "../cases/inputs.ts";
import { cancels, evaluate, type RunFacts, verdictOf } from "../gates/evaluate.ts";
import { type Comparison, compare, compareStored, type Group } from "./comparison.ts";
import { countPoison } from "./execute.ts";
import type { Metrics, ResultRecord } from "./record.ts";
import type { Reference } from "./reference.ts";

/** Outputs as raw bytes with their dtypes. */
export interface RawOutput {
  readonly name: "out" | "lse";
  readonly dtype: KernelDtype;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

export interface Judgement {
  readonly verdict: ResultRecord["verdict"];
  readonly gates: ResultRecord["gates"];
  readonly summary: ResultRecord["metrics"];
  readonly metrics: Metrics | null;
}

function widened(output: RawOutput): Float64Array {
  const count = output.shape.reduce((product, extent) => product * extent, 1);
  return Float64Array.from(widenToF64(tensorFromBytes(output.dtype, [count], output.bytes)));
}

function nmse(group: Group): number {
  const normaliser = cancels(group) ? group.absoluteSquares : group.referenceSquares;
  return group.errorSquares === 0 ? 0 : group.errorSquares / normaliser;
}

function groupRecord(group: Group): Metrics["whole"] {
  const { label, maxError, maxReference, conditioning } = group;
  return { label, nmse: nmse(group), maxAbs: maxError, maxReference, conditioning };
}

/** NaN counts as the worst of all. */
function byNmse(a: Group, b: Group): number {
  const [x, y] = [nmse(a), nmse(b)];
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? -1 : 1;
  return Number.isNaN(x) ? 0 : y - x;
}

const WORST_ROWS = 64;

/**
 * Judges outputs against the reference. `outputs` is undefined where the route gave none; then every gate that needs one
 * is `not_run`. `run` is null for outputs that were computed elsewhere.
 */
export function judge(
  key: string,
  route: string,
  shape: CaseShape,
  outputs: readonly RawOutput[] | undefined,
  reference: Reference | undefined,
  stored: StoredReference | undefined,
  run: RunFacts | null,
): Judgement {
  const out = outputs?.find((output) => output.name === "out");
  const lse = outputs?.find((output) => output.name === "lse");
  const dtype = out?.dtype ?? shape.dtype;
  if (out === undefined || reference === undefined) {
    const gates = evaluate({ dtype, comparison: undefined, hasStored: stored !== undefined, stored: undefined, run });
    return { verdict: verdictOf(gates), gates: [...gates], summary: null, metrics: null };
  }
  const values = widened(out);
  const unwritten =
    run === null ? undefined : countPoison(out.bytes, out.dtype) + (lse ? countPoison(lse.bytes, lse.dtype) : 0);
  const layout = outputLayout(shape);
  const comparison = compare(
    layout,
    { out: values, lse: lse && widened(lse), unwritten },
    reference.oracle,
    reference.twin,
  );
  const { whole } = comparison;
  const gates = evaluate({
    dtype,
    comparison,
    hasStored: stored !== undefined,
    stored: stored && compareStored(values, reference.oracle, stored.out, cancels(whole)),
    run,
  });
  const worstRows = [...comparison.rows].sort(byNmse).slice(0, WORST_ROWS);
  const [worstRow] = worstRows;
  return {
    verdict: verdictOf(gates),
    gates: [...gates],
    summary: {
      maxAbs: whole.maxError,
      nmse: nmse(whole),
      worstRow: worstRow?.label ?? "none",
      worstRowNmse: worstRow === undefined ? 0 : nmse(worstRow),
      unwritten: unwritten ?? null,
    },
    metrics: {
      schema: "lockstep.metrics/1",
      case: key,
      route,
      whole: groupRecord(whole),
      heads: comparison.heads.map(groupRecord),
      worstRows: worstRows.map(groupRecord),
      worstElement: worstElement(comparison, values, reference, layout),
    },
  };
}

function worstElement(
  comparison: Comparison,
  values: Float64Array,
  reference: Reference,
  layout: { readonly width: number; readonly rowLabel: (row: number) => string },
): Metrics["worstElement"] {
  const { maxErrorIndex: index, maxError } = comparison.whole;
  if (index < 0) return null;
  const where = `${layout.rowLabel(Math.floor(index / layout.width))} dim ${index % layout.width}`;
  return { index, where, value: values[index]!, reference: reference.oracle.out[index]!, error: maxError };
}
