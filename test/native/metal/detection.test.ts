/** What the addon reads of devices and system, by executing native/metal over the stand-in. */
import { expect, test } from "vitest";
import { build, connect, SCALE, settled } from "./stand_in/bench.ts";
import { withStandIn } from "./stand_in/hooks.ts";
import { STAND_IN_NAME, type StandIn } from "./stand_in/open.ts";

let standIn: StandIn;

withStandIn((opened) => {
  standIn = opened;
});

test("macOS 26 tells everything", async () => {
  standIn.set({
    os: "26.1.2",
    architecture: "applegpu_g16s",
    families: "1005 1006 1007 1008 1009 1010 5001 5002",
    cores: 40,
    gpu_hz: 24_000_000,
    counter_sets: "timestamp statistic",
    working_set: 123_456_789_012,
    "sysctl.machdep.cpu.brand_string": "Apple M0",
    "sysctl.hw.model": "Mac0,1",
    "sysctl.kern.hv_vmm_present": 0,
    "sysctl.kern.osversion": "25B78",
  });
  expect(standIn.metal.system()).toEqual({
    cpuBrand: "Apple M0",
    model: "Mac0,1",
    virtualMachine: false,
    osVersion: "26.1.2",
    osBuild: "25B78",
    sdkVersion: 260_000,
  });
  expect(await standIn.metal.devices()).toEqual([
    {
      registryId: "9007199254740993",
      name: STAND_IN_NAME,
      isDefault: true,
      architecture: "applegpu_g16s",
      families: [1005, 1006, 1007, 1008, 1009, 1010, 5001, 5002],
      hasUnifiedMemory: true,
      recommendedMaxWorkingSetBytes: 123_456_789_012,
      maxBufferBytes: 2 ** 31,
      maxThreadgroupMemoryBytes: 32_768,
      maxThreadsPerThreadgroup: [1024, 1024, 1024],
      counterSets: ["timestamp", "statistic"],
      samplesAtStageBoundary: true,
      samplesAtDispatchBoundary: false,
      timestampFrequencyHz: 24_000_000,
      gpuCores: { count: 40 },
    },
  ]);
});

test("macOS 13 and a kernel that knows no names: null, and nothing that is too new is called", async () => {
  standIn.set({ os: "13.0.0", counter_sets: "nil", stage_boundary: 0, unified: 0, families: "1005" });
  expect(standIn.metal.system()).toMatchObject({
    cpuBrand: null,
    model: null,
    virtualMachine: null,
    osVersion: "13.0.0",
    osBuild: null,
  });
  const [device] = await standIn.metal.devices();
  expect(device).toMatchObject({
    architecture: null,
    timestampFrequencyHz: null,
    counterSets: null,
    samplesAtStageBoundary: false,
    hasUnifiedMemory: false,
    families: [1005],
  });
});

test("a virtual machine", async () => {
  standIn.set({ "sysctl.kern.hv_vmm_present": 1, architecture: "nil" });
  expect(standIn.metal.system().virtualMachine).toBe(true);
  expect((await standIn.metal.devices())[0]?.architecture).toBeNull();
});

test("what came with macOS 26 is there also where this program is told 16", async () => {
  standIn.set({ os: "16.4.1", gpu_hz: 24_000_000 });
  expect((await standIn.metal.devices())[0]?.timestampFrequencyHz).toBe(24_000_000);
  const connection = await connect(standIn);
  const built = await build(connection, SCALE, "scale", { requiredThreadsPerThreadgroup: [32, 1, 1] });
  expect(built).toMatchObject({ ok: true });
  connection.close();
});

test.each([
  ["26.4.1", "25E246", "26.4.1"],
  ["16.4.1", "25E246", "26.4.1"],
  ["16.0.0", undefined, "26.0.0"],
  ["16.0.0", "26A123", "27.0.0"],
  ["15.7.2", "24G325", "15.7.2"],
  ["27.1.0", "26B12", "27.1.0"],
])("a program built with an older SDK is told %s in build %s: it is macOS %s", (os, build, version) => {
  standIn.set({ os, ...(build === undefined ? {} : { "sysctl.kern.osversion": build }) });
  expect(standIn.metal.system().osVersion).toBe(version);
});

test.each([
  [{}, "the IO registry tells no gpu-core-count for the device"],
  [{ cores: "words" }, "gpu-core-count of the IO registry is no positive number"],
  [{ cores: -3 }, "gpu-core-count of the IO registry is no positive number"],
  [{ "fail.registry": 1 }, "the IO registry has no entry 9007199254740993"],
])("GPU cores that cannot be read: %j", async (scenario, problem) => {
  standIn.set(scenario);
  const [device] = await standIn.metal.devices();
  expect(device?.gpuCores).toEqual({ problem });
  expect(standIn.count("io objects released")).toBe(standIn.count("io objects taken"));
});

test("two devices, one of them the default; none; a default one that is not listed", async () => {
  standIn.set({ devices: 2 });
  const both = await standIn.metal.devices();
  expect(both.map((one) => one.isDefault)).toEqual([true, false]);
  standIn.set({ devices: 0 });
  expect(await standIn.metal.devices()).toEqual([]);
  standIn.set({ unlisted: 1 });
  expect(await standIn.metal.devices()).toMatchObject([{ name: STAND_IN_NAME, isDefault: true }]);
  (await connect(standIn)).close();
});

test("opening: an id that no device has, no queue, logging on a macOS without it", async () => {
  standIn.set({});
  const { metal } = standIn;
  await expect(metal.open("12", { logging: false })).rejects.toThrow("no Metal device has the registry id 12");
  expect(() => metal.open("twelve", { logging: false })).toThrow("must be a decimal number");
  standIn.set({ "fail.queue": 1 });
  await expect(connect(standIn)).rejects.toThrow("Metal gave no command queue");
  standIn.set({ os: "14.6.0" });
  await expect(connect(standIn, true)).rejects.toThrow("needs macOS 15");
  standIn.set({ "fail.log": "no room" });
  await expect(connect(standIn, true)).rejects.toThrow("no room");
});

test("reading devices, and opening and closing one, leaves nothing behind", async () => {
  standIn.set({ devices: 2, cores: 10 });
  await standIn.metal.devices();
  (await connect(standIn, true)).close();
  const before = await settled(standIn);
  for (let i = 0; i < 3; i += 1) {
    await standIn.metal.devices();
    standIn.metal.system();
    (await connect(standIn, true)).close();
  }
  expect(await settled(standIn, before), standIn.objects().classes).toBe(before);
});
