import { describe, expect, it } from "vitest";
import type { CallOutput } from "../../../../electron/contract.ts";
import { ridgeOf, roofAt, roofPoint, roofsOf, shareText } from "../../../../renderer/pages/captures/roofline.ts";
import type { Profile } from "../../../../renderer/state/run_model.ts";

const known = <T>(value: T) => ({ value, by: "api" as const, source: "a test" });

const M4_MAX: CallOutput<"chips.list">["chips"][number] = {
  name: "Apple M4 Max",
  shortName: "M4 Max",
  generation: "M4",
  family: "apple9",
  architecture: "applegpu_g16s",
  architectureConfidence: "reported",
  clockGhz: 1.38,
  clockConfidence: "uncertain",
  variants: [
    { gpuCores: 32, memoryBandwidthGbS: 409.6 },
    { gpuCores: 40, memoryBandwidthGbS: 546 },
  ],
  sources: [],
};

function device(chip: string, gpuCores: number | undefined): Profile {
  return {
    id: "metal:0",
    execution: "metal",
    name: known(chip),
    chip: known(chip),
    architecture: known("applegpu_g16s"),
    family: known("apple9" as const),
    metalVersion: known("4.0"),
    os: known("26.2"),
    gpuCores: gpuCores === undefined ? { by: "inferred", source: "a test" } : known(gpuCores),
    limits: known({
      simdWidth: 32,
      maxThreadsPerThreadgroup: 1024,
      maxThreadgroupMemoryBytes: 32_768,
      threadgroupMemoryAlignmentBytes: 16,
      bufferSlots: 31,
      setBytesMax: 4096,
    }),
    toolchain: known("a test"),
  };
}

describe("roofs", () => {
  it("are those of the variant with as many cores", () => {
    const { roofs } = roofsOf([M4_MAX], device("M4 Max", 40));
    expect(roofs).toMatchObject({ bandwidthGbS: 546, gpuCores: 40 });
    expect(roofs!.gflops).toBeCloseTo(40 * 256 * 1.38, 6);
    expect(ridgeOf(roofs!)).toBeCloseTo(25.9, 1);
    expect(roofAt(roofs!, 4)).toBe(2184);
    expect(roofAt(roofs!, 1000)).toBe(roofs!.gflops);
  });

  it("are not known of a chip that the table lacks, of unknown cores, of a clock that nobody stated, of no device", () => {
    const reason = (chips: readonly (typeof M4_MAX)[], profile: Profile | null) => roofsOf(chips, profile).reason;
    expect(reason([M4_MAX], device("M9", 40))).toContain("not in the chip table");
    expect(reason([M4_MAX], device("M4 Max", undefined))).toContain("GPU cores");
    expect(reason([{ ...M4_MAX, clockGhz: null }], device("M4 Max", 40))).toContain("clock is not known");
    expect(reason([M4_MAX], null)).toContain("no device");
    const lent = { ...device("M4 Max", 40), virtualGpu: known(true) };
    expect(reason([M4_MAX], lent)).toBe("a virtual GPU has no datasheet");
  });
});

describe("points", () => {
  const { roofs } = roofsOf([M4_MAX], device("M4 Max", 40));
  const work = { flops: 4 * 32 * 512 * 65_536, bytes: 2 ** 30 };

  it("have an intensity, and no rate without a measured time", () => {
    expect(roofPoint("a", "fused", work, roofs, null)).toMatchObject({ intensity: 4, gflops: null, share: null });
  });

  it("have a rate and a share of the roof where a chip was timed", () => {
    const point = roofPoint("b", "fused", work, roofs, 2.95e6);
    expect(point.gflops).toBeCloseTo(1456, 0);
    expect(shareText(point.share!)).toBe("67 % of roof");
  });

  it("above the roof say that caches or an error made it so", () => {
    expect(shareText(roofPoint("a", "fused", work, roofs, 1e6).share!)).toBe(
      "197 % of roof: caches, or a counting error",
    );
  });
});
