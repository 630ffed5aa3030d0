/** Compiling a decode kernel for the emulated device: with a warm prefix, and found in the cache. */
import { findRoute } from "../../kernels/routes.ts";
import type { Device } from "../../native/device.ts";
import { Builder, type ReadSource } from "../runs/execute.ts";
import { median, milliseconds } from "./measure.ts";
import type { BenchRow } from "./row.ts";

const ROUNDS = 5;

export async function benchCompile(device: Device, readSource: ReadSource): Promise<readonly BenchRow[]> {
  const shape = {
    operator: "gqa_decode" as const,
    heads: 8,
    kvHeads: 1,
    dim: 512,
    live: 4,
    capacity: 4,
    scale: 1,
    dtype: "f32" as const,
  };
  const plan = findRoute("gqa_decode", "fused_split_kv_p32").plan(shape);
  const kernel = plan.dispatches[0]!.kernel;
  // A comment that no earlier run had makes the source new to every cache.
  const build = (text: (source: string) => string) =>
    milliseconds(async () => {
      const read: ReadSource = (file) => (file === plan.source ? text(readSource(file)) : readSource(file));
      await new Builder(device, read).prepare(
        { ...plan, dispatches: plan.dispatches.slice(0, 1), contracts: [] },
        "fast",
      );
    });
  await build((source) => source);
  const fresh: number[] = [];
  const cached: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    fresh.push(await build((source) => `${source}\n// ${process.pid}.${round}.${Date.now()}\n`));
    cached.push(await build((source) => source));
  }
  const cachedMs = median(cached);
  return [
    {
      name: `compile ${kernel}`,
      value: median(fresh),
      unit: "ms",
      target: 550,
      comparedWith: "cached",
      compared: cachedMs,
    },
    { name: `compile ${kernel}, cached`, value: cachedMs, unit: "ms", target: 5, comparedWith: null, compared: null },
  ];
}
