/**
 * `lockstep.kernel/1`: a manifest says how a kernel that is not the project's own is compiled, fed and dispatched, and
 * which of its outputs the oracle knows. `docs/kernel-manifest.md` describes it for people, and its JSON Schema is made
 * from this one.
 */
import * as z from "zod";

const MANIFEST_SCHEMA = "lockstep.kernel/1";

const name = z
  .string()
  .regex(/^[A-Za-z_]\w{0,63}$/, "a name: letters, digits and _, not beginning with a digit")
  .describe("a name");

const expression = z
  .union([z.number(), z.string().min(1).max(400)])
  .describe("a number, or an expression over the sizes: H / Hk, ceil_div(N, 8), round_up(D, 16)");

const dtype = z.enum(["f32", "f16", "bf16"]);

/** A relative path that stays below its root. */
const relativePath = z
  .string()
  .min(1)
  .max(500)
  .refine((value) => !/^([/\\]|[A-Za-z]:)/.test(value), "a path relative to the root");

const attentionCase = z.strictObject({
  operator: z.literal("attention"),
  heads: expression.describe("query heads"),
  kvHeads: expression.describe("KV heads; heads must be a multiple"),
  queries: expression,
  keys: expression,
  headDim: expression.describe("width of q and k"),
  valueDim: expression.optional().describe("width of v and of the output; headDim where it is left out"),
  valueInKey: z.boolean().optional().describe("v is the first valueDim elements of k, as in latent attention"),
  scale: expression,
  causal: z.boolean().optional().describe("query i sees keys up to keys - queries + i"),
  dtype: dtype.describe("what the values are exact in, and what the gates hold the result to"),
  quantised: z
    .strictObject({
      bits: z.union([z.literal(4), z.literal(8)]),
      group: expression.describe("elements along dim that share a scale and a bias"),
    })
    .optional()
    .describe("k and v are scale * code + bias exactly: tensors k_codes, k_scales, k_biases and those of v"),
  seed: z.number().int().min(0).max(0xffffffff).optional(),
});

const prefillCase = z.strictObject({
  operator: z.literal("mla_prefill"),
  heads: expression,
  nope: expression,
  rope: expression,
  value: expression,
  lengths: z.array(expression).min(1).max(64).describe("keys of each sequence of the ragged batch"),
  queries: z.array(expression).min(1).max(64).optional().describe("queries of each sequence: its last; all by default"),
  scale: expression,
  dtype,
  seed: z.number().int().min(0).max(0xffffffff).optional(),
});

const caseSchema = z.discriminatedUnion("operator", [attentionCase, prefillCase]);

const axis = z
  .string()
  .regex(
    /^(head|kvHead|query|key|dim|page|slot)([/%][1-9]\d{0,5})?$/,
    "an axis: head, kvHead, query, key, dim, page or slot, possibly split: dim/8, dim%8",
  );

const layout = {
  axes: z.array(axis).min(1).max(8).describe("outermost first"),
  extents: z
    .record(z.string(), expression)
    .optional()
    .describe("elements of an axis where there are more than the case needs"),
  dtype: dtype.optional().describe("the case's where it is left out"),
};

const tensorBuffer = z.strictObject({
  name,
  tensor: z.enum([
    "q",
    "k",
    "v",
    "q_nope",
    "q_rope",
    "k_nope",
    "k_rope",
    "k_codes",
    "k_scales",
    "k_biases",
    "v_codes",
    "v_scales",
    "v_biases",
  ]),
  slice: z
    .record(z.string(), z.tuple([expression, expression]))
    .optional()
    .describe("part of an axis: [first, count], as in { dim: [512, 64] }"),
  ...layout,
});

const outputBuffer = z.strictObject({
  name,
  output: z.enum(["out", "lse"]).describe("compared with the oracle"),
  ...layout,
});

const scratchBuffer = z.strictObject({ name, scratch: expression.describe("bytes") });

const valuesBuffer = z.strictObject({
  name,
  values: z.strictObject({
    type: z.enum(["f32", "f16", "bf16", "i32", "u32", "i8", "u8"]),
    shape: z.array(expression).min(1).max(4),
    index: z.array(name).max(4).optional().describe("names of the indices, outermost first"),
    value: expression,
  }),
});

const pageTableBuffer = z.strictObject({
  name,
  pageTable: z.strictObject({ entries: expression.describe("entries of the table, at least the pages of the keys") }),
});

const bufferSchema = z.union([tensorBuffer, outputBuffer, scratchBuffer, valuesBuffer, pageTableBuffer]);

const FIELD_TYPES = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "bool"] as const;

const fieldSchema = z.strictObject({
  name: z.string().min(1).max(64).optional(),
  type: z.enum(FIELD_TYPES),
  value: z.union([expression, z.array(expression).min(1).max(64)]),
});

const argumentSchema = z.union([
  z.strictObject({
    index: z.number().int().min(0).max(30),
    buffer: name,
    offset: expression.optional().describe("bytes"),
  }),
  z.strictObject({
    index: z.number().int().min(0).max(30),
    struct: z.array(fieldSchema).min(1).max(128).describe("fields at their natural alignment, as in C"),
  }),
]);

const size3 = z.union([
  z.tuple([expression]),
  z.tuple([expression, expression]),
  z.tuple([expression, expression, expression]),
]);

const dispatchSchema = z.strictObject({
  label: z.string().min(1).max(80).optional(),
  function: z.string().min(1).max(300).describe("the kernel's name or host_name; {D} stands for the size D"),
  constants: z
    .record(z.string().min(1).max(200), z.union([z.boolean(), expression]))
    .optional()
    .describe("function constants, by name or index"),
  when: expression.optional().describe("the dispatch is left out where this is 0"),
  threadgroups: size3,
  threadsPerThreadgroup: size3,
  threadgroupMemory: z.array(z.strictObject({ index: z.number().int().min(0).max(30), bytes: expression })).optional(),
  threadgroupPadding: expression
    .optional()
    .describe("bytes that each dynamic threadgroup array gets beyond its own; stands in the record"),
  arguments: z.array(argumentSchema).max(31),
});

export const manifestSchema = z.strictObject({
  $schema: z.string().optional(),
  schema: z.literal(MANIFEST_SCHEMA),
  name: z.string().min(1).max(120),
  note: z.string().max(2000).optional(),
  project: z
    .strictObject({ name: z.string(), commit: z.string().optional(), url: z.string().optional() })
    .optional()
    .describe("where the source comes from"),
  source: relativePath.describe("the .metal file, relative to the root: the manifest's folder, or --root"),
  includePaths: z.array(relativePath).max(32).optional().describe("folders that quoted includes are sought in"),
  defines: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.union([z.string(), z.number()])).optional(),
  languageVersion: z
    .string()
    .regex(/^\d\.\d$/)
    .optional(),
  mathMode: z.enum(["safe", "relaxed", "fast"]).optional(),
  sizes: z.record(name, expression).optional().describe("names for expressions, each may use those above it"),
  case: caseSchema.optional().describe("what the oracle computes; without it nothing is compared"),
  pages: z
    .strictObject({
      size: expression.describe("keys of a page"),
      spare: expression.optional().describe("pages that belong to no key; they hold NaN"),
      seed: z.number().int().min(0).max(0xffffffff).optional(),
    })
    .optional(),
  buffers: z.array(bufferSchema).max(64),
  dispatches: z.array(dispatchSchema).min(1).max(32),
});

export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestCase = z.infer<typeof caseSchema>;
export type ManifestBuffer = z.infer<typeof bufferSchema>;
export type ManifestDispatch = z.infer<typeof dispatchSchema>;
export type FieldType = (typeof FIELD_TYPES)[number];
export type StructField = z.infer<typeof fieldSchema>;
