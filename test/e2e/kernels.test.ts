/** The Kernels page in a browser: a check compiles the route, and an error of the compiler stands at its line. */
import fs from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WHERE } from "../electron/runs/harness.ts";
import type { Fault } from "../kernels/faults.ts";
import { programWith } from "./program.ts";
import { openPage, type Server, startBrowser, startServer } from "./window.ts";

/** A source that no compiler takes: what is summed has lost its name. */
const FAULT: Fault = {
  name: "undeclared_name",
  operator: "mla_prefill",
  route: "naive",
  file: "mla_prefill/naive.metal",
  find: "const float base = softmax_base(maximum);",
  replace: "const float base = softmax_base(lost_name);",
  what: "a name that is not declared",
};
const LINE = fs
  .readFileSync(path.join(WHERE.kernels, FAULT.file), "utf8")
  .split("\n")
  .findIndex((line) => line.includes(FAULT.find));

let root: string;
let server: Server;
let browser: Browser;

beforeAll(async () => {
  root = programWith(FAULT);
  [server, browser] = await Promise.all([startServer({ root }), startBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  fs.rmSync(root, { recursive: true, force: true });
});

describe("kernels", () => {
  it("compiles a route by a key, and shows an error at its line", async () => {
    const { page, faults, context } = await openPage(browser);
    await page.goto(server.url);
    await page.locator(".nav").waitFor();
    await page.keyboard.press("8");
    await page.locator('[data-route="naive"]').first().click();
    await page.locator('[data-check="none"]').waitFor();
    await page.keyboard.press("k");
    await page.locator('[data-check="there"]', { hasText: "compiles" }).waitFor();
    expect(await page.locator(".checkline").innerText()).toContain("built on emulated:m3-max");

    await page.locator('[data-route="naive"]').last().click();
    await page.getByRole("button", { name: /^Check/ }).click();
    await page.locator('[data-check="there"]', { hasText: "does not compile" }).waitFor();
    const place = page.locator(".place").first();
    expect(await place.innerText()).toContain(`${FAULT.file}:${LINE + 1}:`);
    await place.click();
    const said = page.locator(`[data-line="${LINE + 1}"] [data-said="compiler"]`);
    await said.waitFor();
    expect(await said.innerText()).toMatch(/error, column \d+: .*lost_name/);
    expect(faults).toEqual([]);
    await context.close();
  });
});
