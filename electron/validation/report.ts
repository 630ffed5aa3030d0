/**
 * What Metal's validation said during a run: `data/validation/log.json` of a bundle, made from `data/validation/log.txt`
 * alone, and the part of it that the record carries. Pure: the window reads the record.
 */
import * as z from "zod";

const count = z.number().int().min(0);
const words = z.string().max(4096);

/** Where the host's standard error is kept as it came. */
export const VALIDATION_TEXT = "data/validation/log.txt";
export const VALIDATION_LOG = "data/validation/log.json";

/** Reports that the record carries itself; the log has all that are kept. */
export const RECORD_REPORTS = 100;

/** The result that was being computed when a line came. */
const placeSchema = z.strictObject({ case: words, route: words });

const validationReportSchema = z.strictObject({
  /** Id of the form of the line, from the table in `lines.ts`. */
  form: z.string(),
  /** `unclear`: a line of Metal's that no form knows. It is no error, and nobody can say that it is none. */
  severity: z.enum(["error", "warning", "unclear"]),
  layer: z.enum(["api", "shader", "unknown"]),
  /** The kernel that it names. */
  kernel: words.nullable(),
  /** As written, without what `NSLog` puts before it; lines that belong to it are joined by newlines. */
  text: words,
  /** Null outside any result, as while the device is opened: it counts against every result. */
  at: placeSchema.nullable(),
  /** Line of the text file where it stands first, from 1. */
  line: z.number().int().min(1),
  /** How often it came for this result in the same words. */
  times: z.number().int().min(1),
});
export type ValidationReport = z.infer<typeof validationReportSchema>;

const enabledSchema = z.strictObject({
  /** Whether Metal said that it validates; without that silence proves nothing. */
  api: z.boolean(),
  shader: z.boolean(),
});

const countsSchema = z.strictObject({
  lines: count,
  errors: count,
  warnings: count,
  unclear: count,
  /** Lines that say nothing of Metal, as far as can be told. */
  unknown: count,
  /** Lines beyond what is kept. */
  dropped: count,
});

const environmentSchema = z.record(z.string(), z.string());

export const validationLogSchema = z.strictObject({
  schema: z.literal("lockstep.validation/1"),
  /** Version of the table of forms that it was read with. */
  forms: z.string(),
  enabled: enabledSchema,
  counts: countsSchema,
  reports: z.array(validationReportSchema),
  /** The first lines of no known form, word for word. */
  unknown: z.array(z.strictObject({ line: z.number().int().min(1), text: words })),
});
export type ValidationLog = z.infer<typeof validationLogSchema>;

/** `validation` of a record. */
export const recordValidationSchema = z.strictObject({
  /** Variables that the host was started with. */
  environment: environmentSchema,
  enabled: enabledSchema,
  counts: countsSchema,
  /** The first of the log's. */
  reports: z.array(validationReportSchema).max(RECORD_REPORTS),
  log: z.literal(VALIDATION_LOG),
});
export type RecordValidation = z.infer<typeof recordValidationSchema>;

/** What the record carries of a log. */
export function recordValidation(log: ValidationLog, environment: Readonly<Record<string, string>>): RecordValidation {
  const { enabled, counts, reports } = log;
  return {
    environment: { ...environment },
    enabled,
    counts,
    reports: reports.slice(0, RECORD_REPORTS),
    log: VALIDATION_LOG,
  };
}

/** True where a report stands against the result: it came while that was computed, or outside any. */
export function concerns(report: ValidationReport, result: { readonly case: string; readonly route: string }): boolean {
  return report.at === null || (report.at.case === result.case && report.at.route === result.route);
}
