/** From a kernel with one wrong line to the key that it leaves out, by the window alone. */
import fs from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FAULTS } from "../kernels/faults.ts";
import { programWith } from "./program.ts";
import { openPage, type Server, startBrowser, startServer, untilOutcome, type Watched } from "./window.ts";

const FAULT = FAULTS.find(({ name }) => name === "fused_partition_edge_dropped")!;
/** Inputs whose partition edges carry the weight. */
const CASE = "gqa_decode/h32kv4d512/L8192/edges32/f32";
/** The last row of partition 5 of 32 over 8,192 keys: what the kernel drops. */
const DROPPED = 6 * (8192 / 32) - 1;

let root: string;
let server: Server;
let browser: Browser;
let watched: Watched;
let page: Page;

beforeAll(async () => {
  root = programWith(FAULT);
  [server, browser] = await Promise.all([startServer({ root }), startBrowser()]);
  watched = await openPage(browser);
  page = watched.page;
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  fs.rmSync(root, { recursive: true, force: true });
});

describe("a deliberately broken kernel", () => {
  it("fails its run: the gates that it breaks are named", async () => {
    await page.goto(server.url);
    await page.locator(".nav").waitFor();
    await page.keyboard.press("2");
    await page.getByLabel("Operator").selectOption("gqa_decode");
    await page.getByLabel("Case to begin with").selectOption(CASE);
    await page.getByLabel("Force route").selectOption(FAULT.route);
    await page.locator(`.strip[data-chosen="${FAULT.route}"]`).waitFor();
    await page.locator('[data-action="run.start"]:not([disabled])').waitFor();
    await page.keyboard.press("r");
    await untilOutcome(page, "failed");
    expect(await page.locator('tr[data-state="fail"]').count()).toBe(1);
    await page.locator('tr[data-state="fail"]').click();
    expect(await page.locator(".side").innerText()).toContain("max_abs");
  });

  it("leads to its worst element, and that to the key which the kernel leaves out", async () => {
    await page.keyboard.press("4");
    await page.locator("[data-element]").waitFor();
    expect(await page.locator(".strip .say").innerText()).toMatch(/^Fail largest error is /);
    expect(await page.locator(".facts-el").innerText()).toMatch(/\d × limit/);
    const side = page.locator(".parity-side");
    await side.locator(".topkeys tbody tr").first().waitFor();
    const fact = async (name: string): Promise<number> =>
      Number(/^\S+\s+(\S+)/.exec(await side.locator(".facts-el tr", { hasText: name }).first().innerText())?.[1]);
    const [output, oracle] = [await fact("output"), await fact("oracle")];
    // The weights of the rest add up to 1 again where one key is left out.
    const explains = (await side.locator(".topkeys tbody tr").allInnerTexts()).flatMap((text) => {
      const [key = "", , weight, , term] = text.replaceAll("−", "-").replaceAll(",", "").split("\t");
      return Math.abs((oracle - Number(term)) / (1 - Number(weight)) - output) < 5e-3 ? [Number(key)] : [];
    });
    expect(explains).toEqual([DROPPED]);
  });

  it("nothing went wrong in the page", () => {
    expect(watched.faults).toEqual([]);
  });
});
