/** The real main process and the real preload on a stand-in for Electron: settings, handlers, and the contract through them. */
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import type { MessagePort } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { connect, type Workbench } from "../../../electron/contract/connect.ts";
import { portChannel } from "../../../electron/contract/port.ts";
import { CHANNELS, PORT_MESSAGE, SHELL_NAME, type WindowShell } from "../../../electron/contract/shell.ts";
import { WEB_PREFERENCES, WINDOW_URL } from "../../../electron/shell/security.ts";
import { app, type BrowserWindow, handlers, seen, sendAs } from "../../electron_stub.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";
import { follow, request } from "../workbench/fixture.ts";

vi.mock("electron", () => import("../../electron_stub.ts"));

let folder: string;
let evidence: string;
let shell: WindowShell;
let window: BrowserWindow;
let workbench: Workbench;

/** The port that the page is handed when its preload asks for one; undefined where none comes. */
function askForPort(): MessagePort | undefined {
  const before = seen.posted.length;
  shell.connect();
  return seen.posted[before]?.ports[0];
}

beforeAll(async () => {
  folder = scratchFolder();
  evidence = path.join(folder, "evidence");
  process.argv = ["electron", ".", "--evidence", evidence];
  vi.stubGlobal("postMessage", (data: unknown, _origin: string, ports: readonly MessagePort[]) =>
    seen.posted.push({ data, ports }),
  );
  await import("../../../electron/main.ts");
  await vi.waitUntil(() => seen.windows.length === 1);
  await import("../../../electron/preload.ts");
  window = seen.windows[0]!;
  shell = seen.exposed.get(SHELL_NAME) as WindowShell;
  workbench = connect(portChannel(askForPort()!));
});

afterAll(() => {
  vi.unstubAllGlobals();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(signal);
  fs.rmSync(folder, { recursive: true, force: true });
});

describe("the window", () => {
  it("has every setting of the table, the preload that was bundled, and the one address", () => {
    const { webPreferences } = window.options;
    expect(webPreferences).toMatchObject(WEB_PREFERENCES);
    expect(webPreferences).toMatchObject({ sandbox: true, contextIsolation: true, nodeIntegration: false });
    expect(Object.keys(webPreferences ?? {}).sort()).toEqual(
      [...Object.keys(WEB_PREFERENCES), "devTools", "preload"].sort(),
    );
    const preload = webPreferences?.preload ?? "";
    expect(preload).toBe(path.join(WHERE.root, "out", "preload.cjs"));
    const loads = [...fs.readFileSync(preload, "utf8").matchAll(/\brequire\("([^"]+)"\)/g)].map((match) => match[1]);
    expect(loads).toEqual(["electron"]);
    expect(window.webContents.url).toBe(WINDOW_URL);
    expect(window.options.show).toBe(false);
    window.emit("ready-to-show");
    expect(window.shown).toBe(true);
  });

  it("runs sandboxed, under a scheme of its own", () => {
    expect(seen.sandboxed).toBe(true);
    expect(seen.schemes).toEqual([
      { scheme: "app", privileges: { standard: true, secure: true, supportFetchAPI: true } },
    ]);
  });

  it("is given one frozen object of named functions", () => {
    expect([...seen.exposed.keys()]).toEqual([SHELL_NAME]);
    expect(Object.isFrozen(shell)).toBe(true);
    expect(Object.entries(shell).map(([name, value]) => `${name}: ${typeof value}`)).toEqual([
      "connect: function",
      "onAction: function",
      "pathOf: function",
    ]);
    expect(shell.pathOf({ name: "/dropped/run.lockstep", size: 0 })).toBe("/dropped/run.lockstep");
  });
});

describe("a page", () => {
  const prevented = (type: string, ...words: unknown[]): boolean => {
    let stopped = false;
    window.webContents.emit(type, { ...(words[0] as object), preventDefault: () => (stopped = true) });
    return stopped;
  };

  it("goes nowhere else, opens no window and holds no webview", () => {
    for (const type of ["will-navigate", "will-frame-navigate", "will-redirect"]) {
      expect(prevented(type, { url: "https://example.org/" }), type).toBe(true);
      expect(prevented(type, { url: "file:///etc/passwd" }), type).toBe(true);
      expect(prevented(type, { url: "app://elsewhere/" }), type).toBe(true);
      expect(prevented(type, { url: `${WINDOW_URL}#/run` }), type).toBe(false);
    }
    expect(prevented("will-attach-webview")).toBe(true);
    const opened = (url: string) => window.webContents.opener?.({ url });
    expect(opened("https://example.org/")).toEqual({ action: "deny" });
    expect(seen.external).toEqual([]);
    expect(opened("https://developer.apple.com/metal/")).toEqual({ action: "deny" });
    expect(seen.external).toEqual(["https://developer.apple.com/metal/"]);
  });

  it("is refused every permission but copying text", () => {
    const own = { getURL: () => WINDOW_URL };
    const ask = (contents: object, permission: string): boolean => {
      let given = false;
      const handler = handlers.get("request") as unknown as (c: object, p: string, a: (x: boolean) => void) => void;
      handler(contents, permission, (answer) => {
        given = answer;
      });
      return given;
    };
    const check = handlers.get("check") as unknown as (contents: object | null, permission: string) => boolean;
    for (const permission of [
      "media",
      "geolocation",
      "notifications",
      "clipboard-read",
      "fileSystem",
      "usb",
      "unknown",
    ]) {
      expect(ask(own, permission), permission).toBe(false);
      expect(check(own, permission), permission).toBe(false);
    }
    expect(ask(own, "clipboard-sanitized-write")).toBe(true);
    expect(check(own, "clipboard-sanitized-write")).toBe(true);
    expect(ask({ getURL: () => "https://example.org/" }, "clipboard-sanitized-write")).toBe(false);
    expect(check(null, "clipboard-sanitized-write")).toBe(false);
    expect((handlers.get("device") as unknown as () => boolean)()).toBe(false);
  });

  it("loads its own files alone", async () => {
    const load = handlers.get("load") as unknown as (
      details: { readonly url: string },
      answer: (response: { readonly cancel: boolean }) => void,
    ) => void;
    const cancelled = (url: string): boolean => {
      let cancel = false;
      load({ url }, (answer) => {
        cancel = answer.cancel;
      });
      return cancel;
    };
    expect(cancelled("https://example.org/a.js")).toBe(true);
    expect(cancelled("http://127.0.0.1/")).toBe(true);
    expect(cancelled("file:///etc/passwd")).toBe(true);
    expect(cancelled("blob:https://example.org/1")).toBe(true);
    expect(cancelled(`blob:${WINDOW_URL}1`)).toBe(false);
    expect(cancelled(WINDOW_URL)).toBe(false);

    const serve = handlers.get("app:") as unknown as (request: Request) => Response;
    const get = (url: string, method = "GET"): Response => serve(new Request(url, { method }));
    const page = get(WINDOW_URL);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<div id="root">');
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    for (const [url, status] of [
      ["app://lockstep/../package.json", 404],
      ["app://lockstep/%2e%2e/package.json", 404],
      ["app://elsewhere/index.html", 404],
    ] as const) {
      expect(get(url).status, url).toBe(status);
      expect(get(url).headers.get("content-security-policy")).toBe(policy);
    }
    expect(get(WINDOW_URL, "POST").status).toBe(405);
  });
});

describe("the contract through preload and port", () => {
  it("gives no port to a frame, a page or a window that is not ours", () => {
    const before = seen.posted.length;
    const { webContents } = window;
    sendAs(webContents, CHANNELS.connect, { ...webContents.frame, parent: {} });
    sendAs(webContents, CHANNELS.connect, { ...webContents.frame, url: "https://example.org/" });
    sendAs(webContents, CHANNELS.connect, null);
    sendAs(Object.assign(Object.create(webContents), { id: 999 }) as typeof webContents, CHANNELS.connect);
    expect(seen.posted.length).toBe(before);
    const port = askForPort();
    expect(seen.posted.at(-1)?.data).toBe(PORT_MESSAGE);
    port?.close();
  });

  it("answers calls, follows a run to its end and carries an array, with the host in a utility process", async () => {
    expect(await workbench.call("app.info", {})).toMatchObject({ name: "lockstep", evidence });
    const { id } = await workbench.call("runs.start", request());
    const items = await follow(workbench, id);
    expect(items.at(-1)).toMatchObject({ type: "ended", entry: { outcome: "passed" } });
    expect(seen.forks).toHaveLength(1);
    expect(seen.forks[0]).toMatchObject({ path: WHERE.host, options: { serviceName: "lockstep-device-host" } });

    const record = await workbench.call("runs.record", { id });
    const output = record.results[0]?.outputs[0];
    const array = await workbench.call("runs.array", { id, path: output?.path ?? "" });
    expect(array.data).toBeInstanceOf(Float32Array);
    expect(array.data.length).toBe(array.shape.reduce((product, extent) => product * extent, 1));
    expect((await workbench.call("evidence.verify", { id })).result).toBe("valid");
  });

  it("says that the host stopped when it is killed, and the next run works", async () => {
    const states = workbench.stream("host.state", {});
    expect((await states.next()).value).toMatchObject({ state: "ready", pid: seen.forks[0]?.child.pid });
    seen.forks[0]?.child.kill("SIGKILL");
    expect((await states.next()).value).toMatchObject({
      state: "stopped",
      pid: null,
      lastStop: { reason: "The host stopped with exit code 9", pid: seen.forks[0]?.child.pid },
    });
    const { id } = await workbench.call("runs.start", request());
    expect((await follow(workbench, id)).at(-1)).toMatchObject({ type: "ended", entry: { outcome: "passed" } });
    expect(seen.forks).toHaveLength(2);
    await states.return();
  });

  it("ends with the page: its streams are let go", async () => {
    const port = askForPort()!;
    const other = connect(portChannel(port));
    const states = other.stream("host.state", {});
    await states.next();
    const gone = new Promise((resolve) => other.onClose(resolve));
    port.close();
    await gone;
    await expect(states.next()).rejects.toThrow("closed");
  });
});

describe("wishes of the system", () => {
  it("open bundles in the window: by double-click and by a second start, which brings the window to the front", async () => {
    const [kept] = (await workbench.call("runs.list", {})).runs;
    const elsewhere = path.join(folder, "elsewhere", "given.lockstep");
    fs.cpSync(path.join(evidence, kept?.id ?? ""), elsewhere, { recursive: true });
    const opened = workbench.stream("bundle.opened", {});
    expect((await opened.next()).value).toMatchObject({ bundles: [] });

    const stopped = vi.fn();
    app.emit("open-file", { preventDefault: stopped }, elsewhere);
    expect(stopped).toHaveBeenCalledOnce();
    const shown = (await opened.next()).value;
    expect(shown).toMatchObject({ bundles: [{ entry: { state: "kept", outcome: "passed" } }] });
    expect(shown?.shown).toBe(shown?.bundles[0]?.entry.id);
    await workbench.call("evidence.reveal", { id: shown?.shown ?? "" });
    expect(seen.revealed).toEqual([fs.realpathSync(elsewhere)]);

    // What was dropped was chosen too, and nothing else may be revealed.
    const dropped = path.join(folder, "elsewhere", "dropped.lockstep");
    fs.cpSync(elsewhere, dropped, { recursive: true });
    const { id } = await workbench.call("bundle.open", { path: dropped });
    await expect(workbench.call("evidence.reveal", { id: id ?? "" })).rejects.toThrow("was not chosen by you");
    shell.pathOf({ name: dropped, size: 0 });
    await workbench.call("evidence.reveal", { id: id ?? "" });
    expect(seen.revealed).toHaveLength(2);

    const focused = window.focused;
    fs.mkdirSync(path.join(folder, "elsewhere", "empty.lockstep"));
    const words = ["electron", ".", "--flag", "empty.lockstep", "absent.lockstep", "notes.txt"];
    app.emit("second-instance", {}, words, path.dirname(elsewhere));
    expect(window.focused).toBeGreaterThan(focused);
    await vi.waitUntil(() => seen.errors.length > 0);
    expect(seen.errors).toEqual([expect.stringContaining("empty.lockstep cannot be opened")]);
    await opened.return();
  });

  it("do what is chosen in the menu", () => {
    const actions: string[] = [];
    shell.onAction((id) => actions.push(id));
    const menus = seen.menu.flatMap(({ submenu }) => (Array.isArray(submenu) ? submenu : []));
    menus.find(({ id }) => id === "run.start")?.click?.(undefined as never, undefined, undefined as never);
    expect(actions).toEqual(["run.start"]);
  });

  it("to leave, as Ctrl-C or from the menu, ends the host first, then the app", async () => {
    process.emit("SIGINT", "SIGINT");
    // Ctrl-C reaches a whole process group, and npm start passes it on: that is still one wish.
    process.emit("SIGINT", "SIGINT");
    expect([seen.quits, seen.exitCode]).toEqual([1, undefined]);
    const child = seen.forks.at(-1)?.child;
    const gone = child?.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    const prevent = vi.fn();
    app.emit("will-quit", { preventDefault: prevent });
    expect(prevent).toHaveBeenCalledOnce();
    expect(seen.exitCode).toBeUndefined();
    await gone;
    await vi.waitUntil(() => seen.exitCode !== undefined);
    expect(seen.exitCode).toBe(0);
  });
});
