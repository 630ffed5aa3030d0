/**
 * How many threadgroups of a pipeline one core holds: an estimate from a named model, as a range where the model's facts
 * are one. Pure; the window computes it as a slider moves.
 */
import type { OccupancyModel } from "./messages.ts";

const SIMD_WIDTH = 32;
/** Metal hands out threadgroup memory in steps of 16 bytes. */
const MEMORY_STEP = 16;
/** Bytes of a 32-bit register over the 32 lanes of a simdgroup. */
const REGISTER_BYTES = 4 * SIMD_WIDTH;

export interface OccupancyInput {
  readonly threads: number;
  /** Static plus dynamic threadgroup bytes. */
  readonly bytes: number;
  /** 32-bit registers of a thread; null where they are not known. */
  readonly registers: number | null;
}

export interface Span {
  readonly low: number;
  readonly high: number;
}

const LIMITS = ["threads", "registers", "memory"] as const;
export type LimitId = (typeof LIMITS)[number];

/** Threadgroups that one resource of a core allows. */
export interface LimitEstimate {
  readonly id: LimitId;
  readonly groups: Span;
  /** What the figure rests on: `57,344 to 61,440 B, inferred`. */
  readonly note: string;
  /** `limits`: nothing else holds fewer. `may`: it does where its facts lie at the low end. */
  readonly role: "limits" | "may" | "free";
}

export type OccupancyEstimate =
  | {
      readonly state: "fits";
      readonly limits: readonly LimitEstimate[];
      readonly groups: Span;
      readonly simdgroups: Span;
    }
  /** Such a dispatch does not launch at all. */
  | { readonly state: "refused"; readonly reason: string };

function whole(value: number): string {
  return value.toLocaleString("en-US");
}

/** Simdgroups that the registers alone allow. Null registers: anything from one to the most that a thread can have. */
function registerSimdgroups(model: OccupancyModel, registers: number | null): Span {
  if (registers === null) {
    return {
      low: registerSimdgroups(model, model.registersPerThread).low,
      high: registerSimdgroups(model, 1).high,
    };
  }
  const { registers: facts } = model;
  const held = Math.max(1, registers);
  if (facts.kind === "steps") {
    const byFile = (halves: number): number => Math.floor(facts.fileBytes / (2 * halves * SIMD_WIDTH));
    const [first] = facts.steps;
    if (2 * held < first!.halves) {
      return { low: first!.threads / SIMD_WIDTH, high: byFile(2 * held) };
    }
    const step = facts.steps.find(({ halves }) => 2 * held <= halves) ?? facts.steps.at(-1)!;
    return { low: step.threads / SIMD_WIDTH, high: step.threads / SIMD_WIDTH };
  }
  const fitted = facts.fileBytes / (REGISTER_BYTES * held);
  if (facts.measured.length === 0) return { low: fitted, high: fitted };
  const seen = interpolated(facts.measured, held);
  return { low: Math.min(seen, fitted), high: Math.max(seen, fitted) };
}

/** Straight lines between measured points; the nearest point outside of them. */
function interpolated(
  points: readonly { readonly registers: number; readonly simdgroups: number }[],
  registers: number,
): number {
  const sorted = [...points].sort((a, b) => a.registers - b.registers);
  const after = sorted.findIndex((point) => point.registers >= registers);
  if (after < 0) return sorted.at(-1)!.simdgroups;
  const [left, right] = [sorted[Math.max(0, after - 1)]!, sorted[after]!];
  if (left.registers === right.registers) return right.simdgroups;
  const share = (registers - left.registers) / (right.registers - left.registers);
  return left.simdgroups + share * (right.simdgroups - left.simdgroups);
}

function registerNote({ registers, registersPerThread }: OccupancyModel, given: number | null): string {
  const size = `${whole(Math.round(registers.fileBytes / 1024))} KiB file, ${registers.basis}`;
  return given === null ? `1 to ${registersPerThread} registers; ${size}` : size;
}

/**
 * The estimate for one pipeline. Throws RangeError where threads, bytes or registers are not counts.
 *
 * threads: min(threads of a core / threads, simdgroups of a core / simdgroups); memory: bytes of a core / bytes;
 * registers: see the model. The least of the three is what a core holds.
 */
export function estimateOccupancy(model: OccupancyModel, input: OccupancyInput): OccupancyEstimate {
  const { threads, bytes, registers } = input;
  for (const [name, value, least] of [
    ["threads", threads, 1],
    ["bytes", bytes, 0],
    ["registers", registers ?? 1, 1],
  ] as const) {
    if (!Number.isInteger(value) || value < least) {
      throw new RangeError(`${name} is ${value}; give a whole number of at least ${least}`);
    }
  }
  const refused = refusal(model, input);
  if (refused !== undefined) return { state: "refused", reason: refused };

  const simdgroups = Math.ceil(threads / SIMD_WIDTH);
  const slots = Math.min(model.simdgroupsPerCore.value, Math.floor(model.threadsPerCore.value / SIMD_WIDTH));
  const byThreads = Math.floor(slots / simdgroups);
  const registerSpan = registerSimdgroups(model, registers);
  const limits: Omit<LimitEstimate, "role">[] = [
    {
      id: "threads",
      groups: { low: byThreads, high: byThreads },
      note: `${whole(model.threadsPerCore.value)} threads a core, ${model.threadsPerCore.basis}`,
    },
    {
      id: "registers",
      groups: { low: Math.floor(registerSpan.low / simdgroups), high: Math.floor(registerSpan.high / simdgroups) },
      note: registerNote(model, registers),
    },
  ];
  if (bytes > 0) {
    const taken = Math.ceil(bytes / MEMORY_STEP) * MEMORY_STEP;
    const { low, high, basis } = model.threadgroupBytesPerCore;
    const size = low === high ? whole(low) : `${whole(low)} to ${whole(high)}`;
    limits.push({
      id: "memory",
      groups: { low: Math.floor(low / taken), high: Math.floor(high / taken) },
      note: `${size} B a core, ${basis}`,
    });
  }
  const least = (end: keyof Span): number => Math.min(...limits.map(({ groups }) => groups[end]));
  const groups = { low: least("low"), high: least("high") };
  return {
    state: "fits",
    limits: limits.map((limit) => ({ ...limit, role: roleOf(limit.groups, groups) })),
    groups,
    simdgroups: { low: groups.low * simdgroups, high: groups.high * simdgroups },
  };
}

/** A resource that holds as few as the core holds for certain, or may at its low end. */
function roleOf(own: Span, core: Span): LimitEstimate["role"] {
  if (own.high <= core.high) return "limits";
  return own.low <= core.low ? "may" : "free";
}

function refusal(model: OccupancyModel, { threads, bytes, registers }: OccupancyInput): string | undefined {
  if (threads > model.maxThreadsPerThreadgroup) {
    return `${whole(threads)} threads; a threadgroup launches ${whole(model.maxThreadsPerThreadgroup)} at most`;
  }
  if (bytes > model.maxThreadgroupBytes) {
    return `${whole(bytes)} threadgroup bytes; the limit is ${whole(model.maxThreadgroupBytes)}: use a smaller tile`;
  }
  if (registers !== null && registers > model.registersPerThread) {
    return `${whole(registers)} registers; a thread has ${whole(model.registersPerThread)}, the rest spills`;
  }
  return undefined;
}

/** 32-bit registers of a thread, both ends included. */
export type RegisterBracket = Span & { readonly source: string };

/**
 * Registers that a pipeline's launchable threads tell on a family whose occupancy is static: the compiler lowers the
 * threads in known steps. Undefined where the figure is no answer of a device, or the family does not lower it.
 */
export function registerBracket(
  model: OccupancyModel,
  launchable: { readonly value: number; readonly by: string },
): RegisterBracket | undefined {
  const { registers } = model;
  if (launchable.by !== "api" || registers.kind !== "steps") return undefined;
  const at = registers.steps.findIndex(({ threads }) => threads === launchable.value);
  if (at < 0) return undefined;
  const before = at === 0 ? 0 : registers.steps[at - 1]!.halves;
  return {
    low: Math.floor(before / 2) + 1,
    high: Math.floor(registers.steps[at]!.halves / 2),
    source: `${whole(launchable.value)} launchable threads; ${registers.source}`,
  };
}
