/** Ticks and labels of the budget's bar. Pure. */
import { GIB } from "../../../electron/device/budget.ts";

/** Width of a letter of 11 px, generously. */
const LETTER = 6.4;

/** Ticks of about a sixth of the axis, at round numbers of GiB. */
export function gibTicks(most: number): readonly number[] {
  const steps = [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
  const step = steps.find((size) => most / GIB / size <= 8) ?? 1024;
  const count = Math.floor(most / GIB / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => index * step * GIB);
}

/** The longest of some texts that fits into a width; an empty one where none does. */
export function fitting(texts: readonly string[], width: number): string {
  return texts.find((text) => text.length * LETTER + 8 <= width) ?? "";
}
