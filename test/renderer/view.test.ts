/** A view is a URL and back; what is unknown in it falls away. */
import { describe, expect, it } from "vitest";
import { carriedTo, formatView, parseView } from "../../renderer/state/view.ts";

describe("views", () => {
  it("are written and read back", () => {
    const view = { page: "run", params: { sel: "gqa_decode/h32kv4d512/L33/spread/f32|naive", q: "a b&c=#" } } as const;
    expect(parseView(formatView(view))).toEqual(view);
    expect(formatView({ page: "gates", params: { q: "" } })).toBe("#/gates");
  });

  it("of a run hand it and the result to each other, and to the evidence", () => {
    const from = { page: "run", params: { run: "a.lockstep", sel: "c|r", q: "x", filter: "fail" } } as const;
    expect(carriedTo("parity", from)).toEqual({ run: "a.lockstep", sel: "c|r" });
    expect(carriedTo("kernels", from)).toEqual({ run: "a.lockstep" });
    expect(carriedTo("evidence", from)).toEqual({ bundle: "a.lockstep" });
    expect(carriedTo("device", from)).toEqual({});
    expect(carriedTo("run", from)).toEqual({});
    expect(carriedTo("run", { page: "evidence", params: { bundle: "b.lockstep", q: "x" } })).toEqual({
      run: "b.lockstep",
    });
    expect(carriedTo("parity", { page: "gates", params: { gate: "finite" } })).toEqual({});
    expect(carriedTo("captures", { page: "parity", params: { sel: "c|r", el: "3" } })).toEqual({ sel: "c|r" });
  });

  it("with unknown pages or parameters lose them", () => {
    expect(parseView("")).toEqual({ page: "run", params: {} });
    expect(parseView("#/nothing?x=1")).toEqual({ page: "run", params: {} });
    expect(parseView(`#/run?UPPER=1&q=${"x".repeat(501)}&suite=quick`)).toEqual({
      page: "run",
      params: { suite: "quick" },
    });
    expect(parseView("#/run?__proto__=1").params).toEqual({});
  });
});
