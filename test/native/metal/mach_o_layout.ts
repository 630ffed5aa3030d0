/** Where things lie in a thin 64-bit Mach-O file: sections and defined symbols; its own name, and whether it is signed. */
const HEADER_BYTES = 32;
const SEGMENT_BYTES = 72;
const SECTION_BYTES = 80;
const SYMBOL_BYTES = 16;

export const MH_EXECUTE = 2;
export const MH_DYLIB = 6;

const LC_SYMTAB = 0x02;
const LC_ID_DYLIB = 0x0d;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const N_STAB = 0xe0;
const N_TYPE = 0x0e;
const N_SECT = 0x0e;

export interface Section {
  /** `__DATA,ls_tgmem` */
  readonly name: string;
  readonly address: number;
  readonly bytes: number;
}

export interface Layout {
  /** `LC_ID_DYLIB`; undefined where there is none. */
  readonly installName: string | undefined;
  /** The bytes of the code signature; 0 for none. */
  readonly signatureBytes: number;
  readonly sections: readonly Section[];
  /** Addresses of what is defined in sections, private names too. */
  readonly symbols: ReadonlyMap<string, number>;
  /** Symbols for debuggers: the map to object files. */
  readonly stabs: number;
}

/** @param bytes of a file that `readMachO` takes */
export function readLayout(bytes: Uint8Array): Layout {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (offset: number, most = 1024): string => {
    const end = file.indexOf(0, offset);
    return file.toString("utf8", offset, Math.min(end < 0 ? file.length : end, offset + most));
  };
  let installName: string | undefined;
  let signatureBytes = 0;
  let stabs = 0;
  const sections: Section[] = [];
  const symbols = new Map<string, number>();
  let at = HEADER_BYTES;
  for (let index = 0; index < file.readUInt32LE(16); index += 1) {
    const command = file.readUInt32LE(at);
    if (command === LC_ID_DYLIB) installName = text(at + file.readUInt32LE(at + 8));
    if (command === LC_CODE_SIGNATURE) signatureBytes = file.readUInt32LE(at + 12);
    if (command === LC_SEGMENT_64) {
      for (let k = 0; k < file.readUInt32LE(at + 64); k += 1) {
        const section = at + SEGMENT_BYTES + SECTION_BYTES * k;
        sections.push({
          name: `${text(section + 16, 16)},${text(section, 16)}`,
          address: Number(file.readBigUInt64LE(section + 32)),
          bytes: Number(file.readBigUInt64LE(section + 40)),
        });
      }
    }
    if (command === LC_SYMTAB) {
      const [table, count, names] = [8, 12, 16].map((offset) => file.readUInt32LE(at + offset));
      for (let k = 0; k < (count ?? 0); k += 1) {
        const entry = (table ?? 0) + SYMBOL_BYTES * k;
        const type = file[entry + 4] ?? 0;
        if ((type & N_STAB) !== 0) stabs += 1;
        else if ((type & N_TYPE) === N_SECT)
          symbols.set(text((names ?? 0) + file.readUInt32LE(entry)), Number(file.readBigUInt64LE(entry + 8)));
      }
    }
    at += file.readUInt32LE(at + 4);
  }
  return { installName, signatureBytes, sections, symbols, stabs };
}
