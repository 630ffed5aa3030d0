/** What the desktop's shell asks of this window, and what the window can ask of it. In a browser there is no shell. */
import { useEffect, useRef } from "react";
import { windowShell } from "../bridge.ts";
import { perform } from "./actions.ts";

/** Path of a dropped file or folder, where a desktop knows it; undefined in a browser. */
export function droppedPath(file: File): string | undefined {
  return windowShell()?.pathOf(file) || undefined;
}

/** Does what is chosen in the desktop's menu. Used once, by the frame. */
export function useDesktop(): void {
  const told = useRef(false);
  useEffect(() => {
    if (told.current) return;
    told.current = true;
    windowShell()?.onAction(perform);
  }, []);
}
