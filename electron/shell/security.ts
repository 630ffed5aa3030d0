/**
 * The security settings of the desktop shell, as data: what Electron's checklist asks for, what is set here and where. Tests
 * read the settings back. Source: https://www.electronjs.org/docs/latest/tutorial/security
 */
import type { WebPreferences } from "electron";

/** The one origin of the window: a scheme of our own, so that nothing of the file system is in it. */
export const SCHEME = "app";
const WINDOW_HOST = "lockstep";
export const WINDOW_URL = `${SCHEME}://${WINDOW_HOST}/`;

/** Privileges of the scheme, as in Electron's own example of `protocol.handle`; the policy forbids fetching anyway. */
export const SCHEME_PRIVILEGES = { standard: true, secure: true, supportFetchAPI: true } as const;

/** Sources that the window may connect to: none, since it speaks over a port. */
export const CONNECT_SOURCES = "'none'";

/** Settings of the window's process. `devTools` is on in a checkout alone. */
export const WEB_PREFERENCES = {
  contextIsolation: true,
  sandbox: true,
  nodeIntegration: false,
  nodeIntegrationInWorker: false,
  nodeIntegrationInSubFrames: false,
  webSecurity: true,
  allowRunningInsecureContent: false,
  experimentalFeatures: false,
  webviewTag: false,
  navigateOnDragDrop: false,
  // The checker would fetch dictionaries from a server.
  spellcheck: false,
} as const satisfies WebPreferences;

/** What a page may do after it asked. Everything else is refused. */
export const PERMISSIONS: readonly { readonly name: string; readonly reason: string }[] = [
  { name: "clipboard-sanitized-write", reason: "copying a command or a link, as text, after a click or a key" },
];

/** Hosts of documentation that a link may open in the browser, over https alone. */
const DOCUMENT_HOSTS: readonly string[] = ["developer.apple.com", "www.electronjs.org"];

export interface ChecklistItem {
  readonly item: number;
  readonly title: string;
  readonly setting: string;
  /** File that holds it. */
  readonly where: string;
}

/** The items of the checklist in its order. */
export const CHECKLIST: readonly ChecklistItem[] = [
  {
    item: 1,
    title: "Only load secure content",
    setting: "no remote content: requests to anything but app:// are cancelled",
    where: "electron/shell/session.ts",
  },
  {
    item: 2,
    title: "No Node.js integration for remote content",
    setting: "nodeIntegration: false, in workers and frames too",
    where: "electron/shell/security.ts",
  },
  { item: 3, title: "Context isolation", setting: "contextIsolation: true", where: "electron/shell/security.ts" },
  {
    item: 4,
    title: "Process sandboxing",
    setting: "app.enableSandbox() before ready, sandbox: true",
    where: "electron/shell/desktop.ts",
  },
  {
    item: 5,
    title: "Handle permission requests",
    setting: "request, check and device handlers refuse all but writing text to the clipboard",
    where: "electron/shell/session.ts",
  },
  { item: 6, title: "Do not disable webSecurity", setting: "webSecurity: true", where: "electron/shell/security.ts" },
  {
    item: 7,
    title: "Content security policy",
    setting: "a header with every file: default-src 'none', no unsafe source, connect-src 'none'",
    where: "electron/window_files.ts",
  },
  {
    item: 8,
    title: "No insecure content",
    setting: "allowRunningInsecureContent: false",
    where: "electron/shell/security.ts",
  },
  {
    item: 9,
    title: "No experimental features",
    setting: "experimentalFeatures: false",
    where: "electron/shell/security.ts",
  },
  { item: 10, title: "No enableBlinkFeatures", setting: "not set", where: "electron/shell/security.ts" },
  {
    item: 11,
    title: "No allowpopups for webviews",
    setting: "no webview: webviewTag: false",
    where: "electron/shell/security.ts",
  },
  {
    item: 12,
    title: "Verify webview options",
    setting: "will-attach-webview is prevented",
    where: "electron/shell/navigation.ts",
  },
  {
    item: 13,
    title: "Limit navigation",
    setting: "will-navigate, will-frame-navigate and will-redirect are prevented outside app://lockstep",
    where: "electron/shell/navigation.ts",
  },
  {
    item: 14,
    title: "Limit new windows",
    setting: "setWindowOpenHandler denies every one",
    where: "electron/shell/navigation.ts",
  },
  {
    item: 15,
    title: "No openExternal with untrusted content",
    setting: "https to hosts of documentation in a list, by the parsed URL",
    where: "electron/shell/navigation.ts",
  },
  {
    item: 16,
    title: "Current version of Electron",
    setting: "pinned to one exact version",
    where: "package.json",
  },
  {
    item: 17,
    title: "Validate the sender of IPC messages",
    setting: "main frame of a window of ours, showing app://lockstep",
    where: "electron/shell/sender.ts",
  },
  {
    item: 18,
    title: "No file:// protocol",
    setting: "app:// serves a table of files, read once",
    where: "electron/shell/protocol.ts",
  },
  {
    item: 19,
    title: "Fuses",
    setting: "all decided; a fuse that the table lacks stops packaging",
    where: "electron/shell/fuses.mjs",
  },
  {
    item: 20,
    title: "No Electron APIs for untrusted content",
    setting: "preload exposes one frozen object of named functions; events stay behind it",
    where: "electron/preload.ts",
  },
];

function parsed(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}

/** True for a page of the window itself. */
export function isWindowUrl(url: string): boolean {
  const target = parsed(url);
  return target !== undefined && target.protocol === `${SCHEME}:` && target.host === WINDOW_HOST;
}

/** True for a document that may be opened in the browser. */
export function isDocument(url: string): boolean {
  const target = parsed(url);
  return (
    target !== undefined &&
    target.protocol === "https:" &&
    target.username === "" &&
    target.password === "" &&
    target.port === "" &&
    DOCUMENT_HOSTS.includes(target.hostname)
  );
}

/** True for what the window may load: its own files, and what it made itself. `devTools` adds those of the inspector. */
export function mayLoad(url: string, devTools: boolean): boolean {
  const target = parsed(url);
  if (target === undefined) return false;
  if (target.protocol === "data:" || isWindowUrl(url)) return true;
  if (target.protocol === "blob:") return isWindowUrl(url.slice("blob:".length));
  return devTools && target.protocol === "devtools:";
}
