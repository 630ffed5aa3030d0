import { describe, expect, it } from "vitest";
import { occupancyModelSchema } from "../../../electron/captures/messages.ts";
import { occupancyModel } from "../../../electron/captures/models.ts";
import { estimateOccupancy, type OccupancyInput, registerBracket } from "../../../electron/captures/occupancy.ts";

const FUSED: OccupancyInput = { threads: 256, bytes: 16_384, registers: null };

function estimate(family: string, change: Partial<OccupancyInput> = {}) {
  const found = estimateOccupancy(occupancyModel(family)!, { ...FUSED, ...change });
  if (found.state !== "fits") throw new Error(found.reason);
  return found;
}

function roles({ limits }: ReturnType<typeof estimate>): Readonly<Record<string, string>> {
  return Object.fromEntries(limits.map(({ id, role }) => [id, role]));
}

function refusal(change: Partial<OccupancyInput>): string {
  const found = estimateOccupancy(occupancyModel("apple9")!, { ...FUSED, ...change });
  return found.state === "refused" ? found.reason : "fits";
}

describe("models", () => {
  it("are there for four families, valid, with basis and source of every fact; no other family has one", () => {
    for (const family of ["apple7", "apple8", "apple9", "apple10"]) {
      const model = occupancyModelSchema.parse(occupancyModel(family));
      expect(model.id).toMatch(/\/1$/);
      for (const { source } of [model.threadsPerCore, model.threadgroupBytesPerCore, model.registers]) {
        expect(source).not.toBe("");
      }
    }
    expect(occupancyModel("apple6")).toBeNull();
    expect(occupancyModel("sm_90")).toBeNull();
  });

  it("call what nobody measured on a family inferred, and give it as a range", () => {
    expect(occupancyModel("apple9")!.threadgroupBytesPerCore).toMatchObject({
      low: 57_344,
      high: 61_440,
      basis: "inferred",
    });
    expect(occupancyModel("apple10")!.threadgroupBytesPerCore).toMatchObject({ low: 57_344, high: 57_344 });
  });
});

describe("estimates", () => {
  it("16 KiB tiles: three threadgroups a core by memory, whatever the registers", () => {
    const found = estimate("apple10");
    expect(found.groups).toEqual({ low: 3, high: 3 });
    expect(found.simdgroups).toEqual({ low: 24, high: 24 });
    expect(roles(found)).toEqual({ threads: "free", registers: "may", memory: "limits" });
    // 26 to 28 KiB: two. Above 28,672 bytes two do not fit together.
    expect(estimate("apple10", { bytes: 28_672 }).groups.high).toBe(2);
    expect(estimate("apple10", { bytes: 28_688 }).groups.high).toBe(1);
  });

  it("Apple7 has the register steps of the table: 832 threads at 57 to 64 registers", () => {
    const at = (registers: number) => estimate("apple7", { threads: 32, bytes: 0, registers }).simdgroups;
    expect([57, 64].map(at)).toEqual([
      { low: 26, high: 26 },
      { low: 26, high: 26 },
    ]);
    expect(at(65)).toEqual({ low: 24, high: 24 });
    expect(at(128)).toEqual({ low: 12, high: 12 });
    // Below the first step only the file is known: 1,024 threads at least, 3,072 at most.
    expect(at(16)).toEqual({ low: 32, high: 96 });
  });

  it("Apple9 follows the fitted file: 24 simdgroups at 128 registers, 38 at 80", () => {
    const at = (registers: number) => estimate("apple9", { threads: 32, bytes: 0, registers }).simdgroups;
    expect(at(128)).toEqual({ low: 24, high: 24 });
    expect(at(80)).toEqual({ low: 38, high: 38 });
    expect(at(8)).toEqual({ low: 96, high: 96 });
  });

  it("Apple10 is a range between what was measured and the fit, never turned round", () => {
    const at = (registers: number) => estimate("apple10", { threads: 32, bytes: 0, registers }).simdgroups;
    expect(at(22)).toEqual({ low: 44, high: 96 });
    expect(at(126)).toEqual({ low: 31, high: 32 });
    for (let registers = 1; registers <= 126; registers++) {
      const { low, high } = at(registers);
      expect(low, `${registers}`).toBeLessThanOrEqual(high);
    }
  });

  it("names what limits: threads, registers or memory", () => {
    const threads = estimate("apple9", { threads: 1024, bytes: 0, registers: 8 });
    expect(threads.groups).toEqual({ low: 3, high: 3 });
    expect(roles(threads)).toEqual({ threads: "limits", registers: "free" });
    const registers = { threads: "free", registers: "limits", memory: "free" };
    expect(roles(estimate("apple9", { bytes: 1024, registers: 100 }))).toEqual(registers);
    const memory = { threads: "free", registers: "free", memory: "limits" };
    expect(roles(estimate("apple9", { bytes: 16_384, registers: 40 }))).toEqual(memory);
    // 16 registers of Apple7: between 1,024 threads for certain and what the file would hold.
    expect(roles(estimate("apple7", { bytes: 8192, registers: 16 })).registers).toBe("may");
  });

  it("unknown registers span from the most that a thread has to no limit at all", () => {
    const { limits, groups } = estimate("apple9", { bytes: 0 });
    const registers = limits.find(({ id }) => id === "registers")!.groups;
    expect(registers.low).toBe(3);
    expect(registers.high).toBeGreaterThan(groups.high);
    expect(groups).toEqual({ low: 3, high: 12 });
  });

  it("never rises with threads, bytes or registers", () => {
    for (const family of ["apple7", "apple8", "apple9", "apple10"]) {
      let before = Number.POSITIVE_INFINITY;
      for (let registers = 1; registers <= 126; registers += 5) {
        const { high } = estimate(family, { registers }).groups;
        expect(high).toBeLessThanOrEqual(before);
        before = high;
      }
    }
  });
});

describe("what does not launch", () => {
  it("is refused with both sides", () => {
    expect(refusal({ threads: 1056 })).toBe("1,056 threads; a threadgroup launches 1,024 at most");
    expect(refusal({ bytes: 33_024 })).toBe("33,024 threadgroup bytes; the limit is 32,768: use a smaller tile");
    expect(refusal({ registers: 129 })).toContain("129 registers; a thread has 128");
    expect(() => refusal({ threads: 0 })).toThrow(RangeError);
    expect(() => refusal({ registers: 1.5 })).toThrow(RangeError);
  });
});

describe("registers read back from the launchable threads", () => {
  const api = (value: number) => ({ value, by: "api" });
  it("are a bracket on Apple7 and Apple8: 832 is 57 to 64, 896 is 53 to 56, 1,024 up to 52", () => {
    const model = occupancyModel("apple8")!;
    expect(registerBracket(model, api(832))).toMatchObject({ low: 57, high: 64 });
    expect(registerBracket(model, api(896))).toMatchObject({ low: 53, high: 56 });
    expect(registerBracket(model, api(1024))).toMatchObject({ low: 1, high: 52 });
  });

  it("are not known of an emulated device, of other families, and between the steps", () => {
    const model = occupancyModel("apple8")!;
    expect(registerBracket(model, { value: 832, by: "assumed" })).toBeUndefined();
    expect(registerBracket(occupancyModel("apple10")!, api(832))).toBeUndefined();
    expect(registerBracket(model, api(800))).toBeUndefined();
  });
});
