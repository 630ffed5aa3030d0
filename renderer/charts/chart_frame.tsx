/**
 * What every chart of points has around its drawing: an image with a name, a cursor that the arrow keys move from point to
 * point, and a line that reads the point at hand out.
 */
import type { KeyboardEvent, ReactElement, ReactNode, RefObject } from "react";
import { useAction } from "../shell/actions.ts";
import "./charts.css";

interface ChartFrameProps {
  readonly holder: RefObject<HTMLDivElement | null>;
  /** What the chart shows: `max |error| over 512 places`. */
  readonly label: string;
  readonly count: number;
  /** The point at hand; null for none. */
  readonly at: number | null;
  /** Reads a point out: `dim 392: 1.00e-4`. */
  readonly words: (index: number) => string;
  readonly onAt: (index: number | null) => void;
  /** What Enter does with the point at hand. */
  readonly onPick?: ((index: number) => void) | undefined;
  readonly children: ReactNode;
}

/** Points that Page Up and Page Down go over: a tenth of them all. */
const PAGES = 10;

/** Where a key moves the cursor; undefined where it does not. */
export function cursorAfter(key: string, at: number, count: number): number | undefined {
  const page = Math.max(1, Math.round(count / PAGES));
  const to = new Map([
    ["ArrowLeft", at - 1],
    ["ArrowRight", at + 1],
    ["PageUp", at - page],
    ["PageDown", at + page],
    ["Home", 0],
    ["End", count - 1],
  ]).get(key);
  return to === undefined ? undefined : Math.min(count - 1, Math.max(0, to));
}

/** Offers to pin the point at hand while there is one. */
export function PinAction({ onPin }: { readonly onPin: () => void }): null {
  useAction("list.pin", onPin);
  return null;
}

export function ChartFrame(props: ChartFrameProps): ReactElement {
  const { holder, label, count, at, words, onAt, onPick, children } = props;
  const onKey = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || count === 0) return;
    const to = cursorAfter(event.key, at ?? (event.key === "ArrowRight" ? -1 : count), count);
    if (to !== undefined) onAt(to);
    else if (event.key === "Enter" && at !== null && onPick !== undefined) onPick(at);
    else return;
    // The page has other uses for the arrows.
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={holder}
      className="body chart"
      role="slider"
      tabIndex={0}
      aria-label={`${label}; the arrows go from point to point, T shows the table`}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, count - 1)}
      aria-valuenow={at ?? 0}
      aria-valuetext={at === null || at >= count ? "no point" : words(at)}
      onKeyDown={onKey}
      onPointerLeave={() => onAt(null)}
      onBlur={() => onAt(null)}
    >
      <div role="img" aria-label={label}>
        {children}
      </div>
      {at === null || onPick === undefined ? null : <PinAction onPin={() => onPick(at)} />}
      {at === null || at >= count ? null : <span className="readout micro">{words(at)}</span>}
    </div>
  );
}
