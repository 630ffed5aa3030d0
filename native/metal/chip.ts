/** Whether what a GPU says of itself fits the chip that the CPU names. The name alone decides nothing. */
import { type Chip, chipNamed, shortName } from "../chips.ts";
import type { DeviceFact } from "../device.ts";

/** What the device says, next to the name of the chip. */
export interface ChipReading {
  /** `machdep.cpu.brand_string` or, without it, the name of the device. */
  readonly name: string | null;
  readonly architecture: string | null;
  readonly family: string;
  readonly gpuCores: number | undefined;
  readonly isVirtual: boolean;
}

/** The chip of the table that has the name; undefined where it has none. */
export function tableChip(name: string | null): Chip | undefined {
  return name === null ? undefined : chipNamed(name);
}

/** The name without the maker and without a remark in brackets: `M1` of `Apple M1 (Virtual)`. */
export function chipName(brand: string): string {
  return brand.replace(/^Apple\s+/, "").replace(/\s*\(.*\)\s*$/, "");
}

const ID = { id: "chip_check", label: "Chip table beside the device" } as const;

/** The comparison as a fact: `agrees: ...`, `differs: ...` with both sides of each difference, or why there is none. */
export function chipCheck(reading: ChipReading): DeviceFact {
  const { name, isVirtual } = reading;
  const source = "native/chips.json beside MTLDevice and the IO registry";
  const none = (reason: string): DeviceFact => ({ ...ID, value: null, by: "table", source, reason });
  if (name === null) return none("neither the CPU nor the device has a name");
  if (isVirtual) return none(`the GPU is virtual; ${name} is the chip of the machine that lends it`);
  const chip = tableChip(name);
  if (chip === undefined) return none(`the chip table has no ${chipName(name)}`);
  const rows = comparisons(reading, chip);
  const differing = rows.filter((row) => !row.agrees);
  const value =
    differing.length > 0
      ? `differs: ${differing.map((row) => `the device has ${row.actual}, the table ${row.expected} for ${shortName(chip)}`).join("; ")}`
      : `agrees: ${rows.map((row) => row.actual).join(", ")} as the table has it for ${shortName(chip)}`;
  return { ...ID, value, by: "table", source, reason: null };
}

interface Comparison {
  readonly actual: string;
  readonly expected: string;
  readonly agrees: boolean;
}

function comparisons({ family, architecture, gpuCores }: ChipReading, chip: Chip): readonly Comparison[] {
  const rows: Comparison[] = [
    { actual: family, expected: chip.mtl_gpu_family, agrees: family === chip.mtl_gpu_family },
  ];
  if (architecture !== null && chip.architecture_string !== null) {
    const expected = `${chip.architecture_string} (${chip.architecture_confidence})`;
    rows.push({ actual: architecture, expected, agrees: architecture === chip.architecture_string });
  }
  if (gpuCores !== undefined) {
    const counts = chip.variants.map((variant) => variant.gpu_cores);
    rows.push({
      actual: `${gpuCores} cores`,
      expected: `${counts.join(" or ")} cores`,
      agrees: counts.includes(gpuCores),
    });
  }
  return rows;
}
