/** What goes wrong around a window: its server, its folder, its address, another window, bundles that are none. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { manyRows } from "../../electron/bench/window_bundles.ts";
import { scratchFolder } from "../electron/runs/harness.ts";
import { openPage, type Server, startBrowser, startServer, untilOutcome, type Watched } from "./window.ts";

let browser: Browser;
let folder: string;
let server: Server | undefined;
const windows: Watched[] = [];

beforeAll(async () => {
  browser = await startBrowser();
  folder = scratchFolder();
});

afterEach(async () => {
  for (const { context } of windows.splice(0)) await context.close();
  await server?.close();
  server = undefined;
});

afterAll(async () => {
  await browser?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

async function openWindow({ url }: Server): Promise<Watched> {
  const watched = await openPage(browser);
  windows.push(watched);
  await watched.page.goto(url);
  await watched.page.locator(".app").waitFor();
  return watched;
}

const firstPass = (page: Page): Promise<void> => page.locator('tr[data-state="pass"]').first().waitFor();
const main = (page: Page): Promise<string> => page.locator("main").innerText();

it("two windows see one run; a double click starts one; both cancel it; a reload finds it again", async () => {
  server = await startServer();
  const [one, two] = [await openWindow(server), await openWindow(server)];
  await one.page.getByRole("button", { name: "Run quick" }).dblclick();
  await Promise.all([firstPass(one.page), firstPass(two.page)]);
  expect(await one.page.getByText("one runs at a time").count()).toBe(0);
  await two.page.reload();
  await firstPass(two.page);
  expect(await two.page.locator(".strip").getAttribute("data-outcome")).toBe("running");
  await Promise.all([one, two].map(({ page }) => page.keyboard.press("ControlOrMeta+.")));
  await Promise.all([one, two].map(({ page }) => untilOutcome(page, "cancelled")));
  expect(fs.readdirSync(server.evidence)).toHaveLength(1);
  expect([...one.faults, ...two.faults]).toEqual([]);
});

it("a server that is killed under a window is said; the next one keeps nothing half, and runs", async () => {
  const evidence = path.join(folder, "killed");
  const killed = await startServer({ evidence });
  const { page } = await openWindow(killed);
  await page.getByRole("button", { name: "Run quick" }).click();
  await firstPass(page);
  await killed.kill();
  await page.locator(".gone").waitFor();
  expect(await page.locator(".gone").innerText()).toContain("Start it again with npm start");
  server = await startServer({ evidence });
  const next = await openWindow(server);
  await next.page.getByRole("heading", { name: "Nothing has run yet" }).waitFor();
  await next.page.locator('main [data-action="run.start"]').click();
  await next.page.locator("tr[data-state]").first().waitFor();
  await next.page.keyboard.press("ControlOrMeta+.");
  await untilOutcome(next.page, "cancelled");
  expect(fs.readdirSync(evidence)).toEqual([expect.stringMatching(/\.lockstep$/)]);
  await server.close();
  // What is kept is there again after a restart.
  server = await startServer({ evidence });
  await untilOutcome((await openWindow(server)).page, "cancelled");
});

it("an evidence folder that goes away in mid-run ends the run with its reason; the next run makes it again", async () => {
  const evidence = path.join(folder, "away");
  server = await startServer({ evidence });
  const { page, faults } = await openWindow(server);
  await page.getByRole("button", { name: "Run quick" }).click();
  await firstPass(page);
  fs.rmSync(evidence, { recursive: true });
  await untilOutcome(page, "refused");
  expect(await page.locator(".strip").innerText()).toMatch(/is gone: the run was given up[\s\S]*Next: make room/);
  await page.keyboard.press("Shift+R");
  await page.locator('.strip[data-outcome="running"]').waitFor();
  await page.locator("tr[data-state]").first().waitFor();
  await page.keyboard.press("ControlOrMeta+.");
  await untilOutcome(page, "cancelled");
  expect(faults).toEqual([]);
});

it("an evidence folder that is a file leaves no page empty: each says what is wrong", async () => {
  const evidence = path.join(folder, "file");
  fs.writeFileSync(evidence, "no folder");
  server = await startServer({ evidence });
  const { page, faults } = await openWindow(server);
  await page.getByText("cannot be listed: ENOTDIR").waitFor();
  await page.locator('main [data-action="run.start"]').click();
  await page.getByText("cannot be written (ENOTDIR)").or(page.getByText("cannot be written (EEXIST)")).waitFor();
  await page.keyboard.press("7");
  await page.getByRole("heading", { name: "No bundle yet" }).waitFor();
  expect(await main(page)).toContain("cannot be");
  expect(faults).toEqual([]);
});

it("what is no bundle is listed as such: links, a pipe, an empty folder, a file; the window goes on", async () => {
  const evidence = path.join(folder, "strange");
  const at = (name: string): string => path.join(evidence, `2026-01-0${name}.lockstep`);
  const real = path.join(folder, "real");
  manyRows(real, 200);
  fs.mkdirSync(evidence);
  fs.renameSync(path.join(real, "many-rows.lockstep"), at("1-good"));
  fs.symlinkSync(at("1-good"), at("2-link"));
  fs.symlinkSync("/etc", at("3-etc"));
  fs.symlinkSync(at("4-loop"), at("4-loop"));
  fs.writeFileSync(at("5-file"), "no folder");
  fs.mkdirSync(at("6-empty"));
  for (const [name, make] of [
    ["7-leads-out", (file: string) => fs.symlinkSync("/etc/passwd", file)],
    ["8-pipe", (file: string) => execFileSync("mkfifo", [file])],
  ] as const) {
    fs.mkdirSync(path.join(at(name), "data"), { recursive: true });
    fs.writeFileSync(path.join(at(name), "manifest-sha256.txt"), "");
    make(path.join(at(name), "data", "record.json"));
  }
  server = await startServer({ evidence });
  const { page, faults } = await openWindow(server);
  await page.keyboard.press("7");
  await page.locator("tr[data-bundle]").first().waitFor();
  const rows = await page.locator("tr[data-bundle]").allInnerTexts();
  expect(rows.filter((row) => row.includes("no bundle"))).toHaveLength(7);
  expect(rows).toHaveLength(8);
  expect(rows.join("\n")).toMatch(/data\/record\.json leads out of its bundle/);
  expect(rows.join("\n")).toMatch(/data\/record\.json is no regular file/);
  for (const name of ["7-leads-out", "8-pipe"]) {
    await page.locator(`tr[data-bundle="${path.basename(at(name))}"]`).click();
    await page.keyboard.press("v");
    await page.locator('[data-verified="invalid"]').waitFor();
    await page
      .locator("tr[data-bundle].sel", { hasText: "invalid" })
      .or(page.locator("tr.sel", { hasText: "no bundle" }))
      .waitFor();
  }
  expect(faults).toEqual([]);
});

it("no address leaves a page empty or broken", async () => {
  const evidence = path.join(folder, "addresses");
  manyRows(evidence, 200);
  server = await startServer({ evidence });
  const { page, faults } = await openWindow(server);
  for (const hash of [
    "",
    "#/nope",
    "#/run?run=..",
    "#/run?run=%00",
    "#/run?run=x.lockstep",
    "#/run?sel=%7C%7C%7C&filter=constructor&suite=__proto__",
    "#/run?run=many-rows.lockstep&sel=toString&filter=__proto__&tab=constructor",
    "#/parity?run=x.lockstep&case=a&route=b",
    "#/parity?run=many-rows.lockstep&el=-1&key=NaN&low=-5&high=abc&measure=constructor&axis=__proto__",
    "#/parity?el=1e99&groups=valueOf&scale=toString",
    "#/dispatch?op=constructor&chip=__proto__",
    "#/dispatch?dim=99999999999999999999&live=-4",
    "#/kernels?file=../../package.json&line=-5",
    "#/kernels?case=decode&route=constructor",
    "#/fragments?lane=99&pin=toString",
    "#/captures?run=hasOwnProperty",
    "#/evidence?bundle=__proto__",
    "#/gates?gate=constructor",
    "#/device?chip=%E0%A4%A",
    `#/run?q=${"x".repeat(5000)}`,
    `#/gates?${"a=1&".repeat(3000)}`,
  ]) {
    await page.evaluate((to) => {
      location.hash = to;
    }, hash);
    await page.waitForFunction(() => (document.querySelector("main")?.innerText.length ?? 0) > 60);
    expect([hash, /^The page .* stopped/m.test(await main(page))]).toEqual([hash, false]);
  }
  expect(faults).toEqual([]);
});
