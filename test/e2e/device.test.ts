/** The Device page in a browser: capability table, memory budget by keys and pointer, the machine, files. */
import fs from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, type Server, startBrowser, startServer, type Watched } from "./window.ts";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function openDevice(): Promise<Watched> {
  const watched = await openPage(browser);
  const { page } = watched;
  await page.goto(server.url);
  await page.locator(".nav").waitFor();
  await page.keyboard.press("1");
  await page.locator('[data-chart="budget"] svg').waitFor();
  return watched;
}

describe("device", () => {
  it("has a budget that follows memory, context and model, says by how much it does not fit, and stays in the URL", async () => {
    const { page, faults, context } = await openDevice();
    const fit = page.locator("[data-fit]");
    expect(await fit.getAttribute("data-fit")).toBe("fits");
    await page.getByLabel("Memory", { exact: true }).selectOption("24");
    await expect.poll(() => fit.getAttribute("data-fit")).toBe("does_not_fit");
    expect(await fit.innerText()).toMatch(/Does not fit: 29\.8 GiB needed, limit 16\.0 GiB\. 13\.8 GiB over/);
    await page.getByLabel("Memory", { exact: true }).selectOption("64");

    const slider = page.getByLabel("Context length, logarithmic");
    await slider.focus();
    await page.keyboard.press("Home");
    await expect.poll(() => page.getByLabel("Context, tokens").inputValue()).toBe("256");
    await page.keyboard.press("End");
    await expect.poll(() => fit.getAttribute("data-fit")).toBe("does_not_fit");
    const typed = page.getByLabel("Context, tokens");
    await typed.fill("131072");
    await page.keyboard.press("Enter");
    await expect.poll(() => fit.getAttribute("data-fit")).toBe("fits");

    const weights = page.getByLabel("Weights", { exact: true });
    await weights.fill("heavy");
    expect(await weights.getAttribute("aria-invalid")).toBe("true");
    await weights.fill("40 GiB");
    await expect.poll(() => fit.getAttribute("data-fit")).toBe("does_not_fit");
    await page.reload();
    await page.locator('[data-chart="budget"] svg').waitFor();
    expect(await weights.inputValue()).toBe("40 GiB");
    expect(await fit.getAttribute("data-fit")).toBe("does_not_fit");
    expect(faults).toEqual([]);
    await context.close();
  });

  it("shows why a feature is not held, and holds it on another chip; the machine and its files", async () => {
    const { page, faults, context } = await openDevice();
    await page.getByRole("button", { name: "Capabilities" }).click();
    const row = page.locator(".features tr", { hasText: "16×16 matrix engine" }).first();
    expect(await row.innerText()).toContain("not held");
    await row.getByRole("button").click();
    await page.locator(".features .why", { hasText: "supported by GPUFamily10 and later" }).waitFor();
    await page.getByLabel("Device to show").selectOption("chip M5");
    await expect.poll(() => row.innerText()).not.toContain("not held");

    await page.locator(".machine tr", { hasText: "logical cores" }).waitFor();
    await page.locator(".machine .unknown", { hasText: "a state of macOS" }).first().waitFor();

    const [csv] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(".budget").getByRole("button", { name: "CSV" }).click(),
    ]);
    const text = fs.readFileSync(await csv.path(), "utf8");
    expect(text).toContain("computed, not measured");
    expect(text).toContain("KV of the context,10737418240,formula");
    const [svg] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(".budget").getByRole("button", { name: "SVG" }).click(),
    ]);
    expect(fs.readFileSync(await svg.path(), "utf8")).toContain("<svg");
    expect(faults).toEqual([]);
    await context.close();
  });
});
