/** Where a page may go: nowhere but the window's own page. Links to documentation open in the browser. */
import { shell, type WebContents } from "electron";
import { isDocument, isWindowUrl } from "./security.ts";

/** Opens a document of the list in the browser. False, and nothing happens, for any other address. */
export function openDocument(url: string): boolean {
  if (!isDocument(url)) return false;
  void shell.openExternal(url);
  return true;
}

/** For every web contents as it is made. */
export function guardContents(contents: WebContents): void {
  contents.on("will-attach-webview", (event) => event.preventDefault());
  contents.on("will-navigate", (event) => {
    if (!isWindowUrl(event.url)) event.preventDefault();
  });
  contents.on("will-frame-navigate", (event) => {
    if (!isWindowUrl(event.url)) event.preventDefault();
  });
  contents.on("will-redirect", (event) => {
    if (!isWindowUrl(event.url)) event.preventDefault();
  });
  contents.setWindowOpenHandler(({ url }) => {
    openDocument(url);
    return { action: "deny" };
  });
}
