import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { unseenVector } from "../../../native/emulator/unseen.ts";
import { readSource, testDevice } from "../msl/workbench.ts";
import { checkKernel } from "./check_run.ts";

let device: EmulatedDevice;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

describe("vectors whose accesses are not seen", () => {
  it.each([
    ["device const float3* p", "float3"],
    ["constant uint3& p", "uint3"],
    ["device long4* p", "long4"],
    ["device packed_float3* p", "packed_float3"],
  ])("%s keeps %s in memory", async (parameter, name) => {
    const { syntax } = await readSource(`using namespace metal; kernel void k(${parameter}) {}\n`);
    expect(unseenVector(syntax)).toBe(name);
  });

  it("arrays and members do, positions and values do not", async () => {
    const of = async (body: string): Promise<string | undefined> =>
      unseenVector((await readSource(`using namespace metal;\n${body}\n`)).syntax);
    expect(await of("kernel void k(device float* o) { threadgroup int3 t[4]; o[0] = t[0].x; }")).toBe("int3");
    expect(await of("struct S { float3 v; }; kernel void k(device S* s) {}")).toBe("float3");
    expect(
      await of("kernel void k(device half4* h, uint3 g [[threadgroup_position_in_grid]]) { float3 v = float3(1); }"),
    ).toBe(undefined);
  });

  it("their counts are not called exact, and the reason is said", async () => {
    const { traffic } = await checkKernel(device, {
      source:
        "kernel void k(device float3* b [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) { b[i] = float3(i); }\n",
      kernel: "k",
      threads: [32, 1, 1],
      buffers: [{ bytes: 512 }],
    });
    expect(traffic.exact).toBe(false);
    expect(traffic.exactReason).toContain("keeps float3 in memory");
  });
});
