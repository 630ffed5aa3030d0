/**
 * Verification in a thread of its own: hashing hundreds of MiB must not keep a window waiting. The thread is given the
 * folder, says how far it is, then the result, and ends. Terminating it cancels.
 */
import { parentPort, workerData } from "node:worker_threads";
import { verifyAttachments } from "../attachments/store.ts";
import { type VerifyProgress, verifyBundle } from "./verify.ts";
import { workerDataSchema } from "./verify_messages.ts";

/** A window draws no more than this. */
const SAY_MS = 50;

const { folder } = workerDataSchema.parse(workerData);
let step = 0;
let said = 0;

const onProgress = (progress: VerifyProgress): void => {
  const now = performance.now();
  if (progress.step === step && now - said < SAY_MS) return;
  step = progress.step;
  said = now;
  parentPort?.postMessage({ type: "progress", ...progress });
};

const { result, identity, checks, notes } = verifyBundle(folder, onProgress);
const { attachments, reasons } = await verifyAttachments(folder);
const attached = {
  attachments: attachments.map((entry) => ({
    id: entry.id,
    name: entry.attachment?.original.name ?? null,
    reasons: entry.reasons,
  })),
  reasons,
};
const beside = attachments.length === 0 && reasons.length === 0 ? {} : { attached };
parentPort?.postMessage({ type: "done", verification: { result, identity, checks, notes, ...beside } });
