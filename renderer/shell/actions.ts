/** Which actions of the registry can be done now: components offer them while they are shown. */
import { useEffect, useRef } from "react";
import { commandLine, WINDOW_ACTIONS, type WindowAction } from "../../electron/actions.ts";
import { viewCommand } from "./command.ts";

interface Offer {
  readonly run: () => void;
  /** Why it cannot be done now; undefined where it can. */
  readonly blocked: string | undefined;
  /** The command that does the same here, where it is another one than the view's. */
  readonly words: readonly string[] | undefined;
}

const offers = new Map<string, (() => Offer)[]>();

/**
 * Offers an action while the component is shown. `blocked` says why it cannot be done now, `words` are those of the
 * command that does the same, where the view's own command does something else.
 */
export function useAction(id: string, run: () => void, blocked?: string, words?: readonly string[]): void {
  const latest = useRef<Offer>({ run, blocked, words });
  latest.current = { run, blocked, words };
  useEffect(() => {
    if (!WINDOW_ACTIONS.some((action) => action.id === id)) throw new Error(`The registry has no action "${id}".`);
    const offer = (): Offer => latest.current;
    offers.set(id, [...(offers.get(id) ?? []), offer]);
    return () => {
      offers.set(
        id,
        (offers.get(id) ?? []).filter((entry) => entry !== offer),
      );
    };
  }, [id]);
}

/** The offer of an action, that of the component shown last. */
function offerOf(id: string): Offer | undefined {
  return offers.get(id)?.at(-1)?.();
}

/** Does an action. False where nothing offers it or it is blocked. */
export function perform(id: string): boolean {
  const offer = offerOf(id);
  if (offer === undefined || offer.blocked !== undefined) return false;
  offer.run();
  return true;
}

export interface ListedAction {
  readonly action: WindowAction;
  /** Why it cannot be done now. */
  readonly blocked: string | undefined;
  /** The command line that does the same; null where the action concerns the window alone. */
  readonly line: string | null;
}

/** The command line of an action: what its offer says, the view's where that is of the same command, or the bare command. */
export function lineOf(action: WindowAction, words: readonly string[] | undefined, view: string): string | null {
  if (action.id === "window.command") return view;
  if (words !== undefined) return commandLine(words);
  if (action.command === null) return null;
  const bare = `lockstep ${action.command}`;
  // A page's own command is bare: the view at hand may be another page with the same command.
  return action.section !== "Pages" && view.startsWith(`${bare} `) ? view : bare;
}

export function listActions(): readonly ListedAction[] {
  return WINDOW_ACTIONS.map((action) => {
    const offer = offerOf(action.id);
    return {
      action,
      blocked: offer === undefined ? "not in this view" : offer.blocked,
      line: lineOf(action, offer?.words, viewCommand()),
    };
  });
}

/** Does the action of a stroke. Where two share it, the view at hand offers one of them. False where it offers none. */
export function performKey(text: string): boolean {
  return WINDOW_ACTIONS.some((action) => action.keys.includes(text) && perform(action.id));
}

export function firstKey(id: string): string | undefined {
  return WINDOW_ACTIONS.find((action) => action.id === id)?.keys[0];
}
