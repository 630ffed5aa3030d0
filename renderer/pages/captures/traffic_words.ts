/** Bytes of a bar in words: one unit a chart, parts that can be seen. Pure. */
import type { TrafficKind } from "../../../kernels/traffic.ts";
import { countText } from "../../parts/text.ts";

export interface TrafficUnit {
  readonly name: string;
  readonly bytes: number;
}

/** The unit in which the largest bar has one to four digits. */
export function trafficUnit(most: number): TrafficUnit {
  const units: readonly TrafficUnit[] = [
    { name: "GiB", bytes: 2 ** 30 },
    { name: "MiB", bytes: 2 ** 20 },
    { name: "KiB", bytes: 2 ** 10 },
  ];
  // 9,999 MiB still read better than 9.8 GiB beside small parts.
  return units.find(({ bytes }) => most >= 8 * bytes) ?? { name: "B", bytes: 1 };
}

export function trafficText(bytes: number, unit: TrafficUnit): string {
  const value = bytes / unit.bytes;
  if (Number.isInteger(value)) return countText(value);
  return value >= 100 ? countText(Math.round(value)) : Number(value.toPrecision(3)).toString();
}

/** The parts that can be seen, in words: what is under a fortieth of the bar is "rest". */
export function partsText(
  parts: readonly { readonly kind: TrafficKind; readonly bytes: number }[],
  total: number,
  unit: TrafficUnit,
): string {
  const large = parts.filter(({ bytes }) => bytes >= total / 40);
  const rest = parts.reduce((sum, { bytes }) => sum + bytes, 0) - large.reduce((sum, { bytes }) => sum + bytes, 0);
  const words = large.map(({ kind, bytes }) => `${kind} ${trafficText(bytes, unit)}`);
  return [...words, ...(rest > 0 ? [`rest ${trafficText(rest, unit)}`] : [])].join(" + ");
}
