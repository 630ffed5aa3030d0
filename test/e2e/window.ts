/** A real browser on the real server, the real host and the emulated device. */
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { findBrowser } from "../../build/browser.mjs";
import { scratchFolder, WHERE } from "../electron/runs/harness.ts";

export interface Server {
  readonly url: string;
  readonly origin: string;
  readonly evidence: string;
  /** Ends it at once, as if the machine had gone. */
  readonly kill: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface ServerOptions {
  /** Root of the program: the checkout, or a copy of it with other kernels. */
  readonly root?: string;
  /** Folder of the bundles; without one a fresh folder that goes with the server. */
  readonly evidence?: string;
}

/** `out/serve.mjs`, with an evidence folder of its own where none is given. */
export async function startServer({ root = WHERE.root, evidence: given }: ServerOptions = {}): Promise<Server> {
  const folder = scratchFolder();
  const evidence = given ?? path.join(folder, "evidence");
  const child: ChildProcess = spawn(
    process.execPath,
    [path.join(root, "out", "serve.mjs"), "--evidence", evidence],
    // What it says at its end is no news.
    { cwd: folder, stdio: ["ignore", "pipe", "ignore"] },
  );
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await gone;
  };
  return {
    url,
    origin: new URL(url).origin,
    evidence,
    kill: () => end("SIGKILL"),
    close: async () => {
      await end("SIGINT");
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function startBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error("No browser was found: npm run e2e installs one or says how.");
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
}

/** A page that remembers everything that went wrong in it. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors and warnings, uncaught errors, violations of the content security policy. */
  readonly faults: string[];
}

export async function openPage(browser: Browser, options: { readonly dark?: boolean } = {}): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: options.dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  // A first run compiles its kernels, on a machine that may be busy.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return { page, context, faults };
}

/** For a run whose kernels were never compiled on this machine, on a busy one. */
const RUN_MS = 200_000;

/** Waits until the run that is shown has ended with `outcome`. */
export async function untilOutcome(page: Page, outcome: string): Promise<void> {
  await page.locator(`.strip[data-outcome="${outcome}"]`).waitFor({ timeout: RUN_MS });
}

/** A page on a real server whose evidence is what `fill` writes; all of it goes with `close`. */
export interface Opened extends Watched {
  readonly server: Server;
  readonly browser: Browser;
  readonly close: () => Promise<void>;
}

/** @param fill gets the empty folder of the bundles */
export async function openWindow(fill: (evidence: string) => void): Promise<Opened> {
  const folder = scratchFolder();
  const evidence = path.join(folder, "evidence");
  fs.mkdirSync(evidence);
  fill(evidence);
  const server = await startServer({ evidence });
  const browser = await startBrowser();
  const watched = await openPage(browser);
  await watched.page.goto(server.url);
  await watched.page.locator("main").waitFor();
  const close = async (): Promise<void> => {
    await browser.close();
    await server.close();
    fs.rmSync(folder, { recursive: true, force: true });
  };
  return { ...watched, server, browser, close };
}
