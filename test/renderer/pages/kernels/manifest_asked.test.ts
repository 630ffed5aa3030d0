/** The form of a manifest as a request, and as the command that asks the same. */
import { describe, expect, it } from "vitest";
import {
  askedOf,
  askedOfFolder,
  checkWords,
  isWanted,
  sizesOf,
  TEXT_BYTES,
} from "../../../../renderer/pages/kernels/manifest_asked.ts";

describe("sizes", () => {
  it("are names with numbers, or say what is wrong", () => {
    expect(sizesOf("N=64, D=128").value).toEqual({ N: 64, D: 128 });
    expect(sizesOf("").value).toEqual({});
    expect(sizesOf("N").reason).toContain('"N" is no size');
    expect(sizesOf("N=1,N=2").reason).toContain("N is there twice");
  });
});

describe("a path", () => {
  it("becomes a request, and the command that asks the same", () => {
    const { value } = askedOf({ path: " /k/a.kernel.json ", root: "/k", sizes: "N=8" });
    expect(value).toEqual({
      from: { kind: "file", path: "/k/a.kernel.json", root: "/k" },
      sizes: { N: 8 },
      chip: null,
    });
    expect(checkWords(value!).join(" ")).toBe("lockstep check /k/a.kernel.json --root /k --set N=8 --traffic");
  });

  it("is asked for where there is none", () => {
    expect(askedOf({ path: " ", root: "", sizes: "" }).reason).toContain("Give the path");
  });
});

describe("a folder", () => {
  const manifest = { path: "k/a.kernel.json", text: "{}" };

  it("gives its one manifest, and its sources relative to that", () => {
    const { value } = askedOfFolder([manifest, { path: "k/a.metal", text: "x" }, { path: "other.h", text: "y" }], "");
    expect(value?.from).toEqual({
      kind: "texts",
      name: "k/a.kernel.json",
      manifest: "{}",
      files: [{ path: "a.metal", text: "x" }],
    });
  });

  it("is refused without a manifest, with two, and beyond what one message holds", () => {
    expect(askedOfFolder([{ path: "a.metal", text: "" }], "").reason).toContain("no .kernel.json");
    expect(askedOfFolder([manifest, { ...manifest, path: "b.kernel.json" }], "").reason).toContain("2 manifests");
    expect(askedOfFolder([manifest], "").reason).toContain("came without its sources");
    const long = { path: "k/a.metal", text: "x".repeat(TEXT_BYTES) };
    expect(askedOfFolder([manifest, long], "").reason).toContain("the limit is 900,000");
  });

  it("is read for sources and manifests alone", () => {
    expect(["a.kernel.json", "a.metal", "b.h", "c.py", "d.json"].filter(isWanted)).toEqual([
      "a.kernel.json",
      "a.metal",
      "b.h",
    ]);
  });
});
