/** The reader of Mach-O files, on a bundle written here byte by byte, and where it must refuse. */
import { describe, expect, it } from "vitest";
import { CPU_TYPE_ARM64, MH_BUNDLE, PLATFORM_MACOS, readMachO } from "./mach_o.ts";

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => {
    bytes.writeUInt32LE(value >>> 0, 4 * index);
  });
  return bytes;
}

/** A load command: its number, and what follows its size, filled up to 8 bytes. */
function command(number: number, body: Buffer): Buffer {
  const padded = Buffer.alloc(Math.ceil(body.length / 8) * 8);
  body.copy(padded);
  return Buffer.concat([words(number, 8 + padded.length), padded]);
}

interface Symbol {
  readonly name: string;
  readonly type: number;
  readonly description: number;
}

/** A bundle for macOS 13.0, built with SDK 26.1.2, that loads one library. */
function bundle(symbols: readonly Symbol[]): Buffer {
  const names = Buffer.from(`\0${symbols.map(({ name }) => `${name}\0`).join("")}`);
  const offsets = symbols.map(
    (_, index) => 1 + symbols.slice(0, index).reduce((sum, { name }) => sum + name.length + 1, 0),
  );
  const entries = symbols.map(({ type, description }, index) =>
    Buffer.concat([words(offsets[index] ?? 0, type | (1 << 8) | (description << 16)), words(0, 0)]),
  );
  const before = [
    command(0x32, words(PLATFORM_MACOS, 13 << 16, (26 << 16) | (1 << 8) | 2, 0)),
    command(0xc, Buffer.concat([words(24, 0, 0, 0), Buffer.from("/usr/lib/libSystem.B.dylib\0")])),
  ];
  const start = 32 + before.reduce((sum, { length }) => sum + length, 0) + 24;
  const table = command(0x2, words(start, symbols.length, start + 16 * symbols.length, names.length));
  const commands = Buffer.concat([...before, table]);
  const header = words(0xfeedfacf, CPU_TYPE_ARM64, 0, MH_BUNDLE, 3, commands.length, 0, 0);
  return Buffer.concat([header, commands, ...entries, names]);
}

const SYMBOLS: readonly Symbol[] = [
  { name: "_offered", type: 0x0f, description: 0 },
  { name: "_hidden", type: 0x1f, description: 0 },
  { name: "_local", type: 0x0e, description: 0 },
  { name: "_debug", type: 0x64, description: 0 },
  { name: "_malloc", type: 0x01, description: 1 << 8 },
  { name: "_newer", type: 0x01, description: (1 << 8) | 0x40 },
  { name: "_napi_throw", type: 0x01, description: 0xfe << 8 },
];

describe("a Mach-O file", () => {
  it("tells for whom it is, what it loads, offers and asks for", () => {
    expect(readMachO(bundle(SYMBOLS))).toEqual({
      cpuType: CPU_TYPE_ARM64,
      fileType: MH_BUNDLE,
      platform: PLATFORM_MACOS,
      oldestMacos: "13.0",
      sdk: "26.1.2",
      libraries: ["/usr/lib/libSystem.B.dylib"],
      exports: ["_offered"],
      imports: [
        { name: "_malloc", library: "/usr/lib/libSystem.B.dylib", weak: false },
        { name: "_newer", library: "/usr/lib/libSystem.B.dylib", weak: true },
        { name: "_napi_throw", library: undefined, weak: false },
      ],
    });
  });

  it("is refused wherever it is cut off", () => {
    const whole = bundle(SYMBOLS);
    for (let length = 0; length < whole.length; length += 1) {
      expect(() => readMachO(whole.subarray(0, length)), `${length} bytes`).toThrow(/too few|ends before/);
    }
  });

  it("is refused where it is another format, with both magic numbers", () => {
    const fat = bundle(SYMBOLS);
    fat.writeUInt32LE(0xbebafeca, 0);
    expect(() => readMachO(fat)).toThrow(/0xbebafeca.*0xfeedfacf/);
    expect(() => readMachO(Buffer.from("\x7fELF".padEnd(64, "\0")))).toThrow(/0x464c457f/);
  });

  it("is refused where a command has no size or a symbol no library", () => {
    const endless = bundle(SYMBOLS);
    endless.writeUInt32LE(0, 36);
    expect(() => readMachO(endless)).toThrow(/load command 0 has 0 bytes/);
    const lost = bundle([{ name: "_lost", type: 0x01, description: 2 << 8 }]);
    expect(() => readMachO(lost)).toThrow("_lost is in library 2; the file loads 1");
  });
});
