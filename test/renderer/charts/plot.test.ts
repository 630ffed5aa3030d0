import { describe, expect, it } from "vitest";
import { type EdgeSet, edgesApart, edgesShown } from "../../../renderer/charts/plot.ts";

function edges(kind: EdgeSet["kind"], ...at: readonly number[]): EdgeSet {
  return { kind, title: "", edges: Int32Array.from(at), labels: [] };
}

describe("edges of the kernel's work", () => {
  it("are left out where they stand closer than 8 pixels", () => {
    expect(edgesApart(edges("tile", 8, 16, 24), 32, 32)).toBe(true);
    expect(edgesApart(edges("tile", 8, 16, 24), 32, 31)).toBe(false);
    expect(edgesShown(edges("page", 8, 16, 24), 32, 31)).toBe(false);
  });

  it("of partitions may come close here and there, not on the whole", () => {
    expect(edgesShown(edges("sequence", 1, 2, 500), 1000, 100)).toBe(true);
    const many = Array.from({ length: 127 }, (_, i) => (i + 1) * 64);
    expect(edgesShown(edges("sequence", ...many), 8192, 490)).toBe(false);
  });
});
