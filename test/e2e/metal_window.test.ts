/**
 * The window as it would be on a Mac: the real server and window in a real browser, with the list of devices and the bundles of
 * `metal_fixture.ts` in the place of a Mac's. It shows that the window tells these facts apart, and nothing about Metal.
 */
import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallInput, CallOutput, Handlers } from "../../electron/contract.ts";
import { featuresOf } from "../../electron/device/features.ts";
import { capabilitiesOf } from "../../electron/dispatch/capabilities.ts";
import { dispatch } from "../../electron/dispatch/dispatch.ts";
import { type Served, serve } from "../../electron/serve.ts";
import { openWorkbench } from "../../electron/workbench/workbench.ts";
import { emulatedProfile } from "../../native/emulator/profile.ts";
import { scratchFolder, WHERE } from "../electron/runs/harness.ts";
import { devicesOf, type MetalKind, metalBundle, metalProfile } from "./metal_fixture.ts";
import { openPage, startBrowser, type Watched } from "./window.ts";

const WORDS = 'Invalid device load executing kernel function "gqa_naive" at offset 540672';

let folder: string;
let browser: Browser;
let evidence: string;
const ids = { chip: "", virtual: "", validation: "" };
const started: CallInput<"runs.start">[] = [];
const captured: CallInput<"captures.take">[] = [];

beforeAll(async () => {
  folder = scratchFolder();
  evidence = path.join(folder, "evidence");
  const at = (hour: number) => ({
    name: `2026-01-02t0${hour}0405z-quick`,
    startedAt: `2026-01-02T0${hour}:04:05.000Z`,
  });
  ids.chip = metalBundle(evidence, { kind: "m3max", registers: true, ...at(1) });
  ids.virtual = metalBundle(evidence, { kind: "virtual", ...at(2) });
  ids.validation = metalBundle(evidence, { kind: "m3max", validation: true, words: [WORDS], ...at(3) });
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** A window on a workbench whose devices are those of a Mac; what it would start is noted, and nothing is started. */
async function openMac(kind: MetalKind): Promise<Watched & { readonly served: Served }> {
  const workbench = openWorkbench({ places: WHERE, evidence });
  const handlers: Handlers = {
    ...workbench.handlers,
    "devices.list": ({ chip }) => ({ devices: devicesOf(kind, chip) }),
    "device.features": ({ device, chip }) => {
      const emulated = chip !== null || device === "emulated";
      const profile = emulated ? emulatedProfile(chip ?? undefined) : metalProfile(kind);
      const capabilities = capabilitiesOf(profile);
      return { device: profile.id, capabilities, features: featuresOf(capabilities, profile) };
    },
    "dispatch.explain": (question, ...rest) => {
      if (question.chip !== null || question.device?.startsWith("emulated") || question.subject.kind !== "shape")
        return workbench.handlers["dispatch.explain"](question, ...rest);
      const device = metalProfile(kind);
      const { shape } = question.subject;
      const capabilities = capabilitiesOf(device);
      const decision = dispatch(shape, capabilities, question.forced === null ? {} : { forced: question.forced });
      return { device, reasons: [], capabilities, shape, decision } as unknown as CallOutput<"dispatch.explain">;
    },
    "runs.start": (request) => {
      started.push(request);
      throw new Error("there is no Mac here");
    },
    "captures.take": (request) => {
      captured.push(request);
      throw new Error("there is no Mac here");
    },
  };
  const served = await serve({ window: WHERE.window, workbench: { ...workbench, handlers } });
  const watched = await openPage(browser);
  await watched.page.goto(served.url);
  await watched.page.locator(".dev").waitFor();
  return { ...watched, served };
}

function row(page: Page, table: string, text: string) {
  return page.locator(`${table} tr`, { hasText: text }).first();
}

describe("a Mac with an M3 Max, as the window would show it", () => {
  let mac: Watched & { readonly served: Served };
  let page: Page;

  beforeAll(async () => {
    mac = await openMac("m3max");
    page = mac.page;
  });
  afterAll(async () => {
    await mac?.context.close();
    await mac?.served.close();
  });

  it("is the device at hand, with every fact and how it is known; others can be looked at", async () => {
    await page.keyboard.press("1");
    await row(page, ".facts", "GPU family").waitFor();
    expect(await page.locator(".dev").innerText()).toMatch(/METAL\s+M3 Max/);
    expect(await page.locator(".dev").getAttribute("data-standing")).toBe("chip");
    for (const [label, value] of [
      ["architecture", "applegpu_g15s"],
      ["GPU cores", "40"],
      ["system", "macOS 26.1.0 (25B78)"],
      ["virtual GPU", "no"],
      ["Counter sets", "timestamp"],
      ["Dispatch-boundary counters", "no"],
      ["Mac model", "Mac15,8"],
    ] as const) {
      const cells = await row(page, ".facts", label).locator("td").allInnerTexts();
      expect(cells.slice(1, 3), label).toEqual([value, "API"]);
    }
    // What is not known stands there with the reason.
    expect(await row(page, ".facts", "Offline Metal compiler").innerText()).toContain("not known: xcrun metal");
    await page.getByRole("button", { name: "Capabilities" }).click();
    await page.getByRole("button", { name: "dispatch-boundary counters" }).click();
    expect(await page.locator(".why").innerText()).toContain("known by: API");

    await page.getByLabel("Device to show").selectOption("emulated");
    await page.locator('.dev[data-standing="emulated"]').waitFor();
    await page.getByRole("button", { name: "dispatch-boundary counters" }).click();
    await page.getByText("emulated: wall time of the emulation", { exact: false }).waitFor();
    expect(page.url()).toContain("device=emulated");
    expect(await page.locator(".status code").innerText()).toBe("lockstep devices --device emulated");
    await page.locator('[data-device="metal:0"]').getByRole("button").click();
    await page.locator('.dev[data-standing="chip"]').waitFor();
  });

  it("a run takes the device and the validation that were chosen, and the command says the same", async () => {
    await page.keyboard.press("3");
    const command = page.locator(".status code");
    await page.getByLabel("Device of the next run").selectOption("metal:0");
    await page.getByLabel("with Metal's validation").check();
    await expect.poll(() => command.innerText()).toBe("lockstep parity --suite quick --device metal:0 --validation");
    await page.keyboard.press("r");
    await expect.poll(() => started.at(-1)).toMatchObject({ device: "metal:0", chip: null, validation: true });

    // An emulated chip has no validation, and the box says why while the keyboard still reaches it.
    await page.getByLabel("Device of the next run").selectOption("chip M5");
    const box = page.getByLabel("with Metal's validation");
    await expect.poll(() => box.getAttribute("aria-disabled")).toBe("true");
    await expect.poll(() => command.innerText()).toBe("lockstep parity --suite quick --chip M5");
    await page.getByLabel("Device of the next run").focus();
    await page.keyboard.press("Tab");
    expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press(" ");
    expect(await box.isChecked()).toBe(false);
    const reason = (await box.getAttribute("aria-describedby"))!;
    expect(await page.locator(`[id="${reason}"]`).innerText()).toContain("choose Apple M3 Max");
    await page.getByRole("button", { name: "Run quick" }).click();
    await expect.poll(() => started.at(-1)).toMatchObject({ device: null, chip: "M5", validation: false });
    await page.locator('.dev[data-standing="emulated"]').waitFor();
  });

  it("dispatch is asked for a Metal device or an emulated chip, and says which", async () => {
    await page.keyboard.press("2");
    const asked = page.locator(".strip [data-device]");
    const command = page.locator(".status code");
    await page.locator('.strip [data-device="metal:0"]').waitFor();
    await page.getByLabel("Device to ask about").selectOption("metal:0");
    await expect.poll(() => command.innerText()).toContain("--device metal:0");
    expect(await asked.innerText()).toMatch(/^On Apple M3 Max: matrix_16x16/);
    await page.locator("tr[data-chip='M5']").click();
    await page.locator('.strip [data-device^="emulated"]').waitFor();
    expect(await page.locator(".strip [data-standing]").getAttribute("data-standing")).toBe("emulated");
    await expect.poll(() => command.innerText()).toContain("--chip M5");
    expect(page.url()).not.toContain("device=");
    // The chip of the device at hand takes the choice back.
    await page.locator("tr[data-chip='M3 Max']").click();
    await page.locator('.strip [data-device="metal:0"]').waitFor();
    await expect.poll(() => command.innerText()).not.toContain("--chip");
  });

  it("receipts have registers, language and math mode with how they are known; times name their clock", async () => {
    await page.evaluate((id) => location.assign(`#/captures?run=${id}`), ids.chip);
    const receipt = (id: string) => page.locator(`[data-requirement="${id}"]`);
    await receipt("language").waitFor();
    expect(await receipt("registers").innerText()).toMatch(/33 to 36\s+inferred/);
    expect(await receipt("language").innerText()).toMatch(/MSL 3\.1\s+API/);
    expect(await receipt("mathMode").innerText()).toMatch(/safe\s+API/);
    const timing = page.locator('[data-chart="timing"]');
    expect(await timing.innerText()).toContain("clock: stage-boundary counters");
    await timing.getByRole("button", { name: "Table" }).click();
    const cells = await timing.locator("tbody tr").allInnerTexts();
    // The run under validation has no timing, the one on another device is another device's.
    expect(cells).toHaveLength(2);
    expect(cells[0]).toContain("stage-boundary counters");
    await page.getByRole("button", { name: "Capture this case" }).click();
    await expect.poll(() => captured.at(-1)).toMatchObject({ device: "metal:0", out: null, suite: "quick" });
    expect(captured.at(-1)?.case).toContain("gqa_decode/");
    await page.getByText("there is no Mac here").waitFor();
  });

  it("a run under validation shows every report in Metal's words, and no timing", async () => {
    await page.evaluate((id) => location.assign(`#/captures?run=${id}`), ids.validation);
    const table = page.locator('[data-table="validation"]');
    await table.waitFor();
    expect(await table.locator('[data-report="error"]').innerText()).toContain(WORDS);
    expect(await page.locator('[data-chart="timing"]').count()).toBe(0);
    expect(await page.getByText("errors in Metal's words", { exact: false }).count()).toBe(1);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).nth(1).click();
    const file = fs.readFileSync(await (await saved).path(), "utf8");
    expect(file).toContain("execution metal");
    expect(file).toContain("540672");
    await page.evaluate((id) => location.assign(`#/parity?run=${id}`), ids.validation);
    await page.locator('[data-standing="validation"]').waitFor();
    expect(await page.locator(".strip .say").innerText()).toContain("1 error reported by Metal");
  });

  it("claims stand under the chip; what a virtual GPU did stands apart and supports none", async () => {
    await page.evaluate((id) => location.assign(`#/evidence?bundle=${id}`), ids.virtual);
    await page.locator("tr[data-bundle]").first().waitFor();
    const heads = await page.locator(".claims th").allInnerTexts();
    expect(heads).toEqual(["operator and route", "M3 Max", "Apple Paravirtual device, virtual"]);
    expect(await page.locator(".claims .virtualcol .pips.hi").count()).toBe(0);
    expect(await page.locator(".claims .virtualcol .pips.virtual").count()).toBeGreaterThan(0);
    expect(await page.locator('.kv [data-standing="virtual"]').count()).toBe(1);
    expect(await page.locator(".status [data-execution]").innerText()).toContain("virtual GPU");
    await page.keyboard.press("v");
    await page.locator('[data-verified="valid"]').waitFor();
  });

  it("nothing went wrong in the page", () => expect(mac.faults).toEqual([]));
});

describe("a virtual machine, as the window would show it", () => {
  it("is marked in chip, page, list, run and status bar", async () => {
    const mac = await openMac("virtual");
    const { page } = mac;
    await page.keyboard.press("1");
    await row(page, ".facts", "virtual GPU").waitFor();
    expect(await page.locator(".dev").innerText()).toContain("VIRTUAL GPU");
    expect(await row(page, ".facts", "virtual GPU").innerText()).toContain("yes: results support no chip");
    expect(await page.locator('[data-device="metal:0"]').innerText()).toContain("VIRTUAL GPU");
    expect(await page.locator(".status [data-execution]").innerText()).toContain("virtual GPU");
    await page.evaluate((id) => location.assign(`#/run?run=${id}`), ids.virtual);
    await page.locator('.strip [data-standing="virtual"]').waitFor();
    await page.evaluate((id) => location.assign(`#/parity?run=${id}`), ids.virtual);
    await page.locator('.strip [data-standing="virtual"]').waitFor();
    const promoted = page.locator(".ladder span.off").last();
    expect(await promoted.getAttribute("title")).toContain("a virtual GPU has no timing");
    expect(mac.faults).toEqual([]);
    await mac.context.close();
    await mac.served.close();
  });
});
