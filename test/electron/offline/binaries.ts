/** Mach-O files and FlatBuffers made by hand, in the form that the reader expects, and with whatever is wrong. */

export interface MadeSection {
  readonly segment: string;
  readonly section: string;
  readonly bytes: Uint8Array;
}

/** A 64-bit Mach-O with one segment command that holds all sections, as object files have it. */
export function machO(sections: readonly MadeSection[]): Buffer {
  const commandBytes = 72 + sections.length * 80;
  const head = Buffer.alloc(32 + commandBytes);
  head.writeUInt32LE(0xfeedfacf, 0);
  head.writeUInt32LE(1, 16);
  head.writeUInt32LE(commandBytes, 20);
  head.writeUInt32LE(0x19, 32);
  head.writeUInt32LE(commandBytes, 36);
  head.writeUInt32LE(sections.length, 32 + 64);
  let offset = head.length;
  for (const [index, { segment, section, bytes }] of sections.entries()) {
    const at = 32 + 72 + index * 80;
    head.write(section, at, 16, "latin1");
    head.write(segment, at + 16, 16, "latin1");
    head.writeBigUInt64LE(BigInt(bytes.length), at + 40);
    head.writeUInt32LE(offset, at + 48);
    offset += bytes.length;
  }
  return Buffer.concat([head, ...sections.map((section) => section.bytes)]);
}

/** A table of 32-bit fields; the place of its beginning in the bytes. */
function table(fields: ReadonlyMap<number, number>): { readonly bytes: Buffer; readonly at: number } {
  const last = Math.max(-1, ...fields.keys());
  const vtable = Buffer.alloc(Math.ceil((4 + 2 * (last + 1)) / 4) * 4);
  const body = Buffer.alloc(4 + 4 * fields.size);
  vtable.writeUInt16LE(4 + 2 * (last + 1), 0);
  vtable.writeUInt16LE(body.length, 2);
  body.writeInt32LE(vtable.length, 0);
  for (const [index, [field, value]] of [...fields].entries()) {
    vtable.writeUInt16LE(4 + 4 * index, 4 + 2 * field);
    body.writeUInt32LE(value, 4 + 4 * index);
  }
  return { bytes: Buffer.concat([vtable, body]), at: vtable.length };
}

/** Metadata of a kernel: a root whose field 0 is a table with registers (0) and, where it spills, bytes (14). */
export function metadata(registers: number | null, spill: number): Buffer {
  const fields = new Map<number, number>([[3, 77]]);
  if (registers !== null) fields.set(0, registers);
  if (spill > 0) fields.set(14, spill);
  const info = table(fields);
  const root = table(new Map([[0, 0]]));
  const rootAt = 4 + root.at;
  const infoAt = 4 + root.bytes.length + info.at;
  root.bytes.writeUInt32LE(infoAt - (rootAt + 4), root.at + 4);
  const begin = Buffer.alloc(4);
  begin.writeUInt32LE(rootAt, 0);
  return Buffer.concat([begin, root.bytes, info.bytes]);
}

/** The GPU code of one kernel. */
export function gpuCode(made: Uint8Array, code = 100): Buffer {
  return machO([
    { segment: "__TEXT", section: "__text", bytes: Buffer.alloc(code, 0x0e) },
    { segment: "__GPU_METADATA", section: "__compute", bytes: made },
  ]);
}

/** What `metal-tt` writes: GPU code in a section of an outer Mach-O. */
export function gpuBinary(registers: number | null, spill: number, code = 100): Buffer {
  return outer(gpuCode(metadata(registers, spill), code));
}

export function outer(compute: Uint8Array): Buffer {
  return machO([{ segment: "__TEXT", section: "__compute", bytes: compute }]);
}
