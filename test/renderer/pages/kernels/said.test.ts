/** What lint and compiler say of a source: by line, by file, counted, and whether it keeps the route from being built. */
import { describe, expect, it } from "vitest";
import { countsText, type Diagnostic, isRefused, saidOf } from "../../../../renderer/pages/kernels/said.ts";

function diagnostic(over: Partial<Diagnostic> = {}): Diagnostic {
  return { severity: "error", path: "a.metal", line: 3, column: 5, message: "no such name", ...over };
}

const ANSWER = { device: "emulated:m5", toolchain: "clang", files: [], pipelines: [], refusal: null };

describe("what is said of a source", () => {
  it("stands by line and column, of this file alone", () => {
    const finding = { path: "a.metal", line: 2, column: 1, message: "not in the table" };
    const said = saidOf(
      "a.metal",
      [finding, { ...finding, path: "b.h" }],
      [diagnostic({ column: 9 }), diagnostic(), diagnostic({ path: "b.h" })],
    );
    expect(said.map(({ line, column, by }) => [line, column, by])).toEqual([
      [2, 1, "lint"],
      [3, 5, "compiler"],
      [3, 9, "compiler"],
    ]);
  });

  it("is counted by severity", () => {
    expect(countsText([])).toBe("no message");
    expect(countsText([diagnostic(), diagnostic(), diagnostic({ severity: "warning" })])).toBe("2 errors, 1 warning");
  });

  it("refuses a route by an error or by the device's own words, not by a warning", () => {
    expect(isRefused({ ...ANSWER, diagnostics: [diagnostic({ severity: "warning" })] })).toBe(false);
    expect(isRefused({ ...ANSWER, diagnostics: [diagnostic()] })).toBe(true);
    expect(isRefused({ ...ANSWER, diagnostics: [], refusal: "too much threadgroup memory" })).toBe(true);
  });
});
