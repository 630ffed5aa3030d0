import { describe, expect, it } from "vitest";
import { parseStrictJson, stableJson } from "../../../electron/evidence/json.ts";

describe("stableJson", () => {
  it("sorts keys, ends the line, writes non-finite numbers as words", () => {
    expect(stableJson({ b: [Number.NaN, Number.NEGATIVE_INFINITY], a: { d: 1, c: undefined } })).toBe(
      '{\n  "a": {\n    "d": 1\n  },\n  "b": [\n    "NaN",\n    "-Infinity"\n  ]\n}\n',
    );
  });

  it("refuses what JSON cannot hold", () => {
    expect(() => stableJson({ a: { b: 1n } })).toThrow("$.a.b is a bigint");
    expect(() => stableJson([new Map()])).toThrow("$[0]");
  });
});

describe("parseStrictJson", () => {
  const parse = (text: string) => parseStrictJson(text, "x.json");

  it("takes ordinary JSON", () => {
    expect(parse('{"a":{"b":[1,-2.5e3,"c:\\"{"]},"b":{"a":null}}')).toEqual({
      a: { b: [1, -2500, 'c:"{'] },
      b: { a: null },
    });
    expect(parse('["a","a",{"x":"x"}]')).toEqual(["a", "a", { x: "x" }]);
  });

  it.each([
    ['{"result":"FAILED","result":"PASSED"}', 'the key "result" stands twice'],
    ['{"result":1,"resul\\u0074":2}', 'the key "result" stands twice'],
    ['[{"a":{"b":1,"c":[{}],"b":2}}]', 'the key "b" stands twice'],
    ['{"__proto__":{}}', "__proto__"],
    ["9007199254740993", "beyond 2^53"],
    ["[1e999]", "overflows"],
    ["[NaN]", "not JSON"],
    ["{'a':1}", "not JSON"],
    ['{"a":1}}', "not JSON"],
    ["", "not JSON"],
    ["[".repeat(40) + "]".repeat(40), "deeper than 32"],
  ])("refuses %s", (text, words) => {
    expect(() => parse(text)).toThrow(words);
  });
});
