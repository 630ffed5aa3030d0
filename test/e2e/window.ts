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
  readonly close: () => Promise<void>;
}

/** `out/serve.mjs` with an evidence folder of its own. */
export async function startServer(): Promise<Server> {
  const folder = scratchFolder();
  const evidence = path.join(folder, "evidence");
  const child: ChildProcess = spawn(
    process.execPath,
    [path.join(WHERE.root, "out", "serve.mjs"), "--evidence", evidence],
    { cwd: folder, stdio: ["ignore", "pipe", "inherit"] },
  );
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
  });
  return {
    url,
    origin: new URL(url).origin,
    evidence,
    close: async () => {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGINT");
      await gone;
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

/** Waits until the run that is shown has ended with `outcome`. */
export async function untilOutcome(page: Page, outcome: string): Promise<void> {
  await page.locator(`.strip[data-outcome="${outcome}"]`).waitFor();
}
