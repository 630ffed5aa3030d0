/** Decisions of the workbench as a page shows them: the last one stays until the next has come. */
import { useEffect, useRef, useState } from "react";
import type { CallInput, CallOutput } from "../../../electron/contract.ts";
import type { CaseShape } from "../../../kernels/route.ts";
import type { DeviceChoice } from "../../state/device_choice.ts";
import { type FailureView, failureView, useSession } from "../../state/session.ts";
import type { Decision } from "./words.ts";

export type Explained = CallOutput<"dispatch.explain">;
export type Question = CallInput<"dispatch.explain">;

export function questionOf(shape: CaseShape, choice: DeviceChoice, forced: string | null): Question {
  // Readonly lists of a shape are lists that the request owns.
  const own =
    shape.operator === "gqa_decode"
      ? { ...shape }
      : {
          ...shape,
          cuSeqlensQ: [...shape.cuSeqlensQ],
          cuSeqlensK: [...shape.cuSeqlensK],
          qOffset: [...shape.qOffset],
        };
  return { subject: { kind: "shape", shape: own }, ...choice, forced };
}

export interface Explanation {
  readonly explained: Explained | null;
  readonly failure: FailureView | null;
  /** True once `explained` answers the question at hand, and not the one before. */
  readonly current: boolean;
}

interface Known extends Omit<Explanation, "current"> {
  /** The question that `explained` answers. */
  readonly key: string | null;
}

export function useExplain(question: Question): Explanation {
  const { workbench } = useSession();
  const [known, setKnown] = useState<Known>({ explained: null, failure: null, key: null });
  const key = JSON.stringify(question);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the question.
  useEffect(() => {
    const asking = new AbortController();
    workbench.call("dispatch.explain", question, { signal: asking.signal }).then(
      (explained) => asking.signal.aborted || setKnown({ explained, failure: null, key }),
      (error: unknown) =>
        asking.signal.aborted || setKnown(({ explained }) => ({ explained, failure: failureView(error), key: null })),
    );
    return () => asking.abort();
  }, [workbench, key]);
  return { explained: known.explained, failure: known.failure, current: known.key === key };
}

/** Many decisions at once, in the order of the questions; null until one has come, or where it was refused. */
export function useDecisions(questions: readonly Question[]): readonly (Decision | null)[] {
  const { workbench } = useSession();
  const [known, setKnown] = useState<readonly (Decision | null)[]>([]);
  const key = JSON.stringify(questions);
  const latest = useRef(key);
  latest.current = key;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the questions.
  useEffect(() => {
    const all = questions.map((question) =>
      workbench.call("dispatch.explain", question).then(
        ({ decision }) => decision,
        () => null,
      ),
    );
    void Promise.all(all).then((decisions) => {
      if (latest.current === key) setKnown(decisions);
    });
  }, [workbench, key]);
  return known;
}
