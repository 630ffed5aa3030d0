/** What a record says of the device that it ran on, held against itself and against what validation left in the bundle. */
import type { RunRecord } from "../runs/record.ts";
import { validationGate } from "../validation/gate.ts";
import { FORMS_VERSION, readValidation } from "../validation/lines.ts";
import { RECORD_REPORTS, VALIDATION_LOG, VALIDATION_TEXT, validationLogSchema } from "../validation/report.ts";
import { stableJson } from "./json.ts";
import { RECORD, readJson, readText, type VerifyState } from "./verify_state.ts";

/** Gates of the flavours that only the emulated device has. */
const EMULATED_GATES: readonly string[] = ["lockstep", "checker"];

/** A fact of a Metal device that shows that its GPU is a virtual one; undefined where none does. */
function virtualSign(device: NonNullable<RunRecord["device"]>): string | undefined {
  const inMachine = device.facts?.find(({ id }) => id === "virtual_machine");
  if (inMachine?.value === "yes") return "it runs in a virtual machine";
  if (/paravirtual/i.test(device.name.value)) return `its name is "${device.name.value}"`;
  const family = device.family.value;
  return family === "apple5" || family === "apple6" ? `no M-series chip is of ${family}` : undefined;
}

/** Execution and device must be of one kind, and what decides a claim must not contradict what stands beside it. */
export function deviceReasons({ record }: VerifyState): readonly string[] {
  if (record === null) return ["no record to check"];
  const { execution, device, results } = record;
  const reasons: string[] = [];
  if (execution === "imported") {
    if (device !== null) reasons.push(`${RECORD}: imported results name a device`);
  } else if (device === null) reasons.push(`${RECORD}: no device is named`);
  else if (device.execution !== execution) {
    reasons.push(`${RECORD}: results are ${execution}, the device ${device.id} is ${device.execution}`);
  }
  if (execution === "metal" && device !== null) {
    const sign = virtualSign(device);
    if (device.virtualGpu?.value === false && sign !== undefined) {
      reasons.push(`${RECORD}: the GPU is said to be no virtual one, but ${sign}`);
    }
  }
  if (execution === "emulated") return reasons;
  for (const { case: key, route, gates, flavour } of results) {
    for (const { id } of gates.filter((gate) => EMULATED_GATES.includes(gate.id))) {
      reasons.push(`${key}, ${route}: the gate ${id} is the emulated device's alone`);
    }
    if (flavour !== undefined) reasons.push(`${key}, ${route}: the flavour ${flavour} is the emulated device's alone`);
  }
  return reasons;
}

/** Log, record and gates of validation follow from the text that Metal wrote. */
export function validationReasons(state: VerifyState): readonly string[] {
  const { record } = state;
  if (record === null) return ["no record to check"];
  const marked = record.results.filter(({ timings }) => timings.some(({ instrumented }) => instrumented === true));
  const gated = record.results.filter(({ gates }) => gates.some(({ id }) => id === "validation"));
  const { validation } = record;
  if (validation === undefined) {
    return [
      ...[...new Set([...marked, ...gated])].map(
        ({ case: key, route }) => `${key}, ${route}: speaks of validation, which the record does not have`,
      ),
      ...record.files.filter(({ role }) => role === "validation").map(({ path }) => `${path}: of no validation`),
    ];
  }
  if (record.execution !== "metal") return [`${RECORD}: validation is Metal's, and this run is ${record.execution}`];
  const reasons: string[] = [];
  const log = validationLogSchema.parse(readJson(state, VALIDATION_LOG));
  if (log.forms === FORMS_VERSION) {
    if (stableJson(readValidation(readText(state, VALIDATION_TEXT))) !== stableJson(log)) {
      reasons.push(`${VALIDATION_LOG}: not what ${VALIDATION_TEXT} says`);
    }
  } else {
    state.notes.push(`${VALIDATION_LOG} was read with other forms of lines and was not compared with its text.`);
  }
  const { enabled, counts, reports } = validation;
  const carried = { enabled: log.enabled, counts: log.counts, reports: log.reports.slice(0, RECORD_REPORTS) };
  if (stableJson({ enabled, counts, reports }) !== stableJson(carried)) {
    reasons.push(`${RECORD}: its validation is not that of ${VALIDATION_LOG}`);
  }
  for (const result of record.results) {
    const name = `${result.case}, ${result.route}`;
    const gate = result.gates.find(({ id }) => id === "validation");
    if (gate === undefined) reasons.push(`${name}: the gate validation is left out`);
    else if (stableJson(gate) !== stableJson(validationGate(log, result))) {
      reasons.push(`${name}: its gate validation is not what ${VALIDATION_LOG} gives`);
    }
    if (result.timings.some(({ instrumented }) => instrumented !== true)) {
      reasons.push(`${name}: a time of instrumented pipelines is not marked`);
    }
  }
  return reasons;
}
