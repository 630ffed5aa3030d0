/** Rows of the tables that the window lists: chips, cases, capabilities, facts of the machine, gates, routes. */
import * as z from "zod";
import { shapeSchema, sourceSchema } from "../runs/record.ts";

const count = z.number().int().min(0);

export const operatorSchema = z.enum(["gqa_decode", "mla_prefill"]);

export const chipSchema = z.strictObject({
  name: z.string(),
  shortName: z.string(),
  generation: z.string(),
  family: z.enum(["apple7", "apple8", "apple9", "apple10"]),
  architecture: z.string().nullable(),
  architectureConfidence: z.string(),
  clockGhz: z.number().nullable(),
  clockConfidence: z.string(),
  variants: z.array(z.strictObject({ gpuCores: count, memoryBandwidthGbS: z.number().nullable() })),
  sources: z.array(z.string()),
});

/** A case of a suite. */
export const listedCaseSchema = z.strictObject({
  key: z.string(),
  alias: z.string(),
  shape: shapeSchema,
  source: sourceSchema,
  boundary: z.boolean(),
});

export const capabilitiesSchema = z.strictObject({
  appleFamily: z.number().int(),
  metalVersion: z.string(),
  macos: z.string(),
  maxThreadsPerThreadgroup: count,
  maxThreadgroupMemoryBytes: count,
});

/** A row of the capability table: what a feature requires, whether the profile has it, and whether the device said so. */
export const featureSchema = z.strictObject({
  id: z.string(),
  group: z.enum(["matrices", "language", "memory", "measuring"]),
  title: z.string(),
  matters: z.string(),
  requires: z.string(),
  actual: z.string(),
  state: z.enum(["held", "not_held", "not_known"]),
  by: z.enum(["predicted", "api"]),
  reason: z.string(),
  source: z.string(),
});

/** A value of the machine, or why it is not known. */
export const machineFactSchema = z.strictObject({
  id: z.string(),
  group: z.enum(["machine", "load", "thermal", "power"]),
  label: z.string(),
  value: z.string().nullable(),
  by: z.enum(["api", "probe", "table", "inferred", "assumed"]),
  source: z.string(),
  reason: z.string().nullable(),
});

export const gateSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  formula: z.string(),
  threshold: z.string(),
  reason: z.string(),
  required: z.boolean(),
  appliesTo: z.string(),
});

export const routeSchema = z.strictObject({
  operator: operatorSchema,
  name: z.string(),
  summary: z.string(),
  status: z.enum(["built", "planned"]),
});
