/** From code addresses of a module to the author's lines, and from its static threadgroup memory to variables. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SourceLocation } from "../check.ts";
import type { Layout } from "../msl/layout.ts";
import { type LinePosition, type LineTable, readLineTable } from "./dwarf_lines.ts";
import { type ElfFile, readElf } from "./elf.ts";
import { movedLines } from "./mac_lines.ts";
import { type MachFile, readMachFile } from "./mach_o.ts";

/** The kernel's object beside a module for macOS. */
export const KERNEL_OBJECT = "kernel.o";
/** Section of static threadgroup arrays (`LS_STATIC_THREADGROUP`). */
const STATIC_SECTION = "ls_tgmem";
const MAC_STATIC_SECTION = "__DATA,ls_tgmem";
/** What the runtime itself puts there. */
const OWN_SYMBOL = "lockstep_static_guard";

export interface StaticArray {
  readonly name: string;
  /** Byte offset in the static threadgroup memory. */
  readonly offset: number;
  readonly bytes: number;
}

/** What a module's file says; nothing where it is of no known format. */
interface ModuleFile {
  readonly lines: LineTable | undefined;
  readonly staticArrays: readonly StaticArray[];
}

async function readModule(path: string): Promise<ModuleFile> {
  const bytes = await readFile(path);
  const elf = readElf(bytes);
  if (elf !== undefined) {
    return { lines: readLineTable((name) => elf.section(name)?.data), staticArrays: staticArrays(elf) };
  }
  const image = readMachFile(bytes);
  if (image === undefined) return { lines: undefined, staticArrays: [] };
  const object = await readFile(join(dirname(path), KERNEL_OBJECT)).then(readMachFile, () => undefined);
  return { lines: object && movedLines(image, object), staticArrays: macStaticArrays(image) };
}

export class ModuleLocations {
  readonly #lines: LineTable | undefined;
  readonly #files: ReadonlySet<string>;
  readonly #layout: Layout;
  readonly #known = new Map<number, SourceLocation | null>();
  readonly staticArrays: readonly StaticArray[];
  /** A vector type that the source keeps in memory and whose accesses are not seen (`unseen.ts`). */
  readonly unseen: string | undefined;

  private constructor(read: ModuleFile, files: readonly string[], layout: Layout, unseen: string | undefined) {
    this.unseen = unseen;
    this.#lines = read.lines;
    this.#files = new Set(files);
    this.#layout = layout;
    this.staticArrays = read.staticArrays;
  }

  /**
   * @param files paths of the author's files; positions in others are unknown
   * @param layout of the text that the module was compiled from
   */
  static async read(
    modulePath: string,
    files: readonly string[],
    layout: Layout,
    unseen: string | undefined,
  ): Promise<ModuleLocations> {
    return new ModuleLocations(await readModule(modulePath), files, layout, unseen);
  }

  /** The line of the call that returns to byte `site` of the module. Null where it is not the author's, or unknown. */
  at(site: number): SourceLocation | null {
    const known = this.#known.get(site);
    if (known !== undefined) return known;
    const location = this.#authors(site > 0 ? this.#lines?.find(site - 1) : undefined);
    this.#known.set(site, location);
    return location;
  }

  /** The line of the code before the call: for accesses that the compiler merged or moved, which have none. */
  before(site: number): SourceLocation | null {
    return this.#authors(site > 0 ? this.#lines?.before(site - 1) : undefined);
  }

  #authors(found: LinePosition | undefined): SourceLocation | null {
    if (found === undefined || !this.#files.has(found.path)) return null;
    const column = this.#layout.column(found.path, found.line, found.column);
    return { path: found.path, line: found.line, column: Math.max(1, column) };
  }

  /** The static array that byte `offset` lies in, or the last one before it. */
  staticArray(offset: number): StaticArray | undefined {
    return this.staticArrays.findLast((array) => array.offset <= offset) ?? this.staticArrays[0];
  }
}

function staticArrays(elf: ElfFile): readonly StaticArray[] {
  const start = elf.section(STATIC_SECTION)?.address ?? 0;
  return elf.symbols
    .filter(({ section, name, bytes }) => section === STATIC_SECTION && bytes > 0 && name !== OWN_SYMBOL)
    .map(({ name, address, bytes }) => ({ name: plainName(name), offset: address - start, bytes }))
    .sort((a, b) => a.offset - b.offset);
}

/** Mach-O symbols have no size: an array goes up to the next one, so that padding counts. */
function macStaticArrays(image: MachFile): readonly StaticArray[] {
  const section = image.section(MAC_STATIC_SECTION);
  if (section === undefined) return [];
  const within = image.symbols.filter((symbol) => symbol.section === MAC_STATIC_SECTION);
  return within.flatMap(({ name, address }, index) => {
    const end = within[index + 1]?.address ?? section.address + section.bytes;
    if (name === OWN_SYMBOL || end === address) return [];
    return [{ name: plainName(name), offset: address - section.address, bytes: end - address }];
  });
}

/** The variable's name: in `_ZZ6reducePfE4tile` it is the last length-prefixed part (Itanium C++ ABI, local names). */
function plainName(symbol: string): string {
  const local = /E(\d+)([A-Za-z_]\w*?)(?:_\d+|B\w*)?$/.exec(symbol);
  const length = Number(local?.[1]);
  return local?.[2] !== undefined && length <= local[2].length ? local[2].slice(0, length) : symbol;
}
