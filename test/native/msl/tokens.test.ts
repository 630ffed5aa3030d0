import { describe, expect, it } from "vitest";
import { alignColumns } from "../../../native/msl/align.ts";
import { evaluate, parseNumber } from "../../../native/msl/expression.ts";
import { type Token, tokenise } from "../../../native/msl/tokens.ts";

function texts(source: string): string[] {
  return tokenise(source).map((token) => token.text);
}

describe("tokenise", () => {
  it.each([
    ["a[b[i]]", ["a", "[", "b", "[", "i", "]", "]"]],
    ["x [[buffer(0)]]", ["x", "[", "[", "buffer", "(", "0", ")", "]", "]"]],
    ["vec<vec<T>>", ["vec", "<", "vec", "<", "T", ">", ">"]],
    ["16.h+1.5e-3f-0x1Fu", ["16.h", "+", "1.5e-3f", "-", "0x1Fu"]],
    ['"a\\"b" \'\\n\' u8"x"', ['"a\\"b"', "'\\n'", 'u8"x"']],
    ["a->b::c && d", ["a", "->", "b", "::", "c", "&&", "d"]],
    ["a // b\nc /* d\n e */ f", ["a", "c", "f"]],
    ["#define X \\\n 1\nx", ["#define X \\\n 1", "x"]],
    ['"unterminated', ['"unterminated']],
  ])("%j", (source, expected) => {
    expect(texts(source)).toEqual(expected);
  });

  it("counts lines and columns through comments and continued lines", () => {
    const found = tokenise("a /*\n*/ b\\\n  c\n#if 1 \\\n  2\n  d").map(({ text, line, column }) => [
      text,
      line,
      column,
    ]);
    expect(found).toEqual([
      ["a", 1, 1],
      ["b", 2, 4],
      ["c", 3, 3],
      ["#if 1 \\\n  2", 4, 1],
      ["d", 6, 3],
    ]);
  });
});

describe("alignColumns", () => {
  /** `name:column` of each identifier and number of the output. */
  function words(output: string, original: string): string {
    const tokens = tokenise(output);
    const columns = alignColumns(tokens, tokenise(original));
    return tokens
      .flatMap(({ kind, text }, index) => (kind === "punctuator" ? [] : [`${text}:${columns[index]}`]))
      .join(" ");
  }

  it.each([
    ["equal but for white space", "a = b;", "a   =  b;", "a:1 b:8"],
    ["an object-like macro", "x = ((1) + k) + y;", "x = SUM + y;", "x:1 1:5 k:5 y:11"],
    ["a function-like macro", "f((a) * k, b);", "f(MUL(a), b);", "f:1 a:7 k:3 b:11"],
    ["an argument used twice", "((q) + (q)) + z", "TWICE( q ) + z", "q:8 q:8 z:14"],
    ["a macro that is nothing", "x y", "x NOTHING y", "x:1 y:11"],
    ["two macros", "1 + 2", "ONE + TWO", "1:1 2:7"],
    ["an unknown line", "a b", "", "a:1 b:3"],
  ])("%s", (_, output, original, expected) => {
    expect(words(output, original)).toBe(expected);
  });
});

describe("evaluate", () => {
  const tokens = (text: string): Token[] =>
    tokenise(text).map((token) => ({ ...token, kind: token.kind === "directive" ? "pragma" : token.kind, file: 0 }));
  const scope = {
    value: (name: string) => (name === "N" ? 8 : name === "on" ? true : undefined),
    isDefined: (name: string) => name === "on",
  };
  it.each([
    ["100 + 3 * 2", 106],
    ["(N - 1) << 2 | 1", 29],
    ["0x10u >> 2", 4],
    ["7 / 2 % 2", 1],
    ["-N + +2", -6],
    ["N > 4 ? N : 0", 8],
    ["N >= 8 && !false", true],
    ["is_function_constant_defined(off) ? off : 42", 42],
    ["is_function_constant_defined(on) && on", true],
    ["off && false", false],
    ["off || on", true],
    ["off + 1", undefined],
    ["uint(3)", 3],
    ["f(3)", undefined],
    ["1 2", undefined],
    ["", undefined],
  ])("%s", (text, expected) => {
    expect(evaluate(tokens(text), scope)).toBe(expected);
  });

  it.each([
    ["1'000", 1000],
    ["017", 15],
    ["0b101", 5],
    [".5h", 0.5],
    ["1e3", 1000],
    ["2.0bf", 2],
    ["12ab", undefined],
  ])("number %s", (text, expected) => {
    expect(parseNumber(text)).toBe(expected);
  });
});
