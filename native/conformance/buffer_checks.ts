/** Memory of a device: exact size, poison, ranges, sentinels, release. */
import { type Device, type DeviceBuffer, DeviceError, POISON_WORD } from "../device.ts";
import { bytesOf, dispatchOf, inline, mustEqual, mustSay, range, thrown, withBench, wordsOf } from "./bench.ts";
import { type ConformanceCheck, ConformanceFailure, must } from "./check.ts";
import * as kernels from "./kernels.ts";

/** Sizes around words, 16-byte units and pages. */
const SIZES = [1, 3, 4, 12, 16, 20, 4095, 4096, 16_385, 65_540];

async function exactSize(device: Device): Promise<string> {
  for (const bytes of SIZES) {
    const buffer = device.allocate(bytes, "sized");
    try {
      must(buffer.bytes === bytes, `a buffer of ${bytes} bytes says that it has ${buffer.bytes}`);
      must(buffer.memory.bytes === bytes, `the memory of a buffer of ${bytes} bytes has ${buffer.memory.bytes}`);
      must(buffer.label === "sized", `the label is '${buffer.label}'; it must be 'sized'`);
      const whole = buffer.read(0, bytes);
      must(whole.byteLength === bytes, `reading ${bytes} bytes gave ${whole.byteLength}`);
    } finally {
      buffer.release();
    }
  }
  return `${SIZES.join(", ")} bytes`;
}

async function impossibleSize(device: Device): Promise<string> {
  const messages = [0, -1, 1.5, Number.NaN].map((bytes) => {
    const error = thrown(`a buffer of ${bytes} bytes`, () => device.allocate(bytes, "impossible").release());
    must(error instanceof DeviceError, `a buffer of ${bytes} bytes threw ${error.name}; it must be a DeviceError`);
    mustSay(`a buffer of ${bytes} bytes`, error.message, ["impossible", bytes]);
    return error.message;
  });
  return messages[0] ?? "";
}

/** Byte `index` of memory in which every word is `POISON_WORD`, little endian. */
function poisonByte(index: number): number {
  return (POISON_WORD >>> ((index % 4) * 8)) & 0xff;
}

function mustBePoisoned(what: string, data: Uint8Array): void {
  const at = data.findIndex((value, index) => value !== poisonByte(index));
  const seen = (value: number | undefined): string => `0x${(value ?? 0).toString(16).padStart(2, "0")}`;
  must(at < 0, `${what}: byte ${at} is ${seen(data[at])}; poison has ${seen(poisonByte(at))} there`);
}

async function poisoned(device: Device): Promise<string> {
  for (const bytes of SIZES) {
    const buffer = device.allocate(bytes, "fresh");
    try {
      mustBePoisoned(`a fresh buffer of ${bytes} bytes`, buffer.read(0, bytes));
    } finally {
      buffer.release();
    }
  }
  // Memory that another buffer has used comes poisoned too.
  const used = device.allocate(65_536, "used");
  used.write(0, new Uint8Array(65_536).fill(1));
  used.release();
  const again = device.allocate(65_536, "again");
  mustBePoisoned("a buffer after another one was released", again.read(0, again.bytes));
  again.release();
  return `every byte of ${SIZES.length} sizes, and of memory that was used before`;
}

async function poisonAgain(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const buffer = bench.output(1025);
    buffer.poison();
    mustBePoisoned("after poison()", buffer.read(0, buffer.bytes));
    must(buffer.sentinelIntact(), "poison() wrote behind the end");
    return `${buffer.bytes} bytes`;
  });
}

async function readAndWrite(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const buffer = bench.input(new Uint32Array(64));
    buffer.write(7, Uint8Array.of(1, 2, 3));
    buffer.write(255, Uint8Array.of(9));
    const expected = new Uint8Array(256);
    expected.set([1, 2, 3], 7);
    expected[255] = 9;
    mustEqual("bytes written at 7 and 255", buffer.read(0, 256), expected);
    mustEqual("three bytes read at 8", buffer.read(8, 3), [2, 3, 0]);
    must(buffer.read(256, 0).byteLength === 0, "reading nothing at the end gave something");
    const copy = buffer.read(0, 16);
    copy.fill(77);
    mustEqual("after the copy was changed", buffer.read(0, 16), expected.slice(0, 16));
    return "what was written is read at odd offsets; what is read is a copy";
  });
}

async function outside(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const buffer = bench.output(5);
    const tries: readonly (readonly [string, () => unknown])[] = [
      ["write behind the end", () => buffer.write(20, Uint8Array.of(1))],
      ["write across the end", () => buffer.write(18, new Uint8Array(4))],
      ["write before the start", () => buffer.write(-1, Uint8Array.of(1))],
      ["read across the end", () => buffer.read(16, 5)],
      ["read before the start", () => buffer.read(-4, 4)],
      ["read of a negative length", () => buffer.read(0, -1)],
    ];
    for (const [what, action] of tries) {
      const error = thrown(what, action);
      must(error instanceof RangeError, `a ${what} threw ${error.name} ("${error.message}"); it must be a RangeError`);
    }
    must(buffer.sentinelIntact(), "a refused access wrote behind the end");
    return tries.map(([what]) => what).join(", ");
  });
}

async function sentinelKept(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.POKE);
    for (const words of [1, 4, 5, 1024]) {
      const buffer = bench.output(words);
      must(buffer.sentinelIntact(), `the sentinel of a fresh buffer of ${words * 4} bytes is not intact`);
      const last = words * 4 - 4;
      await device.submit([dispatchOf(pipeline, [{ index: 0, buffer }, inline(1, last, 4)])]);
      mustEqual("the last four bytes", buffer.read(last, 4), [1, 2, 3, 4]);
      must(buffer.sentinelIntact(), `a write to the last bytes of ${words * 4} touched what lies behind`);
    }
    return "a kernel that writes up to the last byte leaves it intact";
  });
}

/** Runs a kernel that writes 4 bytes behind a buffer; says how the device noticed. */
async function overrun(device: Device, buffer: DeviceBuffer): Promise<string> {
  const pipeline = await withPoke(device);
  try {
    await device.submit([dispatchOf(pipeline, [{ index: 0, buffer }, inline(1, buffer.bytes, 4)])]);
  } catch (error) {
    if (error instanceof DeviceError && error.code === "crashed") return `crashed: ${error.message}`;
    throw error;
  }
  if (!buffer.sentinelIntact()) return "the sentinel behind its end is gone";
  throw new ConformanceFailure(
    `a kernel wrote 4 bytes behind the end of '${buffer.label}' (${buffer.bytes} bytes) and nothing noticed`,
  );
}

async function withPoke(device: Device): Promise<Parameters<typeof dispatchOf>[0]> {
  const { path, text, name } = kernels.POKE;
  return await device.pipeline(await device.compile({ path, text }), name);
}

async function sentinelNoticed(device: Device): Promise<string> {
  const seen: string[] = [];
  // 20 bytes end within a 16-byte unit, 64 with one, 65,536 with a page.
  for (const bytes of [20, 64, 65_536]) {
    const buffer = device.allocate(bytes, "overrun");
    try {
      seen.push(`${bytes} bytes: ${await overrun(device, buffer)}`);
    } finally {
      buffer.release();
    }
  }
  return seen.join("; ");
}

async function neighbours(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.COUNT);
    const buffers = range(16).map((index) => bench.output(33 + index, `buffer ${index}`));
    const dispatches = buffers.map((buffer, index) =>
      dispatchOf(pipeline, [{ index: 0, buffer }, inline(1, index * 1000), inline(2, 33 + index)], {
        threadgroups: [2, 1, 1],
      }),
    );
    await device.submit(dispatches);
    for (const [index, buffer] of buffers.entries()) {
      mustEqual(
        buffer.label,
        wordsOf(buffer),
        range(33 + index).map((i) => index * 1000 + i),
      );
      must(buffer.sentinelIntact(), `${buffer.label}: something lies on its sentinel`);
    }
    return "16 buffers that were allocated one after another do not overlap";
  });
}

async function released(device: Device): Promise<string> {
  const buffer = device.allocate(64, "gone");
  buffer.write(0, bytesOf(Uint32Array.of(1, 2)));
  buffer.release();
  buffer.release();
  const tries: readonly (readonly [string, () => unknown])[] = [
    ["read after release", () => buffer.read(0, 4)],
    ["write after release", () => buffer.write(0, Uint8Array.of(1))],
    ["poison after release", () => buffer.poison()],
  ];
  for (const [what, action] of tries) mustSay(what, thrown(what, action).message, ["gone", "released"]);
  return thrown("read after release", () => buffer.read(0, 4)).message;
}

const LARGE_BYTES = 128 * 1024 * 1024 + 12;

async function large(device: Device): Promise<string> {
  return await withBench(device, async (bench) => {
    const pipeline = await bench.pipeline(kernels.ENDS);
    const buffer = device.allocate(LARGE_BYTES, "large");
    try {
      const words = LARGE_BYTES / 4;
      await device.submit([dispatchOf(pipeline, [{ index: 0, buffer }, inline(1, words)])]);
      const at = (word: number): number => new DataView(buffer.read(word * 4, 4).slice().buffer).getUint32(0, true);
      for (const i of range(4)) {
        must(at(i) === i + 1, `word ${i} is ${at(i)}; it must be ${i + 1}`);
        const last = words - 1 - i;
        must(at(last) === ~i >>> 0, `word ${last} is ${at(last)}; it must be ${~i >>> 0}`);
      }
      must(buffer.sentinelIntact(), "the sentinel behind it is not intact");
      return `${LARGE_BYTES.toLocaleString("en-US")} bytes: first and last words right`;
    } finally {
      buffer.release();
    }
  });
}

export const BUFFER_CHECKS: readonly ConformanceCheck[] = [
  { id: "buffer.size", title: "a buffer has exactly the bytes that were asked for", needs: [], run: exactSize },
  {
    id: "buffer.impossible",
    title: "a size that cannot be is refused with label and size",
    needs: [],
    run: impossibleSize,
  },
  { id: "buffer.poisoned", title: "every byte is poisoned before it is used", needs: [], run: poisoned },
  { id: "buffer.poison", title: "poison() poisons every byte again", needs: [], run: poisonAgain },
  { id: "buffer.copies", title: "read and write copy, at any byte", needs: [], run: readAndWrite },
  { id: "buffer.outside", title: "what lies outside is a RangeError", needs: [], run: outside },
  { id: "buffer.neighbours", title: "buffers do not overlap", needs: [], run: neighbours },
  {
    id: "buffer.sentinel_kept",
    title: "the sentinel stays intact while a kernel keeps to its buffer",
    needs: [],
    run: sentinelKept,
  },
  { id: "buffer.sentinel", title: "a kernel that writes behind the end is noticed", needs: [], run: sentinelNoticed },
  { id: "buffer.released", title: "a released buffer cannot be used, and is released once", needs: [], run: released },
  { id: "buffer.large", title: "a buffer of 128 MiB is right at both ends", needs: [], run: large },
];
