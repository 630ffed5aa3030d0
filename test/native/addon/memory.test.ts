import { spawnSync } from "node:child_process";
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { SharedNativeMemory } from "../../../native/memory.ts";
import { ADDON_PATH, addon } from "./addon.ts";

const POISON = 0x7fed7fed;

/** Bytes of the file behind `memory`, from `offset` relative to the buffer. */
function readFile(memory: SharedNativeMemory, offset: number, length: number): Uint8Array {
  const file = openSync(memory.path, "r");
  const bytes = new Uint8Array(length);
  readSync(file, bytes, 0, length, memory.fileOffset + offset);
  closeSync(file);
  return bytes;
}

function writeFile(memory: SharedNativeMemory, offset: number, bytes: Uint8Array): void {
  const file = openSync(memory.path, "r+");
  writeSync(file, bytes, 0, bytes.length, memory.fileOffset + offset);
  closeSync(file);
}

describe("native memory", () => {
  test.each([1, 15, 16, 17, 4080, 4096, 4097, 1 << 20])("of %i bytes has exactly that many", (bytes) => {
    const memory = addon.allocate(bytes);
    expect(memory.bytes).toBe(bytes);
    memory.fill(POISON);
    expect(memory.sentinelIntact()).toBe(true);
    const words = memory.read(0, bytes);
    expect(words.every((byte, i) => byte === (i % 2 === 0 ? 0xed : 0x7f))).toBe(true);
    // The last 16-byte unit ends where a page ends.
    expect((memory.fileOffset + Math.ceil(bytes / 16) * 16) % 4096).toBe(0);
    memory.release();
  });

  test("is seen by whoever opens its path, and the other way round", () => {
    const memory = addon.allocate(37);
    memory.write(
      0,
      Uint8Array.from({ length: 37 }, (_, i) => i),
    );
    expect([...readFile(memory, 30, 7)]).toEqual([30, 31, 32, 33, 34, 35, 36]);
    writeFile(memory, 36, Uint8Array.of(99));
    expect([...memory.read(35, 2)]).toEqual([35, 99]);
    const other = spawnSync("od", ["-An", "-tu1", "-N3", `-j${memory.fileOffset}`, memory.path], { encoding: "utf8" });
    expect(other.stdout.trim().split(/\s+/)).toEqual(["0", "1", "2"]);
    memory.release();
  });

  test("is made by allocate() alone", () => {
    const memory = addon.allocate(16);
    const Kind = memory.constructor as new (bytes: unknown) => unknown;
    expect(() => new Kind(16)).toThrow("native memory is made with allocate() alone");
    memory.release();
  });

  test("the sentinel shows a write behind the end and before the start", () => {
    for (const offset of [37, 47, -1]) {
      const memory = addon.allocate(37);
      expect(memory.sentinelIntact()).toBe(true);
      writeFile(memory, offset, Uint8Array.of(1));
      expect(memory.sentinelIntact()).toBe(false);
      memory.release();
    }
  });

  test("reads are copies", () => {
    const memory = addon.allocate(8);
    const copy = memory.read(0, 8);
    memory.write(0, new Uint8Array(8).fill(7));
    expect([...copy]).toEqual(new Array(8).fill(0));
    memory.release();
  });

  test("accesses outside the buffer are refused with both numbers", () => {
    const memory = addon.allocate(10);
    expect(() => memory.read(8, 3)).toThrow(RangeError);
    expect(() => memory.read(8, 3)).toThrow(/3 bytes at offset 8 ends outside the buffer of 10 bytes/);
    expect(() => memory.write(10, new Uint8Array(1))).toThrow(RangeError);
    expect(() => memory.read(-1, 1)).toThrow(RangeError);
    expect(() => memory.read(0.5, 1)).toThrow(RangeError);
    expect(() => memory.read(0, Number.NaN)).toThrow(RangeError);
    expect(() => memory.read(2 ** 53 - 1, 2 ** 53 - 1)).toThrow(RangeError);
    expect(() => memory.fill(2 ** 32)).toThrow(RangeError);
    expect(() => Reflect.apply(memory.write, memory, [0, "text"])).toThrow(TypeError);
    expect(memory.read(10, 0)).toHaveLength(0);
    memory.write(10, new Uint8Array(0));
    memory.release();
  });

  test("a size that cannot be had is refused, and a foreign object", () => {
    expect(() => addon.allocate(0)).toThrow(RangeError);
    expect(() => addon.allocate(-4)).toThrow(RangeError);
    expect(() => addon.allocate(1e15)).toThrow(/1000000000000000 bytes/);
    const options = { seed: 1, tensor: 0, bits: 24, multiplier: 1, start: 0, count: 1 } as const;
    expect(() => addon.generate({} as SharedNativeMemory, 0, options)).toThrow(/memory is not a NativeMemory/);
  });

  test("released memory is refused, again and again", () => {
    const memory = addon.allocate(16);
    memory.release();
    memory.release();
    expect(() => memory.read(0, 1)).toThrow(/was released/);
    expect(() => memory.bytes).toThrow(/was released/);
  });

  test("the page behind the buffer cannot be touched", () => {
    // In a child, whose memory map holds this one buffer.
    const code = `
      const memory = require(${JSON.stringify(ADDON_PATH)}).allocate(64);
      process.stdout.write("allocated");
      require("node:fs").readFileSync("/proc/self/maps", "utf8").split("\\n").forEach((line, i, lines) => {
        if (line.includes("memfd:lockstep")) process.stdout.write(" next:" + lines[i + 1].split(" ")[1]);
      });`;
    const child = spawnSync(process.execPath, ["-e", code], { encoding: "utf8" });
    if (process.platform === "linux") expect(child.stdout).toMatch(/^allocated next:---p$/);
    else expect(child.stdout).toMatch(/^allocated/);
  });
});
