import { describe, expect, it } from "vitest";
import { readGpuBinary } from "../../../electron/offline/gpu_binary.ts";
import { readMachO } from "../../../electron/offline/macho.ts";
import { gpuBinary, gpuCode, machO, metadata, outer } from "./binaries.ts";

describe("a GPU binary", () => {
  it("says registers, spilled bytes and bytes of code", () => {
    expect(readGpuBinary(gpuBinary(96, 592, 1234))).toEqual({ registers: 96, spillBytes: 592, codeBytes: 1234 });
    expect(readGpuBinary(gpuBinary(12, 0))).toEqual({ registers: 12, spillBytes: 0, codeBytes: 100 });
  });

  it("is read wherever it lies in a larger buffer", () => {
    const bytes = gpuBinary(44, 16);
    const shifted = Buffer.concat([Buffer.alloc(3), bytes]).subarray(3);
    expect(readGpuBinary(shifted)).toMatchObject({ registers: 44, spillBytes: 16 });
  });
});

describe("what is refused, with what was found", () => {
  const good = gpuBinary(12, 0);
  const changed = (at: number, value: number, bytes: Buffer = good): Buffer => {
    const copy = Buffer.from(bytes);
    copy.writeUInt32LE(value, at);
    return copy;
  };
  const meta = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = metadata(12, 16);
    change(bytes);
    return outer(gpuCode(bytes));
  };
  const cases: readonly (readonly [string, Buffer, string])[] = [
    ["nothing", Buffer.alloc(0), "0 bytes; a Mach-O header has 32"],
    ["another file", Buffer.from("MTLB".padEnd(64)), "begins 0x424c544d"],
    ["a universal binary", changed(0, 0xbebafeca), "a universal binary; one architecture is expected"],
    ["commands behind the end", changed(20, 1 << 20), "load commands end at"],
    ["very many commands", changed(16, 0xffffffff), "load commands; the limit is 4096"],
    ["more commands than there are", changed(16, 2), "load command 1 begins at"],
    ["a command of no size", changed(36, 0), "load command 0 has 0 bytes"],
    ["a command that is too long", changed(36, 1 << 16), "they end at"],
    ["more sections than the segment holds", changed(32 + 64, 0xffffff), "with 16777215 sections"],
    ["a section behind the end", changed(32 + 72 + 48, 0x7fffffff), "__TEXT,__compute ends at"],
    ["a section beyond any file", changed(32 + 72 + 44, 0xffffffff), "__TEXT,__compute ends at"],
    ["no GPU code", machO([]), "no section __TEXT,__compute"],
    ["GPU code that is none", outer(Buffer.alloc(64)), "begins 0x0"],
    ["no metadata", outer(machO([])), "no section __GPU_METADATA,__compute"],
    [
      "two sections of one name",
      machO([1, 2].map(() => ({ segment: "__TEXT", section: "__compute", bytes: Buffer.alloc(4) }))),
      "2 sections are called",
    ],
    [
      "two kernels",
      outer(Buffer.concat([gpuCode(metadata(12, 0), 100), gpuCode(metadata(90, 0), 100)])),
      "more than one kernel in the binary",
    ],
    ["metadata of a few bytes", outer(gpuCode(Buffer.alloc(4))), "metadata: 4 bytes"],
    ["a root outside", meta((bytes) => bytes.writeUInt32LE(1 << 20, 0)), "metadata: root lies at"],
    ["a vtable outside", meta((bytes) => bytes.writeInt32LE(1 << 20, bytes.readUInt32LE(0))), "root, vtable lies at -"],
    ["a vtable of odd size", meta((bytes) => bytes.writeUInt16LE(7, 4)), "root: a vtable of 7 bytes"],
    ["a table longer than the buffer", meta((bytes) => bytes.writeUInt16LE(60_000, 6)), "root: a table of 60000 bytes"],
    [
      "a field outside of its table",
      meta((bytes) => bytes.writeUInt16LE(40, 8)),
      "field 0 lies at 40, outside of its table",
    ],
    [
      "a table that refers to itself",
      meta((bytes) => bytes.writeUInt32LE(0, bytes.readUInt32LE(0) + 4)),
      "field 0 refers to itself",
    ],
    ["no registers", outer(gpuCode(metadata(null, 16))), "the registers, is absent"],
    ["figures that no kernel has", gpuBinary(70_000, 0), "70000 registers and 0 spilled bytes, which no kernel has"],
  ];
  it.each(cases)("%s", (_, bytes, words) => {
    expect(() => readGpuBinary(bytes)).toThrow(words);
    expect(() => readGpuBinary(bytes)).toThrow(expect.objectContaining({ name: "OfflineFormatError" }));
  });

  it("every binary that is cut off, and every one with a changed word gives figures or is refused in words", () => {
    const bytes = gpuBinary(12, 16);
    for (let length = 0; length < bytes.length; length++) {
      expect(() => readGpuBinary(bytes.subarray(0, length))).toThrow(
        expect.objectContaining({ name: "OfflineFormatError" }),
      );
    }
    for (let at = 0; at + 4 <= bytes.length; at += 4) {
      for (const value of [0, 1, 0x7fffffff, 0xffffffff]) {
        try {
          readGpuBinary(changed(at, value, bytes));
        } catch (error) {
          expect(error).toMatchObject({ name: "OfflineFormatError" });
        }
      }
    }
  });
});

it("finds the sections of a Mach-O, with names of full length", () => {
  const { sections } = readMachO(
    machO([{ segment: "__GPU_METADATA_2", section: "sixteen_letters_", bytes: Buffer.from("x") }]),
  );
  expect(sections).toMatchObject([{ segment: "__GPU_METADATA_2", section: "sixteen_letters_" }]);
});
