/** Texts of kernel sources, asked for once in a session. */
import { useEffect, useState } from "react";
import type { LintSource } from "../../../kernels/lint.ts";
import { type FailureView, failureView, useSession } from "../../state/session.ts";

export interface Sources {
  /** Null until all of them have come. */
  readonly texts: readonly LintSource[] | null;
  readonly failure: FailureView | null;
}

export function useSources(paths: readonly string[]): Sources {
  const session = useSession();
  const key = paths.join("\n");
  const [known, setKnown] = useState<Sources & { readonly key: string }>({ key: "", texts: null, failure: null });
  useEffect(() => {
    let wanted = true;
    const all = key === "" ? [] : key.split("\n");
    Promise.all(all.map((path) => session.once("kernels.source", { path }))).then(
      (texts) => wanted && setKnown({ key, texts, failure: null }),
      (error: unknown) => wanted && setKnown({ key, texts: null, failure: failureView(error) }),
    );
    return () => {
      wanted = false;
    };
  }, [session, key]);
  return known.key === key ? known : { texts: null, failure: null };
}
