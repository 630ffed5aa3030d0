/**
 * Reads what the linker wrote into a thin 64-bit Mach-O file: for whom it is, what it loads, what it offers and what it asks
 * for. Layout: <mach-o/loader.h> and <mach-o/nlist.h>; all integers are little endian on arm64.
 */
const MAGIC_64 = 0xfeedfacf;
const HEADER_BYTES = 32;
const SYMBOL_BYTES = 16;

export const CPU_TYPE_ARM64 = 0x0100000c;
export const MH_BUNDLE = 8;
export const PLATFORM_MACOS = 1;

const LC_SYMTAB = 0x02;
const LC_LOAD_DYLIB = 0x0c;
const LC_LOAD_WEAK_DYLIB = 0x18;
const LC_BUILD_VERSION = 0x32;
/** Set in commands that the loader must know. */
const LC_REQ_DYLD = 0x80000000;

/** Bits of `n_type`, and what stands in `n_desc` of a symbol that is asked for. */
const N_STAB = 0xe0;
const N_PRIVATE_EXTERNAL = 0x10;
const N_TYPE = 0x0e;
const N_EXTERNAL = 0x01;
const N_WEAK_REFERENCE = 0x40;
const DYNAMIC_LOOKUP = 0xfe;

/** A symbol that another file must have. */
export interface Import {
  readonly name: string;
  /** Path of the library that has it; undefined where it is looked up in whatever is loaded. */
  readonly library: string | undefined;
  /** It may be missing on an older macOS: then its address is null. */
  readonly weak: boolean;
}

export interface MachO {
  readonly cpuType: number;
  readonly fileType: number;
  readonly platform: number | undefined;
  /** `13.0`; the same form for the SDK. */
  readonly oldestMacos: string | undefined;
  readonly sdk: string | undefined;
  readonly libraries: readonly string[];
  readonly exports: readonly string[];
  readonly imports: readonly Import[];
}

/** Throws Error where the bytes are no such file or end before what they announce. */
export function readMachO(bytes: Uint8Array): MachO {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER_BYTES) throw new Error(`${bytes.length} bytes are too few for the header of a Mach-O file`);
  const magic = view.getUint32(0, true);
  if (magic !== MAGIC_64)
    throw new Error(`the file starts with 0x${magic.toString(16)}, a 64-bit Mach-O file with 0xfeedfacf`);

  const word = (offset: number, what: string): number => {
    if (offset + 4 > bytes.length) throw new Error(`the file has ${bytes.length} bytes and ends before its ${what}`);
    return view.getUint32(offset, true);
  };
  const text = (offset: number, what: string): string => {
    const end = bytes.indexOf(0, offset);
    if (offset >= bytes.length || end < 0)
      throw new Error(`the file has ${bytes.length} bytes and ends before its ${what}`);
    return Buffer.from(bytes.subarray(offset, end)).toString("utf8");
  };

  const libraries: string[] = [];
  const symbols: { exports: string[]; imports: (Omit<Import, "library"> & { ordinal: number })[] } = {
    exports: [],
    imports: [],
  };
  let build: { platform: number; oldest: string; sdk: string } | undefined;

  let at = HEADER_BYTES;
  const commands = word(16, "header");
  for (let index = 0; index < commands; index += 1) {
    const command = word(at, "load commands") & ~LC_REQ_DYLD;
    const size = word(at + 4, "load commands");
    if (size < 8) throw new Error(`load command ${index} has ${size} bytes; the least is 8`);
    if (command === LC_LOAD_DYLIB || command === LC_LOAD_WEAK_DYLIB) {
      libraries.push(text(at + word(at + 8, "load commands"), "names of libraries"));
    } else if (command === LC_BUILD_VERSION) {
      const [platform, oldest, sdk] = [8, 12, 16].map((offset) => word(at + offset, "load commands"));
      build = { platform: platform ?? 0, oldest: version(oldest ?? 0), sdk: version(sdk ?? 0) };
    } else if (command === LC_SYMTAB) {
      const [table, count, names] = [8, 12, 16].map((offset) => word(at + offset, "load commands"));
      for (let symbol = 0; symbol < (count ?? 0); symbol += 1) {
        const entry = (table ?? 0) + SYMBOL_BYTES * symbol;
        const name = text((names ?? 0) + word(entry, "symbols"), "names of symbols");
        const flags = word(entry + 4, "symbols");
        const [type, description] = [flags & 0xff, flags >>> 16];
        if ((type & N_STAB) !== 0 || (type & N_EXTERNAL) === 0 || (type & N_PRIVATE_EXTERNAL) !== 0) continue;
        if ((type & N_TYPE) !== 0) symbols.exports.push(name);
        else symbols.imports.push({ name, ordinal: description >>> 8, weak: (description & N_WEAK_REFERENCE) !== 0 });
      }
    }
    at += size;
  }

  return {
    cpuType: word(4, "header"),
    fileType: word(12, "header"),
    platform: build?.platform,
    oldestMacos: build?.oldest,
    sdk: build?.sdk,
    libraries,
    exports: symbols.exports.sort(),
    imports: symbols.imports.map(({ name, ordinal, weak }) => ({
      name,
      library: libraryOf(libraries, ordinal, name),
      weak,
    })),
  };
}

/** Libraries are counted from 1. */
function libraryOf(libraries: readonly string[], ordinal: number, symbol: string): string | undefined {
  if (ordinal === DYNAMIC_LOOKUP) return undefined;
  const library = libraries[ordinal - 1];
  if (library === undefined) throw new Error(`${symbol} is in library ${ordinal}; the file loads ${libraries.length}`);
  return library;
}

/** `xxxx.yy.zz` in nibbles; the last part is left out where it is 0. */
function version(packed: number): string {
  const [major, minor, patch] = [packed >>> 16, (packed >>> 8) & 0xff, packed & 0xff];
  return patch === 0 ? `${major}.${minor}` : `${major}.${minor}.${patch}`;
}
