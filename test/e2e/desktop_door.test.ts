/**
 * The built window as the desktop app has it, in a real browser: under the policy of `app://`, which lets it connect to nothing,
 * and over the port that the preload hands over. Here a channel of the test stands for preload and main process; the window,
 * the contract, the workbench and the host are real. It shows nothing about Electron itself.
 */
import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answer } from "../../electron/contract/answer.ts";
import { decode, encode } from "../../electron/contract/codec.ts";
import { PORT_MESSAGE, SHELL_NAME } from "../../electron/contract/shell.ts";
import type { Channel } from "../../electron/contract/wire.ts";
import { CONNECT_SOURCES } from "../../electron/shell/security.ts";
import { securityHeaders, windowFiles } from "../../electron/window_files.ts";
import { type OpenWorkbench, openWorkbench } from "../../electron/workbench/workbench.ts";
import { scratchFolder, WHERE } from "../electron/runs/harness.ts";
import { openPage, startBrowser, untilOutcome, type Watched } from "./window.ts";

/** A secure origin that no request leaves for: the browser knows no `app://`. */
const ORIGIN = "https://lockstep.test";
const CASE = "gqa_decode/h32kv4d512/L33/spread/f32";

let browser: Browser;
let folder: string;
let workbench: OpenWorkbench;
let watched: Watched;
let page: Page;

/** What the preload does, with the frames of the port as text. It runs in the page before its own scripts. */
async function preloadScript(): Promise<string> {
  const codec = path.join(WHERE.root, "electron", "contract", "codec.ts");
  const contents = `
    import { decode, encode } from ${JSON.stringify(codec)};
    const text = (bytes) => { let all = ""; for (const byte of bytes) all += String.fromCharCode(byte); return btoa(all); };
    const bytes = (all) => Uint8Array.from(atob(all), (sign) => sign.charCodeAt(0));
    let port;
    globalThis.deliver = (all) => port.postMessage(decode(bytes(all)));
    globalThis.${SHELL_NAME} = Object.freeze({
      connect: () => {
        const pair = new MessageChannel();
        port = pair.port1;
        port.onmessage = ({ data }) => globalThis.sendFrame(text(encode(data)));
        globalThis.postMessage(${JSON.stringify(PORT_MESSAGE)}, "*", [pair.port2]);
      },
      onAction: (perform) => { globalThis.chooseInMenu = perform; },
      pathOf: () => "",
    });`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: WHERE.root },
    bundle: true,
    format: "iife",
    write: false,
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}

/** The workbench's end of the page's port. */
async function channelTo(target: Page): Promise<Channel> {
  let take: (value: unknown) => void = () => undefined;
  await target.exposeFunction("sendFrame", (all: string) => take(decode(Buffer.from(all, "base64"))));
  let sent: Promise<unknown> = Promise.resolve();
  return {
    post: (value) => {
      const all = Buffer.from(encode(value)).toString("base64");
      sent = sent.then(() =>
        target.evaluate((frame) => Reflect.apply(Reflect.get(globalThis, "deliver"), null, [frame]), all),
      );
      sent.catch(() => undefined);
    },
    listen: (onValue) => {
      take = onValue;
    },
    onClose: (then) => void target.once("close", () => then("the page has gone")),
    close: () => undefined,
  };
}

beforeAll(async () => {
  folder = scratchFolder();
  browser = await startBrowser();
  workbench = openWorkbench({ places: WHERE, evidence: path.join(folder, "evidence") });
  watched = await openPage(browser);
  page = watched.page;
  const files = windowFiles(WHERE.window);
  const headers = securityHeaders(CONNECT_SOURCES);
  await page.route("**/*", (route) => {
    const url = new URL(route.request().url());
    const file = url.origin === ORIGIN ? files.get(url.pathname) : undefined;
    return file === undefined
      ? route.fulfill({ status: 404, headers })
      : route.fulfill({ status: 200, headers: { ...headers, "content-type": file.type }, body: file.body });
  });
  await page.addInitScript(await preloadScript());
  answer(await channelTo(page), workbench.handlers);
  await page.goto(`${ORIGIN}/`);
});

afterAll(async () => {
  await browser?.close();
  await workbench?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

describe("the window of the desktop", () => {
  it("opens over the port it is handed, and knows its door", async () => {
    await page.getByRole("heading", { name: "Nothing has run yet" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.door)).toBe("desktop");
  });

  it("does what is chosen in the menu, runs a case and verifies its bundle", async () => {
    const choose = (id: string): Promise<void> =>
      page.evaluate((action) => void Reflect.apply(Reflect.get(globalThis, "chooseInMenu"), null, [action]), id);
    await choose("page.device");
    await page.locator('[data-page="device"]').waitFor();
    await choose("page.dispatch");
    await page.getByLabel("Operator").selectOption("gqa_decode");
    await page.getByLabel("Case to begin with").selectOption(CASE);
    await page.locator('[data-action="run.start"]:not([disabled])').waitFor();
    // At once: what runs is what is decided for this case, never the route of the question before.
    await choose("run.start");
    await untilOutcome(page, "passed");
    await choose("page.evidence");
    await page.locator('[data-page="evidence"]').waitFor();
    await choose("evidence.verify");
    await page.locator('[data-verified="valid"]').waitFor();
  });

  it("can connect to nothing, and nothing went wrong until it was asked to", async () => {
    expect(watched.faults).toEqual([]);
    const refused = await page.evaluate(
      (url) =>
        fetch(url).then(
          () => false,
          () => true,
        ),
      `${ORIGIN}/index.html`,
    );
    expect(refused).toBe(true);
    expect(watched.faults.join()).toContain("connect-src");
  });
});
