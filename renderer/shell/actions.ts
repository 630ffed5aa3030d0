/** Which actions of the registry can be done now: components offer them while they are shown. */
import { useEffect, useRef } from "react";
import { WINDOW_ACTIONS, type WindowAction } from "../../electron/actions.ts";

interface Offer {
  readonly run: () => void;
  /** Why it cannot be done now; undefined where it can. */
  readonly blocked: string | undefined;
}

const offers = new Map<string, (() => Offer)[]>();

/** Offers an action while the component is shown. `blocked` says why it cannot be done now. */
export function useAction(id: string, run: () => void, blocked?: string): void {
  const latest = useRef<Offer>({ run, blocked });
  latest.current = { run, blocked };
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
}

export function listActions(): readonly ListedAction[] {
  return WINDOW_ACTIONS.map((action) => {
    const offer = offerOf(action.id);
    return { action, blocked: offer === undefined ? "not in this view" : offer.blocked };
  });
}

export function actionByKey(text: string): WindowAction | undefined {
  return WINDOW_ACTIONS.find((action) => action.keys.includes(text));
}

export function firstKey(id: string): string | undefined {
  return WINDOW_ACTIONS.find((action) => action.id === id)?.keys[0];
}
