/** Who may speak to the main process: the main frame of a window of ours that shows the window's page. */
import type { IpcMainEvent } from "electron";
import { isWindowUrl } from "./security.ts";

/** `windows` holds the ids of the web contents of our windows. */
export function isTrusted(event: Pick<IpcMainEvent, "sender" | "senderFrame">, windows: ReadonlySet<number>): boolean {
  const frame = event.senderFrame;
  // Null: the frame has gone or has navigated since.
  return frame !== null && frame.parent === null && windows.has(event.sender.id) && isWindowUrl(frame.url);
}
