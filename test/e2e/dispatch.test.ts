import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, type Server, startBrowser, startServer, untilOutcome } from "./window.ts";

let server: Server;
let browser: Browser;
let page: Page;
let faults: string[];

beforeAll(async () => {
  server = await startServer();
  browser = await startBrowser();
  ({ page, faults } = await openPage(browser));
  await page.goto(server.url);
  await page.locator(".nav").waitFor();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const chosen = (route: string) => page.locator(`.strip[data-chosen="${route}"]`);
const command = () => page.locator(".status code").innerText();

describe("dispatch", () => {
  it("cites what an M3 answered where the 16x16 route is refused, and not on a newer family", async () => {
    await page.keyboard.press("2");
    await chosen("simdgroup_8x8").waitFor();
    const quote = page.getByText("simdgroup_matrix<T,16,16x16> operations are supported by GPUFamily10 and later");
    await quote.waitFor();
    expect(await page.locator('tr[data-predicate="apple10"]').innerText()).toMatch(/Apple10 or later\s+Apple9\s+table/);
    await page.locator('tr[data-chip="M5 Max"]').click();
    await page.locator('tr[data-predicate="apple10"][data-holds="true"]').waitFor();
    expect(await quote.count()).toBe(0);
    expect(page.url()).toContain("chip=M5+Max");
    await page.keyboard.press("ArrowDown");
    await page.locator('tr[data-chip="M5 Pro"][aria-selected="true"]').waitFor();
  });

  it("a changed value flips the route at once, is marked, and is in the address and the command", async () => {
    await page.getByLabel("Operator").selectOption("gqa_decode");
    await chosen("three_stage").waitFor();
    const width = page.getByLabel("Head width");
    await width.fill("500");
    await chosen("").waitFor();
    await page.locator('tr[data-predicate="head_dim"][data-holds="false"]').first().waitFor();
    await page.waitForFunction(() =>
      [...document.querySelectorAll("tr[data-chip] td:last-child")].every((cell) => cell.textContent === "no route"),
    );
    expect(await width.getAttribute("class")).toContain("chg");
    expect(page.url()).toContain("dim=500");
    expect(await command()).toMatch(/^lockstep dispatch --shape '\{.*"dim":500.*\}' --chip 'M5 Pro'$/);
    await page.reload();
    await chosen("").waitFor();
    await page.getByRole("button", { name: "Head width back to 512" }).click();
    await chosen("three_stage").waitFor();
    expect(await command()).toBe("lockstep dispatch --case gqa_decode/h32kv4d512/L8192/spread/f32 --chip 'M5 Pro'");
    await width.fill("5 0");
    await page.getByText("Head width is a whole number, 0 or more").waitFor();
    await page.getByRole("button", { name: "Reset" }).click();
    await page.locator('tr[data-chip="M3 Max"][aria-selected="true"]').waitFor();
  });

  it("the filter keeps the chips that match", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("apple10");
    await page.waitForFunction(() => document.querySelectorAll("tr[data-chip]").length === 3);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelectorAll("tr[data-chip]").length === 19);
  });

  it("R runs the case with the route that was chosen", async () => {
    await page.getByLabel("Case to begin with").selectOption("gqa_decode/h32kv4d512/L33/spread/f32");
    await page.getByLabel("Force route").selectOption("naive");
    await chosen("naive").waitFor();
    await page.locator('[data-action="run.start"]:not([disabled])').waitFor();
    await page.keyboard.press("r");
    await untilOutcome(page, "passed");
    expect(await page.locator("tr[data-state]").allInnerTexts()).toEqual([expect.stringMatching(/L 33[\s\S]*naive/)]);
  });
});

describe("kernels", () => {
  it("opens the source of the chosen route with its table, and a line from the address", async () => {
    await page.goBack();
    await page.getByRole("button", { name: "Source and table of this route" }).click();
    await page.locator('.source[data-lines="88"]').waitFor();
    expect(await page.locator('[data-table="dispatches"]').innerText()).toContain("gqa_naive");
    await page.evaluate(() => {
      location.hash = "#/kernels?case=decode&route=three_stage&file=gqa_decode/stages.h&line=112";
    });
    const line = page.locator(".ln.on");
    await line.waitFor();
    expect(await line.innerText()).toMatch(/^112\s+kernel void gqa_reduce\($/);
    await page.locator(".lintline", { hasText: "lint holds" }).waitFor();
    expect(await page.locator('[data-table="buffers"]').innerText()).toMatch(/scratch, all together\s+2,097,152/);
  });

  it("only the lines in sight of a long source are in the page", async () => {
    await page.locator('[data-route="simdgroup_8x8"]').click();
    await page.locator('[data-file="mla_prefill/prefill.h"]').click();
    await page.locator('.source[data-lines="218"]').waitFor();
    expect(await page.locator(".ln").count()).toBeLessThan(120);
  });

  it("nothing went wrong in the page", () => {
    expect(faults).toEqual([]);
  });
});
