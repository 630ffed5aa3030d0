/** What a window asks about attachments, and what it is told. Pure. */
import * as z from "zod";
import { digestSchema } from "../runs/record.ts";
import { listedAttachmentSchema } from "./attachment.ts";

/** Attachments of a run as they stand: seal and bundle were looked at, the originals were not read. */
export const attachmentsSchema = z.strictObject({
  attachments: z.array(listedAttachmentSchema),
  /** Labels of the run's dispatches: a label of an attachment that equals one is shown as a match by name. */
  labels: z.array(z.strictObject({ label: z.string(), results: z.number().int(), routes: z.array(z.string()) })),
  /** Why nothing can be attached; null where it can. */
  readOnly: z.string().nullable(),
});

export const attachedSchema = z.strictObject({ attachment: digestSchema });

/** What a verification says of the attachments beside a bundle; they are no part of it and decide nothing of its result. */
export const attachedVerdictSchema = z.strictObject({
  attachments: z.array(z.strictObject({ id: digestSchema, name: z.string().nullable(), reasons: z.array(z.string()) })),
  /** What else lies there and does not belong. */
  reasons: z.array(z.string()),
});
