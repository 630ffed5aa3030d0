/**
 * A stand-in for Electron, as small as the shell allows: real message channels, the identity of a sender, a real child for a
 * utility process. It remembers what it was set to and does nothing by itself. `vi.mock("electron", () => import(...))`.
 */
import { type ChildProcess, fork as forkChild } from "node:child_process";
import { EventEmitter } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type MessagePort, MessageChannel as NodeChannel } from "node:worker_threads";
import type * as Electron from "electron";

/** What the shell has set, for tests to read back. */
export const seen = {
  sandboxed: false,
  lock: true,
  exitCode: undefined as number | undefined,
  quits: 0,
  schemes: [] as Electron.CustomScheme[],
  exposed: new Map<string, unknown>(),
  windows: [] as BrowserWindow[],
  menu: [] as Electron.MenuItemConstructorOptions[],
  external: [] as string[],
  errors: [] as string[],
  revealed: [] as string[],
  /** Answers of the next dialogs. */
  dialogs: [] as { readonly canceled: boolean; readonly filePaths?: string[]; readonly filePath?: string }[],
  /** What the window's page received from its own preload. */
  posted: [] as { readonly data: unknown; readonly ports: readonly MessagePort[] }[],
  forks: [] as { readonly path: string; readonly options: Electron.ForkOptions | undefined; child: ChildProcess }[],
};

export const ipcMain = new EventEmitter();
const toPage = new EventEmitter();

class WebContents extends EventEmitter {
  static #count = 0;
  readonly id = ++WebContents.#count;
  url = "";
  opener: ((details: { readonly url: string }) => { readonly action: string }) | undefined;
  readonly frame = {
    parent: null as object | null,
    url: "",
    postMessage: (channel: string, message: unknown, ports: readonly Port[]) =>
      toPage.emit(channel, { ports: ports.map((port) => port.raw) }, message),
  };
  getURL(): string {
    return this.url;
  }
  send(channel: string, ...words: unknown[]): void {
    toPage.emit(channel, {}, ...words);
  }
  setWindowOpenHandler(opener: WebContents["opener"]): void {
    this.opener = opener;
  }
  reload(): void {
    this.emit("did-start-loading");
  }
}

export class BrowserWindow extends EventEmitter {
  readonly options: Electron.BrowserWindowConstructorOptions;
  readonly webContents = new WebContents();
  shown = false;
  focused = 0;
  constructor(options: Electron.BrowserWindowConstructorOptions) {
    super();
    this.options = options;
    seen.windows.push(this);
    app.emit("web-contents-created", {}, this.webContents);
  }
  async loadURL(url: string): Promise<void> {
    this.webContents.url = url;
    this.webContents.frame.url = url;
  }
  show(): void {
    this.shown = true;
  }
  focus(): void {
    this.focused++;
  }
  isMinimized(): boolean {
    return false;
  }
  isDestroyed(): boolean {
    return false;
  }
}

/** A port of the main process over one of Node's; messages wait until it is started. */
class Port extends EventEmitter {
  readonly raw: MessagePort;
  constructor(raw: MessagePort) {
    super();
    this.raw = raw;
    raw.once("close", () => this.emit("close"));
  }
  start(): void {
    this.raw.on("message", (data: unknown) => this.emit("message", { data, ports: [] }));
  }
  close(): void {
    this.raw.close();
  }
  postMessage(message: unknown): void {
    this.raw.postMessage(message);
  }
}

export class MessageChannelMain {
  readonly port1: Port;
  readonly port2: Port;
  constructor() {
    const { port1, port2 } = new NodeChannel();
    this.port1 = new Port(port1);
    this.port2 = new Port(port2);
  }
}

/** Gives a child of Node the port that Electron gives a utility process; messages wait until somebody listens. */
const PARENT_PORT = `
import { EventEmitter } from "node:events";
const port = Object.assign(new EventEmitter(), { postMessage: (message) => process.send(message) });
port.once("newListener", () => process.on("message", (data) => port.emit("message", { data, ports: [] })));
process.parentPort = port;
`;

class UtilityProcess extends EventEmitter {
  readonly #child: ChildProcess;
  #spawned = false;
  constructor(child: ChildProcess) {
    super();
    this.#child = child;
    child.once("spawn", () => {
      this.#spawned = true;
      this.emit("spawn");
    });
    child.on("message", (message) => this.emit("message", message));
    // On POSIX the code is what \`waitpid\` says, so that a signal is a number too.
    child.once("exit", (code, signal) => this.emit("exit", code ?? os.constants.signals[signal ?? "SIGKILL"]));
  }
  get pid(): number | undefined {
    // Known once the process is there.
    return this.#spawned ? this.#child.pid : undefined;
  }
  get stderr(): ChildProcess["stderr"] {
    return this.#child.stderr;
  }
  postMessage(message: object): void {
    this.#child.send(message);
  }
  kill(): boolean {
    return this.#child.kill();
  }
}

export const utilityProcess = {
  fork(file: string, words: string[] = [], options?: Electron.ForkOptions): UtilityProcess {
    const shim = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-port-")), "parent_port.mjs");
    fs.writeFileSync(shim, PARENT_PORT);
    const stdio = ["ignore", "ignore", "pipe", "ipc"] as ("ignore" | "pipe" | "ipc")[];
    const env = options?.env === undefined ? {} : { env: options.env as NodeJS.ProcessEnv };
    const child = forkChild(file, words, { execArgv: ["--import", shim], serialization: "advanced", stdio, ...env });
    child.once("exit", () => fs.rmSync(path.dirname(shim), { recursive: true, force: true }));
    seen.forks.push({ path: file, options, child });
    return new UtilityProcess(child);
  },
};

export const app = Object.assign(new EventEmitter(), {
  isPackaged: false,
  whenReady: () => Promise.resolve(),
  requestSingleInstanceLock: () => seen.lock,
  enableSandbox: () => {
    seen.sandboxed = true;
  },
  getPath: (name: string) => path.join(os.tmpdir(), `lockstep-stub-${name}`),
  setAboutPanelOptions: () => undefined,
  quit: () => {
    seen.quits++;
  },
  exit: (code: number) => {
    seen.exitCode = code;
  },
});

/** Handlers of the session, by the name of what set them. */
export const handlers = new Map<string, (...words: never[]) => unknown>();
const keep = (name: string) => (handler: (...words: never[]) => unknown) => void handlers.set(name, handler);

export const session = {
  defaultSession: Object.assign(new EventEmitter(), {
    setPermissionRequestHandler: keep("request"),
    setPermissionCheckHandler: keep("check"),
    setDevicePermissionHandler: keep("device"),
    webRequest: { onBeforeRequest: keep("load") },
  }),
};

export const protocol = {
  registerSchemesAsPrivileged: (schemes: Electron.CustomScheme[]) => void seen.schemes.push(...schemes),
  handle: (scheme: string, handler: (request: Request) => Response) =>
    void handlers.set(`${scheme}:`, handler as never),
};

export const shell = {
  openExternal: async (url: string) => void seen.external.push(url),
  showItemInFolder: (file: string) => void seen.revealed.push(file),
};

const nextDialog = async () => seen.dialogs.shift() ?? { canceled: true, filePaths: [], filePath: "" };
export const dialog = {
  showOpenDialog: nextDialog,
  showSaveDialog: nextDialog,
  showMessageBox: async () => ({ response: 0 }),
  showErrorBox: (title: string, words: string) => void seen.errors.push(`${title}: ${words}`),
};

export const Menu = {
  buildFromTemplate: (template: Electron.MenuItemConstructorOptions[]) => template,
  setApplicationMenu: (template: Electron.MenuItemConstructorOptions[]) => {
    seen.menu = template;
  },
};

export const powerMonitor = { getCurrentThermalState: () => "nominal", isOnBatteryPower: () => true };

export const nativeTheme = { shouldUseDarkColors: true };

/** The window that the preload runs in is the last one; a test may speak as another. */
export function sendAs(
  contents: WebContents,
  channel: string,
  frame: unknown = contents.frame,
  ...words: readonly unknown[]
): void {
  ipcMain.emit(channel, { sender: contents, senderFrame: frame }, ...words);
}

export const ipcRenderer = {
  on: (channel: string, then: (...words: unknown[]) => void) => void toPage.on(channel, then),
  send: (channel: string, ...words: readonly unknown[]) => {
    const { webContents } = seen.windows.at(-1)!;
    sendAs(webContents, channel, webContents.frame, ...words);
  },
};

export const contextBridge = {
  exposeInMainWorld: (name: string, value: unknown) => void seen.exposed.set(name, value),
};

export const webUtils = { getPathForFile: (file: { readonly name: string }) => file.name };
