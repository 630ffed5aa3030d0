/** What a report says: severity, sentence, mechanism and blind spot of every kind. One table. */
import type { CheckKind, CheckReport } from "../check.ts";
import type { RunnerReport } from "./protocol.ts";

/** What the sentences are made of. */
export interface ReportFacts {
  readonly report: RunnerReport;
  /** `tile (threadgroup)`, `scores (buffer 2)`; empty where no memory is concerned. */
  readonly object: string;
  readonly isThreadgroup: boolean;
}

export interface ReportWords {
  readonly severity: CheckReport["severity"];
  readonly message: string;
}

interface KindWords {
  readonly words: (facts: ReportFacts) => ReportWords;
  readonly mechanism: string;
  readonly blindSpot: string;
}

const SHADOW =
  "shadow memory: one writer and two readers of every cell, with barrier epoch and rendezvous of the simdgroup";
const CALLBACK = "a callback before each load and store of the optimised kernel";
const ACCESS_LIMIT =
  "accesses that the optimiser removed; whole vectors of three components or of 32 bytes (float3, long4)";
const ORDER_LIMIT =
  "paths that this input does not take; orders made by atomics and fences, which count as none; some accesses of whole vectors of three components or of 32 bytes";

const count = (value: number): string => value.toLocaleString("en-US");

function error(message: string): ReportWords {
  return { severity: "error", message };
}

const fence = (facts: ReportFacts): string =>
  facts.isThreadgroup ? "mem_flags::mem_threadgroup" : "mem_flags::mem_device";

/** Bytes [offset, offset + size) and what they lie beside. */
function range({ report, object }: ReportFacts): string {
  const { offset, size, bytes } = report;
  return `bytes ${count(offset)} to ${count(offset + size - 1)} of ${object}, which has ${count(bytes)}`;
}

function address(report: RunnerReport): string {
  return `0x${BigInt(report.a).toString(16)}`;
}

function threadsOf(bits: string): number {
  let rest = BigInt(bits);
  let threads = 0;
  for (; rest > 0n; rest >>= 1n) threads += Number(rest & 1n);
  return threads;
}

/** By detail: unsigned and signed arithmetic, conversions that cut off bits of a signed and of an unsigned type. */
function overflowWords(report: RunnerReport): string {
  const [a, b] = [report.a, report.b].map((value) => BigInt.asIntN(64, BigInt(value)).toLocaleString("en-US"));
  switch (report.detail) {
    case 1:
      return `Signed arithmetic on ${a} and ${b} leaves its type: compute the index in long or ulong.`;
    case 2:
      return `${a} becomes ${b} in a narrower type: keep the index in int or long.`;
    case 3:
      return `${a} becomes ${b} in a narrower unsigned type: keep it in a wider one if it is an index.`;
    default:
      return `Unsigned arithmetic on ${a} and ${b} wraps: compute in ulong if it is an index.`;
  }
}

export const REPORT_WORDS: Readonly<Record<CheckKind, KindWords>> = {
  race: {
    words: (facts) =>
      error(
        facts.report.detail === 1
          ? `Two simdgroups access ${facts.object} with a barrier between that does not order this memory: give it ${fence(facts)}.`
          : `Two simdgroups access ${facts.object} with no barrier between, and one of them writes: put threadgroup_barrier(${fence(facts)}) between.`,
      ),
    mechanism: SHADOW,
    blindSpot: ORDER_LIMIT,
  },
  device_race: {
    words: ({ report, object }) => {
      if (report.detail === 2)
        return {
          severity: "warning",
          message: `Two threadgroups access ${object}, and one of them writes, with nothing between but fences of device scope, whose order is not followed here: see that each side has one between this access and the same atomic.`,
        };
      return error(
        report.detail === 1
          ? `Two dispatches that may overlap access ${object}, and one of them writes: put a barrier between them or submit them in order.`
          : `Two threadgroups access ${object}, and one of them writes, but nothing orders threadgroups of a dispatch: give each its own part, use atomics, or split the dispatch.`,
      );
    },
    mechanism: SHADOW,
    blindSpot: ORDER_LIMIT,
  },
  lockstep_exchange: {
    words: (facts) => ({
      severity: facts.report.detail === 1 ? "warning" : "error",
      message:
        facts.report.detail === 1
          ? `Lanes of a simdgroup exchange data through ${facts.object} with a collective between, which orders no memory: add simdgroup_barrier(${fence(facts)}).`
          : `Lanes of a simdgroup exchange data through ${facts.object} with nothing between, which is right only where lanes run in lockstep: add simdgroup_barrier(${fence(facts)}).`,
    }),
    mechanism: SHADOW,
    blindSpot: ORDER_LIMIT,
  },
  same_value_write: {
    words: ({ object }) => ({
      severity: "info",
      message: `Two threads write the same value to ${object} with nothing that orders them: benign as long as the values are equal; let one thread write.`,
    }),
    mechanism: `${SHADOW}; the bytes before and after the second write are compared`,
    blindSpot: "a value that other input makes different",
  },
  out_of_bounds: {
    words: (facts) => {
      const { report } = facts;
      const verb = report.first.access === "read" ? "reads" : "writes";
      if (report.detail === 1)
        return error(
          `The kernel ${verb} address ${address(report)}, which belongs to nothing that is bound: check the pointer and whether its argument is bound.`,
        );
      if (report.detail === 2)
        return error(
          `Index ${BigInt.asIntN(64, BigInt(report.a)).toLocaleString("en-US")} is outside of its array: guard the index.`,
        );
      return error(`The kernel ${verb} ${range(facts)}: guard the index or allocate more.`);
    },
    mechanism: `${CALLBACK}, held against the bounds of what is bound; indexing of arrays of known size is checked before`,
    blindSpot:
      "an index that stays inside the same buffer; a pointer from one static threadgroup array into the next; whole vectors of three components or of 32 bytes, which end the run as a crash instead",
  },
  misaligned: {
    words: (facts) =>
      error(
        `An access of ${count(facts.report.size)} bytes to ${facts.object} at byte ${count(facts.report.offset)} is not aligned to its size: use a packed type or an aligned offset.`,
      ),
    mechanism: CALLBACK,
    blindSpot: "types whose alignment is below their size (packed vectors, structures)",
  },
  read_only_write: {
    words: ({ object }) =>
      error(
        `The kernel writes ${object}, which it takes as const: drop the const of the parameter or do not cast it away.`,
      ),
    mechanism: `${CALLBACK}, held against the constness of the kernel's parameters`,
    blindSpot: "a buffer that is also bound through a parameter that may write",
  },
  uninitialized_threadgroup: {
    words: (facts) =>
      error(
        `The kernel reads ${range(facts)}, before any thread of the threadgroup wrote them: write them first, or put the barrier before the read.`,
      ),
    mechanism: SHADOW,
    blindSpot: ACCESS_LIMIT,
  },
  uninitialized_device: {
    words: (facts) =>
      error(
        `The kernel reads ${range(facts)}, which neither host nor kernel wrote: fill the buffer or guard the read.`,
      ),
    mechanism:
      "buffers come filled with a pattern that no arithmetic produces; a bit for each byte that has another value or was written",
    blindSpot: "data of the host that is the pattern 0x7fed7fed, which counts as unwritten",
  },
  uninitialized_stack: {
    words: ({ report }) => ({
      severity: report.detail === 1 ? "warning" : "error",
      message:
        report.detail === 1
          ? "The kernel reads an element of a local array that holds the pattern of an uninitialised float, or -1: initialise the array."
          : "The kernel reads an element of a local array that was never written: initialise the array.",
    }),
    mechanism: "local variables start as a pattern; loads from the stack are compared with it",
    blindSpot: "variables that live in registers, and elements that were overwritten with the pattern",
  },
  nan_created: {
    words: () =>
      error(
        "A NaN is created here from numbers (inf - inf, 0 / 0, 0 x inf or the root of a negative number): guard the operands.",
      ),
    mechanism:
      "the processor traps on invalid operations; reported where the same thread then stores or exchanges a NaN",
    blindSpot:
      "a NaN that is never stored or exchanged; one that a library function makes without an invalid operation; half and bfloat in vectors; which of several invalid operations of a thread made its NaN (the first is named); machines other than x86-64 Linux",
  },
  infinity_created: {
    words: ({ report }) => ({
      severity: "warning",
      message:
        report.detail === 1
          ? "A division by zero creates an infinity here: guard the divisor."
          : "An overflow creates an infinity here: scale the operands or use a wider type.",
    }),
    mechanism:
      "the processor traps on overflow and division by zero; reported where the same thread then stores or exchanges an infinity",
    blindSpot:
      "an infinity that is never stored or exchanged; infinities that are written as constants; machines other than x86-64 Linux",
  },
  infinity_in_fast_math: {
    words: ({ object }) => ({
      severity: "warning",
      message: `An infinity is ${object === "" ? "exchanged" : `stored to ${object}`} although the source is compiled for fast math, which may assume that there is none: use the lowest finite number or safe math.`,
    }),
    mechanism: "values of 4 bytes that are stored, and floats that collectives exchange, are compared with infinity",
    blindSpot: "infinities that stay in registers; integers with the bits of an infinity, which count as one",
  },
  divergent_barrier: {
    words: ({ report }) =>
      error(
        `Threads of the threadgroup reach different barriers (${count(Number(report.a))} of ${count(Number(report.b))} wait at the other one): all threads must execute the same barrier; move it out of the branch.`,
      ),
    mechanism: "the scheduler, at every arrival; the threadgroup ends there",
    blindSpot: "two barriers on one source line, which count as the same",
  },
  divergent_collective: {
    words: ({ report }) => ({
      severity: "warning",
      message: `Only ${count(threadsOf(report.a))} of ${count(threadsOf(report.b))} lanes of the simdgroup take part: move the operation out of the branch, or do not rely on the other lanes.`,
    }),
    mechanism: "the scheduler, when lanes of a simdgroup wait at different places",
    blindSpot: "other places where a GPU may let lanes meet again",
  },
  exited_before_barrier: {
    words: ({ report }) => ({
      severity: "warning",
      message: `${count(Number(report.a))} of ${count(Number(report.b))} threads returned before this barrier: right on Apple GPUs, not portable; let them skip the work instead of returning.`,
    }),
    mechanism: "the scheduler, at every barrier",
    blindSpot: "the place where a thread returned",
  },
  integer_overflow: {
    words: ({ report }) => ({
      severity: report.detail === 1 || report.detail === 2 ? "error" : "info",
      message: overflowWords(report),
    }),
    mechanism: "the compiler's checks of integer arithmetic, before optimisation",
    blindSpot:
      "arithmetic of vectors; explicit casts; differences of unsigned numbers, which kernels let wrap on purpose",
  },
  unwritten_output: {
    words: ({ report, object }) =>
      error(
        `${count(report.count)} bytes of output ${object} are never written, the first at byte ${count(report.offset)}: check the guards and the grid.`,
      ),
    mechanism: "a bit for each byte of the named outputs",
    blindSpot: "outputs that were not named",
  },
  written_twice: {
    words: (facts) =>
      facts.report.detail === 1
        ? {
            severity: "info",
            message: `One thread writes ${range(facts)}, more than once: benign; keep the value in a register if the traffic matters.`,
          }
        : {
            severity: "warning",
            message: `The kernel writes ${range(facts)}, more than once: give each element one writer.`,
          },
    mechanism: "a bit for each byte of the named outputs",
    blindSpot: "outputs that were not named; whether a second pass is meant; atomics, which may share an element",
  },
};
