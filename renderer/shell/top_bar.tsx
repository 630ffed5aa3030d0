/** Mark, back and forward, where you are, search, device. */
import type { ReactElement } from "react";
import { useEffect } from "react";
import { Key } from "../parts/button.tsx";
import { Icon } from "../parts/glyph.tsx";
import { standingOf } from "../parts/standing.tsx";
import { createStore, useStore } from "../state/store.ts";
import { useHistory } from "../state/view.ts";
import { perform } from "./actions.ts";
import { DeviceChip, useNextDevice } from "./device_chip.tsx";
import { drawer } from "./drawer.ts";

/** The right pane of a narrow window. */
function DrawerButton(): ReactElement | null {
  const shown = useStore(drawer);
  if (shown === null) return null;
  return (
    <button
      type="button"
      className={shown.open ? "btn on" : "btn"}
      aria-expanded={shown.open}
      aria-controls={shown.id}
      title={`Show or hide ${shown.label}`}
      data-action="window.details"
      onClick={shown.toggle}
    >
      <Icon name="drawer" size={14} />
      {shown.label}
    </button>
  );
}

/** Where you are: words of which every second one stands out. */
const trail = createStore<readonly string[]>([]);

/** A page says where you are: `["Run", "quick"]`. */
export function useTrail(...words: readonly string[]): void {
  const text = words.join("\n");
  useEffect(() => trail.set(text.split("\n")), [text]);
}

export function TopBar(): ReactElement {
  const { canGoBack, canGoForward } = useHistory();
  const words = useStore(trail);
  const device = useNextDevice();
  const standing = device == null ? "chip" : standingOf(device.execution, device);
  return (
    <header className="top">
      <div className="brand">
        <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
          <path d="M1.5 5.5h4.2v7h4.2v-7h6.6" fill="none" stroke="currentColor" strokeWidth="2" />
          <path d="M1.5 9.5h2m10 3h3M12 9.5h4.5" fill="none" stroke="currentColor" strokeWidth="2" opacity=".45" />
        </svg>
        <span className="word">Lockstep</span>
      </div>
      <div className="crumbs small">
        <button
          type="button"
          className="btn icon quiet"
          aria-label="Back"
          disabled={!canGoBack}
          onClick={() => perform("window.back")}
        >
          <Icon name="left" size={14} />
        </button>
        <button
          type="button"
          className="btn icon quiet"
          aria-label="Forward"
          disabled={!canGoForward}
          onClick={() => perform("window.forward")}
        >
          <Icon name="right" size={14} />
        </button>
        <span className="el">
          {words.map((word, index) => (
            <span key={words.slice(0, index + 1).join("/")}>
              {index > 0 ? <span className="sep"> / </span> : null}
              {index === 1 ? <b>{word}</b> : word}
            </span>
          ))}
        </span>
      </div>
      <div className="top-r">
        <DrawerButton />
        <button type="button" className="search" onClick={() => perform("window.palette")}>
          <Icon name="search" size={13} />
          <span className="sp">Go to or run</span>
          <Key stroke="mod+k" />
        </button>
        <DeviceChip />
      </div>
      {standing === "emulated" ? <div className="emustrip" /> : null}
      {standing === "virtual" || standing === "unsure" ? <div className="emustrip virtual" /> : null}
    </header>
  );
}
