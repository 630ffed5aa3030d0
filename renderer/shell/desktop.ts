/** What the desktop's shell asks of this window, and what the window can ask of it. In a browser there is no shell. */
import { useEffect, useRef } from "react";
import { windowShell } from "../bridge.ts";
import { failureView, useSession } from "../state/session.ts";
import { perform } from "./actions.ts";

/** Path of a dropped file or folder, where a desktop knows it; undefined in a browser. */
export function droppedPath(file: File): string | undefined {
  return windowShell()?.pathOf(file) || undefined;
}

/** Does what the menu says and opens what the system opens. Used once, by the frame. */
export function useDesktop(): void {
  const session = useSession();
  const told = useRef(false);
  useEffect(() => {
    if (told.current) return;
    told.current = true;
    windowShell()?.onWish(perform, (path) => {
      // The stream of opened bundles then says where to go.
      session.workbench.call("bundle.open", { path }).catch((error) => session.failure.set(failureView(error)));
    });
  }, [session]);
}
