/** From code addresses of a module to the author's lines, and from its static threadgroup memory to variables. */
import { readFile } from "node:fs/promises";
import type { SourceLocation } from "../check.ts";
import type { Layout } from "../msl/layout.ts";
import { type LinePosition, type LineTable, readLineTable } from "./dwarf_lines.ts";
import { type ElfFile, readElf } from "./elf.ts";

/** Section of static threadgroup arrays (`LS_STATIC_THREADGROUP`). */
const STATIC_SECTION = "ls_tgmem";
/** What the runtime itself puts there. */
const OWN_SYMBOL = "lockstep_static_guard";

export interface StaticArray {
  readonly name: string;
  /** Byte offset in the static threadgroup memory. */
  readonly offset: number;
  readonly bytes: number;
}

export class ModuleLocations {
  readonly #lines: LineTable | undefined;
  readonly #files: ReadonlySet<string>;
  readonly #layout: Layout;
  readonly #known = new Map<number, SourceLocation | null>();
  readonly staticArrays: readonly StaticArray[];
  /** A vector type that the source keeps in memory and whose accesses are not seen (`unseen.ts`). */
  readonly unseen: string | undefined;

  private constructor(elf: ElfFile | undefined, files: readonly string[], layout: Layout, unseen: string | undefined) {
    this.unseen = unseen;
    this.#lines = elf && readLineTable((name) => elf.section(name)?.data);
    this.#files = new Set(files);
    this.#layout = layout;
    this.staticArrays = elf ? staticArrays(elf) : [];
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
    return new ModuleLocations(readElf(await readFile(modulePath)), files, layout, unseen);
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

/** The variable's name: in `_ZZ6reducePfE4tile` it is the last length-prefixed part (Itanium C++ ABI, local names). */
function plainName(symbol: string): string {
  const local = /E(\d+)([A-Za-z_]\w*?)(?:_\d+|B\w*)?$/.exec(symbol);
  const length = Number(local?.[1]);
  return local?.[2] !== undefined && length <= local[2].length ? local[2].slice(0, length) : symbol;
}
