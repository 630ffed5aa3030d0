/** A view is a URL and back; what is unknown in it falls away. */
import { describe, expect, it } from "vitest";
import { formatView, parseView } from "../../renderer/state/view.ts";

describe("views", () => {
  it("are written and read back", () => {
    const view = { page: "run", params: { sel: "gqa_decode/h32kv4d512/L33/spread/f32|naive", q: "a b&c=#" } } as const;
    expect(parseView(formatView(view))).toEqual(view);
    expect(formatView({ page: "gates", params: { q: "" } })).toBe("#/gates");
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
