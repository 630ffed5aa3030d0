import { describe, expect, it } from "vitest";
import { trafficFor } from "../../../../kernels/contracts.ts";
import { bytesByKind } from "../../../../kernels/traffic.ts";
import { partsText, trafficText, trafficUnit } from "../../../../renderer/pages/captures/traffic_words.ts";
import { LONG_DECODE } from "../../../kernels/shapes.ts";

describe("the unit of a chart of bytes", () => {
  it("gives the largest bar one to four digits", () => {
    const named = (bytes: number): string => trafficUnit(bytes).name;
    expect([12, 9000, 2 ** 23, 1.2 * 2 ** 30, 9 * 2 ** 30].map(named)).toEqual(["B", "KiB", "MiB", "MiB", "GiB"]);
  });

  it("writes whole numbers whole, others with three digits", () => {
    const unit = trafficUnit(2 ** 30);
    expect(trafficText(512 * 2 ** 20, unit)).toBe("512");
    expect(trafficText(1.5 * 2 ** 20, unit)).toBe("1.5");
    expect(trafficText(1234.5 * 2 ** 20, unit)).toBe("1,235");
  });
});

describe("the parts of a bar in words", () => {
  it("name what can be seen and add up the rest", () => {
    const traffic = trafficFor(LONG_DECODE, "three_stage")!;
    const words = partsText(bytesByKind(traffic), traffic.totalBytes, trafficUnit(traffic.totalBytes));
    expect(words).toBe("K 512 + V 512 + scores 176 + Q 64 + rest 2.06");
  });

  it("add no rest where there is none", () => {
    const parts = [{ kind: "K", bytes: 60 } as const, { kind: "V", bytes: 40 } as const];
    expect(partsText(parts, 100, trafficUnit(100))).toBe("K 60 + V 40");
  });
});
