/**
 * What an attachment is: a file that another tool wrote about a run, kept beside the bundle with what was read of it. It is
 * bound to the bundle by the digest of the manifest and is no part of the bundle: nothing in it decides a verdict or a claim,
 * and no time in it stands beside one that Lockstep measured. Pure: the contract imports it.
 */
import * as z from "zod";
import { digestSchema } from "../runs/record.ts";

export const ATTACHMENT_KINDS = ["xctrace", "counters_csv"] as const;
export type AttachmentKind = (typeof ATTACHMENT_KINDS)[number];

/** How a kind is called in words. */
export const KIND_WORDS: Readonly<Record<AttachmentKind, string>> = {
  xctrace: "xctrace export",
  counters_csv: "Xcode counters",
};

/** What every attachment is, in the words that stand wherever one is shown. */
export const ATTACHED_WORDS = "Attached evidence: read from a file of another tool, not measured by Lockstep";

/** What no attachment of a kind shows. */
export const DOES_NOT_SHOW: Readonly<Record<AttachmentKind, readonly string[]>> = {
  xctrace: [
    "that the traced process was this run: the file names a process, not a bundle",
    "times that may be compared with the run's: Instruments was recording, which changes clocks and scheduling",
    "registers and occupancy, unless a counter of the trace says so",
  ],
  counters_csv: [
    "that the captured workload was this run: the file names encoders, not a bundle",
    "times that may be compared with the run's: counters are read while Xcode replays the capture",
    "the chip, the macOS or the Xcode that it was made with: the file states none of them",
  ],
};

/** Limits of an attachment. The packed file must fit into an archive of a bundle. */
export const ATTACHMENT_LIMITS = {
  originalBytes: 1024 ** 3,
  packedBytes: 120 * 1024 ** 2,
  summaryBytes: 8 * 1024 ** 2,
  count: 32,
  /** Most series of a summary; more are counted and left out. */
  series: 4096,
  labelLength: 1000,
} as const;

/** A file that cannot be attached, or is no attachment any more. Messages name the line and what was expected. */
export class AttachmentError extends Error {
  override readonly name = "AttachmentError";
}

const count = z.number().int().min(0);
const label = z.string().max(ATTACHMENT_LIMITS.labelLength);

/** A table of the file: read, or why not. */
const attachedTableSchema = z.strictObject({
  /** Name of the schema, or of the form of the table. */
  name: label,
  /** Where the file says that it stood; null where it does not. */
  place: label.nullable(),
  rows: count,
  columns: z.array(label).max(4096),
  /** What was read of it; null where nothing was. */
  read: z.string().nullable(),
  /** Why nothing was read. */
  reason: z.string().nullable(),
});
export type AttachedTable = Readonly<z.infer<typeof attachedTableSchema>>;

/** All values of one quantity that the file gives one label. No other statistics are made of them. */
const attachedSeriesSchema = z.strictObject({
  /** Index of its table. */
  table: count,
  label,
  process: label.nullable(),
  channel: label.nullable(),
  /** Nesting level of an interval: those of level 1 lie within those of level 0, and are in no sum with them. */
  depth: count.nullable(),
  quantity: label,
  /** Null where the file states none. */
  unit: z.string().max(40).nullable(),
  count,
  /** Null for shares and states, whose sum says nothing, and beyond 2^53. */
  sum: z.number().nullable(),
  min: z.number(),
  median: z.number(),
  max: z.number(),
});
export type AttachedSeries = Readonly<z.infer<typeof attachedSeriesSchema>>;

/** What was read of a file. The same bytes always give the same summary. */
const attachmentSummarySchema = z.strictObject({
  /** The tool's own version, as far as the file says. */
  tool: z.strictObject({ name: z.string(), version: z.string().max(200).nullable() }),
  /** Facts that the file states of itself: template, device, start of the recording. */
  facts: z.array(z.strictObject({ label, value: label })).max(64),
  tables: z.array(attachedTableSchema).max(512),
  series: z.array(attachedSeriesSchema).max(ATTACHMENT_LIMITS.series),
  /** Series beyond the limit, which are not in the list. */
  left: count,
  /** What a reader must know of how it was read. */
  notes: z.array(z.string().max(2000)).max(64),
});
export type AttachmentSummary = Readonly<z.infer<typeof attachmentSummarySchema>>;

/**
 * `attachment.json`. The attachment's id is the digest of its bytes. The schema's version stands for the reader too: the same
 * original must give the same summary for ever, so that a reader that reads more gets another version.
 */
export const attachmentSchema = z.strictObject({
  schema: z.literal("lockstep.attachment/1"),
  kind: z.enum(ATTACHMENT_KINDS),
  /** The bundle that it is attached to: the digest of its manifest is the bundle's identity. */
  bundle: z.strictObject({ name: z.string().max(200), manifest: digestSchema }),
  original: z.strictObject({
    name: z.string().min(1).max(255),
    bytes: z.string().regex(/^\d{1,15}$/),
    sha256: digestSchema,
  }),
  importedAt: z.iso.datetime(),
  importedBy: z.string().max(100),
  summary: attachmentSummarySchema,
});
export type Attachment = Readonly<z.infer<typeof attachmentSchema>>;

/** How an attachment stands beside its bundle. `reasons` are empty where it held. */
export const listedAttachmentSchema = z.strictObject({
  id: digestSchema,
  attachment: attachmentSchema.nullable(),
  reasons: z.array(z.string()),
});
export type ListedAttachment = Readonly<z.infer<typeof listedAttachmentSchema>>;

/** A name from elsewhere as it is kept: no control characters, not longer than the limit. */
export function keptText(text: string, most: number = ATTACHMENT_LIMITS.labelLength): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
  return plain.length <= most ? plain : `${plain.slice(0, most - 3)}...`;
}

/** A figure as the file has it: whole numbers whole, others to six digits. Nothing is scaled, so that its unit stays. */
export function attachedFigure(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e9) return value.toExponential(5);
  return value.toLocaleString("en-US", { maximumSignificantDigits: 6 });
}
