/** Compiles the kernels of the route at hand when asked to, and keeps what the compiler said until another one is shown. */
import { useEffect, useState } from "react";
import type { CallOutput } from "../../../electron/contract.ts";
import type { CaseShape } from "../../../kernels/route.ts";
import { type FailureView, failureView, useSession } from "../../state/session.ts";

export type CheckAnswer = CallOutput<"kernels.check">;

export type Check =
  | { readonly state: "none" }
  | { readonly state: "running" }
  | { readonly state: "there"; readonly answer: CheckAnswer }
  | { readonly state: "failed"; readonly failure: FailureView };

const NONE: Check = { state: "none" };

/** A shape as the contract takes it: its lists are the window's own and may not be shared. */
function plainShape(shape: CaseShape) {
  if (shape.operator === "gqa_decode") return { ...shape };
  return {
    ...shape,
    cuSeqlensQ: [...shape.cuSeqlensQ],
    cuSeqlensK: [...shape.cuSeqlensK],
    qOffset: [...shape.qOffset],
  };
}

export function useCheck(
  route: string,
  shape: CaseShape,
  chip: string | null,
): { readonly check: Check; readonly start: () => void } {
  const { workbench } = useSession();
  const key = JSON.stringify([route, shape, chip]);
  const [known, setKnown] = useState<{ readonly key: string; readonly check: Check }>({ key, check: NONE });
  const [asked, setAsked] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` is the key of route, shape and chip.
  useEffect(() => {
    if (asked === null) return;
    let wanted = true;
    const put = (check: Check): void => {
      if (!wanted) return;
      setKnown({ key: asked, check });
      setAsked(null);
    };
    workbench.call("kernels.check", { route, shape: plainShape(shape), chip }).then(
      (answer) => put({ state: "there", answer }),
      (error: unknown) => put({ state: "failed", failure: failureView(error) }),
    );
    return () => {
      wanted = false;
    };
  }, [workbench, asked]);
  const check: Check = asked === key ? { state: "running" } : known.key === key ? known.check : NONE;
  return { check, start: () => setAsked(key) };
}
