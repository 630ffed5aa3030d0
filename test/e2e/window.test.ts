/** The window as a user meets it, in a real browser against the real host and the emulated device. */
import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PAGE_IDS } from "../../electron/actions.ts";
import { GATES } from "../../electron/gates/gates.ts";
import { openPage, type Server, startBrowser, startServer, untilOutcome, type Watched } from "./window.ts";

let server: Server;
let browser: Browser;
let watched: Watched;
let page: Page;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  watched = await openPage(browser);
  page = watched.page;
});

/** Runs in the page: whether it scrolls as a whole, and the parts of the frame that are cut off. */
function overflow(): { readonly page: boolean; readonly frame: readonly string[] } {
  const root = document.documentElement;
  const frame = [...document.querySelectorAll(".top, .nav, .status, .main, .pane, .ph, .strip")];
  return {
    page: root.scrollWidth > root.clientWidth || root.scrollHeight > root.clientHeight,
    frame: frame.filter((element) => element.scrollWidth > element.clientWidth + 1).map((element) => element.className),
  };
}

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe("opening", () => {
  it("a wrong or missing token is refused, and says what to do", async () => {
    for (const [fragment, failure] of [
      ["#token=nope", "TokenRefused"],
      ["", "TokenMissing"],
    ] as const) {
      const other = await openPage(browser);
      await other.page.goto(`${server.origin}/${fragment}`);
      await other.page.locator(`[data-failure="${failure}"]`).waitFor();
      expect(await other.page.getByRole("alert").innerText()).toContain("open the URL that npm start printed");
      expect(await other.page.locator(".app").count()).toBe(0);
      await other.context.close();
    }
  });

  it("the right one opens an empty workbench, and the token leaves the address", async () => {
    await page.goto(server.url);
    await page.getByRole("heading", { name: "Nothing has run yet" }).waitFor();
    expect(page.url()).toBe(`${server.origin}/#/run`);
    expect(await page.locator(".dev").innerText()).toContain("EMULATED");
    expect(await page.locator(".status code").innerText()).toBe("lockstep parity --suite quick");
  });

  it("every page has its key, its own address and its command; back returns", async () => {
    for (const [index, id] of PAGE_IDS.entries()) {
      await page.keyboard.press(String(index + 1));
      await page.locator(`main[data-page="${id}"]`).waitFor();
      expect(page.url()).toBe(`${server.origin}/#/${id}`);
      await page.waitForFunction(() => document.querySelector(".status code")?.textContent?.startsWith("lockstep "));
    }
    await page.goBack();
    await page.locator('main[data-page="kernels"]').waitFor();
    await page.goForward();
    await page.locator('main[data-page="gates"]').waitFor();
  });
});

describe("device and gates", () => {
  it("show each value with how it is known, and why a device is not there", async () => {
    await page.keyboard.press("1");
    const row = page.locator(".facts tr", { hasText: "GPU family" });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/apple9\s+table/);
    expect(await page.locator(".devrow", { hasText: "NVIDIA" }).innerText()).toContain("not there");
    await page.getByLabel("Device to show").selectOption("chip M1");
    await page.locator(".facts td").getByText("apple7", { exact: true }).waitFor();
    expect(await page.locator(".status code").innerText()).toBe("lockstep devices --chip M1");
    expect(page.url()).toContain("#/device?chip=M1");
  });

  it("the gates are filtered with /, and a selection shows formula and reason", async () => {
    await page.keyboard.press("9");
    await page.locator(".gates-table tbody tr").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("worst row");
    expect(await page.locator(".gates-table tbody tr").count()).toBe(1);
    expect(await page.locator(".prose").innerText()).toContain("Errors at a tile, page or sequence edge");
    await page.keyboard.press("Escape");
    expect(await page.locator(".gates-table tbody tr").count()).toBe(GATES.length);
  });
});

describe("a run", () => {
  it("starts with one key, shows progress and results as they come, and passes", async () => {
    await page.keyboard.press("3");
    await page.getByRole("button", { name: "Run quick" }).click();
    await page.locator('.strip[data-outcome="running"]').waitFor();
    await page.locator('tr[data-state="running"]').first().waitFor();
    await page.locator('tr[data-state="pass"]').first().waitFor();
    expect(await page.locator('tr[data-state="queued"]').count()).toBeGreaterThan(0);
    expect(await page.locator(".status [data-host]").getAttribute("data-host")).toBe("running");
    await untilOutcome(page, "passed");
    expect(await page.locator(".strip .say").innerText()).toMatch(
      /^Pass every required gate held in (\d+) of \1 results$/,
    );
    expect(await page.locator('tr[data-state="pass"]').count()).toBeGreaterThan(40);
    const cells = await page.locator("tr[data-state]", { hasText: "L 1,023" }).first().locator("td").allInnerTexts();
    expect(cells.slice(4, 7)).toEqual([
      expect.stringMatching(/^\d\.\d\de-\d+$/),
      expect.stringMatching(/^\d\.\d\de-\d+$/),
      expect.stringMatching(/^head \d+$/),
    ]);
    await page.locator('[data-live="progress"]', { hasText: "Run passed" }).waitFor({ state: "attached" });
  });

  it("a reload keeps the view: the run, the filter and the selection", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("chunk13 bf16");
    const rows = page.locator("tr[data-state]");
    const before = await rows.count();
    expect(before).toBeGreaterThan(0);
    await rows.first().click();
    const gates = await page.locator(".gatelist tbody tr").count();
    expect(gates).toBeGreaterThan(10);
    const address = page.url();
    await page.reload();
    await page.locator(".gatelist tbody tr").first().waitFor();
    expect(page.url()).toBe(address);
    expect(await rows.count()).toBe(before);
    expect(await page.locator(".gatelist tbody tr").count()).toBe(gates);
  });

  it("one result is run again by R, with the command of that one", async () => {
    await page.locator("tr[data-state]").first().click();
    expect(await page.locator(".status code").innerText()).toMatch(
      /^lockstep parity --suite quick --route \S+ --case mla_prefill\/\S+$/,
    );
    await page.keyboard.press("r");
    await page.waitForFunction(() => document.querySelectorAll("tr[data-state]").length === 1);
    await untilOutcome(page, "passed");
  });

  it("is cancelled; what is finished is kept", async () => {
    // Far longer than this test takes.
    await page.locator(".strip").getByText("standard", { exact: true }).click();
    await page.keyboard.press("Shift+R");
    await page.waitForFunction(() => Number(document.querySelector(".cases")?.getAttribute("aria-rowcount")) > 100);
    await page.locator('tr[data-state="pass"]').first().waitFor();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await untilOutcome(page, "cancelled");
    expect(await page.locator(".strip .say").innerText()).toMatch(
      /^Cancelled by you at \d+ %\. Finished cases are kept$/,
    );
    expect(await page.locator('tr[data-state="cancel"]').count()).toBe(1);
  });

  it("whose host is killed is kept as crashed, and the next run works", async () => {
    await page.keyboard.press("Shift+R");
    await page.locator('.strip[data-outcome="running"]').waitFor();
    await page.locator('tr[data-state="pass"]').first().waitFor();
    const pid = Number(await page.locator(".status [data-pid]").getAttribute("data-pid"));
    process.kill(pid, "SIGKILL");
    await untilOutcome(page, "crashed");
    expect(await page.locator(".strip .say").innerText()).toContain("The host stopped by SIGKILL");
    expect(await page.locator("main").innerText()).toContain("none: a crashed run is never a pass");
    expect(await page.locator(".status [data-host]").getAttribute("data-host")).toBe("stopped");
    await page.locator('[data-live="alarm"]', { hasText: "Crashed" }).waitFor({ state: "attached" });
    await page.keyboard.press("r");
    await untilOutcome(page, "passed");
    expect(await page.locator("tr[data-state]").count()).toBe(1);
    expect(await page.locator(".status [data-host]").innerText()).toContain("host restarted");
  });
});

describe("evidence", () => {
  it("lists the bundles, verifies one, and says which step breaks in a changed one", async () => {
    await page.keyboard.press("7");
    const rows = page.locator("tr[data-bundle]");
    await rows.first().waitFor();
    expect(await rows.count()).toBe(5);
    expect(await page.locator("tr[data-bundle]", { hasText: "crashed" }).count()).toBe(1);
    expect(await page.locator(".claims tbody tr", { hasText: "three_stage_staged" }).innerText()).toContain(
      "no evidence",
    );
    const passed = page.locator("tr[data-bundle]", { hasText: "51 of 51" });
    await passed.click();
    await page.keyboard.press("v");
    await page.locator('[data-verified="valid"]').waitFor();
    expect(await page.locator(".steps .stp").count()).toBeGreaterThan(8);
    const id = (await passed.getAttribute("data-bundle"))!;
    fs.appendFileSync(path.join(server.evidence, id, "data", "command.txt"), " ");
    await page.keyboard.press("v");
    await page.locator('[data-verified="invalid"]').waitFor();
    expect(await page.locator(".stp.bad").first().innerText()).toContain("data/command.txt");
  });
});

describe("the frame", () => {
  it("the palette finds an action by words, says why one cannot be done, and runs it", async () => {
    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.type("cancel");
    await page.locator(".pal .it", { hasText: "Cancel the run" }).waitFor();
    expect(await page.locator(".pal .it", { hasText: "Cancel the run" }).innerText()).toContain("not in this view");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("go to dev");
    await page.keyboard.press("Enter");
    await page.locator('main[data-page="device"]').waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "All shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("light, dark and the system's theme change at once and are remembered", async () => {
    const ground = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.querySelector(".main")!).backgroundColor);
    await page.getByTitle(/^Change to/).click();
    expect(await ground()).toBe("rgb(255, 255, 255)");
    await page.getByTitle("Change to dark").click();
    expect(await ground()).toBe("rgb(20, 23, 27)");
    await page.reload();
    await page.locator(".app").waitFor();
    expect(await ground()).toBe("rgb(20, 23, 27)");
    await page.getByTitle("Change to system").click();
    expect(await ground()).toBe("rgb(255, 255, 255)");
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    expect(await ground()).toBe("rgb(20, 23, 27)");
  });

  for (const colorScheme of ["light", "dark"] as const) {
    for (const [width, height] of [
      [1280, 800],
      [1920, 1200],
    ] as const) {
      it(`every page is whole, and says something, in ${colorScheme} at ${width} x ${height}`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height });
        await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme);
        // A cancelled run, a crashed one, one of a single result.
        const kept = fs.readdirSync(server.evidence).filter((name) => name.includes("standard"));
        expect(kept.length).toBe(3);
        for (const view of [...PAGE_IDS, ...kept.map((name) => `run?run=${name}`)]) {
          const id = view.split("?")[0];
          await page.goto(`${server.origin}/#/${view}`);
          await page.locator(`main[data-page="${id}"] .page, main[data-page="${id}"] .empty`).first().waitFor();
          if (view.includes("?")) await page.locator(".strip").waitFor();
          await page.waitForFunction(() => (document.querySelector("main")?.innerText.length ?? 0) > 100);
          expect([view, await page.evaluate(overflow)]).toEqual([view, { page: false, frame: [] }]);
        }
        await page.setViewportSize({ width: 1280, height: 800 });
      });
    }
  }

  it("in all of this there was no console error, no uncaught error and no violation of the policy", () => {
    expect(watched.faults).toEqual([]);
  });
});
