/** The recorded times of a case on the device of a run; asked again when a run has been added. */
import { useEffect, useState } from "react";
import { type Answer, failureView, useRuns, useSession } from "../../state/session.ts";
import type { Timings } from "./timing_model.ts";

/** A null subject asks nothing. While the next answer is awaited the last one about the same subject stays. */
export function useTimings(subject: { readonly id: string; readonly case: string } | null): Answer<Timings> {
  const session = useSession();
  const kept = useRuns()?.filter(({ state }) => state === "kept").length ?? 0;
  const key = subject === null ? null : JSON.stringify(subject);
  const [known, setKnown] = useState<{ readonly key: string; readonly answer: Answer<Timings> } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the subject; a run more asks again.
  useEffect(() => {
    if (key === null || subject === null) return;
    let wanted = true;
    session.workbench.call("captures.timings", subject).then(
      (value) => wanted && setKnown({ key, answer: { state: "there", value } }),
      (error: unknown) => wanted && setKnown({ key, answer: { state: "failed", failure: failureView(error) } }),
    );
    return () => {
      wanted = false;
    };
  }, [session, key, kept]);
  return known !== null && known.key === key ? known.answer : { state: "asking" };
}
