/** How many registers a pipeline takes, as far as the most threads that it allows tells it (Apple7 and Apple8). */
import { type ChipTable, chipTable } from "../chips.ts";
import type { AppleFamily, Known } from "../device.ts";

export interface RegisterBracket {
  readonly least: number;
  readonly most: number;
}

/** The bracket, or why there is none. */
export type RegisterReading =
  | { readonly known: Known<RegisterBracket> }
  | { readonly known: null; readonly reason: string };

const STATED_LIMIT = /\bmax_total_threads_per_threadgroup\b/;
const SOURCE = "maxTotalThreadsPerThreadgroup in the register steps of native/chips.json (G13, G14)";

/**
 * 32-bit registers of a thread. On Apple7 and Apple8 the hardware allows as many threads as the register file has room
 * for, in the steps of Mesa's agx_occupancy_for_register_count; later families hand registers out as they are needed.
 * @param maxThreads `maxTotalThreadsPerThreadgroup` of the pipeline
 * @param source text of the source: a limit that a kernel states itself says nothing about registers
 */
export function registerBracket(
  family: AppleFamily,
  maxThreads: number,
  source: string,
  table: ChipTable = chipTable(),
): RegisterReading {
  const none = (reason: string): RegisterReading => ({ known: null, reason });
  if (family !== "apple7" && family !== "apple8") {
    return none(`the most threads of a pipeline tell its registers on Apple7 and Apple8 alone; this is ${family}`);
  }
  if (STATED_LIMIT.test(source)) {
    return none("the source states max_total_threads_per_threadgroup, which hides what the registers would allow");
  }
  const steps = table.register_occupancy_g13_g14.table;
  const at = steps.findIndex(([, threads]) => threads === maxThreads);
  const step = steps[at];
  if (step === undefined) {
    const known = steps.map(([, threads]) => threads.toLocaleString("en-US")).join(", ");
    return none(`the pipeline allows ${maxThreads.toLocaleString("en-US")} threads; the register steps are ${known}`);
  }
  const below = steps[at - 1]?.[0] ?? 0;
  // The table counts halves of 16 bits.
  const value = { least: Math.floor(below / 2) + 1, most: Math.ceil(step[0] / 2) };
  return { known: { value, by: "table", source: SOURCE } };
}
