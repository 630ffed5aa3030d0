/**
 * Sections of a 64-bit little-endian Mach-O, bounds-checked: the GPU binaries that `metal-tt` writes are Mach-O files, one in
 * a section of the other. Structures: mach-o/loader.h (`mach_header_64`, `segment_command_64`, `section_64`), from memory.
 */

/** A binary that is not of the form that is read. */
export class OfflineFormatError extends Error {
  override readonly name = "OfflineFormatError";
}

export interface Section {
  readonly segment: string;
  readonly section: string;
  readonly bytes: Uint8Array;
}

const MACHO_MAGIC = 0xfeedfacf;
const FAT_MAGICS: readonly number[] = [0xcafebabe, 0xbebafeca, 0xcafebabf, 0xbfbafeca, 0xcbfebabe, 0xbebafecb];
const LC_SEGMENT_64 = 0x19;
const HEADER_BYTES = 32;
const SEGMENT_BYTES = 72;
const SECTION_BYTES = 80;
const LIMITS = { commands: 4096, sections: 1024 } as const;

function refuse(words: string): never {
  throw new OfflineFormatError(words);
}

function nameAt(bytes: Uint8Array, at: number): string {
  const raw = bytes.subarray(at, at + 16);
  const end = raw.indexOf(0);
  return Buffer.from(end < 0 ? raw : raw.subarray(0, end)).toString("latin1");
}

/** True where a Mach-O of 64 bits begins. */
export function beginsMachO(bytes: Uint8Array): boolean {
  return bytes.byteLength >= 4 && new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true) === MACHO_MAGIC;
}

export interface MachO {
  readonly sections: readonly Section[];
  /** Bytes from its beginning to the end of its last section or command. */
  readonly extent: number;
}

/** Throws OfflineFormatError, with what was found, for what is no such file or leads outside of it. */
export function readMachO(bytes: Uint8Array): MachO {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < HEADER_BYTES) refuse(`${bytes.byteLength} bytes; a Mach-O header has ${HEADER_BYTES}`);
  const magic = view.getUint32(0, true);
  if (FAT_MAGICS.includes(magic)) refuse("a universal binary; one architecture is expected");
  if (magic !== MACHO_MAGIC)
    refuse(`begins 0x${magic.toString(16)}; a 64-bit Mach-O begins 0x${MACHO_MAGIC.toString(16)}`);
  const commands = view.getUint32(16, true);
  const commandBytes = view.getUint32(20, true);
  const end = HEADER_BYTES + commandBytes;
  if (commands > LIMITS.commands) refuse(`${commands} load commands; the limit is ${LIMITS.commands}`);
  if (end > bytes.byteLength) refuse(`load commands end at ${end}; the file has ${bytes.byteLength} bytes`);
  const sections: Section[] = [];
  let extent = end;
  let at = HEADER_BYTES;
  for (let index = 0; index < commands; index++) {
    if (at + 8 > end) refuse(`load command ${index} begins at ${at}, behind their end at ${end}`);
    const command = view.getUint32(at, true);
    const size = view.getUint32(at + 4, true);
    if (size < 8 || at + size > end) refuse(`load command ${index} has ${size} bytes at ${at}; they end at ${end}`);
    if (command === LC_SEGMENT_64) {
      if (size < SEGMENT_BYTES) refuse(`a segment of ${size} bytes; it has ${SEGMENT_BYTES} at least`);
      const count = view.getUint32(at + 64, true);
      if (SEGMENT_BYTES + count * SECTION_BYTES > size) refuse(`a segment of ${size} bytes with ${count} sections`);
      for (let number = 0; number < count; number++) {
        if (sections.length === LIMITS.sections) refuse(`more than ${LIMITS.sections} sections`);
        const head = at + SEGMENT_BYTES + number * SECTION_BYTES;
        const length = view.getBigUint64(head + 40, true);
        const offset = view.getUint32(head + 48, true);
        const name = { section: nameAt(bytes, head), segment: nameAt(bytes, head + 16) };
        if (BigInt(offset) + length > BigInt(bytes.byteLength)) {
          refuse(
            `${name.segment},${name.section} ends at ${BigInt(offset) + length}; the file has ${bytes.byteLength} bytes`,
          );
        }
        sections.push({ ...name, bytes: bytes.subarray(offset, offset + Number(length)) });
        extent = Math.max(extent, offset + Number(length));
      }
    }
    at += size;
  }
  return { sections, extent };
}

/** The one section of this name; undefined where there is none. Throws where there are several. */
export function sectionOf({ sections }: MachO, segment: string, section: string): Uint8Array | undefined {
  const found = sections.filter((entry) => entry.segment === segment && entry.section === section);
  if (found.length > 1) refuse(`${found.length} sections are called ${segment},${section}`);
  return found[0]?.bytes;
}
