/** The line table of a module: from a code address to the position in the text that was compiled (DWARF 4 and 5). */
import { textAt } from "./elf.ts";

/** A position in the compiled text; `path` is what its line markers say. */
export interface LinePosition {
  readonly path: string;
  /** 1-based; 0 where the compiler gives none. */
  readonly line: number;
  readonly column: number;
}

interface Row extends LinePosition {
  readonly address: number;
  /** One behind the last address of a sequence. */
  readonly ends: boolean;
}

/** Sections by name (`.debug_line` and those that it refers to). */
export type SectionReader = (name: string) => Uint8Array | undefined;

/** Looks code addresses up. */
export interface LineTable {
  /** The position of the instruction at `address`, or undefined. */
  find(address: number): LinePosition | undefined;
  /** The position of the last instruction up to `address` that has one, in the same function; for code without a line. */
  before(address: number): LinePosition | undefined;
}

const FORM = {
  block: 0x09,
  data1: 0x0b,
  data2: 0x05,
  data4: 0x06,
  data8: 0x07,
  data16: 0x1e,
  lineStrp: 0x1f,
  string: 0x08,
  strp: 0x0e,
  udata: 0x0f,
} as const;

const CONTENT = { path: 1, directory: 2 } as const;

/** Standard opcodes (DWARF 5, section 6.2.5.2). */
const OPCODE = {
  copy: 1,
  advancePc: 2,
  advanceLine: 3,
  setFile: 4,
  setColumn: 5,
  negateStatement: 6,
  setBasicBlock: 7,
  constAddPc: 8,
  fixedAdvancePc: 9,
} as const;

/** Extended opcodes (section 6.2.5.3). */
const EXTENDED = { endSequence: 1, setAddress: 2 } as const;

/** Reads all line programs. Throws RangeError where the section is cut short. */
export function readLineTable(sections: SectionReader): LineTable {
  const rows: Row[] = [];
  const data = sections(".debug_line") ?? new Uint8Array();
  const cursor = new Cursor(data);
  while (cursor.at < data.length) readProgram(cursor, sections, rows);
  rows.sort((a, b) => a.address - b.address || Number(b.ends) - Number(a.ends));
  /** Index of the last row at or before `address`. */
  const indexOf = (address: number): number => {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((rows[middle]?.address ?? 0) <= address) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  const position = (row: Row | undefined): LinePosition | undefined =>
    row && !row.ends && row.line > 0 ? { path: row.path, line: row.line, column: row.column } : undefined;
  return {
    find: (address) => position(rows[indexOf(address)]),
    before: (address) => {
      for (let index = indexOf(address); index >= 0 && rows[index]?.ends === false; index -= 1) {
        const found = position(rows[index]);
        if (found) return found;
      }
      return undefined;
    },
  };
}

function readProgram(cursor: Cursor, sections: SectionReader, rows: Row[]): void {
  let length = cursor.u32();
  const is64 = length === 0xffff_ffff;
  if (is64) length = cursor.u64();
  const end = cursor.at + length;
  const version = cursor.u16();
  if (version < 4 || version > 5) {
    cursor.at = end;
    return;
  }
  if (version === 5) {
    cursor.u8(); // size of addresses
    cursor.u8(); // size of segment selectors
  }
  const headerLength = is64 ? cursor.u64() : cursor.u32();
  const program = cursor.at + headerLength;
  const minimumLength = cursor.u8();
  cursor.u8(); // operations per instruction: 1 on the machines at hand
  cursor.u8(); // default of is_stmt
  const lineBase = cursor.i8();
  const lineRange = cursor.u8();
  const opcodeBase = cursor.u8();
  const operands = Array.from({ length: opcodeBase - 1 }, () => cursor.u8());
  const files = version === 5 ? filesOfVersion5(cursor, sections, is64) : filesOfVersion4(cursor);

  cursor.at = program;
  let state = { address: 0, file: 1, line: 1, column: 0 };
  const emit = (ends: boolean): void => {
    const { address, line, column } = state;
    rows.push({ address, path: files[state.file] ?? "", line, column, ends });
  };
  const advance = (operation: number): void => {
    state.address += operation * minimumLength;
  };
  while (cursor.at < end) {
    const opcode = cursor.u8();
    if (opcode >= opcodeBase) {
      const adjusted = opcode - opcodeBase;
      advance(Math.floor(adjusted / lineRange));
      state.line += lineBase + (adjusted % lineRange);
      emit(false);
    } else if (opcode === 0) {
      const size = cursor.uleb();
      const next = cursor.at + size;
      const extended = cursor.u8();
      if (extended === EXTENDED.endSequence) {
        emit(true);
        state = { address: 0, file: 1, line: 1, column: 0 };
      } else if (extended === EXTENDED.setAddress) state.address = size === 9 ? cursor.u64() : cursor.u32();
      cursor.at = next;
    } else if (opcode === OPCODE.copy) emit(false);
    else if (opcode === OPCODE.advancePc) advance(cursor.uleb());
    else if (opcode === OPCODE.advanceLine) state.line += cursor.sleb();
    else if (opcode === OPCODE.setFile) state.file = cursor.uleb();
    else if (opcode === OPCODE.setColumn) state.column = cursor.uleb();
    else if (opcode === OPCODE.constAddPc) advance(Math.floor((255 - opcodeBase) / lineRange));
    else if (opcode === OPCODE.fixedAdvancePc) state.address += cursor.u16();
    else if (opcode !== OPCODE.negateStatement && opcode !== OPCODE.setBasicBlock) {
      for (let i = 0; i < (operands[opcode - 1] ?? 0); i += 1) cursor.uleb();
    }
  }
  cursor.at = end;
}

/** Files by index, from 1 on; directory 0 is that of the compilation. */
function filesOfVersion4(cursor: Cursor): readonly string[] {
  const directories = [""];
  for (let name = cursor.text(); name !== ""; name = cursor.text()) directories.push(name);
  const files = [""];
  for (let name = cursor.text(); name !== ""; name = cursor.text()) {
    files.push(joined(directories, cursor.uleb(), name));
    for (let i = 0; i < 2; i += 1) cursor.uleb();
  }
  return files;
}

/** A path as line markers write it: relative to the directory of the compilation unless it is absolute. */
function joined(directories: readonly string[], directory: number, path: string): string {
  if (path.startsWith("/") || directory === 0) return path;
  return `${directories[directory] ?? ""}/${path}`;
}

/** Files by index, from 0 on. */
function filesOfVersion5(cursor: Cursor, sections: SectionReader, is64: boolean): readonly string[] {
  const directories = entryTable(cursor, sections, is64);
  const names = directories.map(({ path }) => path);
  return entryTable(cursor, sections, is64).map(({ path, directory }) => joined(names, directory, path));
}

function entryTable(
  cursor: Cursor,
  sections: SectionReader,
  is64: boolean,
): readonly { readonly path: string; readonly directory: number }[] {
  const formats = Array.from({ length: cursor.u8() }, () => ({ content: cursor.uleb(), form: cursor.uleb() }));
  return Array.from({ length: cursor.uleb() }, () => {
    let path = "";
    let directory = 0;
    for (const { content, form } of formats) {
      const value = formValue(cursor, form, sections, is64);
      if (content === CONTENT.path && typeof value === "string") path = value;
      else if (content === CONTENT.directory && typeof value === "number") directory = value;
    }
    return { path, directory };
  });
}

function formValue(cursor: Cursor, form: number, sections: SectionReader, is64: boolean): string | number {
  const offset = (): number => (is64 ? cursor.u64() : cursor.u32());
  switch (form) {
    case FORM.string:
      return cursor.text();
    case FORM.lineStrp:
      return textAt(sections(".debug_line_str") ?? new Uint8Array(), offset());
    case FORM.strp:
      return textAt(sections(".debug_str") ?? new Uint8Array(), offset());
    case FORM.udata:
      return cursor.uleb();
    case FORM.data1:
      return cursor.u8();
    case FORM.data2:
      return cursor.u16();
    case FORM.data4:
      return cursor.u32();
    case FORM.data8:
      return cursor.u64();
    case FORM.data16:
      cursor.at += 16;
      return 0;
    case FORM.block:
      cursor.at += cursor.uleb();
      return 0;
    default:
      throw new RangeError(`the line table uses form ${form}, which this reader does not know`);
  }
}

/** Little-endian reading that moves on. */
class Cursor {
  at = 0;
  readonly #data: Uint8Array;
  readonly #view: DataView;

  constructor(data: Uint8Array) {
    this.#data = data;
    this.#view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  u8(): number {
    const value = this.#view.getUint8(this.at);
    this.at += 1;
    return value;
  }

  i8(): number {
    return (this.u8() << 24) >> 24;
  }

  u16(): number {
    const value = this.#view.getUint16(this.at, true);
    this.at += 2;
    return value;
  }

  u32(): number {
    const value = this.#view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  u64(): number {
    const value = Number(this.#view.getBigUint64(this.at, true));
    this.at += 8;
    return value;
  }

  uleb(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if ((byte & 0x80) === 0) return value;
    }
  }

  sleb(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if ((byte & 0x80) === 0) return (byte & 0x40) === 0 ? value : value - scale;
    }
  }

  text(): string {
    const text = textAt(this.#data, this.at);
    while (this.u8() !== 0) {
      // Past the end of the text.
    }
    return text;
  }
}
