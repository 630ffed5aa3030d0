import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Browser, Download, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WHERE } from "../electron/runs/harness.ts";
import { openPage, type Server, startBrowser, startServer } from "./window.ts";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const CASE = "gqa_decode/h32kv4d512/L33/spread/f32";

async function textOf(download: Promise<Download>): Promise<string> {
  return fs.readFileSync(await (await download).path(), "utf8");
}

/** Every route on one case, by the command line: the window lists the bundle when it is opened again. */
function runAt(key: string, evidence: string): void {
  const cli = path.join(WHERE.root, "out", "cli.mjs");
  const words = ["parity", "--suite", "quick", "--case", key, "--out", evidence];
  execFileSync(process.execPath, [cli, ...words], { stdio: "ignore" });
}

/** The cell of a requirement and a dispatch, as it reads. */
function cell(page: Page, requirement: string, column: number): Promise<string> {
  return page.locator(`[data-requirement="${requirement}"] td`).nth(column).innerText();
}

describe("captures", () => {
  it("says what would fill it, then holds receipts against the contract and shows every time", async () => {
    const { page, faults, context } = await openPage(browser);
    await page.goto(server.url);
    await page.locator(".nav").waitFor();
    await page.keyboard.press("5");
    await page.getByText("No receipt yet").waitFor();
    runAt(CASE, server.evidence);
    await page.reload();
    await page.locator('[data-table="receipts"]').waitFor();

    await page.getByLabel("Case", { exact: true }).selectOption(CASE);
    await page.getByLabel("Route A").selectOption("fused_split_kv_p32");
    await page.getByText("13 of 13 held").waitFor();
    expect(await cell(page, "dynamic_bytes", 1)).toBe("= 16,384; 0");
    expect(await cell(page, "dynamic_bytes", 2)).toContain("16,384");
    expect(await cell(page, "scratch_bytes", 2)).toContain("2,105,344");
    expect(await cell(page, "registers", 2)).toBe("not known");

    // Where there is no Metal device a capture cannot be made: the button stays within reach and says why.
    const capture = page.getByRole("button", { name: "Capture this case" });
    await capture.focus();
    expect(await capture.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await capture.getAttribute("aria-disabled")).toBe("true");
    const why = (await capture.getAttribute("aria-describedby"))!;
    expect(await page.locator(`[id="${why}"]`).innerText()).toContain("Metal");
    await page.keyboard.press("Enter");
    expect(await page.locator("[data-captured]").count()).toBe(0);

    // A tile of 8 takes all that a threadgroup has.
    await page.getByLabel("tile 8").check();
    await page.getByText("breaks dynamic bytes").waitFor();
    expect(await page.locator(".receipts td.bad").innerText()).toContain("32,768");
    await page.getByLabel("tile 8").uncheck();

    await page
      .getByText("time of the emulation, not of a chip")
      .or(page.locator(".timing-foot .tag.emu"))
      .first()
      .waitFor();
    await page.getByText("No measured time of a chip").waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it("estimates for other figures by keyboard, keeps them in the URL, and refuses nothing that it knows", async () => {
    const { page, faults, context } = await openPage(browser);
    await page.goto(server.url);
    await page.locator(".nav").waitFor();
    await page.keyboard.press("5");
    await page.getByLabel("Case", { exact: true }).selectOption(CASE);
    await page.getByLabel("Route A").selectOption("fused_split_kv_p32");
    const summary = page.locator(".occ-sum");
    await expect.poll(() => summary.innerText()).toContain("3 groups, 24 of 96 simdgroups");
    await page.getByLabel("threadgroup bytes").focus();
    await page.keyboard.press("End");
    await expect.poll(() => summary.innerText()).toContain("1 group, 8 of 96 simdgroups");
    expect(page.url()).toContain("bytes=32768");
    await page.reload();
    await expect.poll(() => summary.innerText()).toContain("1 group, 8 of 96 simdgroups");
    await page.keyboard.press("Escape");
    await expect.poll(() => summary.innerText()).toContain("3 groups");
    expect(faults).toEqual([]);
    await context.close();
  });

  it("has table twins, files, units and the swap of A and B by key", async () => {
    const { page, faults, context } = await openPage(browser);
    await page.goto(server.url);
    await page.locator(".nav").waitFor();
    await page.keyboard.press("5");
    await page.getByLabel("Case", { exact: true }).selectOption(CASE);
    await page.getByLabel("Route A").selectOption("fused_split_kv_p32");
    const traffic = page.locator('[data-chart="traffic"]');
    const saved = page.waitForEvent("download");
    await traffic.getByRole("button", { name: "CSV" }).click();
    const lines = (await textOf(saved)).trimEnd().split("\n");
    expect(lines[0]).toContain("execution emulated");
    const cache = String(4 * 33 * 512 * 4);
    expect(lines.filter((line) => line.startsWith("fused_split_kv_p32,partial,k,"))).toEqual([
      `fused_split_kv_p32,partial,k,${cache},0,once: 4 x 33 x 512 x 4`,
    ]);

    // What the checker counted on the small case of the same pipelines: K once, as the formula says.
    expect(await traffic.locator(".capture-foot").innerText()).toMatch(/^Exact on the small case h32kv4d512 L\d+: /);
    await traffic.getByRole("button", { name: "exact" }).click();
    expect(page.url()).toContain("traffic=exact");
    expect(await traffic.locator(".capture-foot").innerText()).toContain("exact, after optimisation, emulated");
    const exact = page.waitForEvent("download");
    await traffic.getByRole("button", { name: "CSV" }).click();
    const counts = (await textOf(exact)).trimEnd().split("\n");
    expect(counts[0]).toContain("banks and lines are a model");
    const k = counts.find((line) => /^fused_split_kv_p32,[^,]*,partial,k,device,read,,/.test(line))?.split(",") ?? [];
    const [requested, distinct, derived] = [k[9], k[10], k[13]];
    expect(Number(requested)).toBeGreaterThan(0);
    expect([distinct, derived]).toEqual([requested, requested]);
    await traffic.getByRole("button", { name: "Table" }).click();
    await traffic.getByText("A partial k, read").waitFor();
    await traffic
      .getByText(/^model: .* lines of 128/)
      .first()
      .waitFor();
    await traffic.getByRole("button", { name: "Chart" }).click();
    await traffic.getByRole("button", { name: "derived" }).click();

    const timing = page.locator('[data-chart="timing"]');
    await timing.locator("canvas").waitFor();
    await page.locator("body").click({ position: { x: 700, y: 20 } });
    await page.keyboard.press("u");
    await expect.poll(() => page.url()).toContain("unit=");
    await timing.getByRole("button", { name: "Table" }).click();
    expect(await timing.locator("tbody tr").count()).toBe(2);
    const receipts = page.waitForEvent("download");
    await page.locator(".captures-left .pane").first().getByRole("button", { name: "CSV" }).click();
    // Note and head, seven requirements of two dispatches, and the registers of each.
    expect((await textOf(receipts)).trimEnd().split("\n")).toHaveLength(2 + 14 + 2);

    await page.keyboard.press("x");
    await expect.poll(() => page.getByLabel("Route A").inputValue()).toBe("three_stage_staged");
    expect(await page.getByLabel("Route B").inputValue()).toBe("fused_split_kv_p32");
    await page.getByText("25 of 25 held").waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});
