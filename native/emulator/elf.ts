/** The parts of a 64-bit little-endian ELF file that reports need: sections and symbols. */

export interface ElfSection {
  readonly name: string;
  readonly address: number;
  readonly data: Uint8Array;
}

export interface ElfSymbol {
  readonly name: string;
  readonly address: number;
  readonly bytes: number;
  /** Name of the section it lies in; empty for none. */
  readonly section: string;
}

export interface ElfFile {
  section(name: string): ElfSection | undefined;
  readonly symbols: readonly ElfSymbol[];
}

const MAGIC = 0x464c457f;
const SECTION_HEADER_BYTES = 64;
const SYMBOL_BYTES = 24;
const SYMBOL_TABLE = 2;
const NO_BITS = 8;

/** Reads an ELF file, or returns undefined where it is none or is cut short. */
export function readElf(file: Uint8Array): ElfFile | undefined {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const is64BitLittleEndian = file.length > 64 && view.getUint32(0, true) === MAGIC && file[4] === 2 && file[5] === 1;
  if (!is64BitLittleEndian) return undefined;
  const start = Number(view.getBigUint64(40, true));
  const count = view.getUint16(60, true);
  const names = view.getUint16(62, true);
  if (start + count * SECTION_HEADER_BYTES > file.length) return undefined;
  const headers = Array.from({ length: count }, (_, index) => {
    const at = start + index * SECTION_HEADER_BYTES;
    const type = view.getUint32(at + 4, true);
    const offset = Number(view.getBigUint64(at + 24, true));
    const bytes = type === NO_BITS ? 0 : Number(view.getBigUint64(at + 32, true));
    return {
      nameOffset: view.getUint32(at, true),
      type,
      address: Number(view.getBigUint64(at + 16, true)),
      data: file.subarray(offset, offset + bytes),
      link: view.getUint32(at + 40, true),
    };
  });
  const nameOf = (index: number): string => {
    const header = headers[index];
    return header ? textAt(headers[names]?.data ?? new Uint8Array(), header.nameOffset) : "";
  };
  const sections = new Map(headers.map((header, index) => [nameOf(index), header] as const));
  const symbols: ElfSymbol[] = [];
  for (const table of headers.filter((header) => header.type === SYMBOL_TABLE)) {
    const strings = headers[table.link]?.data ?? new Uint8Array();
    const entries = new DataView(table.data.buffer, table.data.byteOffset, table.data.byteLength);
    for (let at = 0; at + SYMBOL_BYTES <= table.data.length; at += SYMBOL_BYTES) {
      symbols.push({
        name: textAt(strings, entries.getUint32(at, true)),
        address: Number(entries.getBigUint64(at + 8, true)),
        bytes: Number(entries.getBigUint64(at + 16, true)),
        section: nameOf(entries.getUint16(at + 6, true)),
      });
    }
  }
  return {
    symbols,
    section: (name) => {
      const found = sections.get(name);
      return found && { name, address: found.address, data: found.data };
    },
  };
}

/** The zero-terminated text at a byte offset. */
export function textAt(data: Uint8Array, offset: number): string {
  let end = offset;
  while (end < data.length && data[end] !== 0) end += 1;
  return new TextDecoder().decode(data.subarray(offset, end));
}
