/** `D`, `B` and `X` for the run or bundle at hand, on whichever page it is shown. */
import { useAction } from "../../shell/actions.ts";
import { counterpart, togglePinned, useBaseline } from "../../state/baseline.ts";
import { useRuns, useSession } from "../../state/session.ts";
import { useStore } from "../../state/store.ts";
import { go } from "../../state/view.ts";

/** Offers to diff `id` with the baseline, or else the run before it, and to pin it. A is the one that is held against. */
export function useDiffActions(id: string | undefined): { readonly against: string | undefined } {
  const runs = useRuns() ?? [];
  const opened = useStore(useSession().opened);
  const pinned = useBaseline();
  const kept = [...runs, ...opened.map(({ entry }) => entry)].filter((entry) => entry.state === "kept");
  const ids = kept.map((entry) => entry.id);
  const known = id !== undefined && ids.includes(id) ? id : undefined;
  const against = known === undefined ? undefined : counterpart(known, pinned, ids);
  const missing = known === undefined ? "no finished run is selected" : undefined;
  useAction(
    "diff.show",
    () => go("evidence", { a: against ?? "", b: known ?? "" }),
    missing ?? (against === undefined ? "there is no other run to hold it against" : undefined),
    ["lockstep", "diff", against ?? "A", known ?? "B"],
  );
  useAction("diff.pin", () => known !== undefined && togglePinned(known), missing);
  return { against };
}
