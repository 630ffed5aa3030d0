/** Failures that are answers: what was asked for is unknown, wrong, not there or not writable. */
import { DeviceError } from "../../native/device.ts";
import { SafetensorsError } from "../../oracle/safetensors.ts";
import { AttachmentError } from "../attachments/attachment.ts";
import { BundleError } from "../evidence/bundle.ts";
import type { RunEvent } from "../runs/events.ts";
import { UsageError } from "../runs/usage.ts";

type Refusal = Extract<RunEvent, { type: "refused" }>;

/** Words of a failure that ends a request before, or instead of, a result. Undefined for a defect of the program. */
export function refusalOf(error: unknown): Refusal | undefined {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError) return { type: "refused", code: "usage", message };
  if (error instanceof AttachmentError) return { type: "refused", code: "input", message };
  if (error instanceof SafetensorsError) return { type: "refused", code: "input", message };
  if (error instanceof BundleError) return { type: "refused", code: "io", message };
  if (error instanceof DeviceError && error.code === "unavailable")
    return { type: "refused", code: "unavailable", message };
  return undefined;
}
