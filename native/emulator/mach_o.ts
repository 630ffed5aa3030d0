/** The parts of a 64-bit little-endian Mach-O file, object or image, that reports need: sections, symbols, lines of an object. */

export interface MachSection {
  /** `__TEXT,__text` */
  readonly name: string;
  readonly address: number;
  readonly data: Uint8Array;
  readonly bytes: number;
}

export interface MachSymbol {
  /** Without the underscore that C names have in symbol tables. */
  readonly name: string;
  readonly address: number;
  /** Name of the section it lies in. */
  readonly section: string;
}

export interface MachFile {
  section(name: string): MachSection | undefined;
  /** What is defined in sections, by address. Labels of the assembler are left out. */
  readonly symbols: readonly MachSymbol[];
}

const MAGIC = 0xfeedfacf;
const HEADER_BYTES = 32;
const SEGMENT_BYTES = 72;
const SECTION_BYTES = 80;
const SYMBOL_BYTES = 16;
const RELOCATION_BYTES = 8;
const LC_SYMTAB = 0x02;
const LC_SEGMENT_64 = 0x19;
const N_STAB = 0xe0;
const N_TYPE = 0x0e;
const N_SECT = 0x0e;
const ZERO_FILLED: readonly number[] = [0x01, 0x0c, 0x12];
const ASSEMBLERS = /^(?:l|L)(?:tmp|_)/;

/** Reads a Mach-O file, or returns undefined where it is none. Throws RangeError where it is cut short. */
export function readMachFile(file: Uint8Array): MachFile | undefined {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < HEADER_BYTES || view.getUint32(0, true) !== MAGIC) return undefined;
  const u64 = (at: number): number => Number(view.getBigUint64(at, true));
  const text = (at: number, most: number): string => {
    let end = at;
    while (end < file.length && end < at + most && file[end] !== 0) end += 1;
    return new TextDecoder().decode(file.subarray(at, end));
  };
  interface Entry extends MachSection {
    readonly relocations: number;
    readonly relocationCount: number;
  }
  const sections: Entry[] = [];
  const all: { name: string; address: number; section: number; defined: boolean }[] = [];
  let at = HEADER_BYTES;
  for (let index = 0; index < view.getUint32(16, true); index += 1) {
    const command = view.getUint32(at, true);
    const size = view.getUint32(at + 4, true);
    if (size < 8) throw new RangeError(`load command ${index} has ${size} bytes; the least is 8`);
    if (command === LC_SEGMENT_64) {
      for (let k = 0; k < view.getUint32(at + 64, true); k += 1) {
        const section = at + SEGMENT_BYTES + SECTION_BYTES * k;
        const bytes = u64(section + 40);
        const offset = view.getUint32(section + 48, true);
        const zeros = ZERO_FILLED.includes(view.getUint32(section + 64, true) & 0xff);
        sections.push({
          name: `${text(section + 16, 16)},${text(section, 16)}`,
          address: u64(section + 32),
          bytes,
          data: zeros ? new Uint8Array() : file.subarray(offset, offset + bytes),
          relocations: view.getUint32(section + 56, true),
          relocationCount: view.getUint32(section + 60, true),
        });
      }
    } else if (command === LC_SYMTAB) {
      const table = view.getUint32(at + 8, true);
      const names = view.getUint32(at + 16, true);
      for (let k = 0; k < view.getUint32(at + 12, true); k += 1) {
        const entry = table + SYMBOL_BYTES * k;
        const type = view.getUint8(entry + 4);
        all.push({
          name: text(names + view.getUint32(entry, true), file.length),
          address: u64(entry + 8),
          section: view.getUint8(entry + 5) - 1,
          defined: (type & N_STAB) === 0 && (type & N_TYPE) === N_SECT,
        });
      }
    }
    at += size;
  }
  /** An object's section holds differences to symbols where the linker would put addresses. */
  const resolved = ({ data, relocations, relocationCount }: Entry): Uint8Array => {
    if (relocationCount === 0) return data;
    const copy = data.slice();
    const target = new DataView(copy.buffer);
    for (let k = 0; k < relocationCount; k += 1) {
      const place = view.getUint32(relocations + RELOCATION_BYTES * k, true);
      const info = view.getUint32(relocations + RELOCATION_BYTES * k + 4, true);
      const [symbol, isExternal, isEightBytes] = [info & 0xffffff, (info >>> 27) & 1, ((info >>> 25) & 3) === 3];
      if (isExternal === 0 || !isEightBytes) continue;
      const added = BigInt(all[symbol]?.address ?? 0);
      target.setBigUint64(place, target.getBigUint64(place, true) + added, true);
    }
    return copy;
  };
  return {
    symbols: all
      .filter(({ name, defined }) => defined && !ASSEMBLERS.test(name))
      .map(({ name, address, section }) => ({
        name: name.replace(/^_/, ""),
        address,
        section: sections[section]?.name ?? "",
      }))
      .sort((a, b) => a.address - b.address),
    section: (name) => {
      const found = sections.find((section) => section.name === name);
      return found && { ...found, data: resolved(found) };
    },
  };
}
