import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chipTable, findChip, parseChipTable, shortName } from "../../native/chips.ts";

const TEXT = readFileSync(join(import.meta.dirname, "..", "..", "native", "chips.json"), "utf8");

describe("the chip table", () => {
  it("is what its schema says, and its chips belong to its families", () => {
    const table = chipTable();
    expect(table.chips.length).toBeGreaterThanOrEqual(19);
    for (const chip of table.chips) {
      expect(table.families[chip.mtl_gpu_family].value, chip.name).toBe(chip.mtl_gpu_family_value);
      for (const source of chip.sources) expect(table.sources, `${chip.name}: ${source}`).toHaveProperty(source);
    }
  });

  it.each([
    ["M3 Max", "Apple M3 Max"],
    ["apple m3 max", "Apple M3 Max"],
    ["M3-max", "Apple M3 Max"],
    ["A18 Pro", "Apple A18 Pro (MacBook Neo)"],
  ])("finds %s", (name, full) => {
    expect(findChip(name).name).toBe(full);
  });

  it.each(["M3 Maxi", "", "M", "GeForce"])("does not find %j", (name) => {
    expect(() => findChip(name)).toThrow(`There is no chip '${name}' in the chip table`);
  });

  it("drops the maker from names", () => {
    expect(shortName(findChip("M1"))).toBe("M1");
  });

  it.each([
    ["another schema", /"apple-gpu-chips\/1"/, '"apple-gpu-chips/2"', "at schema"],
    ["an unknown family", /"mtl_gpu_family": "apple7"/, '"mtl_gpu_family": "apple6"', "at chips.0.mtl_gpu_family"],
    ["an unknown key", /"generation": "M1"/, '"generation": "M1", "colour": "grey"', "at chips.0"],
    ["a limit that is no number", /"simd_width": 32/, '"simd_width": "32"', "at common_limits.simd_width"],
  ])("refuses %s", (_, pattern, replacement, place) => {
    expect(TEXT).toMatch(pattern);
    expect(() => parseChipTable(TEXT.replace(pattern, replacement))).toThrow(`The chip table is not valid ${place}`);
  });
});
