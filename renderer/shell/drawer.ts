/** The right pane of the page at hand as a drawer: the page puts it here, the top bar shows its button. */
import { createStore } from "../state/store.ts";

export interface Drawer {
  /** What is in it, for the button. */
  readonly label: string;
  readonly id: string;
  readonly open: boolean;
  readonly toggle: () => void;
}

/** Null where the page has no right pane or shows it beside the centre. */
export const drawer = createStore<Drawer | null>(null);

/** Asked of the drawer that holds the element: it opens before the event has gone through. */
export const REVEAL = "lockstep-reveal";

/** Puts the focus on an element, and opens the drawer that it may be in first. */
export function focusRevealed(element: HTMLElement | null | undefined): void {
  element?.dispatchEvent(new CustomEvent(REVEAL, { bubbles: true }));
  element?.focus();
}
