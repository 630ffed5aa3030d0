import fs from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, type Server, startBrowser, startServer, untilOutcome, type Watched } from "./window.ts";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** The page, opened by its key. */
async function openFragments(): Promise<Watched & { readonly title: () => Promise<string | null> }> {
  const watched = await openPage(browser);
  const { page } = watched;
  await page.goto(server.url);
  await page.locator(".nav").waitFor();
  await page.keyboard.press("6");
  await page.locator(".fm svg").first().waitFor();
  return { ...watched, title: () => page.locator(".fragments-rows > .ph h2").textContent() };
}

describe("fragments", () => {
  it("walks lanes by keys, shows the lane under the pointer, pins it, and finds it again after a reload", async () => {
    const { page, faults, title, context } = await openFragments();
    await page.keyboard.press("g");
    await page.keyboard.type("13");
    await page.keyboard.press("Enter");
    expect(await title()).toBe("Lane 13");
    await page.keyboard.press("ArrowLeft");
    expect(await title()).toBe("Lane 12");
    await page.keyboard.press("ArrowDown");
    expect(await title()).toBe("Lane 14");

    const map = page.locator('[data-map="8x8"]');
    const box = (await map.boundingBox())!;
    // The first place of the tile: row 0, column 0.
    await page.mouse.move(box.x + 40, box.y + 30);
    await expect.poll(title).toBe("Lane 0");
    await page.keyboard.press("Space");
    await page.locator(".tag", { hasText: "pinned" }).waitFor();
    await page.mouse.move(box.x + 160, box.y + 160);
    expect(await title()).toBe("Lane 0");
    await page.reload();
    await page.locator(".fm svg").first().waitFor();
    expect(await title()).toBe("Lane 0");
    expect(await map.getAttribute("aria-valuetext")).toBe("lane 0: row 0, columns 0 and 1");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".tag", { hasText: "pinned" }).count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });

  it("has a table twin and a file of both maps", async () => {
    const { page, faults, context } = await openFragments();
    await page.keyboard.press("t");
    await page.locator(".lanes").waitFor();
    expect(await page.locator(".lanes tbody tr").count()).toBe(32);
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("e")]);
    const text = fs.readFileSync(await download.path(), "utf8");
    expect(text.trimEnd().split("\n")).toHaveLength(1 + 64 + 256);
    expect(faults).toEqual([]);
    await context.close();
  });

  it("sorts the errors of a result by lane once there is one, and says what is missing before", async () => {
    const { page, faults, context } = await openFragments();
    await page.getByText("No run yet. A result of mla_prefill fills this chart.").waitFor();
    expect(await page.getByRole("button", { name: "error", exact: true }).count()).toBe(0);
    await page.keyboard.press("3");
    await page.keyboard.press("r");
    await untilOutcome(page, "passed");
    await page.keyboard.press("6");
    await page.locator(".lane-words").waitFor();
    expect(await page.locator('.pane[aria-label="Error by lane"] .barrect').count()).toBe(32);
    expect(await page.locator(".lane-words").textContent()).toContain("no lane over the limit");
    await page.getByRole("button", { name: "error", exact: true }).click();
    // From the lane to its worst output in Parity, and back to the lane.
    await page.keyboard.press("Shift+F");
    await page.locator("[data-element]").waitFor();
    const element = await page.locator("[data-element]").getAttribute("data-element");
    await page.keyboard.press("Shift+F");
    await page.locator(".lane-words a").waitFor();
    await page.locator(".tag", { hasText: "pinned" }).waitFor();
    await page.locator(".fragments-side a").first().click();
    await page.locator(`[data-element="${element}"]`).waitFor();
    await page.keyboard.press("6");
    await page.locator("select.result").selectOption({ label: "T 17 mla.first_last f32, naive, pass" });
    await page.getByText("naive holds its output in no simdgroup matrices.").waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});
