import { expect, test } from "vitest";
import { packParams } from "../../kernels/params.ts";

test("fields follow each other, little-endian, without padding", () => {
  const bytes = packParams([
    { name: "a", type: "u32", value: 0x01020304 },
    { name: "b", type: "i32", value: -1 },
    { name: "c", type: "f32", value: 1 },
  ]);
  expect([...bytes]).toEqual([4, 3, 2, 1, 255, 255, 255, 255, 0, 0, 128, 63]);
});

test.each([
  [{ name: "live", type: "u32", value: -1 }, "live is -1; u32 holds integers from 0 to 4294967295"],
  [{ name: "live", type: "u32", value: 2 ** 32 }, "live is 4294967296"],
  [{ name: "live", type: "u32", value: 0.5 }, "live is 0.5"],
  [{ name: "offset", type: "i32", value: 2 ** 31 }, "i32 holds integers from -2147483648 to 2147483647"],
  [{ name: "scale", type: "f32", value: 1e39 }, "scale is 1e+39; it must be finite in f32"],
] as const)("refuses %o", (field, message) => {
  expect(() => packParams([field])).toThrow(message);
});
