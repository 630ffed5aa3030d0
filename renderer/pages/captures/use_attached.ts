/** What is attached to a run; asked again when this window has changed it. */
import { useEffect, useState } from "react";
import { type AttachedList, attachedChanges } from "../../state/attached.ts";
import { type Answer, failureView, useSession } from "../../state/session.ts";
import { useStore } from "../../state/store.ts";

/** A null id asks nothing. While the next answer is awaited the last one about the same run stays. */
export function useAttached(id: string | null): Answer<AttachedList> {
  const { workbench } = useSession();
  const changes = useStore(attachedChanges);
  const [known, setKnown] = useState<{ readonly id: string; readonly answer: Answer<AttachedList> } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change asks again.
  useEffect(() => {
    if (id === null) return;
    let wanted = true;
    workbench.call("attachments.list", { id }).then(
      (value) => wanted && setKnown({ id, answer: { state: "there", value } }),
      (error: unknown) => wanted && setKnown({ id, answer: { state: "failed", failure: failureView(error) } }),
    );
    return () => {
      wanted = false;
    };
  }, [workbench, id, changes]);
  return known !== null && known.id === id ? known.answer : { state: "asking" };
}
