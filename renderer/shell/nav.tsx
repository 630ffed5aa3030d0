/** Nine pages with their keys, the recent runs with their glyphs, shortcuts and theme. */
import type { MouseEvent, ReactElement } from "react";
import { PAGE_IDS } from "../../electron/actions.ts";
import { PAGES } from "../pages/pages.ts";
import { Key } from "../parts/button.tsx";
import { Glyph, Icon } from "../parts/glyph.tsx";
import { entryGlyph } from "../parts/run_entry.ts";
import { runName, whenText } from "../parts/text.ts";
import { useBaseline } from "../state/baseline.ts";
import { useRuns } from "../state/session.ts";
import { changeSettings, THEMES, useSettings } from "../state/settings.ts";
import { carriedTo, formatView, go, useView, type View } from "../state/view.ts";
import { firstKey, perform } from "./actions.ts";

/** Runs that the navigation shows. */
const RECENT = 5;

/** A link that changes the view without loading a page. */
export function ViewLink(props: {
  readonly view: View;
  readonly className?: string;
  readonly current?: boolean;
  readonly title?: string;
  readonly children: React.ReactNode;
}): ReactElement {
  const { view, className, current = false, title, children } = props;
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(view.page, view.params);
  };
  return (
    <a
      href={formatView(view)}
      className={className}
      title={title}
      aria-current={current ? "page" : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}

export function Nav(): ReactElement {
  const view = useView();
  const runs = useRuns();
  const { theme } = useSettings();
  const baseline = useBaseline();
  const pinned = runs?.find((entry) => entry.id === baseline);
  const recent = (runs ?? []).filter((entry) => entry.state !== "bad").slice(0, RECENT);
  const nextTheme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  return (
    <nav className="nav" aria-label="Pages">
      {PAGE_IDS.map((id, index) => (
        <ViewLink
          key={id}
          view={{ page: id, params: carriedTo(id, view) }}
          current={view.page === id}
          title={`${PAGES[id].title}, key ${index + 1}`}
        >
          <Icon name={id} />
          <span className="lbl">{PAGES[id].title}</span>
          <span className="k single">{index + 1}</span>
        </ViewLink>
      ))}
      <h6>Runs</h6>
      {recent.map((entry) => (
        <ViewLink
          key={entry.id}
          className="run"
          view={{ page: "run", params: { run: entry.id } }}
          title={`${runName(entry.id)}: ${entry.state === "kept" ? entry.outcome : "running"}`}
        >
          <Glyph name={entryGlyph(entry)} />
          <span className="lbl el">{entry.state === "kept" ? (entry.suite ?? "file") : entry.suite}</span>
          <span className="k">{entry.state === "running" ? "now" : whenText(entry.startedAt)}</span>
        </ViewLink>
      ))}
      {runs !== null && recent.length === 0 ? <span className="none lbl">None yet</span> : null}
      <span className="sp" />
      {baseline === null ? null : (
        <ViewLink
          className="navbtn"
          view={{ page: "evidence", params: { bundle: baseline } }}
          title={`Baseline ${runName(baseline)}: what others are held against`}
        >
          <Icon name="gates" size={14} />
          <span className="lbl el">
            Baseline {pinned?.state === "kept" ? whenText(pinned.startedAt) : runName(baseline)}
          </span>
          <span className="k single">B</span>
        </ViewLink>
      )}
      <button
        type="button"
        className="navbtn"
        onClick={() => changeSettings({ theme: nextTheme })}
        title={`Change to ${nextTheme}`}
      >
        <Icon name="theme" size={14} />
        <span className="lbl">Theme</span>
        <span className="k">{theme}</span>
      </button>
      <button type="button" className="navbtn" onClick={() => perform("window.settings")} title="Settings">
        <Icon name="settings" size={14} />
        <span className="lbl">Settings</span>
        <span className="k">
          <Key stroke={firstKey("window.settings") ?? ""} />
        </span>
      </button>
      <button type="button" className="navbtn" onClick={() => perform("window.shortcuts")} title="All shortcuts">
        <span className="q" aria-hidden="true">
          ?
        </span>
        <span className="lbl">Shortcuts</span>
      </button>
    </nav>
  );
}
