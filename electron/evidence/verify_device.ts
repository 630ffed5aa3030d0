/** What a record says of the device that it ran on, held against itself and against what validation left in the bundle. */
import type { AppleFamily } from "../../native/device.ts";
import { registerBracket } from "../../native/metal/registers.ts";
import { type RunRecord, receiptSchema } from "../runs/record.ts";
import { validationGate } from "../validation/gate.ts";
import { FORMS_VERSION, readValidation } from "../validation/lines.ts";
import { RECORD_REPORTS, VALIDATION_LOG, VALIDATION_TEXT, validationLogSchema } from "../validation/report.ts";
import { stableJson } from "./json.ts";
import { RECORD, readJson, readText, type VerifyState } from "./verify_state.ts";

/** Gates of the flavours that only the emulated device has. */
const EMULATED_GATES: readonly string[] = ["lockstep", "checker"];

type RecordedDevice = NonNullable<RunRecord["device"]>;

function factOf({ facts }: RecordedDevice, id: string): string | null {
  return facts?.find((fact) => fact.id === id)?.value ?? null;
}

/** The device must be the one that was asked for, and the reason must say so. */
function choiceReasons({ choice, device, execution }: RunRecord): readonly string[] {
  if (choice === undefined || choice.asked === null || device === null) return [];
  const { asked, reasons } = choice;
  const [kind, index] = asked.split(":");
  const fits = kind === execution && (kind !== "metal" || index === undefined || device.id === asked);
  return [
    ...(fits ? [] : [`${RECORD}: ${asked} was asked for, and the run is of ${device.id}`]),
    ...(reasons[0] === `${asked} was asked for`
      ? []
      : [`${RECORD}: ${asked} was asked for, and the reason of the choice is "${reasons[0] ?? ""}"`]),
  ];
}

/** On a GPU that is no virtual one the chip is what the processor calls itself. */
function chipReasons(device: RecordedDevice): readonly string[] {
  const brand = /^Apple (M\d+(?: (?:Pro|Max|Ultra))?)$/.exec(factOf(device, "cpu_brand") ?? "")?.[1];
  if (device.virtualGpu?.value !== false || brand === undefined || brand === device.chip.value) return [];
  return [`${RECORD}: the chip is said to be ${device.chip.value}, the processor to be Apple ${brand}`];
}

/** Only Metal has clocks of a GPU, and each of its times names the one that it was read from. */
function clockReasons({ execution, device, results }: RunRecord): readonly string[] {
  const noCounters = device !== null && factOf(device, "stage_boundary_sampling") === "no";
  return results.flatMap(({ case: key, route, timings }) =>
    timings.flatMap(({ label, ns, clock, commandBufferNs, clockReason }) => {
      const name = `${key}, ${route}: the time of ${label}`;
      if (execution !== "metal") {
        const named = clock !== undefined || commandBufferNs !== undefined || clockReason !== undefined;
        return named ? [`${name} names a clock of Metal's, and the run is ${execution}`] : [];
      }
      if (clock === undefined) return [`${name} names no clock`];
      if (clock === "command_buffer" && commandBufferNs !== undefined) return [`${name} is one of counters as well`];
      if (clock === "stage_boundary_counters" && clockReason !== undefined) {
        return [`${name} is of the counters, and says why they were not read`];
      }
      if (clock === "stage_boundary_counters" && noCounters) {
        return [`${name} is of counters that the device does not sample`];
      }
      return ns >= 0 ? [] : [`${name} is ${ns} ns`];
    }),
  );
}

/** Registers in a receipt of Metal's follow from the most threads of its pipeline, on the families that tell them. */
function registerReasons(state: VerifyState, { execution, device, results }: RunRecord): readonly string[] {
  if (execution !== "metal" || device === null) return [];
  const present = new Set(state.files.map(({ path }) => path));
  return [...new Set(results.flatMap(({ receipts }) => receipts))].flatMap((file) => {
    // One that is missing or no receipt is another check's.
    const receipt = present.has(file) ? receiptSchema.safeParse(readJson(state, file)).data : undefined;
    if (receipt?.registers === undefined) return [];
    const { known } = registerBracket(
      device.family.value as AppleFamily,
      receipt.maxTotalThreadsPerThreadgroup.value,
      "",
    );
    if (stableJson(known) === stableJson(receipt.registers)) return [];
    return [
      `${file}: its registers do not follow from ${receipt.maxTotalThreadsPerThreadgroup.value} threads on ${device.family.value}`,
    ];
  });
}

/** A fact of a Metal device that shows that its GPU is a virtual one; undefined where none does. */
function virtualSign(device: NonNullable<RunRecord["device"]>): string | undefined {
  const inMachine = device.facts?.find(({ id }) => id === "virtual_machine");
  if (inMachine?.value === "yes") return "it runs in a virtual machine";
  if (/paravirtual/i.test(device.name.value)) return `its name is "${device.name.value}"`;
  const architecture = device.architecture?.value ?? "";
  if (/virtual/i.test(architecture)) return `its architecture is "${architecture}"`;
  const brand = factOf(device, "cpu_brand");
  if (brand !== null && /virtual/i.test(brand)) return `the processor is "${brand}"`;
  const family = device.family.value;
  return family === "apple5" || family === "apple6" ? `no M-series chip is of ${family}` : undefined;
}

/** Execution and device must be of one kind, and what decides a claim must not contradict what stands beside it. */
export function deviceReasons(state: VerifyState): readonly string[] {
  const { record } = state;
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
  reasons.push(...choiceReasons(record), ...clockReasons(record), ...registerReasons(state, record));
  if (execution === "metal" && device !== null) reasons.push(...chipReasons(device));
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
