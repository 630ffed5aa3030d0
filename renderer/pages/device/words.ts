/** Small texts of the Device page. Pure. */
import type { CallOutput } from "../../../electron/contract.ts";

export type Chip = CallOutput<"chips.list">["chips"][number];

/** `8 or 10`; `30 or 40`. */
export function coresText({ variants }: Chip): string {
  return variants.map(({ gpuCores }) => gpuCores).join(" or ");
}

/** `153`; `307 or 410`; one figure where the variants share it. */
export function bandwidthText({ variants }: Chip): string {
  const figures = [...new Set(variants.map(({ memoryBandwidthGbS }) => memoryBandwidthGbS))];
  return figures.map((figure) => (figure === null ? "not known" : String(Math.round(figure)))).join(" or ");
}

/** `Apple7+, MSL 3.1+`: the whole words stand in the reason. */
export function shortRequires(text: string): string {
  return text.replaceAll(" or later", "+");
}
