/** Keys of this page that the list of shortcuts has no action for: left and right, Space, G, T, E. */
import { useEffect, useRef } from "react";
import { useAction } from "../../shell/actions.ts";
import type { Direction } from "./ownership.ts";

export interface LaneKeys {
  /** The pointer is on a lane: Space is about that lane, wherever the focus is. */
  readonly hovering: boolean;
  readonly walk: (direction: Direction) => void;
  readonly pin: () => void;
  readonly unpin: () => void;
  readonly goTo: () => void;
  readonly table: () => void;
  readonly save: () => void;
}

/** Where a key has a meaning of its own: all of them in a field, Space on what can be pressed. */
function isTaken(target: EventTarget | null, key: string, hovering: boolean): boolean {
  if (document.querySelector("dialog[open]") !== null) return true;
  const own =
    key === " " && !hovering ? "button, a, input, select, textarea" : "input:not([type=checkbox]), select, textarea";
  return target instanceof HTMLElement && target.closest(own) !== null;
}

export function useLaneKeys(keys: LaneKeys): void {
  useAction("list.next", () => keys.walk("down"));
  useAction("list.previous", () => keys.walk("up"));
  useAction("window.close", keys.unpin);
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const { hovering, walk, pin, goTo, table, save } = latest.current;
      const does = new Map([
        ["ArrowLeft", () => walk("left")],
        ["ArrowRight", () => walk("right")],
        [" ", pin],
        ["g", goTo],
        ["t", table],
        ["e", save],
      ]);
      const act = isTaken(event.target, event.key, hovering) ? undefined : does.get(event.key);
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
