import { describe, expect, it } from "vitest";
import type { MetalLibraryFunction } from "../../../native/metal/binding.ts";
import { encodeConstants, libraryConstants, typeName } from "../../../native/metal/constants.ts";

const constant = (name: string, index: number, type: number, required = true) => ({ name, index, type, required });

/** One of each type of which a number is a value. */
const ALL: MetalLibraryFunction = {
  name: "all",
  constants: [
    constant("f", 0, 3),
    constant("h", 1, 16),
    constant("i", 2, 29),
    constant("u", 3, 33),
    constant("s", 4, 37),
    constant("us", 5, 41),
    constant("c", 6, 45),
    constant("uc", 7, 49),
    constant("b", 8, 53),
    constant("l", 9, 81),
    constant("ul", 10, 85),
    constant("bf", 11, 121),
  ],
};

function encode(entry: MetalLibraryFunction, given: Record<string, number | boolean>) {
  return encodeConstants(entry, libraryConstants([entry]), given);
}

function hex(entry: MetalLibraryFunction, given: Record<string, number | boolean>): string[] {
  const encoded = encode(entry, given);
  if (!encoded.ok) throw new Error(encoded.problem);
  return encoded.constants.map(({ bytes }) => Buffer.from(bytes).toString("hex"));
}

function problem(entry: MetalLibraryFunction, given: Record<string, number | boolean>): string {
  const encoded = encode(entry, given);
  return encoded.ok ? "" : encoded.problem;
}

describe("encodeConstants", () => {
  it("writes every type in its own bytes, by name and by index", () => {
    const given = { f: 1.5, 1: 1.5, i: -2, 3: 7, s: -3, us: 65_535, c: -1, uc: 200, b: true, l: -5, ul: 6, bf: 1.5 };
    expect(hex(ALL, given)).toEqual([
      "0000c03f",
      "003e",
      "feffffff",
      "07000000",
      "fdff",
      "ffff",
      "ff",
      "c8",
      "01",
      "fbffffffffffffff",
      "0600000000000000",
      "c03f",
    ]);
  });

  const half = (value: number): string => hex({ name: "k", constants: [constant("h", 0, 16)] }, { h: value })[0] ?? "";
  const bfloat = (value: number): string =>
    hex({ name: "k", constants: [constant("b", 0, 121)] }, { b: value })[0] ?? "";

  it.each([
    [0, "0000"],
    [-0, "0080"],
    [1, "003c"],
    [-2, "00c0"],
    [0.1, "662e"],
    [65_504, "ff7b"],
    [65_519, "ff7b"],
    [65_520, "007c"],
    [1e9, "007c"],
    [-1e9, "00fc"],
    [2 ** -14, "0004"],
    [2 ** -24, "0100"],
    [2 ** -25, "0000"],
    [2 ** -25 * 1.5, "0100"],
    [2049, "0068"],
    [2051, "0268"],
  ])("half of %d", (value, bits) => {
    expect(half(value)).toBe(bits);
  });

  it.each([
    [0, "0000"],
    [1, "803f"],
    [-1, "80bf"],
    [1 + 2 ** -8, "803f"],
    [1 + 3 * 2 ** -8, "823f"],
    [3.4e38, "807f"],
  ])("bfloat of %d", (value, bits) => {
    expect(bfloat(value)).toBe(bits);
  });

  it("leaves out what another function uses, and what nobody must set", () => {
    const one: MetalLibraryFunction = { name: "one", constants: [constant("a", 0, 29)] };
    const two: MetalLibraryFunction = { name: "two", constants: [constant("b", 1, 29), constant("c", 2, 53, false)] };
    const library = libraryConstants([two, one]);
    expect(library.map(({ name, index, type }) => `${name} ${index} ${type}`)).toEqual([
      "a 0 int",
      "b 1 int",
      "c 2 bool",
    ]);
    const encoded = encodeConstants(one, library, { a: 1, b: 2 });
    expect(encoded.ok && encoded.constants.map(({ index }) => index)).toEqual([0]);
    expect(encodeConstants(two, library, { b: 2 }).ok).toBe(true);
  });

  it("says what is wrong in the words of the emulated device", () => {
    const entry: MetalLibraryFunction = { name: "k", constants: [constant("tile", 0, 33), constant("causal", 1, 53)] };
    expect(encode(entry, { tile: 1 })).toMatchObject({
      ok: true,
      missing: "k uses function constants without a value: 'causal' (index 1, bool). Set them in `constants`.",
    });
    expect(encode(entry, { tile: 1, causal: false })).toMatchObject({ ok: true, missing: undefined });
    expect(problem(entry, { tile: 1, causal: true, window: 4 })).toBe(
      "k: there is no function constant 'window'; this source has tile (0), causal (1).",
    );
    expect(problem(entry, { tile: -1, causal: true })).toBe(
      "k: function constant 'tile' is -1; its type uint holds whole numbers from 0 to 4294967295.",
    );
    expect(problem(entry, { tile: Number.NaN, causal: true })).toContain("it must be finite");
  });

  it("refuses what a number cannot say", () => {
    expect(problem({ name: "k", constants: [constant("v", 0, 4)] }, { v: 1 })).toBe(
      "k: function constant 'v' has type float2; only single numbers and booleans can be set.",
    );
    expect(problem({ name: "k", constants: [constant("n", 0, 85)] }, { n: -1 })).toContain("its type ulong takes");
    expect(problem({ name: "k", constants: [constant("n", 0, 81)] }, { n: 2 ** 60 })).toContain("its type long takes");
  });
});

describe("typeName", () => {
  it("names scalars and vectors, and says the number of what it does not know", () => {
    expect([3, 6, 16, 29, 53, 88, 124, 7].map(typeName)).toEqual([
      "float",
      "float4",
      "half",
      "int",
      "bool",
      "ulong4",
      "bfloat4",
      "MTLDataType 7",
    ]);
  });
});
