/**
 * The desktop app: one instance, one window, one workbench behind it whose host is a utility process. This file ties the
 * parts to the events of the app; what they decide is in the files beside it.
 */
import path from "node:path";
import {
  app,
  type BrowserWindow,
  dialog,
  type IpcMainEvent,
  ipcMain,
  Menu,
  MessageChannelMain,
  session,
} from "electron";
import { bundleArguments, evidenceArgument } from "../arguments.ts";
import { answer } from "../contract/answer.ts";
import { portChannel } from "../contract/port.ts";
import { CHANNELS } from "../contract/shell.ts";
import { appCommit, appVersion, places } from "../host/root.ts";
import { INTERRUPTED, onInterrupt } from "../interrupt.ts";
import { windowFiles } from "../window_files.ts";
import { WorkbenchError } from "../workbench/failure.ts";
import { type OpenWorkbench, openWorkbench } from "../workbench/workbench.ts";
import { desktopOf, type ShellDesktop } from "./dialogs.ts";
import { menuTemplate } from "./menu.ts";
import { guardContents, openDocument } from "./navigation.ts";
import { registerScheme, serveWindow } from "./protocol.ts";
import { isTrusted } from "./sender.ts";
import { guardSession } from "./session.ts";
import { systemReadings } from "./system.ts";
import { utilityHost } from "./utility_host.ts";
import { openWindow } from "./window.ts";
import { windowPort } from "./window_port.ts";

class DesktopApp {
  readonly #where = places();
  readonly #devTools = !app.isPackaged;
  /** Bundles that the system wants opened before there is a workbench. */
  readonly #early: string[] = [];
  /** Web contents of our windows. */
  readonly #windows = new Set<number>();
  #window: BrowserWindow | undefined;
  #workbench: OpenWorkbench | undefined;
  #desktop: ShellDesktop | undefined;
  #closing = false;

  /** What must be set before the app is ready. */
  begin(): void {
    app.enableSandbox();
    registerScheme();
    app.on("web-contents-created", (_event, contents) => guardContents(contents));
    app.on("open-file", (event, file) => {
      event.preventDefault();
      this.#openFiles(bundleArguments([file], process.cwd()));
    });
    app.on("second-instance", (_event, words, cwd) => {
      this.#openFiles(bundleArguments(words.slice(1), cwd));
      this.#focus();
    });
    app.on("activate", () => this.#focus());
    app.on("window-all-closed", () => {
      // On a Mac the app stays, and a run goes on.
      if (process.platform !== "darwin") app.quit();
    });
    app.on("will-quit", (event) => this.#leave(event));
    ipcMain.on(CHANNELS.connect, (event) => this.#connect(event));
    ipcMain.on(CHANNELS.dropped, (event, file: unknown) => {
      if (typeof file === "string" && isTrusted(event, this.#windows)) this.#desktop?.chose(file);
    });
    this.#openFiles(bundleArguments(process.argv.slice(1), process.cwd()));
  }

  /** When the app is ready. */
  open(): void {
    const evidence = evidenceArgument(process.argv, process.cwd()) ?? path.join(app.getPath("userData"), "evidence");
    guardSession(session.defaultSession, this.#devTools);
    serveWindow(windowFiles(this.#where.window));
    this.#desktop = desktopOf(() => this.#window, evidence);
    this.#workbench = openWorkbench({
      places: this.#where,
      evidence,
      startHost: utilityHost,
      desktop: this.#desktop,
      system: systemReadings,
    });
    app.setAboutPanelOptions({
      applicationName: "Lockstep",
      applicationVersion: appVersion(this.#where.root),
      version: appCommit(this.#where.root) ?? "",
    });
    Menu.setApplicationMenu(
      Menu.buildFromTemplate(
        menuTemplate({
          mac: process.platform === "darwin",
          devTools: this.#devTools,
          perform: (id) => this.#perform(id),
          openDocument,
        }),
      ),
    );
    this.#show();
    this.#openFiles(this.#early.splice(0));
  }

  #show(): BrowserWindow {
    const window = openWindow(path.dirname(this.#where.host), this.#devTools);
    const { id } = window.webContents;
    this.#window = window;
    this.#windows.add(id);
    window.on("closed", () => {
      this.#windows.delete(id);
      if (this.#window === window) this.#window = undefined;
    });
    window.webContents.on("render-process-gone", (_event, { reason }) => void this.#windowGone(window, reason));
    return window;
  }

  /** The page's process has ended; the workbench and its run go on without it. */
  async #windowGone(window: BrowserWindow, reason: string): Promise<void> {
    if (reason === "clean-exit" || this.#closing) return;
    const { response } = await dialog.showMessageBox({
      type: "error",
      message: "The window's page has stopped",
      detail: `Its process ended: ${reason}. A run that was going on goes on; its results are kept.`,
      buttons: ["Reload", "Quit"],
    });
    if (response === 0 && !window.isDestroyed()) window.webContents.reload();
    else app.quit();
  }

  /** Opens bundles; the workbench then has the window go there. */
  #openFiles(files: readonly string[]): void {
    const workbench = this.#workbench;
    if (workbench === undefined) {
      this.#early.push(...files);
      return;
    }
    if (files.length > 0) this.#focus();
    for (const file of files) {
      this.#desktop?.chose(file);
      workbench.open(file).catch((error: unknown) => {
        const mend = error instanceof WorkbenchError ? `: ${error.mend}` : "";
        const words = error instanceof Error ? error.message : String(error);
        dialog.showErrorBox(`${path.basename(file)} cannot be opened`, `${words}${mend}`);
      });
    }
  }

  /** Brings the window to the front, or opens it where it was closed. */
  #focus(): void {
    if (this.#workbench === undefined || this.#closing) return;
    const window = this.#window ?? this.#show();
    if (window.isMinimized()) window.restore();
    window.focus();
  }

  #perform(id: string): void {
    if (this.#window === undefined) this.#focus();
    else this.#window.webContents.send(CHANNELS.action, id);
  }

  #connect(event: IpcMainEvent): void {
    const frame = event.senderFrame;
    if (frame === null || this.#workbench === undefined || !isTrusted(event, this.#windows)) return;
    const { port1, port2 } = new MessageChannelMain();
    answer(portChannel(windowPort(port1)), this.#workbench.handlers);
    frame.postMessage(CHANNELS.port, null, [port2]);
  }

  /** A run is cancelled, what is finished is kept, the host is let go; then the app ends. */
  #leave(event: { preventDefault: () => void }): void {
    if (this.#workbench === undefined) return;
    event.preventDefault();
    if (this.#closing) return;
    this.#closing = true;
    this.#workbench.close().then(
      () => app.exit(0),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
        app.exit(1);
      },
    );
  }
}

/** Starts the app, or hands what it was started with to the instance that is open. */
export function startDesktop(): void {
  if (!app.requestSingleInstanceLock()) {
    process.stderr.write("Lockstep is open already; its window comes to the front\n");
    app.quit();
    return;
  }
  const desktop = new DesktopApp();
  desktop.begin();
  onInterrupt(
    () => app.quit(),
    () => app.exit(INTERRUPTED),
  );
  app
    .whenReady()
    .then(() => desktop.open())
    .catch((error: unknown) => {
      const words = error instanceof Error ? error.message : String(error);
      process.stderr.write(`${words}\n`);
      dialog.showErrorBox("Lockstep cannot start", words);
      app.exit(2);
    });
}
