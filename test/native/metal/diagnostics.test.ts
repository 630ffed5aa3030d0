/** Messages are of our own making, in the form in which Metal's run-time compiler prints them. */
import { describe, expect, it } from "vitest";
import { compileRefusal, readMetalMessages, refusalText } from "../../../native/metal/diagnostics.ts";
import { type FlatSource, flatten } from "../../../native/msl/source.ts";

const TILE = { path: "shared/tile.h", text: "// a tile\nconstant int WIDTH = widht;\nstruct Tile { float a[4]; };\n" };
const MAIN = {
  path: "decode.metal",
  text: [
    "#include <metal_stdlib>",
    '#include "shared/tile.h"',
    "using namespace metal;",
    "/* größer */ kernel void decode(device float* out [[buffer(0)]],",
    "                   constant long& n [[buffer(1)]]) {",
    "  int unused = 3;",
    "  out[0] = 1;",
    "}",
  ].join("\n"),
};

function flat(): FlatSource {
  const result = flatten(MAIN, [TILE]);
  if (!result.ok) throw new Error("not flattened");
  return result.flat;
}

function read(words: string) {
  return readMetalMessages(words, flat()).map(
    ({ severity, path, line, column, message }) => `${path}:${line}:${column}: ${severity}: ${message}`,
  );
}

/** Line of the flattened text in which `text` stands. */
function flatLine(text: string): number {
  return (
    flat()
      .text.split("\n")
      .findIndex((line) => line.includes(text)) + 1
  );
}

describe("readMetalMessages", () => {
  it("takes errors in files that #line names, with their notes behind them", () => {
    const words = [
      "decode.metal:5:20: error: invalid type 'const constant long &' for buffer declaration",
      "                   constant long& n [[buffer(1)]]) {",
      "                   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~",
      "decode.metal:5:29: note: type 'long' cannot be used in buffer pointee type",
      "                   constant long& n [[buffer(1)]]) {",
      "                            ^",
      "shared/tile.h:2:22: error: use of undeclared identifier 'widht'; did you mean 'WIDTH'?",
      "constant int WIDTH = widht;",
      "                     ^~~~~",
      "                     WIDTH",
      "shared/tile.h:2:14: note: 'WIDTH' declared here",
      "",
    ].join("\n");
    expect(read(words)).toEqual([
      "decode.metal:5:20: error: invalid type 'const constant long &' for buffer declaration",
      "decode.metal:5:29: note: type 'long' cannot be used in buffer pointee type",
      "shared/tile.h:2:22: error: use of undeclared identifier 'widht'; did you mean 'WIDTH'?",
      "shared/tile.h:2:14: note: 'WIDTH' declared here",
    ]);
  });

  it("counts program_source back to the author's file and line", () => {
    const words = `Compilation failed: \n\nprogram_source:${flatLine("widht")}:22: error: one\nprogram_source:${flatLine("int unused")}:7: error: two\n`;
    expect(read(words)).toEqual(["shared/tile.h:2:22: error: one", "decode.metal:6:7: error: two"]);
  });

  it("takes a first message on the line of the preamble", () => {
    expect(read("Compilation failed: decode.metal:7:3: fatal error: 'mpp.h' file not found")).toEqual([
      "decode.metal:7:3: error: 'mpp.h' file not found",
    ]);
  });

  it("takes warnings beside a library", () => {
    const words = [
      "Compilation succeeded with: ",
      "",
      "decode.metal:6:7: warning: unused variable 'unused' [-Wunused-variable]",
      "  int unused = 3;",
      "      ^",
    ].join("\n");
    expect(read(words)).toEqual(["decode.metal:6:7: warning: unused variable 'unused' [-Wunused-variable]"]);
  });

  it("counts columns in characters where clang counts bytes", () => {
    // `ö` and `ß` take two bytes each: the word behind them is at byte 16 and at character 14.
    expect(read("decode.metal:4:16: error: here")).toEqual(["decode.metal:4:14: error: here"]);
  });

  it("places what is said of a system header where the author's code led there", () => {
    const header = "/System/Library/PrivateFrameworks/GPUCompiler.framework/include/metal/metal_simdgroup_matrix";
    const led = [
      `In file included from program_source:${flatLine("#include <metal_stdlib>")}:`,
      `${header}:170:3: error: static_assert failed "bad tile"`,
      "decode.metal:7:12: note: in instantiation of member function 'load' requested here",
      `${header}:10:1: note: declared here`,
    ].join("\n");
    expect(read(led)).toEqual([
      'decode.metal:7:12: error: static_assert failed "bad tile" (in metal_simdgroup_matrix:170)',
    ]);
    const included = led.split("\n").slice(0, 2).join("\n");
    expect(read(included)[0]).toContain("decode.metal:1:1: error: static_assert failed");
    const alone = `${header}:170:3: error: static_assert failed "bad tile"`;
    expect(read(alone)[0]).toContain("decode.metal:1:1: error:");
  });

  it("makes no message of words that are none", () => {
    expect(read("Compiler encountered an internal error")).toEqual([]);
    expect(read("Function decode was not found in the library")).toEqual([]);
  });
});

describe("refusals", () => {
  it("keep Metal's words whole, behind the first error", () => {
    const words = "decode.metal:6:7: error: one\n  int unused = 3;\n      ^\ndecode.metal:7:3: error: two\n";
    const error = { words, domain: "MTLLibraryErrorDomain", code: 3 };
    const text = compileRefusal(flat(), error, readMetalMessages(words, flat()));
    expect(text).toBe(`decode.metal:6:7: error: one (and 1 more). Metal's words (MTLLibraryErrorDomain 3): ${words}`);
  });

  it("name the source where no message can be placed", () => {
    const error = { words: "Compiler encountered an internal error", domain: "MTLLibraryErrorDomain", code: 2 };
    expect(compileRefusal(flat(), error, [])).toBe(
      "decode.metal was not compiled. Metal's words (MTLLibraryErrorDomain 2): Compiler encountered an internal error",
    );
  });

  it("of the addon itself are not put into Metal's mouth", () => {
    const error = { words: "relaxed math needs macOS 15", domain: "lockstep", code: 0 };
    expect(refusalText("decode.metal was not compiled.", error)).toBe(
      "decode.metal was not compiled. relaxed math needs macOS 15",
    );
  });

  it("of pipelines keep domains of the driver", () => {
    const error = { words: "Compute function exceeds available temporary registers", domain: "AGXMetal13_3", code: 3 };
    expect(refusalText("No pipeline of 'decode' was made.", error)).toBe(
      "No pipeline of 'decode' was made. Metal's words (AGXMetal13_3 3): Compute function exceeds available temporary registers",
    );
  });
});
