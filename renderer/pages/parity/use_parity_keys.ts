/** Keys of this page that the list of shortcuts has no action for: [ ] G T E A C. */
import { useEffect, useRef } from "react";

export interface ParityKeys {
  readonly case: (by: -1 | 1) => void;
  readonly goTo: () => void;
  readonly table: () => void;
  readonly save: () => void;
  readonly fit: () => void;
  readonly compare: () => void;
}

/** Where a key has a meaning of its own. */
function takesText(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input:not([type=checkbox]), select, textarea, dialog") !== null
  );
}

export function useParityKeys(keys: ParityKeys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (takesText(event.target) || document.querySelector("dialog[open]") !== null) return;
      const does = new Map([
        ["[", () => latest.current.case(-1)],
        ["]", () => latest.current.case(1)],
        ["g", latest.current.goTo],
        ["t", latest.current.table],
        ["e", latest.current.save],
        ["a", latest.current.fit],
        ["c", latest.current.compare],
      ]);
      const act = does.get(event.key);
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
