/**
 * What is asked and answered when the dispatches of one case are captured to a `.gputrace`, the document that Xcode opens.
 * A capture is no evidence: Metal records and replays the work, so that times inside it are no timings. Pure.
 */
import * as z from "zod";

const count = z.number().int().min(0);
const size3 = z.tuple([count, count, count]).readonly();

/** Ending of the document, which Metal writes as a folder. */
export const GPUTRACE = ".gputrace";

export const captureRequestSchema = z.strictObject({
  suite: z.enum(["quick", "standard", "full"]),
  /** Absolute path of a tensor file instead of the suite. */
  inputs: z.string().nullable(),
  /** One case by key or name, and one route: a capture of more is too large to read. */
  case: z.string().min(1),
  route: z.string().min(1),
  /** `metal`, `metal:1`; null for the machine's own device. */
  device: z.string().nullable(),
  /** Absolute path of the `.gputrace` to write; nothing may be there. */
  out: z.string().min(1),
});
export type CaptureRequest = z.infer<typeof captureRequestSchema>;

export const captureAnswerSchema = z.strictObject({
  path: z.string(),
  /** Of all files of the document. */
  bytes: count,
  files: count,
  case: z.string(),
  route: z.string(),
  device: z.strictObject({ id: z.string(), name: z.string(), chip: z.string(), os: z.string() }),
  /** Why this device, in sentences. */
  reasons: z.array(z.string()),
  /** What was submitted while Metal captured, in order: once, without a repeat. */
  dispatches: z.array(
    z.strictObject({ label: z.string(), kernel: z.string(), threadgroups: size3, threadsPerThreadgroup: size3 }),
  ),
  /** What a reader of the document must know. */
  note: z.string(),
});
export type CaptureAnswer = z.infer<typeof captureAnswerSchema>;

export const captureEndSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("captured"), answer: captureAnswerSchema }),
  /** Nothing was captured; `message` keeps Metal's words where it was Metal that refused. */
  z.strictObject({
    type: z.literal("capture_refused"),
    code: z.enum(["usage", "input", "unavailable", "refused", "io", "cancelled", "internal"]),
    message: z.string(),
    mend: z.string(),
  }),
]);
export type CaptureEnd = z.infer<typeof captureEndSchema>;
