/** The chip table (`native/chips.json`): what is known in public about Apple's GPUs, with a confidence for each value. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { nativeFolder } from "./msl/paths.ts";

const confidence = z.string();
const optionalNumber = z.optional(z.nullable(z.number()));

const variantSchema = z.strictObject({
  gpu_cores: z.int(),
  memory_bandwidth_gb_s: optionalNumber,
  memory_bandwidth_confidence: z.optional(confidence),
  fp32_lanes: z.optional(z.int()),
  fp32_gflops_derived: optionalNumber,
  fp16_alu_gflops_derived: optionalNumber,
  matrix_fp16_fp32acc_gflops_derived: optionalNumber,
  matrix_int8_gops_derived: optionalNumber,
  roofline_ridge_flop_per_byte_fp32: optionalNumber,
  roofline_ridge_flop_per_byte_matrix_fp16: optionalNumber,
});

const chipSchema = z.strictObject({
  name: z.string(),
  generation: z.string(),
  mtl_gpu_family: z.enum(["apple7", "apple8", "apple9", "apple10"]),
  mtl_gpu_family_value: z.int(),
  architecture_string: z.nullable(z.string()),
  architecture_confidence: confidence,
  gpu_clock_ghz: z.nullable(z.number()),
  gpu_clock_confidence: confidence,
  slc_mb: optionalNumber,
  variants: z.array(variantSchema).min(1).readonly(),
  sources: z.array(z.string()).readonly(),
  notes: z.optional(z.array(z.string()).readonly()),
});

const limitsSchema = z.strictObject({
  simd_width: z.int(),
  max_threads_per_threadgroup: z.int(),
  max_threadgroup_memory_bytes: z.int(),
  threadgroup_memory_length_alignment: z.int(),
  buffer_slots: z.int(),
  set_bytes_max: z.int(),
  function_constants_max: z.int(),
  fp32_lanes_per_core: z.int(),
  simd_schedulers_per_core: z.int(),
  max_threads_per_core: z.int(),
  max_simdgroups_per_core: z.int(),
  note: z.string(),
});

/** Facts about a family. Which of them are known differs, so all but the first three are optional. */
const familySchema = z.strictObject({
  value: z.int(),
  first_chips: z.array(z.string()).readonly(),
  simdgroup_matrix_8x8: z.boolean(),
  bfloat_alu: z.string(),
  occupancy_model: z.string(),
  matmul2d_backend: z.string(),
  simd_reductions: z.optional(z.boolean()),
  matrix_16x16x16: z.optional(z.boolean()),
  registers_per_thread_32bit: z.optional(z.int()),
  registers_per_thread_32bit_usable: z.optional(z.int()),
  register_file_per_core_kb: z.optional(z.number()),
  register_file_per_core_kb_fitted_g16s: z.optional(z.number()),
  register_file_per_core_kb_fitted_g17s: z.optional(z.number()),
  threadgroup_memory_per_core_kb: z.optional(z.number()),
  threadgroup_memory_per_core_bytes: z.optional(z.int()),
  instruction_cache_loop_body_bytes: z.optional(z.int()),
  matrix_flop_per_core_clock_fp16: z.optional(z.int()),
  matrix_op_per_core_clock_int8: z.optional(z.int()),
  simdgroups_per_core_to_saturate_matrix: z.optional(z.number()),
});

const registerStepsSchema = z.strictObject({
  source: z.string(),
  unit: z.string(),
  /** 16-bit register halves of a thread at most, then threads. */
  table: z.array(z.tuple([z.int(), z.int()])).min(1),
  use: z.string(),
});

const occupancyFitSchema = z.strictObject({
  source: z.string(),
  formula: z.string(),
  /** Bytes of a core's register file, by architecture string. */
  file_bytes: z.record(z.string(), z.int()),
  status: z.string(),
});

/** Parts of the table that no code reads yet are kept as they are. */
const notRead = z.record(z.string(), z.unknown());

const chipTableSchema = z.strictObject({
  schema: z.literal("apple-gpu-chips/1"),
  note: z.string(),
  sources: z.record(z.string(), z.string()),
  common_limits: limitsSchema,
  families: z.strictObject({
    apple7: familySchema,
    apple8: familySchema,
    apple9: familySchema,
    apple10: familySchema,
  }),
  mtl_family_values: z.record(z.string(), z.int()),
  arch_string: notRead,
  register_occupancy_g13_g14: registerStepsSchema,
  occupancy_fit_g16_g17: occupancyFitSchema,
  instruction_costs_g13_g14: notRead,
  m5_measured: notRead,
  chips: z.array(chipSchema).min(1).readonly(),
});

export type Chip = Readonly<z.infer<typeof chipSchema>>;
export type ChipTable = Readonly<z.infer<typeof chipTableSchema>>;

let table: ChipTable | undefined;

/** The chip table, read once. Throws if the file is not what the schema says. */
export function chipTable(): ChipTable {
  table ??= parseChipTable(readFileSync(join(nativeFolder(), "chips.json"), "utf8"));
  return table;
}

/** Reads the text of a chip table; throws with the path of the first value that does not fit. */
export function parseChipTable(text: string): ChipTable {
  const parsed = chipTableSchema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Error(
    `The chip table is not valid at ${issue?.path.join(".") || "its top"}: ${issue?.message ?? "unknown"}`,
  );
}

/** The chip called `name` (`M3 Max`, `Apple M3 Max`, `m3-max`), or undefined where the table does not have it. */
export function chipNamed(name: string): Chip | undefined {
  const wanted = plain(name);
  return chipTable().chips.find((entry) => plain(entry.name) === wanted);
}

/** The chip called `name`. Throws with the names there are. */
export function findChip(name: string): Chip {
  const chip = chipNamed(name);
  if (chip) return chip;
  const names = chipTable()
    .chips.map((entry) => shortName(entry))
    .join(", ");
  throw new Error(`There is no chip '${name}' in the chip table; it has ${names}.`);
}

/** The name without the maker: `M3 Max`. */
export function shortName(chip: Chip): string {
  return chip.name.replace(/^Apple /, "");
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replace(/^apple/, "")
    .replace(/\(.*\)/, "")
    .replace(/[^a-z0-9]/g, "");
}
