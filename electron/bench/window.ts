/**
 * The window's figures, in a real browser against the real server: start, heat map, a long list, a large array. The page
 * that times the heat map and the array is `renderer/bench`; the start and the list are the window itself.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { WebSocketServer } from "ws";
import type { Places } from "../host/root.ts";
import { serve } from "../serve.ts";
import { openWorkbench } from "../workbench/workbench.ts";
import { median } from "./measure.ts";
import type { BenchRow } from "./row.ts";
import { type ArrayBundle, largeArray, manyRows } from "./window_bundles.ts";

const STARTS = 5;
const DRAWINGS = 15;
const ARRAYS = 5;
const ROWS = 100_000;
const ARRAY_BYTES = 64 * 2 ** 20;
const VIEWPORT = { width: 1280, height: 800 };

/** Frames of one pass over the list, from its first row to its last. */
const PASS_FRAMES = 240;

/** Runs in the window: keeps the longest task that the browser calls long, which is more than 50 ms. */
const WATCH = `globalThis.longestTask = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) globalThis.longestTask = Math.max(globalThis.longestTask, duration);
}).observe({ type: "longtask" });`;

/** Runs in the window: scrolls the list from end to end, every frame showing other rows, down and up again. */
const SCROLL = `(async () => {
  const list = document.querySelector(".cases").closest(".scroll");
  const end = list.scrollHeight - list.clientHeight;
  globalThis.longestTask = 0;
  let longestFrame = 0;
  let last = performance.now();
  for (let frame = 1; frame <= ${2 * PASS_FRAMES}; frame++) {
    const share = frame / ${PASS_FRAMES};
    list.scrollTop = end * (share <= 1 ? share : 2 - share);
    const now = await new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
    longestFrame = Math.max(longestFrame, now - last);
    last = now;
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  return { longestTask: globalThis.longestTask, longestFrame, rows: Number(list.querySelector(".cases").ariaRowCount) - 1 };
})()`;

/** Runs on a bare page: milliseconds until a message of the raw WebSocket has come. */
function rawRound(port: number): string {
  return `new Promise((resolve, reject) => {
  const socket = new WebSocket("ws://127.0.0.1:${port}");
  socket.binaryType = "arraybuffer";
  let start = 0;
  socket.onopen = () => { start = performance.now(); socket.send("go"); };
  socket.onmessage = ({ data }) => { resolve([performance.now() - start, data.byteLength]); socket.close(); };
  socket.onerror = () => reject(new Error("the raw socket failed"));
})`;
}

interface BuildTools {
  readonly findBrowser: () => string | undefined;
  readonly buildWindow: (source: string, out: string) => Promise<void>;
}

/** Tools of the build, which no bundle holds. */
async function buildTools(root: string): Promise<BuildTools> {
  const load = (file: string) => import(pathToFileURL(path.join(root, "build", file)).href);
  const [{ findBrowser }, { buildWindow }] = await Promise.all([load("browser.mjs"), load("window.mjs")]);
  return { findBrowser, buildWindow };
}

async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: "reduce" });
  return context.newPage();
}

interface Start {
  readonly listens: number;
  readonly usable: number;
}

/** Seconds from the start of the server's process until it listens, and until the window takes a click. */
async function oneStart(browser: Browser, where: Places, evidence: string): Promise<Start> {
  const page = await openPage(browser);
  const started = performance.now();
  const server = spawn(process.execPath, [path.join(where.root, "out", "serve.mjs"), "--evidence", evidence], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      server.stdout.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
      server.once("exit", (code) => reject(new Error(`The server ended with ${code}: run npm start to see why.`)));
    });
    const listens = (performance.now() - started) / 1000;
    await page.goto(url, { waitUntil: "commit" });
    await page.getByRole("button", { name: "Run quick" }).click({ trial: true });
    return { listens, usable: (performance.now() - started) / 1000 };
  } finally {
    const gone = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGINT");
    await gone;
    await page.context().close();
  }
}

async function benchStart(browser: Browser, where: Places, scratch: string): Promise<BenchRow> {
  const starts: Start[] = [];
  for (let round = 0; round < STARTS; round++) {
    starts.push(await oneStart(browser, where, path.join(scratch, "window-empty")));
  }
  return {
    name: "window usable, from the server's start",
    value: median(starts.map(({ usable }) => usable)),
    unit: "s",
    target: 1.5,
    comparedWith: "server listens",
    compared: median(starts.map(({ listens }) => listens)),
  };
}

async function benchRows(browser: Browser, url: string, id: string): Promise<BenchRow> {
  const page = await openPage(browser);
  try {
    await page.addInitScript(WATCH);
    await page.goto(url);
    await page.locator(".app").waitFor();
    await page.evaluate(`location.hash = "#/run?run=${id}"`);
    await page.locator(".cases tbody tr[data-state]").first().waitFor();
    const seen = (await page.evaluate(SCROLL)) as Record<"longestTask" | "longestFrame" | "rows", number>;
    if (seen.rows !== ROWS) throw new Error(`The list has ${seen.rows} rows, not ${ROWS}.`);
    return {
      name: `${ROWS.toLocaleString("en")} rows scroll, longest task over 50 ms (0: none)`,
      value: seen.longestTask,
      unit: "ms",
      target: 100,
      comparedWith: "longest time between frames",
      compared: seen.longestFrame,
    };
  } finally {
    await page.context().close();
  }
}

/** Milliseconds of each round in which the same bytes come over a bare WebSocket. */
async function rawRounds(browser: Browser, rounds: number): Promise<readonly number[]> {
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>raw"));
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  const data = Buffer.alloc(ARRAY_BYTES, 1);
  sockets.on("connection", (client) => client.on("message", () => client.send(data)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const page = await openPage(browser);
  const times: number[] = [];
  try {
    await page.goto(`http://127.0.0.1:${port}/`);
    for (let round = 0; round < rounds; round++) {
      const [took, bytes] = (await page.evaluate(rawRound(port))) as [number, number];
      if (bytes !== ARRAY_BYTES) throw new Error(`${bytes} bytes came over the raw WebSocket, not ${ARRAY_BYTES}.`);
      times.push(took);
    }
  } finally {
    await page.context().close();
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return times;
}

async function benchHeatMap(page: Page): Promise<BenchRow> {
  const { map, plain } = (await page.evaluate(`bench.heatMaps(${DRAWINGS})`)) as Record<"map" | "plain", number[]>;
  return {
    name: "heat map of 1024 x 1024 drawn",
    value: median(map),
    unit: "ms",
    target: 80,
    comparedWith: "putImageData of the same pixels",
    compared: median(plain),
  };
}

async function benchArray(browser: Browser, page: Page, array: ArrayBundle): Promise<BenchRow> {
  const ask = `bench.array(${JSON.stringify(array.id)}, ${JSON.stringify(array.path)}, ${array.bytes})`;
  const times: number[] = [];
  const raw: number[] = [];
  for (let round = 0; round < ARRAYS; round++) {
    times.push((await page.evaluate(ask)) as number);
    raw.push(...(await rawRounds(browser, 1)));
  }
  return {
    name: "array of 64 MiB to the window",
    value: median(times) / 1000,
    unit: "s",
    target: 1,
    comparedWith: "raw WebSocket, from memory",
    compared: median(raw) / 1000,
  };
}

/** Measures the window. Throws Error where no browser is found. */
export async function benchWindow(where: Places, scratch: string, emit: (row: BenchRow) => void): Promise<void> {
  const tools = await buildTools(where.root);
  const executablePath = tools.findBrowser();
  if (executablePath === undefined) {
    throw new Error("No Chromium was found for the window's figures: install one, or name it with LOCKSTEP_BROWSER.");
  }
  const page = path.join(where.root, "out", "bench-window");
  await tools.buildWindow(path.join("renderer", "bench"), path.join("out", "bench-window"));
  const evidence = path.join(scratch, "window-evidence");
  fs.mkdirSync(evidence, { recursive: true });
  const rows = manyRows(evidence, ROWS);
  const array = largeArray(evidence, ARRAY_BYTES);
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
  try {
    emit(await benchStart(browser, where, scratch));
    const open = async <T>(window: string, work: (url: string) => Promise<T>): Promise<T> => {
      const served = await serve({ window, workbench: openWorkbench({ places: where, evidence }) });
      return work(served.url).finally(() => served.close());
    };
    await open(page, async (url) => {
      const tab = await openPage(browser);
      await tab.goto(url);
      emit(await benchHeatMap(tab));
      emit(await benchArray(browser, tab, array));
      await tab.context().close();
    });
    emit(await open(path.join(where.root, "out", "renderer"), (url) => benchRows(browser, url, rows)));
  } finally {
    await browser.close();
  }
}
