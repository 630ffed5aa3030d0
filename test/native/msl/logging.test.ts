/** `os_log` (MSL 6.19): formats, positions, the bound on lines, and that logging changes nothing else. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Device, Flavour, LogLine } from "../../../native/device.ts";
import { runKernel } from "../emulator/run_kernel.ts";
import { testDevice } from "./workbench.ts";

let device: Device;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

interface Logged {
  readonly lines: readonly LogLine[];
  readonly left: number;
}

async function logged(body: string, threads = 1, flavour: Flavour = "fast", globals = ""): Promise<Logged> {
  const lines: LogLine[] = [];
  let left = 0;
  const source = `#include <metal_logging>\n${globals}
    kernel void k(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { ${body} out[i] = i; }`;
  await runKernel(device, {
    source,
    kernel: "k",
    flavour,
    threads: [threads, 1, 1],
    outputBytes: 4 * threads,
    submit: {
      onLog: (line) => lines.push(line),
      onLogOverflow: (count) => {
        left = count;
      },
    },
  });
  return { lines, left };
}

/** An expression list and what it prints. */
const FORMATS: readonly (readonly [string, string])[] = [
  ['"plain"', "plain"],
  ['"%d and %u", -3, 4u', "-3 and 4"],
  ['"%5d|%-5d|%05d|%+d", 42, 42, 42, 42', "   42|42   |00042|+42"],
  ['"%x %X %#o", 255u, 255u, 8u', "ff FF 010"],
  ['"%x", -1', "ffffffff"],
  ['"%hhu %hx", uchar(200), short(-1)', "200 ffff"],
  ['"%ld %lu", -5l, 18446744073709551615ul', "-5 18446744073709551615"],
  ['"%f %.2f %e %g", 1.5f, 2.345f, 1500.0f, 0.25f', "1.500000 2.35 1.500000e+03 0.25"],
  ['"%f", 1.5h', "1.500000"],
  ['"%g", bfloat(2.0f)', "2"],
  ['"%f %f", INFINITY, NAN', "inf nan"],
  ['"%a", 1.0f', "0x1p+0"],
  ['"%c%c", 72, 105', "Hi"],
  ['"100%%"', "100%"],
  ['"%v4hlf", float4(1, 2, 3, 4)', "1.000000,2.000000,3.000000,4.000000"],
  ['"%v2hhu", uchar2(7, 255)', "7,255"],
  ['"%v3.1hlf", float3(1, 2, 3)', "%v3.1hlf"],
  ['"%.1v3hlf", float3(1, 2, 3)', "1.0,2.0,3.0"],
  ['"%d", true', "1"],
  // Too few arguments, a conversion that there is not, an integer where a real is asked for.
  ['"%d %d", 1', "1 %d"],
  ['"%s %n", 1, 2', "%s %n"],
  ['"%f", 3', "3.000000"],
];

describe("formats", () => {
  it("print as printf does, vectors included", async () => {
    const body = FORMATS.map(([list]) => `os_log_default.log(${list});`).join("\n");
    const { lines } = await logged(body);
    expect(lines.map((line) => line.message)).toEqual(FORMATS.map(([, text]) => text));
  });

  it("cut what is too long", async () => {
    const { lines } = await logged('os_log_default.log("%0600d", 1);');
    expect(lines[0]?.message).toMatch(/^0{100}/);
    expect(lines[0]?.message.length).toBeLessThanOrEqual(511);
  });
});

describe.each(["fast", "lockstep", "check", "check+lockstep"] as const)("lines in flavour %s", (flavour) => {
  it("carry level, subsystem, category, dispatch and thread", async () => {
    const { lines } = await logged(
      `if (i == 37) {
        custom.log("a"); custom.log_debug("b %u", i); custom.log_info("c"); custom.log_error("d"); custom.log_fault("e");
        os_log_default.log_with_type(log_type_info, "f");
      }`,
      64,
      flavour,
      'constant metal::os_log custom("com.example.kernels", "decode");',
    );
    expect(lines.map((line) => line.level)).toEqual(["default", "debug", "info", "error", "fault", "info"]);
    expect(lines[1]).toEqual({
      level: "debug",
      label: "k",
      message: "b 37",
      subsystem: "com.example.kernels",
      category: "decode",
      threadgroup: [0, 0, 0],
      position: [37, 0, 0],
      thread: 37,
    });
    expect(lines[5]?.subsystem).toBeUndefined();
  });

  it("in divergent code leave collectives right", async () => {
    const { lines } = await logged(
      'uint s = i % 3 == 0 ? simd_sum(i) : 0u; if (s > 0) os_log_default.log("%u", s);',
      32,
      flavour,
    );
    expect(lines.map((line) => line.message)).toEqual(Array.from({ length: 11 }, () => "165"));
  });
});

describe("the bound", () => {
  it("is 1,000 lines a submission; the rest is counted", async () => {
    const { lines, left } = await logged('for (int n = 0; n < 20; ++n) os_log_default.log("%d", n);', 64);
    expect(lines).toHaveLength(1000);
    expect(left).toBe(280);
  });

  it("starts anew with every submission, and lines before a fault arrive", async () => {
    expect((await logged('os_log_default.log("again");')).lines).toHaveLength(1);
    const lines: LogLine[] = [];
    const source = `kernel void k(device uint* out [[buffer(0)]], device uint* far [[buffer(1)]]) {
      os_log_default.log("before"); out[0] = far[1 << 28]; }`;
    const run = runKernel(device, {
      source,
      kernel: "k",
      threads: [1, 1, 1],
      inputs: [new Uint32Array(4)],
      outputBytes: 4,
      submit: { onLog: (line) => lines.push(line) },
    });
    await expect(run).rejects.toThrow("out of bounds");
    expect(lines.map((line) => line.message)).toEqual(["before"]);
  });
});
