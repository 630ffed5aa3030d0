import { describe, expect, it } from "vitest";
import { registerBracket } from "../../../native/metal/registers.ts";

const PLAIN = "kernel void k(device float* x [[buffer(0)]]) {}";

describe("registerBracket", () => {
  it.each([
    [1024, 1, 52],
    [896, 53, 56],
    [832, 57, 64],
    [768, 65, 68],
    [384, 117, 128],
  ])("%i threads on Apple7 and Apple8", (threads, least, most) => {
    for (const family of ["apple7", "apple8"] as const) {
      expect(registerBracket(family, threads, PLAIN).known).toMatchObject({ value: { least, most }, by: "table" });
    }
  });

  it.each(["apple5", "apple9", "apple10", "apple11"] as const)("tells nothing on %s", (family) => {
    const reading = registerBracket(family, 832, PLAIN);
    expect(reading).toMatchObject({ known: null, reason: expect.stringContaining(`this is ${family}`) });
  });

  it("tells nothing where the threads are no step, and says which are", () => {
    expect(registerBracket("apple7", 1000, PLAIN)).toEqual({
      known: null,
      reason:
        "the pipeline allows 1,000 threads; the register steps are 1,024, 896, 832, 768, 704, 640, 576, 512, 448, 384",
    });
  });

  it("tells nothing where the kernel states its own limit", () => {
    const stated = `[[max_total_threads_per_threadgroup(512)]] ${PLAIN}`;
    expect(registerBracket("apple8", 512, stated)).toMatchObject({ known: null });
    expect(registerBracket("apple8", 512, PLAIN).known).not.toBeNull();
  });
});
