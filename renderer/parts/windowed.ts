/** Only the rows that can be seen are in the page: long lists scroll as short ones do. */
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Rows beyond the edges, so that a fast scroll shows no gap. */
const SPARE = 12;
/** Shorter lists are shown whole. */
const WHOLE = 200;

export interface Windowed {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly from: number;
  readonly to: number;
  /** Heights of the rows that are left out, in pixels. */
  readonly before: number;
  readonly after: number;
  /** A key for the row at `index`: a row that leaves the window hands its elements to the one that comes in. */
  readonly slot: (index: number) => number;
}

/** The rows to show of `count` rows of `rowHeight` pixels. `head` is the height of what stays above them. */
export function useWindowed(count: number, rowHeight: number): Windowed {
  const ref = useRef<HTMLDivElement | null>(null);
  const [view, setView] = useState({ top: 0, height: 1200 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const read = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    read();
    element.addEventListener("scroll", read, { passive: true });
    const observer = new ResizeObserver(read);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", read);
      observer.disconnect();
    };
  }, []);
  if (count <= WHOLE) return { ref, from: 0, to: count, before: 0, after: 0, slot: (index) => index };
  const slots = Math.ceil(view.height / rowHeight) + 1 + 2 * SPARE;
  const from = Math.max(0, Math.min(count, Math.floor(view.top / rowHeight) - SPARE));
  const to = Math.min(count, from + slots);
  return { ref, from, to, before: from * rowHeight, after: (count - to) * rowHeight, slot: (index) => index % slots };
}

/** Keeps the row `index` in sight when it changes by key. */
export function useRowInSight(ref: RefObject<HTMLDivElement | null>, index: number, rowHeight: number): void {
  useEffect(() => {
    const element = ref.current;
    if (element === null || index < 0) return;
    const head = element.querySelector("thead")?.clientHeight ?? 0;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight + head > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight + head - element.clientHeight;
    }
  }, [ref, index, rowHeight]);
}

/** Height of a row at the density at hand. */
export function rowHeight(): number {
  return Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10) || 26;
}
