/** Every name of the standard library compiles and gives what its row says, on the emulated device. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Device } from "../../../native/device.ts";
import { runKernel } from "../emulator/run_kernel.ts";
import { SURFACE, type SurfaceGroup } from "./surface_table.ts";
import { testDevice } from "./workbench.ts";

let device: Device;

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

const LANES = 32;
/** Rows in one kernel: a few short kernels compile in less time than a long one. */
const ROWS = 60;

/** Names of rows that do not hold on every lane. */
async function failing(group: SurfaceGroup): Promise<readonly string[]> {
  const failed: string[] = [];
  for (let from = 0; from < group.rows.length; from += ROWS) {
    const rows = group.rows.slice(from, from + ROWS);
    const checks = rows.map(([, expression], i) => `out[lane * ${rows.length} + ${i}] = (${expression}) ? 1 : 0;`);
    const bytes = await runKernel(device, {
      source: `kernel void k(device uchar* out [[buffer(0)]], device uint* scratch [[buffer(1)]],
                             uint lane [[thread_index_in_simdgroup]]) {
        ${group.setUp ?? ""}\n${checks.join("\n")}\n}`,
      kernel: "k",
      threads: [LANES, 1, 1],
      inputs: [new Uint32Array(256)],
      outputBytes: LANES * rows.length,
    });
    const values = new Uint8Array(bytes);
    for (const [i, [names, expression]] of rows.entries()) {
      for (let lane = 0; lane < LANES; lane += 1) {
        if (values[lane * rows.length + i] === 1) continue;
        failed.push(`${names} on lane ${lane}: ${expression}`);
        break;
      }
    }
  }
  return failed;
}

describe("the standard library", () => {
  it.each(SURFACE.map((group) => [`${group.section} ${group.title}`, group] as const))(
    "%s",
    async (_, group) => {
      expect(await failing(group)).toEqual([]);
    },
    120_000,
  );

  it("would tell a wrong result and a name that is missing", async () => {
    const wrong: SurfaceGroup = {
      section: "",
      title: "",
      rows: [["simd_sum", "simd_sum(1u) == (lane == 7 ? 31u : 32u)"]],
    };
    expect(await failing(wrong)).toEqual(["simd_sum on lane 7: simd_sum(1u) == (lane == 7 ? 31u : 32u)"]);
    await expect(failing({ ...wrong, rows: [["x", "simd_nothing(1) == 1"]] })).rejects.toThrow("simd_nothing");
  });
});
