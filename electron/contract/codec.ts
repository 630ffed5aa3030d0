/**
 * Bytes of a frame on a WebSocket: the length of a JSON head, the head, then the raw segments of its typed arrays, each at
 * a multiple of 8. JSON alone would lose NaN, infinities and the sign of zero, and take ten times the room for arrays.
 *
 * In the head an object with the key `$` is never the sender's own: `b` is a segment, `n` a number, `o` an object of the
 * sender's that has such a key.
 */

const ARRAYS = {
  Uint8Array,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
} as const;

type ArrayName = keyof typeof ARRAYS;
type TypedArray = InstanceType<(typeof ARRAYS)[ArrayName]>;

export class CodecError extends Error {
  override readonly name = "CodecError";
}

const HEAD = 4;

function aligned(offset: number): number {
  return (offset + 7) & ~7;
}

function nameOf(view: ArrayBufferView): ArrayName {
  const found = (Object.keys(ARRAYS) as ArrayName[]).find((name) => view instanceof ARRAYS[name]);
  if (found === undefined) throw new CodecError(`${view.constructor.name} has no form on the wire: use a typed array.`);
  return found;
}

function isSpecial(value: number): boolean {
  return !Number.isFinite(value) || Object.is(value, -0);
}

/** Encodes a value: JSON types, typed arrays, numbers that are not finite. Properties that are undefined are left out. */
export function encode(value: unknown): Uint8Array<ArrayBuffer> {
  const segments: { readonly bytes: Uint8Array; readonly at: number }[] = [];
  const tags = new WeakSet<object>();
  let end = 0;
  const tag = (fields: object): object => {
    tags.add(fields);
    return fields;
  };
  const replace = (_key: string, item: unknown): unknown => {
    if (typeof item === "number" && isSpecial(item))
      return tag({ $: "n", v: Object.is(item, -0) ? "-0" : String(item) });
    if (typeof item !== "object" || item === null) return item;
    if (ArrayBuffer.isView(item)) {
      const type = nameOf(item);
      const at = end;
      segments.push({ bytes: new Uint8Array(item.buffer, item.byteOffset, item.byteLength), at });
      end = aligned(at + item.byteLength);
      return tag({ $: "b", t: type, at, bytes: item.byteLength });
    }
    if (!tags.has(item) && Object.hasOwn(item, "$")) return tag({ $: "o", v: Object.entries(item) });
    return item;
  };
  const head = new TextEncoder().encode(JSON.stringify(value, replace));
  const start = aligned(HEAD + head.length);
  const out = new Uint8Array(start + end);
  new DataView(out.buffer).setUint32(0, head.length, true);
  out.set(head, HEAD);
  for (const { bytes, at } of segments) out.set(bytes, start + at);
  return out;
}

/** Decodes what `encode` made. Arrays are views of `data` where its memory allows. Throws `CodecError`. */
export function decode(data: ArrayBuffer | Uint8Array): unknown {
  const given = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
  // Typed arrays need an aligned start; a copy has one.
  const bytes = given.byteOffset % 8 === 0 ? given : given.slice();
  if (bytes.length < HEAD) throw new CodecError(`${bytes.length} bytes are no frame: it has at least ${HEAD}.`);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (HEAD + length > bytes.length) {
    throw new CodecError(`The head is ${length} bytes and the frame ${bytes.length}: it is cut off.`);
  }
  const start = aligned(HEAD + length);
  const revive = (_key: string, item: unknown): unknown => {
    if (typeof item !== "object" || item === null || !Object.hasOwn(item, "$")) return item;
    return untag(item as Tag, bytes, start);
  };
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(HEAD, HEAD + length)), revive);
  } catch (error) {
    if (error instanceof CodecError) throw error;
    throw new CodecError(`The head is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface Tag {
  readonly $: unknown;
  readonly v?: unknown;
  readonly t?: unknown;
  readonly at?: unknown;
  readonly bytes?: unknown;
}

function untag(tag: Tag, frame: Uint8Array, start: number): unknown {
  if (tag.$ === "n") return Number(tag.v);
  if (tag.$ === "o" && Array.isArray(tag.v)) return Object.fromEntries(tag.v as (readonly [string, unknown])[]);
  if (tag.$ === "b") return segment(tag, frame, start);
  throw new CodecError(`The head holds an unknown tag "${String(tag.$)}".`);
}

function segment({ t, at, bytes }: Tag, frame: Uint8Array, start: number): TypedArray {
  if (typeof t !== "string" || !Object.hasOwn(ARRAYS, t)) throw new CodecError(`No array is called "${String(t)}".`);
  const type = ARRAYS[t as ArrayName];
  if (!Number.isSafeInteger(at) || !Number.isSafeInteger(bytes) || (at as number) < 0 || (bytes as number) < 0) {
    throw new CodecError("A segment has no valid place.");
  }
  const offset = start + (at as number);
  const length = bytes as number;
  if (offset + length > frame.length || offset % 8 !== 0 || length % type.BYTES_PER_ELEMENT !== 0) {
    throw new CodecError(`A segment of ${length} bytes at ${offset} does not fit a frame of ${frame.length} bytes.`);
  }
  return new type(frame.buffer as ArrayBuffer, frame.byteOffset + offset, length / type.BYTES_PER_ELEMENT);
}
