/**
 * The limits of a record's gates, as far as they follow from the table of gates and from the figures per head and row: a
 * raised limit must not turn a failure into a pass. What rests on the inputs alone (the twin of f16 and bf16, values that
 * cancel) would need the oracle again.
 */
import { nmseLimitF32 } from "../gates/evaluate.ts";
import { GATE_CONSTANTS, type GateId } from "../gates/gates.ts";
import { type Metrics, metricsSchema, type RunRecord } from "../runs/record.ts";
import { readJson, type VerifyState } from "./verify_state.ts";

type Result = RunRecord["results"][number];
type Gate = Result["gates"][number];

/** Limits that are the same in every case. */
const FIXED: Readonly<Partial<Record<GateId, number>>> = {
  coverage: 0,
  finite: 0,
  exact_zero: 0,
  sentinels: 0,
  repeat: 0,
  lockstep: 0,
  checker: 0,
  resources: 0,
  validation: 0,
  subnormal: GATE_CONSTANTS.subnormalError,
  oracle_agreement: GATE_CONSTANTS.referenceAgreement,
};

/** |lse| is at most C + ln of the number of keys, and nobody has e^64 of them. */
const MOST_LOG_KEYS = 64;

/** Sums in another order may differ in the last digits. */
const TOLERANCE = 1e-9;

/** What the limit may be at most, or undefined where the record does not tell. */
function mostOf(gate: Gate, f32: boolean, metrics: Metrics | null): number | undefined {
  const fixed = FIXED[gate.id];
  if (fixed !== undefined) return fixed;
  if (metrics === null) return undefined;
  const { whole, heads, worstRows } = metrics;
  const c = GATE_CONSTANTS;
  if (gate.id === "lse") {
    return Math.max(c.lseFloor, c.conditioningFactor * c.unitRoundoff * (whole.conditioning + MOST_LOG_KEYS));
  }
  if (!f32) return undefined;
  const group = [whole, ...heads, ...worstRows].find(({ label }) => label === gate.where);
  const nmse = group === undefined ? c.nmseCeiling : nmseLimitF32(group.conditioning);
  switch (gate.id) {
    case "nmse_case":
    case "nmse_head":
    case "nmse_row":
      return nmse;
    case "slope":
      return Math.max(c.slope, Math.sqrt(nmse));
    case "max_abs":
      // Where values cancel the limit is a share of sum p|v|, which the figures do not have.
      return group === undefined || gate.note !== null ? undefined : Math.sqrt(nmse) * group.maxReference;
    default:
      return undefined;
  }
}

/** Null where there are none; a file that cannot be read is another check's fault. */
function metricsOf(state: VerifyState, { metricsPath }: Result): Metrics | null {
  if (metricsPath === null) return null;
  try {
    return metricsSchema.parse(readJson(state, metricsPath));
  } catch {
    return null;
  }
}

/** Limits that are larger than they may be, in words. */
export function limitReasons(state: VerifyState, result: Result): readonly string[] {
  const metrics = metricsOf(state, result);
  const f32 = result.outputs.find(({ name }) => name === "out")?.dtype === "f32";
  return result.gates.flatMap((gate) => {
    if (gate.limit === null) return [];
    const most = mostOf(gate, f32, metrics);
    if (most === undefined || gate.limit <= most * (1 + TOLERANCE)) return [];
    return [`${result.case}, ${result.route}: the limit of ${gate.id} is ${gate.limit}; it follows to be ${most}`];
  });
}
