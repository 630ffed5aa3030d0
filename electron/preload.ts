/**
 * The one bridge between the window and the main process: one frozen object of named functions. It runs sandboxed, so that it
 * is bundled to one CommonJS file and may load nothing but a part of Electron.
 */
import { contextBridge, ipcRenderer, webUtils } from "electron";
import { CHANNELS, PORT_MESSAGE, SHELL_NAME, type WindowShell } from "./contract/shell.ts";

/** The window, as far as it is used here: types of the DOM are not in this part of the program. */
const page = globalThis as unknown as {
  readonly postMessage: (message: unknown, origin: string, ports: readonly unknown[]) => void;
};

// The event stays here; the port goes on to the page, which is the only one that can be in this window.
ipcRenderer.on(CHANNELS.port, (event) => page.postMessage(PORT_MESSAGE, "*", event.ports));

const shell: WindowShell = {
  connect: () => ipcRenderer.send(CHANNELS.connect),
  onAction: (perform) => {
    ipcRenderer.on(CHANNELS.action, (_event, id: unknown) => {
      if (typeof id === "string") perform(id);
    });
  },
  pathOf: (file) => {
    const path = webUtils.getPathForFile(file as File);
    if (path !== "") ipcRenderer.send(CHANNELS.dropped, path);
    return path;
  },
};

contextBridge.exposeInMainWorld(SHELL_NAME, Object.freeze(shell));
