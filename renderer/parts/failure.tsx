/** A failed request: what, and what to do. */
import type { ReactElement } from "react";
import type { FailureView } from "../state/session.ts";

export function FailureNote({ failure }: { readonly failure: FailureView }): ReactElement {
  return (
    <p className="note fail" role="alert">
      {failure.message}
      {failure.mend === undefined ? null : <span className="t3 mend">Next: {failure.mend}</span>}
    </p>
  );
}
