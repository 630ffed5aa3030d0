/** What the thread that verifies says, and what a window is told of it. Pure. */
import * as z from "zod";
import { attachedVerdictSchema } from "../attachments/messages.ts";
import { digestSchema } from "../runs/record.ts";

const count = z.number().int().min(0);

export const workerDataSchema = z.strictObject({ folder: z.string().min(1) });

export const verificationSchema = z.strictObject({
  result: z.enum(["valid", "invalid"]),
  identity: digestSchema.nullable(),
  checks: z.array(z.strictObject({ id: z.string(), title: z.string(), reasons: z.array(z.string()) }).readonly()),
  notes: z.array(z.string()),
  /** Absent where nothing is attached. It decides nothing of the result. */
  attached: attachedVerdictSchema.optional(),
});

export const verifyMessageSchema = z.discriminatedUnion("type", [
  /** `step` of `steps` checks runs; `bytes` of `totalBytes` were read against their digests. */
  z.strictObject({
    type: z.literal("progress"),
    step: count,
    steps: count,
    title: z.string(),
    bytes: count,
    totalBytes: count,
  }),
  z.strictObject({ type: z.literal("done"), verification: verificationSchema }),
]);
export type VerifyMessage = z.infer<typeof verifyMessageSchema>;
