/** Said wherever a result stands whose kernel needs its lanes in lockstep. */
import type { ReactElement } from "react";
import type { Result } from "../state/run_model.ts";

/** Nothing where the kernel is not pinned. */
export function Pinned({ result }: { readonly result: Result | undefined }): ReactElement | null {
  if (result?.flavour !== "lockstep") return null;
  return (
    <span
      className="tag pinned"
      title="Lanes of this kernel exchange data without a barrier: its results are computed in lockstep"
    >
      pinned to lockstep
    </span>
  );
}
