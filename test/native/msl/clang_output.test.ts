/** Names that a failed link lacked, from what the linkers of Linux and of macOS print. */
import { expect, it } from "vitest";
import { parseUndefinedSymbols } from "../../../native/msl/clang_output.ts";

it("reads the undefined symbols of lld", () => {
  const stderr = `ld.lld: error: undefined symbol: scale
>>> referenced by kernel.o:(lockstep_entry)
ld.lld: error: undefined symbol: ns::helper(float)
>>> referenced by kernel.o:(lockstep_entry)
`;
  expect(parseUndefinedSymbols(stderr)).toEqual(["scale", "ns::helper(float)"]);
});

it("reads the undefined symbols of Apple's ld", () => {
  const stderr = `Undefined symbols for architecture arm64:
  "_scale", referenced from:
      _lockstep_entry in kernel.o
  "ns::helper(float)", referenced from:
      _lockstep_entry in kernel.o
ld: symbol(s) not found for architecture arm64
`;
  expect(parseUndefinedSymbols(stderr)).toEqual(["scale", "ns::helper(float)"]);
});

it("finds none where the linker failed for another reason", () => {
  expect(parseUndefinedSymbols("ld: library 'System' not found\n")).toEqual([]);
});
