/** Frames on a WebSocket keep what JSON loses, and nothing malformed becomes a value. */
import { describe, expect, it } from "vitest";
import { CodecError, decode, encode } from "../../../electron/contract/codec.ts";

/** A frame with a head of one's own. */
function frame(head: string, segments = 0): Uint8Array {
  const bytes = new TextEncoder().encode(head);
  const out = new Uint8Array(((4 + bytes.length + 7) & ~7) + segments);
  new DataView(out.buffer).setUint32(0, bytes.length, true);
  out.set(bytes, 4);
  return out;
}

describe("encode and decode", () => {
  it("keep NaN, infinities, the sign of zero and nested arrays of every type", () => {
    const value = {
      figures: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1.5],
      data: Float32Array.of(1, Number.NaN, -0),
      deep: [{ bits: Uint16Array.of(0x7c00, 1, 2) }, new Uint8Array(0), Float64Array.of(Math.PI)],
      none: null,
      text: "ß∞",
    };
    expect(decode(encode(value))).toEqual(value);
    expect(Object.is((decode(encode(-0)) as number) ?? 0, -0)).toBe(true);
  });

  it("keep an object of the sender's own that has the key $", () => {
    const value = { defines: { $: "b", t: "Float32Array", at: 0, bytes: 4 }, inner: { $: { $: Number.NaN } } };
    expect(decode(encode(value))).toEqual(value);
  });

  it("take a part of a larger array, and bytes at an odd place", () => {
    const whole = Float32Array.of(0, 1, 2, 3);
    const encoded = encode({ part: whole.subarray(1, 3) });
    const shifted = new Uint8Array(encoded.length + 3);
    shifted.set(encoded, 3);
    expect(decode(shifted.subarray(3))).toEqual({ part: Float32Array.of(1, 2) });
  });

  it("refuse arrays without a form, unknown tags, places outside the frame and cut-off frames", () => {
    expect(() => encode(new BigInt64Array(1))).toThrow(CodecError);
    expect(() => decode(frame('{"$":"x"}'))).toThrow("unknown tag");
    expect(() => decode(frame('{"$":"b","t":"Function","at":0,"bytes":0}'))).toThrow("No array is called");
    expect(() => decode(frame('{"$":"b","t":"Float32Array","at":0,"bytes":8}'))).toThrow("does not fit");
    expect(() => decode(frame('{"$":"b","t":"Float32Array","at":-8,"bytes":4}', 8))).toThrow("no valid place");
    expect(() => decode(frame('{"$":"b","t":"Float32Array","at":0,"bytes":3}', 8))).toThrow("does not fit");
    expect(() => decode(frame("{"))).toThrow("no JSON");
    expect(() => decode(Uint8Array.of(255, 0, 0, 0, 1))).toThrow("cut off");
    expect(() => decode(new ArrayBuffer(2))).toThrow("no frame");
  });
});
