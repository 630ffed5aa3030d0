/** Answers of the analysis about one result. The last few are kept, so that going back to an element asks nothing. */
import { useEffect, useState } from "react";
import type { AnswerOf, InspectWhat } from "../../../electron/analysis/messages.ts";
import { type Answer, failureView, type Session, useLive, useSession } from "../../state/session.ts";

/** What is asked about: one route on one case of a run. */
export interface Subject {
  readonly id: string;
  readonly case: string;
  readonly route: string;
  /** Where the file with the inputs is, if it is no longer where the run found it. */
  readonly inputs?: string;
}

type Kind = InspectWhat["kind"];
type WhatOf<K extends Kind> = Extract<InspectWhat, { readonly kind: K }>;

/** Answers that are kept; one may hold some MiB. */
const KEPT = 16;

const kept = new Map<string, Promise<unknown>>();

function ask(session: Session, key: string, subject: Subject, what: InspectWhat): Promise<unknown> {
  const known = kept.get(key);
  kept.delete(key);
  const answer = known ?? session.workbench.call("parity.inspect", { ...subject, what });
  kept.set(key, answer);
  const oldest = kept.keys().next().value;
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
  // A failure may pass, such as that of a run that goes on.
  if (known === undefined) answer.catch(() => kept.delete(key));
  return answer;
}

/**
 * Asks the analysis. Null asks nothing. `last` is the latest answer to a question about the same subject: what to show
 * until the next one comes.
 */
export function useInspect<K extends Kind>(
  subject: Subject | null,
  what: WhatOf<K> | null,
): { readonly answer: Answer<AnswerOf<K>>; readonly last: AnswerOf<K> | null } {
  const session = useSession();
  const running = useLive()?.outcome === "running";
  const about = subject === null ? null : JSON.stringify(subject);
  const key = about === null || what === null ? null : `${about} ${JSON.stringify(what)}`;
  const [known, setKnown] = useState<{
    readonly key: string;
    readonly about: string;
    readonly answer: Answer<AnswerOf<K>>;
  } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the question; a run that ends asks again.
  useEffect(() => {
    if (key === null || about === null || subject === null || what === null) return;
    let wanted = true;
    ask(session, key, subject, what).then(
      (value) => wanted && setKnown({ key, about, answer: { state: "there", value: value as AnswerOf<K> } }),
      (error: unknown) => wanted && setKnown({ key, about, answer: { state: "failed", failure: failureView(error) } }),
    );
    return () => {
      wanted = false;
    };
  }, [session, key, running]);
  const last = known?.about === about && known?.answer.state === "there" ? known.answer.value : null;
  return { answer: known !== null && known.key === key ? known.answer : { state: "asking" }, last };
}
