import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { generateSlice, TENSOR_IDS } from "../../../oracle/generator.ts";
import { goldenJson } from "../../oracle/golden.ts";
import { addon } from "./addon.ts";

const digestsSchema = z.looseObject({ seed: z.string(), sha256_float32_le: z.record(z.string(), z.string()) });

describe("the native generator", () => {
  test.each([8, 24] as const)("gives the bits of the definition, %i bits", async (bits) => {
    const memory = addon.allocate(1003 * 4 + 8);
    for (const [seed, tensor, start] of [
      [1, 0, 0],
      [0xffffffff, 2, 12345],
      [0x5eed0001, 1, 268434453],
      [7, 0xffffffff, 2 ** 32 - 1003],
    ] as const) {
      const options = { seed, tensor, bits, multiplier: -0.125, start, count: 1003 };
      memory.fill(0);
      await addon.generate(memory, 4, options);
      expect([...memory.read(0, 4)]).toEqual([0, 0, 0, 0]);
      expect(memory.read(4, 1003 * 4)).toEqual(new Uint8Array(generateSlice(options).buffer));
      expect([...memory.read(1003 * 4 + 4, 4)]).toEqual([0, 0, 0, 0]);
    }
    memory.release();
  });

  test("digests of K and V up to 8193 tokens", async () => {
    const digests = digestsSchema.parse(goldenJson("gqa_decode_d512_long_f64.digests.json"));
    const memory = addon.allocate(8193 * 2048 * 4);
    const wanted = new Map(Object.entries(digests.sha256_float32_le));
    let checked = 0;
    for (const bits of [8, 24] as const) {
      for (const name of ["k", "v"] as const) {
        const count = 8193 * 2048;
        await addon.generate(memory, 0, {
          seed: Number(digests.seed),
          tensor: TENSOR_IDS[name],
          bits,
          multiplier: 1,
          start: 0,
          count,
        });
        // A shorter K is a prefix of a longer one.
        for (const live of [1023, 8193]) {
          const digest = wanted.get(`u${bits}.${name}.L${live}`);
          if (digest === undefined) continue;
          const bytes = memory.read(0, live * 2048 * 4);
          expect(createHash("sha256").update(bytes).digest("hex"), `u${bits}.${name}.L${live}`).toBe(digest);
          checked++;
        }
      }
    }
    expect(checked).toBeGreaterThanOrEqual(4);
    memory.release();
  });

  test("slices outside the memory or the stream, and inexact multipliers, are refused", () => {
    const memory = addon.allocate(64);
    const options = { seed: 1, tensor: 0, bits: 24, multiplier: 1, start: 0, count: 16 } as const;
    expect(() => addon.generate(memory, 4, options)).toThrow(/64 bytes at offset 4 ends outside the buffer of 64/);
    expect(() => addon.generate(memory, 2, { ...options, count: 1 })).toThrow(/byteOffset is 2; use a multiple of 4/);
    expect(() => addon.generate(memory, 0, { ...options, start: 2 ** 32 - 8 })).toThrow(/leave the stream/);
    expect(() => addon.generate(memory, 0, { ...options, multiplier: 0.3 })).toThrow(/power of two/);
    expect(() => addon.generate(memory, 0, { ...options, bits: 16 as 8 })).toThrow(/bits is 16; use 8 or 24/);
    expect(() => addon.generate(memory, 0, { ...options, seed: -1 })).toThrow(/seed is -1/);
    memory.release();
  });

  test("memory released while it is being filled stays mapped until the end", async () => {
    const memory = addon.allocate(1 << 24);
    const filled = addon.generate(memory, 0, { seed: 1, tensor: 0, bits: 24, multiplier: 1, start: 0, count: 1 << 22 });
    memory.release();
    await expect(filled).resolves.toBeUndefined();
  });
});
