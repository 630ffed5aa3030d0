import { describe, expect, it } from "vitest";
import { chooseLanguage, macosMajor, newestLanguage } from "../../../native/metal/language.ts";

describe("chooseLanguage", () => {
  it.each([
    ["13.6.0", undefined, "3.0", 0x3_0000, "the source asks for none; the newest of macOS 13.6.0"],
    ["14.5.0", undefined, "3.1", 0x3_0001, "the source asks for none; the newest of macOS 14.5.0"],
    [
      "26.1.0",
      undefined,
      "3.1",
      0x3_0001,
      "the source asks for none; MSL 3.1 is what sources without a version get, macOS 26.1.0 has up to 4.0",
    ],
    ["26.1.0", "4.0", "4.0", 0x4_0000, "the source asks for it"],
    ["15.5.0", "2.4", "2.4", 0x2_0004, "the source asks for it"],
    ["27.0.0", "4.0", "4.0", 0x4_0000, "the source asks for it"],
  ] as const)("macOS %s, asked for %s", (os, wanted, version, raw, reason) => {
    expect(chooseLanguage(wanted, os)).toEqual({ ok: true, version, raw, reason });
  });

  it("refuses what this macOS does not have, naming both sides and the mend", () => {
    expect(chooseLanguage("4.0", "15.5.0")).toEqual({
      ok: false,
      problem:
        "the source asks for MSL 4.0, which needs macOS 26; this is macOS 15.5.0 with MSL 3.2 at most: update macOS, or ask for 3.2",
    });
    expect(chooseLanguage("3.1", "13.0.0").ok).toBe(false);
  });

  it("refuses a version that nobody knows", () => {
    expect(chooseLanguage("9.0", "26.0.0")).toMatchObject({
      ok: false,
      problem: expect.stringContaining("'9.0' is not known"),
    });
    expect(chooseLanguage(undefined, "none")).toMatchObject({ ok: false });
  });

  it("goes up to the ceiling that is stated", () => {
    expect(chooseLanguage(undefined, "26.0.0", "4.0")).toMatchObject({ version: "4.0" });
    expect(chooseLanguage(undefined, "15.0.0", "4.0")).toMatchObject({ version: "3.2" });
  });
});

describe("newestLanguage", () => {
  it("does not change between the versions of macOS that bring one", () => {
    expect([13, 14, 15, 16, 25, 26, 30].map((major) => newestLanguage(`${major}.0.0`))).toEqual([
      "3.0",
      "3.1",
      "3.2",
      "3.2",
      "3.2",
      "4.0",
      "4.0",
    ]);
    expect(macosMajor("26.1.0")).toBe(26);
  });
});
