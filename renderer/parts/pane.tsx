/** Panes meet at hairlines: a head with a title, one grey fact and controls, and a body that scrolls. */
import type { ReactElement, ReactNode } from "react";

interface PaneHeadProps {
  readonly title: string;
  readonly meta?: ReactNode;
  readonly children?: ReactNode;
  /** A line above, inside a pane. */
  readonly line?: boolean;
}

export function PaneHead({ title, meta, children, line = false }: PaneHeadProps): ReactElement {
  return (
    <div className={line ? "ph hl" : "ph"}>
      <h2>{title}</h2>
      {meta === undefined ? null : <span className="meta">{meta}</span>}
      <span className="sp" />
      {children}
    </div>
  );
}

interface PaneProps {
  readonly label: string;
  readonly children: ReactNode;
  /** A line at the left. */
  readonly line?: boolean;
  readonly className?: string;
}

/** A pane. F6 goes from one to the next. */
export function Pane({ label, children, line = false, className = "" }: PaneProps): ReactElement {
  return (
    <section className={`pane${line ? " vl" : ""} ${className}`} aria-label={label} tabIndex={-1} data-pane="">
      {children}
    </section>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** What is missing and what would fill it. No drawings. */
export function Empty({ title, children }: EmptyProps): ReactElement {
  return (
    <div className="empty">
      <div>
        <h1>{title}</h1>
        {children}
      </div>
    </div>
  );
}
