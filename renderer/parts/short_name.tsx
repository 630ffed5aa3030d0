/** A name, shortened in the middle where its pane is narrow: the end tells routes apart. */
import type { ReactElement } from "react";

/** Letters that fit a narrow column. */
const NARROW = 14;

interface ShortNameProps {
  readonly name: string;
  /** Letters of its beginning that a narrow column shows. */
  readonly head?: number;
}

export function ShortName({ name, head = 5 }: ShortNameProps): ReactElement {
  if (name.length <= NARROW) return <>{name}</>;
  return (
    <span title={name}>
      <span className="when-wide">{name}</span>
      <span className="when-narrow">
        {name.slice(0, head)}…{name.slice(-7)}
      </span>
    </span>
  );
}
