/** The frame: top bar, navigation, page, status bar; the keys of the registry. */
import { type ReactElement, useEffect, useState } from "react";
import { PAGE_IDS } from "../../electron/actions.ts";
import { PAGES } from "../pages/pages.ts";
import { Sprite } from "../parts/sprite.tsx";
import { useSession } from "../state/session.ts";
import { changeSettings, settings, useSettings } from "../state/settings.ts";
import { useStore } from "../state/store.ts";
import { goToPage, useHistory, useView } from "../state/view.ts";
import { About } from "./about.tsx";
import { performKey, useAction } from "./actions.ts";
import { copyCommand } from "./command.ts";
import { useDesktop } from "./desktop.ts";
import { ErrorBoundary } from "./error_boundary.tsx";
import { isMac, isSingle, keyText, worksInText } from "./keys.ts";
import { LiveRegions } from "./live_regions.tsx";
import { Nav } from "./nav.tsx";
import { Opening } from "./opening.tsx";
import { Palette } from "./palette.tsx";
import { SettingsDialog } from "./settings_dialog.tsx";
import { Shortcuts } from "./shortcuts.tsx";
import { StatusBar } from "./status_bar.tsx";
import { TopBar } from "./top_bar.tsx";

const MAC = isMac(navigator.platform);
// The desktop's top bar leaves room for the buttons of macOS.
if (MAC) document.documentElement.dataset.system = "mac";

/** Inputs that take no text: a single key there is a shortcut as anywhere else. */
const NO_TEXT = ["radio", "checkbox", "button"];

/** True where a stroke belongs to the element that has the focus. */
function belongsTo(target: EventTarget | null, text: string): boolean {
  if (!(target instanceof HTMLElement) || worksInText(text)) return false;
  if ((text === " " || text === "enter") && target.closest("button, a, summary, [role=button]") !== null) return true;
  if (target instanceof HTMLInputElement && NO_TEXT.includes(target.type)) {
    return target.type === "radio" && text.startsWith("arrow");
  }
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** Moves the focus to the next pane of the page that can be seen, or to the one before. */
function movePane(by: 1 | -1): void {
  const panes = [...document.querySelectorAll<HTMLElement>("[data-pane]")].filter((pane) => pane.checkVisibility());
  const at = panes.findIndex((pane) => pane.contains(document.activeElement));
  const next = at < 0 && by < 0 ? panes.length - 1 : (at + by + panes.length) % panes.length;
  panes[next]?.focus();
}

function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      // While a dialog is open, whoever opened it, the rest of the window is out of reach.
      if (event.defaultPrevented || document.querySelector("dialog[open]") !== null) return;
      const text = keyText(event, MAC);
      if (text === undefined || belongsTo(event.target, text)) return;
      if (isSingle(text) && !settings.get().singleKeys) return;
      if (performKey(text)) event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

function usePageActions(): void {
  // The list is a constant, so that the order of the hooks is too.
  for (const id of PAGE_IDS) {
    // biome-ignore lint/correctness/useHookAtTopLevel: see above.
    useAction(`page.${id}`, () => goToPage(id));
  }
}

function Gone({ reason }: { readonly reason: string }): ReactElement {
  return (
    <div className="gone" role="alert">
      <b className="m">The connection has gone: {reason}.</b> What is shown here is what was known last. Start it again
      with <code className="mono">npm start</code> and open the URL that it prints.
    </div>
  );
}

type Overlay = "palette" | "shortcuts" | "settings" | "about";

export function App(): ReactElement {
  const { page } = useView();
  const { canGoBack, canGoForward } = useHistory();
  const closed = useStore(useSession().closed);
  const [overlay, setOverlay] = useState<Overlay | null>(null);
  const close = (): void => setOverlay(null);
  useKeys();
  usePageActions();
  useDesktop();
  useAction("window.palette", () => setOverlay("palette"));
  useAction("window.shortcuts", () => setOverlay("shortcuts"));
  useAction("window.settings", () => setOverlay("settings"));
  useAction("window.about", () => setOverlay("about"));
  useAction("window.back", () => history.back(), canGoBack ? undefined : "nothing to go back to");
  useAction("window.forward", () => history.forward(), canGoForward ? undefined : "nothing to go forward to");
  useAction("window.command", copyCommand);
  useAction("window.pane", () => movePane(1));
  useAction("window.paneback", () => movePane(-1));
  useAction("theme.light", () => changeSettings({ theme: "light" }));
  useAction("theme.dark", () => changeSettings({ theme: "dark" }));
  useAction("theme.system", () => changeSettings({ theme: "system" }));
  const { title, component: Page } = PAGES[page];
  // Heights of rows are read when a page is made, so that another density makes it anew; its view is in the URL.
  const { density } = useSettings();
  useEffect(() => {
    document.title = `${title} - Lockstep`;
  }, [title]);
  return (
    <>
      <Sprite />
      <div className="app">
        <TopBar />
        <Nav />
        <main className="main" data-page={page}>
          {closed === null ? null : <Gone reason={closed} />}
          <ErrorBoundary key={`${page} ${density}`} page={title}>
            <Page />
          </ErrorBoundary>
        </main>
        <StatusBar />
      </div>
      <LiveRegions />
      <Opening />
      {overlay === "palette" ? <Palette onClose={close} /> : null}
      {overlay === "shortcuts" ? <Shortcuts onClose={close} /> : null}
      {overlay === "settings" ? <SettingsDialog onClose={close} onAbout={() => setOverlay("about")} /> : null}
      {overlay === "about" ? <About onClose={close} /> : null}
    </>
  );
}
