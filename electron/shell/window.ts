/** The window: its size, its ground before the first paint, and the settings of its process. */
import path from "node:path";
import { BrowserWindow, type BrowserWindowConstructorOptions, nativeTheme } from "electron";
import { WEB_PREFERENCES, WINDOW_URL } from "./security.ts";

/** The token `--window` of both themes. */
const GROUND = { light: "#f3f4f6", dark: "#0e1013" } as const;

/** The layout is made for 1,280 by 800; below 900 the panes would not be readable. */
const SIZE = { width: 1280, height: 800, minWidth: 900, minHeight: 600 } as const;

/** `folder` holds the bundles of the shell, of which the preload is one. */
function windowOptions(folder: string, devTools: boolean): BrowserWindowConstructorOptions {
  return {
    ...SIZE,
    title: "Lockstep",
    show: false,
    // On a Mac the top bar, 42 px high, is the title bar, with the system's buttons in its middle.
    ...(process.platform === "darwin"
      ? { titleBarStyle: "hiddenInset" as const, trafficLightPosition: { x: 16, y: 14 } }
      : {}),
    backgroundColor: nativeTheme.shouldUseDarkColors ? GROUND.dark : GROUND.light,
    webPreferences: { ...WEB_PREFERENCES, devTools, preload: path.join(folder, "preload.cjs") },
  };
}

/** Opens the window and shows it when it has something to show. */
export function openWindow(folder: string, devTools: boolean): BrowserWindow {
  const window = new BrowserWindow(windowOptions(folder, devTools));
  window.once("ready-to-show", () => window.show());
  void window.loadURL(WINDOW_URL);
  return window;
}
