/**
 * The occupancy models, one a family, made of the facts of the chip table. Each says what of it was measured where, fitted
 * or inferred; a family that the table has no facts for has no model.
 */
import { type ChipTable, chipTable } from "../../native/chips.ts";
import type { OccupancyModel } from "./messages.ts";

const KIB = 1024;

function common(table: ChipTable) {
  const limits = table.common_limits;
  return {
    threadsPerCore: {
      value: limits.max_threads_per_core,
      basis: "reported" as const,
      source: "the driver's formula min(3072 / threads, 96) on an M5 Pro; AGXForge ch. 1",
    },
    simdgroupsPerCore: {
      value: limits.max_simdgroups_per_core,
      basis: "reported" as const,
      source: "the driver's formula min(3072 / threads, 96) on an M5 Pro; AGXForge ch. 1",
    },
    maxThreadsPerThreadgroup: limits.max_threads_per_threadgroup,
    maxThreadgroupBytes: limits.max_threadgroup_memory_bytes,
  };
}

/** Apple7 and Apple8: static occupancy, the register steps of Mesa. */
function stepModel(table: ChipTable, family: "apple7" | "apple8"): OccupancyModel | null {
  const { register_file_per_core_kb: file, threadgroup_memory_per_core_kb: memory } = table.families[family];
  const registers = table.families[family].registers_per_thread_32bit;
  if (file === undefined || memory === undefined || registers === undefined) return null;
  const bytes = memory * KIB;
  return {
    id: `${family}-steps/1`,
    family,
    ...common(table),
    threadgroupBytesPerCore: {
      low: bytes,
      high: bytes,
      basis: "reported",
      source: "about 60 KB a core, metal-benchmarks",
    },
    registersPerThread: registers,
    registers: {
      kind: "steps",
      fileBytes: file * KIB,
      steps: table.register_occupancy_g13_g14.table.map(([halves, threads]) => ({ halves, threads })),
      basis: "table",
      source: "register steps of Mesa's agx_occupancy_for_register_count (G13, G14); file of metal-benchmarks",
    },
  };
}

/** Apple9: a register file that was fitted on the M4 Pro and Max; nobody has measured the threadgroup memory of a core. */
function apple9Model(table: ChipTable): OccupancyModel | null {
  const { apple7, apple9, apple10 } = table.families;
  const file = table.occupancy_fit_g16_g17.file_bytes.applegpu_g16s;
  const older = apple7.threadgroup_memory_per_core_kb;
  const newer = apple10.threadgroup_memory_per_core_bytes;
  const registers = apple9.registers_per_thread_32bit;
  if (file === undefined || older === undefined || newer === undefined || registers === undefined) return null;
  return {
    id: "apple9-g16s-fit/1",
    family: "apple9",
    ...common(table),
    threadgroupBytesPerCore: {
      low: Math.min(newer, older * KIB),
      high: Math.max(newer, older * KIB),
      basis: "inferred",
      source: "57,344 B measured on an M5, about 60 KB reported for M1 and M2; not measured on this family",
    },
    registersPerThread: registers,
    registers: {
      kind: "file",
      fileBytes: file,
      measured: [],
      basis: "fitted",
      source: "fitted by its authors on applegpu_g16s (M4 Pro, M4 Max); registers are handed out on demand: use ratios",
    },
  };
}

/** Apple10: a fitted file, and two measured points that lie below it. */
function apple10Model(table: ChipTable): OccupancyModel | null {
  const { apple10 } = table.families;
  const file = table.occupancy_fit_g16_g17.file_bytes.applegpu_g17s;
  const memory = apple10.threadgroup_memory_per_core_bytes;
  const registers = apple10.registers_per_thread_32bit_usable;
  if (file === undefined || memory === undefined || registers === undefined) return null;
  return {
    id: "apple10-g17s-fit/1",
    family: "apple10",
    ...common(table),
    threadgroupBytesPerCore: {
      low: memory,
      high: memory,
      basis: "measured",
      source: "measured on one M5 Pro, AGXForge ch. 1",
    },
    registersPerThread: registers,
    registers: {
      kind: "file",
      fileBytes: file,
      // Apple-compiled kernels on an M5 Pro (AGXForge ch. 2); a straight line between them is this model's assumption.
      measured: [
        { registers: 22, simdgroups: 44.6 },
        { registers: 126, simdgroups: 32.1 },
      ],
      basis: "fitted",
      source:
        "high end: fitted on applegpu_g17s; low end: a line between 44.6 simdgroups at 22 registers and 32.1 at 126, " +
        "measured on one M5 Pro",
    },
  };
}

/** The model of a family, from the chip table; null for a family that it has no facts for. */
export function occupancyModel(family: string, table: ChipTable = chipTable()): OccupancyModel | null {
  switch (family) {
    case "apple7":
    case "apple8":
      return stepModel(table, family);
    case "apple9":
      return apple9Model(table);
    case "apple10":
      return apple10Model(table);
    default:
      return null;
  }
}
