// @ts-check
/**
 * `npm run smoke:electron`: drives the real desktop app, step by step, with an evidence folder and user data of its own: opens it,
 * reads its settings back, runs the quick suite, verifies, kills the host, looks for errors. One line for each step. Exit 0 if
 * every step passed; exit 1 if one failed. Where there is no Electron or no display it says `not run` for every step, and exits 0.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { _electron } from "playwright-core";
import { findElectron, situation } from "./electron.mjs";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** The quick suite on a slow machine, with every kernel compiled anew. */
const RUN_MS = 10 * 60 * 1000;

/**
 * What a step looks at. `faults` are errors of the window: console, uncaught, violations of the policy.
 * @typedef {object} Desk
 * @property {import("playwright-core").ElectronApplication} app
 * @property {import("playwright-core").Page} page
 * @property {string[]} faults
 * @property {string} evidence
 */

/** @param {unknown} is @param {unknown} should @param {string} what */
function expectSame(is, should, what) {
  if (JSON.stringify(is) !== JSON.stringify(should)) {
    throw new Error(`${what} is ${JSON.stringify(is)}; it must be ${JSON.stringify(should)}`);
  }
}

/** The steps, in order. Each throws Error, or returns what it saw. @type {readonly { name: string, run: (desk: Desk) => Promise<string> }[]} */
export const STEPS = [
  {
    name: "the window opens under its own scheme, with a title",
    run: async ({ page }) => {
      await page.locator(".app").waitFor();
      expectSame(page.url().split("#")[0], "app://lockstep/", "the address");
      const title = await page.title();
      if (!title.endsWith("Lockstep")) throw new Error(`the title is "${title}"`);
      return title;
    },
  },
  {
    name: "the window's process is sandboxed and isolated",
    run: async ({ app, page }) => {
      const settings = await app.evaluate(({ webContents }) => {
        const contents = webContents.getAllWebContents().find((entry) => entry.getURL().startsWith("app://"));
        // Electron has this for its own tests; it is in no documentation.
        const told =
          /** @type {{ getLastWebPreferences?: () => import("electron").WebPreferences | null } | undefined} */ (
            /** @type {unknown} */ (contents)
          );
        const settings = told?.getLastWebPreferences?.();
        const { sandbox, contextIsolation, nodeIntegration, webSecurity, webviewTag = false } = settings ?? {};
        return { sandbox, contextIsolation, nodeIntegration, webSecurity, webviewTag };
      });
      const wanted = {
        sandbox: true,
        contextIsolation: true,
        nodeIntegration: false,
        webSecurity: true,
        webviewTag: false,
      };
      expectSame(settings, wanted, "the window's settings");
      const reach = await page.evaluate("[typeof require, typeof process, Object.keys(lockstepShell).sort().join()]");
      expectSame(reach, ["undefined", "undefined", "connect,onAction,pathOf"], "what the page reaches");
      return "sandbox, isolation, no Node in the page";
    },
  },
  {
    name: "the policy is in force",
    run: async ({ page, faults }) => {
      const before = faults.length;
      const blocked = await page.evaluate("fetch('https://example.org/').then(() => false, () => true)");
      expectSame(blocked, true, "that a request outside is refused");
      const evaluated = await page.evaluate(
        "(() => { const s = document.createElement('script'); s.textContent = 'globalThis.x = 1'; document.head.append(s); return globalThis.x === undefined; })()",
      );
      expectSame(evaluated, true, "that an inline script is refused");
      // Both are asked for here; the console says so, and that is no fault of the window.
      await page.waitForTimeout(300);
      faults.splice(before);
      return "a request outside and an inline script were refused";
    },
  },
  {
    name: "the menu is there",
    run: async ({ app }) => {
      const labels = await app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.items.map((item) => item.label) ?? []);
      for (const label of ["Go", "Run", "Evidence"]) {
        if (!labels.includes(label)) throw new Error(`there is no menu ${label} among ${labels.join(", ")}`);
      }
      await app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById("page.run")?.click());
      return labels.filter(Boolean).join(", ");
    },
  },
  {
    name: "the quick suite runs in the host and passes",
    run: async ({ app, page }) => {
      await page.locator('[data-page="run"]').waitFor();
      await page.getByRole("button", { name: "Run quick" }).click();
      await page.locator('.strip[data-outcome="passed"]').waitFor({ timeout: RUN_MS });
      const services = await app.evaluate(({ app: electron }) => electron.getAppMetrics().map(({ name }) => name));
      if (!services.includes("lockstep-device-host"))
        throw new Error(`no lockstep-device-host among ${services.join(", ")}`);
      return "passed, in the process lockstep-device-host";
    },
  },
  {
    name: "its bundle is verified",
    run: async ({ page, evidence }) => {
      const [bundle] = fs.readdirSync(evidence).filter((name) => name.endsWith(".lockstep"));
      if (bundle === undefined) throw new Error(`${evidence} holds no bundle`);
      await page.evaluate(`location.hash = "#/evidence?run=${bundle}"`);
      await page.locator('[data-page="evidence"]').waitFor();
      await page.keyboard.press("v");
      await page.locator('[data-verified="valid"]').waitFor({ timeout: 60_000 });
      return bundle;
    },
  },
  {
    name: "the window says so when the host is killed",
    run: async ({ app, page }) => {
      await app.evaluate(({ app: electron }) => {
        const host = electron.getAppMetrics().find(({ name }) => name === "lockstep-device-host");
        if (host !== undefined) process.kill(host.pid, "SIGKILL");
      });
      await page
        .locator(".status")
        .getByText(/stopped/i)
        .waitFor({ timeout: 10_000 });
      return "the status bar tells of the stop";
    },
  },
  {
    name: "no error in the window",
    run: async ({ faults }) => {
      if (faults.length > 0) throw new Error(faults.join("; "));
      return "console, uncaught, policy: none";
    },
  },
];

/** @param {string} name @param {string} outcome @param {string} words */
function line(name, outcome, words) {
  process.stdout.write(`${outcome.padEnd(8)} ${name}: ${words}\n`);
}

/** @param {string} program @param {string} scratch @returns {Promise<Desk>} */
async function open(program, scratch) {
  const evidence = path.join(scratch, "evidence");
  const args = [ROOT, `--user-data-dir=${path.join(scratch, "user")}`, "--evidence", evidence];
  const app = await _electron.launch({ executablePath: program, args, cwd: ROOT });
  const page = await app.firstWindow();
  /** @type {string[]} */
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
  });
  return { app, page, faults, evidence };
}

/** @returns {Promise<number>} the exit code */
async function main() {
  const found = await findElectron(situation(), true);
  if ("reason" in found) {
    for (const { name } of STEPS) line(name, "not run", found.reason);
    process.stdout.write(`not run: ${found.reason}. Nothing is shown about the desktop app\n`);
    return 0;
  }
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-smoke-"));
  let failed = 0;
  let passed = 0;
  /** @type {Desk | undefined} */
  let desk;
  try {
    desk = await open(found.program, scratch);
    for (const { name, run } of STEPS) {
      try {
        line(name, "passed", await run(desk));
        passed++;
      } catch (error) {
        line(name, "failed", (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "");
        failed++;
      }
    }
  } catch (error) {
    line("the app starts", "failed", error instanceof Error ? error.message : String(error));
    failed++;
  } finally {
    await desk?.app.close();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
  const notRun = STEPS.length - passed - (desk === undefined ? 0 : failed);
  process.stdout.write(`${passed} passed, ${failed} failed, ${notRun} not run\n`);
  return failed === 0 ? 0 : 1;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.exit(await main());
