/** A failing imported result, drilled into: its worst element, its neighbours in rank, what it was computed from. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSafetensors, writeSafetensors } from "../../oracle/safetensors.ts";
import type { Tensor } from "../../oracle/tensor.ts";
import { scratchFolder, WHERE } from "../electron/runs/harness.ts";
import { openPage, type Server, startBrowser, startServer, type Watched } from "./window.ts";

const H200 = path.join(WHERE.golden, "gqa_decode_d512_long_h200.safetensors");
const PRODUCER = { engine: "e", chip: "c", os: "o", toolchain: "t", build: "b", command: "x" };
/** Head 9, dimension 392. */
const PLANTED = 5000;

let folder: string;
let server: Server;
let browser: Browser;
let watched: Watched;
let page: Page;

/** Judges an output of a GPU with one element changed, into the folder of the server. */
function judgePlanted(evidence: string): void {
  const stored = readSafetensors(H200).tensors.get("L8192.spread.out_f32_sdpa_math")!;
  const data = Float32Array.from(stored.data);
  data[PLANTED] = data[PLANTED]! + 1e-4;
  const outputs = path.join(folder, "planted.safetensors");
  const producer = path.join(folder, "producer.json");
  writeSafetensors(outputs, { "L8192.spread.out": { ...stored, data } as Tensor });
  fs.writeFileSync(producer, JSON.stringify(PRODUCER));
  const words = ["parity", "--case", "L8192.spread", "--outputs", outputs, "--producer", producer, "--out", evidence];
  try {
    execFileSync(process.execPath, [path.join(WHERE.root, "out", "cli.mjs"), ...words], { stdio: "ignore" });
  } catch (error) {
    // A failed gate is exit 1.
    expect((error as { status?: unknown }).status).toBe(1);
  }
}

beforeAll(async () => {
  folder = scratchFolder();
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  judgePlanted(server.evidence);
  watched = await openPage(browser);
  page = watched.page;
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

const selected = (): Promise<string | null> => page.locator("[data-element]").getAttribute("data-element");
const until = (index: number): Promise<void> => page.locator(`[data-element="${index}"]`).waitFor();

describe("the worst element of a failing result", () => {
  it("is found, named and held against the limit", async () => {
    await page.goto(server.url);
    await page.locator(".nav a", { hasText: "Parity" }).click();
    await until(PLANTED);
    expect(await page.locator(".strip .say").innerText()).toMatch(/^Fail largest error is 1\.00e-4, limit \d/);
    expect(await page.locator(".strip").innerText()).toContain("Next: ");
    const facts = await page.locator(".facts-el").innerText();
    expect(facts).toContain("h 9, d 392");
    expect(facts).toMatch(/0x[0-9a-f]{8}/);
    expect(facts).toMatch(/\d × limit/);
    expect(await page.locator(".gatelist .bad").count()).toBeGreaterThan(0);
    expect(await page.locator(".caseline[data-state=fail]").count()).toBe(1);
    const diagnosis = page.locator('[data-diagnosis="place"]');
    expect(await diagnosis.innerText()).toContain("The other probed elements of its row are right");
  });

  it("comes with its operands: the largest terms, both softmax states, the rows of q and k", async () => {
    const side = page.locator(".parity-side");
    expect(await side.locator(".topkeys tbody tr").count()).toBe(8);
    const state = Object.fromEntries(
      await Promise.all(
        ["max m", "sum s", "lse"].map(async (name) => {
          const row = side.locator(".el3 tr", { has: page.locator("th", { hasText: new RegExp(`^${name}$`) }) });
          return [name, Number(await row.locator("td").first().innerText())] as const;
        }),
      ),
    );
    expect(state["max m"]! + Math.log(state["sum s"]!)).toBeCloseTo(state.lse!, 5);
    expect(await side.locator(".strip1").count()).toBe(4);
    await side.locator(".topkeys tbody tr").nth(2).click();
    await side.locator(".topkeys tbody tr.sel").nth(0).waitFor();
    expect(page.url()).toMatch(/[?&]key=\d+/);
  });

  it("down and up walk the ranks, G goes to an address, and a reload keeps the element", async () => {
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(
      (planted) => document.querySelector("[data-element]")?.getAttribute("data-element") !== String(planted),
      PLANTED,
    );
    expect(await page.locator(".parity-side .ph").first().innerText()).toContain("2 of 16,384");
    await page.keyboard.press("ArrowUp");
    await until(PLANTED);
    await page.keyboard.press("g");
    await page.keyboard.type("h 31, d 511");
    await page.keyboard.press("Enter");
    await until(32 * 512 - 1);
    await page.reload();
    await until(32 * 512 - 1);
    expect(page.url()).toContain("el=16383");
  });

  it("is the largest cell of the heat map, which a click selects", async () => {
    const canvas = page.locator("canvas.heat");
    await canvas.waitFor();
    const box = (await canvas.boundingBox())!;
    await canvas.click({ position: { x: ((392 + 0.5) * box.width) / 512, y: ((9 + 0.5) * box.height) / 32 } });
    // Where a cell is narrower than a pixel the neighbours are as near.
    await page.waitForFunction(
      () => document.querySelector("[data-element]")?.getAttribute("data-element") !== "16383",
    );
    expect(Math.abs(Number(await selected()) - PLANTED)).toBeLessThanOrEqual(1);
    await page.locator('[data-chart="map"] .chartfiles').getByText("Table").click();
    const first = page.locator('[data-chart="map"] .twin tbody tr').first();
    expect(await first.innerText()).toMatch(/h 9, d 392\s+1\.00e-4/);
    await first.click();
    await until(PLANTED);
  });

  it("the heat map is saved with title, axes and legend around it", async () => {
    await page.locator('[data-chart="map"] .chartfiles').getByText("Chart").click();
    const canvas = page.locator("canvas.heat");
    await canvas.waitFor();
    const drawn = await canvas.evaluate((element: HTMLCanvasElement) => [element.width, element.height] as const);
    const waiting = page.waitForEvent("download");
    await page.locator('[data-chart="map"] .chartfiles').getByText("PNG").click();
    const png = fs.readFileSync(await (await waiting).path());
    // Width and height stand in the first chunk.
    const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
    expect([width - drawn[0] > 60, height - drawn[1] > 160]).toEqual([true, true]);
  });

  it("the figures are saved as CSV with what they are of", async () => {
    const waiting = page.waitForEvent("download");
    await page.locator('[data-chart="position"] .chartfiles').getByText("CSV").click();
    const text = fs.readFileSync(await (await waiting).path(), "utf8").split("\n");
    expect(text[0]).toContain("execution imported");
    expect(text[1]).toBe("dim,max,mean,element,flags");
    expect(text[2 + 392]).toMatch(/^392,0\.0001\d*,.*,5000,0$|^392,0\.00009\d*,.*,5000,0$|^392,9\.\d+e-5,.*,5000,0$/);
  });

  it("a chart is read and picked from by keys, and its picture is saved", async () => {
    const chart = page.locator('[data-chart="position"] .chart');
    await chart.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    expect(await chart.getAttribute("aria-valuetext")).toMatch(/^dim 1: max \d/);
    await page.keyboard.press("Enter");
    await page.locator(".facts-el .addr", { hasText: /, d 1$/ }).waitFor();
    const [picture] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Shift+E")]);
    expect(picture.suggestedFilename()).toMatch(/^error-along-position.*imported\.png$/);
    await page.locator('[data-chart="ulp"] .chart').focus();
    const [drawing] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Shift+E")]);
    const svg = fs.readFileSync(await drawing.path(), "utf8");
    expect(svg).toContain("execution imported");
    expect(svg).not.toContain("var(--");
    await page.keyboard.press("t");
    await page.locator('[data-chart="ulp"] .twin').waitFor();
    await page.keyboard.press("t");
  });

  it("the dense chart is drawn anew in another theme, and U goes to the next measure", async () => {
    const corner = (): Promise<number[]> =>
      page
        .locator('[data-chart="position"] canvas')
        .evaluate((canvas: HTMLCanvasElement) => [...canvas.getContext("2d")!.getImageData(1, 1, 1, 1).data]);
    expect(await corner()).toEqual([255, 255, 255, 255]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await expect.poll(corner).not.toEqual([255, 255, 255, 255]);
    await page.emulateMedia({ colorScheme: "light" });
    await page.keyboard.press("u");
    expect(page.url()).toContain("measure=relative");
    await page.keyboard.press("a");
  });

  it("the operands are saved as CSV", async () => {
    const waiting = page.waitForEvent("download");
    await page.locator(".parity-side").getByRole("button", { name: "CSV" }).click();
    const lines = fs
      .readFileSync(await (await waiting).path(), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines[1]).toBe("what,index,f64,f32");
    expect(lines.filter((line) => line.startsWith("q,"))).toHaveLength(512);
    expect(lines.filter((line) => line.startsWith("score,"))).toHaveLength(8192);
  });

  it("nothing is cut off, and there was no console error", async () => {
    const over = await page.evaluate(() =>
      [...document.querySelectorAll(".main, .pane, .ph, .strip")]
        .filter((element) => element.scrollWidth > element.clientWidth + 1)
        .map((element) => element.className),
    );
    expect(over).toEqual([]);
    expect(watched.faults).toEqual([]);
  });
});

describe("the results of one run", () => {
  it("are walked by [ and ], drawn over their lengths, and compared route with route", async () => {
    const home = await startServer();
    const words = ["parity", "--suite", "standard", "--case", "ragged_live.row", "--out", home.evidence];
    execFileSync(process.execPath, [path.join(WHERE.root, "out", "cli.mjs"), ...words], { stdio: "ignore" });
    const { page: other, faults, context } = await openPage(browser);
    try {
      await other.goto(home.url);
      await other.locator(".nav a", { hasText: "Parity" }).click();
      const shown = (): Promise<string> => other.locator(".caseline.sel").innerText();
      await other.locator("[data-element]").waitFor();
      // The case of length 0 comes first and has one element that no key made.
      expect(await shown()).toContain("L 0");
      await other.getByRole("button", { name: "len", exact: true }).click();
      const bars = other.locator('[data-chart="groups"] .chart');
      await expect.poll(() => bars.locator(".barhit").count()).toBe(8);
      await bars.locator(".barhit").last().click();
      await expect.poll(shown).toContain("L 64");
      const last = await shown();
      await other.keyboard.press("[");
      await expect.poll(shown).not.toBe(last);
      await other.keyboard.press("]");
      await expect.poll(shown).toBe(last);
      await other.keyboard.press("c");
      await other.locator("[data-compared]").waitFor();
      const before = await other.locator('[data-chart="position"] h2').innerText();
      await other.keyboard.press("x");
      const [a, b] = before.split(" against ");
      await other.locator('[data-chart="position"] h2', { hasText: `${b} against ${a}` }).waitFor();
      expect(await other.locator("[data-diagnosis]").getAttribute("data-diagnosis")).toBe("within");
      expect(faults).toEqual([]);
    } finally {
      await context.close();
      await home.close();
    }
  });
});

describe("inputs that are no longer where the run found them", () => {
  it("are asked for by their path, and then looked at", async () => {
    const home = await startServer();
    const file = path.join(folder, "moved.safetensors");
    fs.copyFileSync(path.join(WHERE.golden, "mla_prefill_t77_h4_f32.safetensors"), file);
    const cli = path.join(WHERE.root, "out", "cli.mjs");
    const words = [
      "parity",
      "--inputs",
      "moved.safetensors",
      "--case",
      "T77",
      "--route",
      "naive",
      "--out",
      home.evidence,
    ];
    execFileSync(process.execPath, [cli, ...words], { cwd: folder, stdio: "ignore" });
    const { page: other, faults, context } = await openPage(browser);
    try {
      await other.goto(home.url);
      await other.locator(".nav a", { hasText: "Parity" }).click();
      await other.getByText("which is not there").waitFor();
      expect(await other.locator(".note.fail").count()).toBe(1);
      await other.getByLabel("Path of the file with the inputs").fill(file);
      await other.keyboard.press("Enter");
      await other.locator("[data-element]").waitFor();
      expect(faults).toEqual([]);
    } finally {
      await context.close();
      await home.close();
    }
  });
});
