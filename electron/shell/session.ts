/** What the pages of a session may ask for, load and save. */
import type { Session } from "electron";
import { isWindowUrl, mayLoad, PERMISSIONS } from "./security.ts";

function isPermitted(name: string): boolean {
  return PERMISSIONS.some((permission) => permission.name === name);
}

/** Sets the handlers of a session, before a window is opened in it. */
export function guardSession(session: Session, devTools: boolean): void {
  session.setPermissionRequestHandler((contents, permission, answer) =>
    answer(isPermitted(permission) && isWindowUrl(contents.getURL())),
  );
  session.setPermissionCheckHandler(
    (contents, permission) => isPermitted(permission) && contents !== null && isWindowUrl(contents.getURL()),
  );
  session.setDevicePermissionHandler(() => false);
  session.webRequest.onBeforeRequest((details, answer) => answer({ cancel: !mayLoad(details.url, devTools) }));
  // Charts are saved as blobs that the window made.
  session.on("will-download", (event, item) => {
    if (!mayLoad(item.getURL(), false)) event.preventDefault();
  });
}
