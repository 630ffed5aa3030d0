/**
 * Fields of a FlatBuffer without its schema, bounds-checked. A table begins with the signed distance back to its vtable; the
 * vtable holds its own size, the table's, and the place of each field in the table, 0 where it is absent (FlatBuffers,
 * "Internals").
 */
import { OfflineFormatError } from "./macho.ts";

function refuse(words: string): never {
  throw new OfflineFormatError(`metadata: ${words}`);
}

const MOST_VTABLE = 4096;

export class FlatBuffer {
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    if (bytes.byteLength < 8) refuse(`${bytes.byteLength} bytes; a FlatBuffer has 8 at least`);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Place of the root table. */
  root(): number {
    return this.#table(this.#u32(0, "root"), "root");
  }

  /** Place of the table that a field refers to; undefined where the field is absent. */
  table(table: number, field: number): number | undefined {
    const at = this.#field(table, field, 4);
    if (at === undefined) return undefined;
    const distance = this.#u32(at, `field ${field}`);
    if (distance === 0) refuse(`field ${field} refers to itself`);
    return this.#table(at + distance, `field ${field}`);
  }

  /** A field of 32 bits; undefined where it is absent, which stands for the default of the schema. */
  u32(table: number, field: number): number | undefined {
    const at = this.#field(table, field, 4);
    return at === undefined ? undefined : this.#u32(at, `field ${field}`);
  }

  #table(at: number, what: string): number {
    const vtable = at - this.#i32(at, what);
    const vtableBytes = this.#u16(vtable, `${what}, vtable`);
    const tableBytes = this.#u16(vtable + 2, `${what}, vtable`);
    if (vtableBytes < 4 || vtableBytes > MOST_VTABLE || vtableBytes % 2 !== 0) {
      refuse(`${what}: a vtable of ${vtableBytes} bytes`);
    }
    if (vtable + vtableBytes > this.#view.byteLength)
      refuse(`${what}: its vtable leads out of ${this.#view.byteLength} bytes`);
    if (tableBytes < 4 || at + tableBytes > this.#view.byteLength) {
      refuse(`${what}: a table of ${tableBytes} bytes at ${at} of ${this.#view.byteLength}`);
    }
    return at;
  }

  /** Place of a field of `size` bytes. The table was checked. */
  #field(table: number, field: number, size: number): number | undefined {
    const vtable = table - this.#i32(table, "table");
    if (4 + 2 * field + 2 > this.#u16(vtable, "vtable")) return undefined;
    const place = this.#u16(vtable + 4 + 2 * field, "vtable");
    if (place === 0) return undefined;
    if (place < 4 || place + size > this.#u16(vtable + 2, "vtable"))
      refuse(`field ${field} lies at ${place}, outside of its table`);
    return table + place;
  }

  #check(at: number, size: number, what: string): void {
    if (at < 0 || at + size > this.#view.byteLength) refuse(`${what} lies at ${at} of ${this.#view.byteLength} bytes`);
  }

  #u16(at: number, what: string): number {
    this.#check(at, 2, what);
    return this.#view.getUint16(at, true);
  }

  #u32(at: number, what: string): number {
    this.#check(at, 4, what);
    return this.#view.getUint32(at, true);
  }

  #i32(at: number, what: string): number {
    this.#check(at, 4, what);
    return this.#view.getInt32(at, true);
  }
}
