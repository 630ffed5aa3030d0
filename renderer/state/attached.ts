/** Files that are to be attached to a run: what was dropped or chosen waits for the user's word. */
import type { Workbench } from "../../electron/contract/connect.ts";
import type { CallOutput } from "../../electron/contract.ts";
import { createStore } from "./store.ts";
import { type Dropped, sendFiles } from "./transfer.ts";

export type AttachedList = CallOutput<"attachments.list">;

export interface Pending {
  readonly name: string;
  readonly file: Blob;
  /** Where it is, if a desktop knows; else its bytes are sent. */
  readonly path: string | undefined;
}

/** Null where nothing waits. */
export const pendingAttachment = createStore<Pending | null>(null);

/** Counts what was attached or removed by this window: lists are asked for again. */
export const attachedChanges = createStore(0);

/** Attaches a file to a run. Resolves with its id. Rejects with `RemoteError`, whose words name the line of the file. */
export async function attachPending(
  workbench: Workbench,
  id: string,
  pending: Pending,
  signal: AbortSignal,
): Promise<string> {
  const { name, file, path } = pending;
  const asked =
    path === undefined
      ? await sent(workbench, { kind: "attachment", name, files: [{ path: name, file }] }, signal)
      : path;
  const answer = await workbench.call("attachments.attach", {
    id,
    path: asked,
    name: path === undefined ? name.slice(0, 255) : null,
    kind: null,
  });
  attachedChanges.set((before) => before + 1);
  return answer.attachment;
}

async function sent(
  workbench: Workbench,
  dropped: Extract<Dropped, { kind: "attachment" }>,
  signal: AbortSignal,
): Promise<string> {
  const answer = await sendFiles(workbench, dropped, signal);
  if (answer.kind !== "attachment") throw new Error(`The workbench took ${dropped.name} for a ${answer.kind}`);
  return answer.path;
}

export async function removeAttachment(workbench: Workbench, id: string, attachment: string): Promise<void> {
  await workbench.call("attachments.remove", { id, attachment });
  attachedChanges.set((before) => before + 1);
}
