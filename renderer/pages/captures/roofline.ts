/** The roofs of a chip by its datasheet, and where a route stands under them. Pure. */
import type { CallOutput } from "../../../electron/contract.ts";
import type { Profile } from "../../state/run_model.ts";

type Chip = CallOutput<"chips.list">["chips"][number];

/** Operations that one core finishes in a clock: 128 lanes, a multiply and an add each. */
const FLOPS_PER_CORE_CLOCK = 256;

export interface Roofs {
  readonly chip: string;
  readonly gpuCores: number;
  readonly clockGhz: number;
  /** Of the datasheet. */
  readonly bandwidthGbS: number;
  /** cores x 256 x clock, f32. */
  readonly gflops: number;
  /** How cores and clock are known. */
  readonly known: string;
}

/** The roofs of the device's chip, or why it has none that are known. */
export function roofsOf(
  chips: readonly Chip[],
  device: Profile | null,
): { readonly roofs: Roofs; readonly reason?: undefined } | { readonly roofs?: undefined; readonly reason: string } {
  if (device === null) return { reason: "imported outputs name no device" };
  if (device.virtualGpu?.value === true) return { reason: "a virtual GPU has no datasheet" };
  const name = device.chip.value;
  const chip = chips.find((entry) => entry.shortName === name || entry.name === name);
  if (chip === undefined) return { reason: `${name} is not in the chip table` };
  const variant =
    chip.variants.find(({ gpuCores }) => gpuCores === device.gpuCores.value) ??
    (chip.variants.length === 1 ? chip.variants[0] : undefined);
  if (variant === undefined) return { reason: `${name}: the number of GPU cores is not known` };
  const { clockGhz } = chip;
  if (clockGhz === null || variant.memoryBandwidthGbS === null) {
    return { reason: `${name}: ${clockGhz === null ? "clock" : "bandwidth"} is not known` };
  }
  return {
    roofs: {
      chip: name,
      gpuCores: variant.gpuCores,
      clockGhz,
      bandwidthGbS: variant.memoryBandwidthGbS,
      gflops: variant.gpuCores * FLOPS_PER_CORE_CLOCK * clockGhz,
      known: `cores ${device.gpuCores.by}, clock ${chip.clockConfidence}`,
    },
  };
}

/** GFLOP/s that the roofs allow at an intensity in FLOP per byte. */
export function roofAt({ bandwidthGbS, gflops }: Roofs, intensity: number): number {
  return Math.min(gflops, bandwidthGbS * intensity);
}

/** The intensity at which the two roofs meet. */
export function ridgeOf({ bandwidthGbS, gflops }: Roofs): number {
  return gflops / bandwidthGbS;
}

/** A route under the roofs: operations over logical bytes, and the rate where a chip was timed. */
export interface RoofPoint {
  readonly series: "a" | "b";
  readonly route: string;
  readonly flops: number;
  readonly bytes: number;
  /** FLOP per logical byte. */
  readonly intensity: number;
  /** Measured; null where no chip was timed. */
  readonly gflops: number | null;
  /** Share of the roof at this intensity. */
  readonly share: number | null;
}

/** `ns` is the median time on a chip; null where there is none, as after an emulation. */
export function roofPoint(
  series: RoofPoint["series"],
  route: string,
  work: { readonly flops: number; readonly bytes: number },
  roofs: Roofs | undefined,
  ns: number | null,
): RoofPoint {
  const intensity = work.flops / work.bytes;
  const gflops = ns === null || !(ns > 0) ? null : work.flops / ns;
  const share = gflops === null || roofs === undefined ? null : gflops / roofAt(roofs, intensity);
  return { series, route, ...work, intensity, gflops, share };
}

/** `73 % of roof`; above it: the bytes are logical, so a cache may have served them, or something was counted wrongly. */
export function shareText(share: number): string {
  const percent = `${Math.round(100 * share)} %`;
  return share > 1 ? `${percent} of roof: caches, or a counting error` : `${percent} of roof`;
}
