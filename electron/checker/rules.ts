/** The kinds of reports as rules: a title, what it means, what to do. Text, SARIF, window and docs read this table. */
import type { CheckKind } from "../../native/check.ts";

export interface CheckRule {
  readonly title: string;
  readonly meaning: string;
  readonly mend: string;
}

export const CHECK_RULES: Readonly<Record<CheckKind, CheckRule>> = {
  race: {
    title: "race between simdgroups",
    meaning: "Threads of different simdgroups use the same bytes, one writes, and no threadgroup_barrier orders them.",
    mend: "put a threadgroup_barrier with the memory's flag between the two",
  },
  device_race: {
    title: "race on device memory",
    meaning: "Threads that nothing orders, of different threadgroups or simdgroups, use the same bytes and one writes.",
    mend: "let one thread own each element, use atomics, or split the work into two dispatches",
  },
  lockstep_exchange: {
    title: "lockstep-dependent exchange",
    meaning:
      "Lanes of one simdgroup exchange data through memory without a simdgroup_barrier: right only where lanes run in lockstep.",
    mend: "put simdgroup_barrier(mem_flags::mem_threadgroup) between the two",
  },
  same_value_write: {
    title: "same value written twice at once",
    meaning: "Threads that nothing orders write the same bytes with the same value. Benign.",
    mend: "let one thread write it, if the traffic matters",
  },
  out_of_bounds: {
    title: "access out of bounds",
    meaning: "An access begins or ends outside its buffer or threadgroup array.",
    mend: "guard the index, or make the buffer as large as the kernel reads",
  },
  misaligned: {
    title: "misaligned access",
    meaning: "The address is no multiple of the type's alignment.",
    mend: "align the offset, or use a packed type",
  },
  read_only_write: {
    title: "write through a read-only binding",
    meaning: "Something was written in memory that is bound as constant or const.",
    mend: "bind it as a writable device pointer, or do not cast const away",
  },
  uninitialized_threadgroup: {
    title: "read of unwritten threadgroup memory",
    meaning: "No thread of this threadgroup wrote these bytes before; on a GPU they hold what was there.",
    mend: "write them first, and put a threadgroup_barrier between",
  },
  uninitialized_device: {
    title: "read of unwritten device memory",
    meaning: "Neither the host nor a kernel wrote these bytes before.",
    mend: "fill the buffer, or guard the read",
  },
  uninitialized_stack: {
    title: "read of an unwritten local array",
    meaning: "An element of a local array was read before it was written.",
    mend: "initialise the array",
  },
  nan_created: {
    title: "NaN created",
    meaning: "Arithmetic on numbers gave a NaN here first, such as inf - inf or 0 * inf.",
    mend: "guard the empty or fully masked row before the arithmetic",
  },
  infinity_created: {
    title: "infinity created",
    meaning: "Arithmetic on finite numbers overflowed here first.",
    mend: "scale before you add up, or keep the sum in a wider type",
  },
  infinity_in_fast_math: {
    title: "infinity under fast math",
    meaning: "The result depends on infinities, which fast math lets the compiler assume away.",
    mend: "use a large finite number, or compile with math mode safe",
  },
  divergent_barrier: {
    title: "barrier that not all threads reach",
    meaning: "Some threads of the threadgroup wait at this barrier while others are elsewhere.",
    mend: "move the barrier out of the branch or loop",
  },
  divergent_collective: {
    title: "collective that not all lanes reach",
    meaning: "A simdgroup function ran with part of the lanes; what the others would give is undefined.",
    mend: "move it out of the branch, or give the idle lanes a neutral value",
  },
  exited_before_barrier: {
    title: "thread that ended before a barrier",
    meaning: "Threads returned while others went on to a barrier: legal on Apple silicon, not portable.",
    mend: "let every thread reach the barrier",
  },
  integer_overflow: {
    title: "index arithmetic that leaves its width",
    meaning: "Integer arithmetic went beyond its type.",
    mend: "compute the index in 64 bits, or in size_t",
  },
  unwritten_output: {
    title: "output element never written",
    meaning: "An element of an output still holds what the buffer came with.",
    mend: "cover the last rows and columns with the grid",
  },
  written_twice: {
    title: "output element written twice",
    meaning: "An element of an output was written more than once: by two threads, or by one again, which is benign.",
    mend: "let one thread own each element",
  },
};
