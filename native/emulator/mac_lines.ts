/**
 * Lines of a module for macOS. Its linker leaves them in the object file, so that the object is kept beside the module, and an
 * address of the module is carried over to it by the function that it lies in.
 */
import { type LineTable, readLineTable } from "./dwarf_lines.ts";
import type { MachFile, MachSymbol } from "./mach_o.ts";

const CODE = "__TEXT,__text";

/** The lines of `object` by addresses of `image`, which was linked from it and others. */
export function movedLines(image: MachFile, object: MachFile): LineTable {
  const lines = readLineTable((name) => object.section(`__DWARF,${name.replace(".", "__")}`)?.data);
  const own = new Map(functionsOf(object).map(({ name, address }) => [name, address]));
  const functions = functionsOf(image);
  /** The address in the object; undefined for code of others. */
  const carried = (address: number): number | undefined => {
    const around = functions.findLast((one) => one.address <= address);
    const start = around && own.get(around.name);
    return around === undefined || start === undefined ? undefined : start + address - around.address;
  };
  const look = (address: number, find: LineTable["find"]): ReturnType<LineTable["find"]> => {
    const moved = carried(address);
    return moved === undefined ? undefined : find(moved);
  };
  return {
    find: (address) => look(address, lines.find),
    before: (address) => look(address, lines.before),
  };
}

function functionsOf(file: MachFile): readonly MachSymbol[] {
  return file.symbols.filter(({ section }) => section === CODE);
}
