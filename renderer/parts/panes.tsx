/**
 * The panes of a page beside each other: left, centre, right. Sides have the widths of `pane_widths.ts` until they are
 * dragged; what was dragged is kept page by page. Below 1,100 px of window the right pane is a drawer over the centre.
 */
import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { flushSync } from "react-dom";
import { useSize } from "../charts/use_size.ts";
import { useAction } from "../shell/actions.ts";
import { drawer, REVEAL } from "../shell/drawer.ts";
import { readStored, writeStored } from "../state/stored.ts";
import {
  DRAWER_BELOW,
  type Dragged,
  defaultWidth,
  dragged,
  drawerWidth,
  fitWidths,
  greatestWidth,
  PANE_WIDTHS,
  type PageWidths,
  type PanesPage,
  type Side,
  WIDE_FROM,
  widthByKey,
  widthsKey,
} from "./pane_widths.ts";

/** Follows a media query. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = matchMedia(query);
      list.addEventListener("change", changed);
      return () => list.removeEventListener("change", changed);
    },
    () => matchMedia(query).matches,
  );
}

/** True where the right pane is a drawer and the navigation a rail. */
function useNarrow(): boolean {
  return useMedia(`(max-width: ${DRAWER_BELOW - 0.02}px)`);
}

interface SeparatorProps {
  readonly side: Side;
  readonly label: string;
  readonly width: number;
  readonly min: number;
  readonly max: number;
  /** The new width; `done` once it is to be kept. Null resets it. */
  readonly onWidth: (width: number | null, done: boolean) => void;
}

function Separator({ side, label, width, min, max, onWidth }: SeparatorProps): ReactElement {
  const grip = useRef<{ readonly x: number; readonly width: number } | null>(null);
  const reset = (): void => onWidth(null, true);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter") reset();
    else {
      const next = widthByKey(event.key, event.shiftKey, side, width, { min, max });
      if (next === undefined) return;
      onWidth(next, true);
    }
    event.preventDefault();
  };
  const drag = (event: PointerEvent, done: boolean): void => {
    if (grip.current === null) return;
    const by = (event.clientX - grip.current.x) * (side === "left" ? 1 : -1);
    const next = Math.round(Math.max(min, Math.min(max, grip.current.width + by)));
    // A click that moves nothing is no width chosen by the user.
    if (next !== width || (done && by !== 0)) onWidth(next, done);
    if (done) grip.current = null;
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a line between panes that is moved is no rule of a text.
    <div
      className="separator"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of ${label}`}
      aria-valuenow={width}
      aria-valuemin={min}
      aria-valuemax={max}
      aria-valuetext={`${width} pixels`}
      title="Drag, or arrow keys; double click resets"
      data-separator={side}
      onKeyDown={onKeyDown}
      onDoubleClick={reset}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        grip.current = { x: event.clientX, width };
      }}
      onPointerMove={(event) => drag(event, false)}
      onPointerUp={(event) => drag(event, true)}
      onPointerCancel={() => {
        grip.current = null;
      }}
    />
  );
}

interface RightPaneProps {
  readonly label: string;
  /** True where there is no room beside the centre: it is a drawer over it. */
  readonly narrow: boolean;
  /** Of the drawer. */
  readonly width: number;
  readonly children: ReactNode;
}

/** The right pane, beside the centre or as a drawer. What is in it stays while the drawer is shut. */
function RightPane({ label, narrow, width, children }: RightPaneProps): ReactElement {
  const id = useId();
  const holder = useRef<HTMLDivElement | null>(null);
  const [open, setOpen] = useState(false);
  const opener = useRef<Element | null>(null);
  const shut = (): void => {
    const inside = holder.current?.contains(document.activeElement) ?? false;
    setOpen(false);
    if (inside && opener.current instanceof HTMLElement) opener.current.focus();
  };
  const toggle = (): void => {
    if (open) {
      shut();
      return;
    }
    opener.current = document.activeElement;
    flushSync(() => setOpen(true));
    holder.current?.querySelector<HTMLElement>("[data-pane]")?.focus();
  };
  const latest = useRef({ shut, toggle });
  latest.current = { shut, toggle };
  useEffect(() => {
    if (!narrow) return;
    drawer.set({ label, id, open, toggle: () => latest.current.toggle() });
    return () => drawer.set(null);
  }, [label, id, narrow, open]);
  useEffect(() => {
    const element = holder.current;
    if (!narrow) return;
    const reveal = (): void => {
      opener.current = document.activeElement;
      flushSync(() => setOpen(true));
    };
    element?.addEventListener(REVEAL, reveal);
    return () => element?.removeEventListener(REVEAL, reveal);
  }, [narrow]);
  useEffect(() => {
    if (!open || !narrow) return;
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      latest.current.shut();
    };
    // The keys of the registry are taken at the window, one step later: the drawer closes before a filter is cleared.
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [narrow, open]);
  useAction("window.details", toggle, narrow ? undefined : "the right pane is shown");
  return (
    <div
      ref={holder}
      id={id}
      className={narrow ? "drawer" : "beside"}
      style={narrow ? { width } : undefined}
      hidden={narrow && !open}
    >
      {children}
    </div>
  );
}

interface PanesProps {
  /** Whose widths: the page's. */
  readonly page: PanesPage;
  readonly left?: ReactNode;
  /** What the left pane is called, for its separator. */
  readonly leftLabel?: string;
  readonly right?: ReactNode;
  /** What the right pane is called, for its separator and for the button of the drawer. */
  readonly rightLabel?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A side that is left out, or that the page has none of, takes no room. */
export function Panes(props: PanesProps): ReactElement {
  const { page, left, leftLabel = "the left pane", right, rightLabel = "Details", className = "", children } = props;
  const widths: PageWidths = PANE_WIDTHS[page];
  const narrow = useNarrow();
  const wide = useMedia(`(min-width: ${WIDE_FROM}px)`);
  const [holder, { width: total }] = useSize();
  const [own, setOwn] = useState<Dragged>(() => readStored(widthsKey(page), dragged, {}));
  const here: PageWidths = {
    centre: widths.centre,
    ...(left != null && widths.left !== undefined ? { left: widths.left } : {}),
    ...(right != null && !narrow && widths.right !== undefined ? { right: widths.right } : {}),
  };
  const asked = (side: Side): number => {
    const table = widths[side];
    return own[side] ?? (table === undefined ? 0 : defaultWidth(table, wide ? WIDE_FROM : 0));
  };
  // Before it has been measured nothing is fitted: the first measure comes before the first paint.
  const fitted = fitWidths(total === 0 ? Number.POSITIVE_INFINITY : total, here, {
    left: asked("left"),
    right: asked("right"),
  });
  const separator = (side: Side, label: string): ReactElement => (
    <Separator
      side={side}
      label={label}
      width={fitted[side]}
      min={here[side]?.min ?? 0}
      max={greatestWidth(total, here, side, fitted[side === "left" ? "right" : "left"])}
      onWidth={(width, done) => {
        const { [side]: _before, ...rest } = own;
        const next: Dragged = width === null ? rest : { ...rest, [side]: width };
        setOwn(next);
        if (done) writeStored(widthsKey(page), next);
      }}
    />
  );
  const columns = [
    ...(here.left === undefined ? [] : [`${fitted.left}px`, "0"]),
    "minmax(0, 1fr)",
    ...(here.right === undefined ? [] : ["0", `${fitted.right}px`]),
  ];
  const style: CSSProperties = { gridTemplateColumns: columns.join(" ") };
  return (
    <div ref={holder} className={`page panes ${className}`} style={style}>
      {here.left === undefined ? null : left}
      {here.left === undefined ? null : separator("left", leftLabel)}
      {children}
      {here.right === undefined ? null : separator("right", rightLabel)}
      {right == null ? null : (
        <RightPane label={rightLabel} narrow={narrow} width={drawerWidth(total, widths, asked("right"))}>
          {right}
        </RightPane>
      )}
    </div>
  );
}
