/** Keys as folders of a bundle: short, of legal characters, and never the same for two cases. */
import { describe, expect, it } from "vitest";
import { caseSlug } from "../../../electron/cases/case.ts";
import { BUNDLE_PATH } from "../../../electron/runs/record.ts";

const key = (origin: string) => `gqa_decode/h2kv1d32/L3/${origin}/f32`;

describe("caseSlug", () => {
  it("keeps a plain key readable", () => {
    expect(caseSlug(key("spread-seed7"))).toBe("gqa_decode.h2kv1d32.l3.spread-seed7.f32");
  });

  it("gives every key a folder of its own, whatever the names of a file hold", () => {
    const long = "x".repeat(120);
    const origins = ["a/b", "a.b", "a b", "a-b", "a_b", "ü", "é", "..", "-", "", `${long}1${long}`, `${long}2${long}`];
    const slugs = origins.map((origin) => caseSlug(key(origin)));
    expect(new Set(slugs).size).toBe(origins.length);
    for (const slug of slugs) {
      expect(slug).toMatch(BUNDLE_PATH);
      expect(slug.length).toBeLessThanOrEqual(90);
    }
  });
});
