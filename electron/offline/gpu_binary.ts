/**
 * What Apple's compiler writes beside the code of a GPU binary: registers and spilled bytes of the one kernel in it.
 *
 * Nothing of this is documented. Public projects found the fields by kernels of known pressure, and one held the spill against
 * what Xcode shows (32 of 32 bytes): TheRealTroff/llama.cpp `agx-spill-probe.py` and morganmcg1/qwen38-challenge_senpai
 * `research/agx_crossarch.py`. The facts are theirs, the reader is not. It may be wrong with any Xcode: `self_test.ts` holds it
 * against kernels of known pressure before any figure is given.
 */
import { FlatBuffer } from "./flatbuffer.ts";
import { beginsMachO, OfflineFormatError, readMachO, sectionOf } from "./macho.ts";

/** Where the figures lie: fields of the table that field 0 of the root refers to. */
const FIELDS = { info: 0, registers: 0, spill: 14 } as const;

/** What no kernel has; figures beyond it are of another field. */
const PLAUSIBLE = { registers: 1024, spillBytes: 1 << 20 } as const;

export const UNDOCUMENTED =
  "undocumented: fields found by kernels of known register pressure, held by a self-test; they may change with any Xcode";

export interface GpuFigures {
  /** 32-bit registers of a thread. */
  readonly registers: number;
  /** Bytes of a thread that did not fit into registers; 0 where the field is absent. */
  readonly spillBytes: number;
  /** Bytes of machine code. */
  readonly codeBytes: number;
}

/** Reads the binary of one kernel for one architecture. Throws OfflineFormatError for every other form. */
export function readGpuBinary(bytes: Uint8Array): GpuFigures {
  const compute = sectionOf(readMachO(bytes), "__TEXT", "__compute");
  if (compute === undefined)
    throw new OfflineFormatError("no section __TEXT,__compute, where the GPU code is expected");
  const inner = readMachO(compute);
  const metadata = sectionOf(inner, "__GPU_METADATA", "__compute");
  if (metadata === undefined) throw new OfflineFormatError("no section __GPU_METADATA,__compute in the GPU code");
  refuseSecond(compute, inner.extent);
  const buffer = new FlatBuffer(metadata);
  const info = buffer.table(buffer.root(), FIELDS.info);
  if (info === undefined) throw new OfflineFormatError("metadata: field 0 of the root is absent");
  const registers = buffer.u32(info, FIELDS.registers);
  const spillBytes = buffer.u32(info, FIELDS.spill) ?? 0;
  if (registers === undefined) throw new OfflineFormatError("metadata: field 0, the registers, is absent");
  if (registers === 0 || registers > PLAUSIBLE.registers || spillBytes > PLAUSIBLE.spillBytes) {
    throw new OfflineFormatError(
      `metadata: ${registers} registers and ${spillBytes} spilled bytes, which no kernel has`,
    );
  }
  return { registers, spillBytes, codeBytes: sectionOf(inner, "__TEXT", "__text")?.byteLength ?? 0 };
}

/** Metadata names no kernel: with two in one binary it would not be known whose it is. */
function refuseSecond(compute: Uint8Array, from: number): void {
  for (let at = Math.ceil(from / 4) * 4; at + 4 <= compute.byteLength; at += 4) {
    if (beginsMachO(compute.subarray(at)))
      throw new OfflineFormatError("more than one kernel in the binary; one is expected");
  }
}
