/** Bundles and runs in a real browser: verify, open from elsewhere, export, notes, diff, baseline, a dropped file, pause, skip, the kept log. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixtureBundle, temporary } from "../electron/evidence/fixture.ts";
import { WHERE } from "../electron/runs/harness.ts";
import { type Opened, openWindow, type Server, startServer, untilOutcome } from "./window.ts";

const CLI = path.join(WHERE.root, "out", "cli.mjs");

let elsewhere: string;
let evidence: string;
let server: Server;
let watched: Opened;

beforeAll(async () => {
  watched = await openWindow((folder) => {
    fixtureBundle(folder);
    fixtureBundle(folder, { error: 0.5 });
  });
  ({ server } = watched);
  ({ evidence } = server);
  elsewhere = temporary();
});

afterAll(async () => {
  // Started again by a test.
  await server?.close();
  await watched?.close();
  fs.rmSync(elsewhere, { recursive: true, force: true });
});

const GOOD = "fixture.lockstep";
const BAD = "fixture-2.lockstep";

/** Goes to a view by its address, as a link would. */
async function go(hash: string): Promise<void> {
  await watched.page.evaluate((to) => {
    location.hash = `#/${to}`;
  }, hash);
}

/** Drops files on the window. */
async function drop(files: readonly { readonly name: string; readonly data: Buffer }[]): Promise<void> {
  const sent = files.map(({ name, data }) => ({ name, text: data.toString("base64") }));
  await watched.page.evaluate((given) => {
    const transfer = new DataTransfer();
    for (const { name, text } of given) {
      transfer.items.add(new File([Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))], name));
    }
    dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
  }, sent);
}

describe("the page Evidence", () => {
  it("verifies off the server's thread and says what held", async () => {
    const { page } = watched;
    await go(`evidence?bundle=${GOOD}`);
    await page.locator('[data-verified="none"]').waitFor();
    await page.keyboard.press("v");
    await page.locator('[data-verified="valid"]').waitFor();
    expect(await page.locator(`[data-bundle="${GOOD}"]`).innerText()).toContain("valid");
  });

  it("keeps a note beside the bundle, finds it by the filter, and has it after a reload", async () => {
    const { page } = watched;
    await page.keyboard.press("n");
    await page.getByLabel("Notes on the run").fill("before the tile change");
    await page.keyboard.press("ControlOrMeta+Enter");
    await page.locator(".notes p").getByText("before the tile change").waitFor();
    expect(fs.existsSync(path.join(evidence, `${GOOD}.notes.json`))).toBe(true);
    await page.reload();
    await page.locator(`[data-bundle="${BAD}"]`).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("tile change");
    await page.locator(`[data-bundle="${BAD}"]`).waitFor({ state: "detached" });
    expect(await page.locator("[data-bundle]").count()).toBe(1);
    await page.keyboard.press("Escape");
    await page.locator(`[data-bundle="${BAD}"]`).waitFor();
  });

  it("exports a zip that the command line finds valid, and opens it again, apart and read-only", async () => {
    const { page } = watched;
    await go(`evidence?bundle=${GOOD}`);
    await page.locator(`tr.sel[data-bundle="${GOOD}"]`).waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("e")]);
    expect(download.suggestedFilename()).toBe(`${GOOD}.zip`);
    const zip = path.join(elsewhere, "sent.zip");
    await download.saveAs(zip);
    const verified = spawnSync(process.execPath, [CLI, "verify", zip], { encoding: "utf8" });
    expect([verified.status, verified.stdout]).toEqual([0, expect.stringMatching(/Valid: (\d+) of \1 checks held/)]);
    await drop([{ name: "sent.zip", data: fs.readFileSync(zip) }]);
    await page.locator('[data-bundle="fixture-3.lockstep"]').waitFor();
    await page.getByText("Opened, not of this folder").waitFor();
    await page.locator('[data-verified="valid"]').waitFor();
    expect(await page.locator('[data-action="bundle.close"]').count()).toBe(1);
    await page.locator('[data-action="bundle.close"]').click();
    await page.locator('[data-bundle="fixture-3.lockstep"]').waitFor({ state: "detached" });
  });

  it("opens a bundle by its path, and says why another path is none", async () => {
    const { page } = watched;
    await page.keyboard.press("o");
    const field = page.getByLabel("Path on the machine of the workbench");
    await field.fill(path.join(elsewhere, "absent.lockstep"));
    await page.keyboard.press("Enter");
    await page.locator("dialog .note.fail").getByText("is not there").waitFor();
    await field.fill(path.join(elsewhere, "sent.zip"));
    await page.keyboard.press("Enter");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.locator('[data-verified="valid"]').waitFor();
    await page.locator('[data-action="bundle.close"]').click();
    await page.getByText("Opened, not of this folder").waitFor({ state: "detached" });
  });

  it("opens a folder that is chosen, and looks into its results as into any other's", async () => {
    const { page } = watched;
    const foreign = fixtureBundle(path.join(elsewhere, "foreign.lockstep")).path;
    await page.keyboard.press("o");
    await page.locator('input[data-choose="folder"]').setInputFiles(foreign);
    await page.locator('[data-bundle="foreign.lockstep"]').waitFor();
    await page.locator('[data-verified="valid"]').waitFor();
    await page.getByText("passed, show the run").or(page.getByText("pass, show the run")).click();
    await untilOutcome(page, "passed");
    await page.locator('tr[data-state="pass"]').first().waitFor();
    await go("evidence?bundle=foreign.lockstep");
    await page.locator('[data-action="bundle.close"]').click();
    await page.locator('[data-bundle="foreign.lockstep"]').waitFor({ state: "detached" });
  });

  it("refuses what is dropped and is no bundle, in words", async () => {
    const { page } = watched;
    await drop([{ name: "holiday.jpg", data: Buffer.from("x") }]);
    const words = "holiday.jpg is no bundle, no zip of one, no .safetensors file, no .kernel.json and no .xml or .csv";
    await page.getByText(words).waitFor();
    await drop([{ name: "bomb.zip", data: Buffer.from("PK, but no zip") }]);
    await page.getByText("Nothing was unpacked").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".note.fail").waitFor({ state: "detached" });
  });

  it("diffs with the pinned baseline by D, swaps by X, and keeps the pin over a reload", async () => {
    const { page } = watched;
    await go(`evidence?bundle=${GOOD}`);
    await page.locator(`tr.sel[data-bundle="${GOOD}"]`).waitFor();
    await page.keyboard.press("b");
    await page.locator(".nav").getByText("Baseline").waitFor();
    await page.reload();
    await page.locator(".nav").getByText("Baseline").waitFor();
    await page.locator(`[data-bundle="${BAD}"]`).click();
    await page.keyboard.press("d");
    await page.locator(`[data-diff-of="${GOOD} ${BAD}"]`).waitFor();
    expect(await page.locator(".say").innerText()).toContain("1 broke of 2 results");
    expect(await page.locator('[data-diff="verdicts"]').count()).toBe(1);
    expect(await page.locator(".status code").innerText()).toMatch(
      /^lockstep diff \S+fixture\.lockstep \S+fixture-2\.lockstep$/,
    );
    await page.keyboard.press("x");
    await page.locator(`[data-diff-of="${BAD} ${GOOD}"]`).waitFor();
    expect(await page.locator(".say").innerText()).toContain("1 mended of 2 results");
    await page.keyboard.press("Escape");
    await page.locator("[data-bundle]").first().waitFor();
  });
});

describe("the page Run", () => {
  it("takes the cases of a dropped file", async () => {
    const { page } = watched;
    const name = "mla_prefill_t77_h4_f32.safetensors";
    await drop([{ name, data: fs.readFileSync(path.join(WHERE.golden, name)) }]);
    await page.locator(".inputs-tag").getByText(name).waitFor();
    expect(await page.locator(".status code").innerText()).toMatch(
      /^lockstep parity --inputs \S+mla_prefill_t77_h4_f32\.safetensors$/,
    );
    await page.keyboard.press("r");
    await untilOutcome(page, "passed");
    await page.getByLabel("Take a suite instead of the file").click();
    await page.locator(".inputs-tag").waitFor({ state: "detached" });
  });

  it("skips the running case and pauses after it; both are in the log, which outlives a reload", async () => {
    const { page } = watched;
    await go("run?suite=quick");
    await page.locator('[data-action="run.start"]').getByText("Run quick").waitFor();
    await page.keyboard.press("r");
    await page.locator('tr[data-state="running"]').first().waitFor();
    await page.keyboard.press("p");
    await page.keyboard.press("Backspace");
    await page.locator('tr[data-state="skip"]').first().waitFor();
    await page.locator(".say").getByText("nothing runs until you go on").waitFor();
    await page.keyboard.press("p");
    await page.locator('tr[data-state="pass"]').first().waitFor();
    await page.keyboard.press("ControlOrMeta+.");
    await untilOutcome(page, "cancelled");
    const log = page.locator(".log");
    await log.getByText("paused by you").waitFor();
    await page.reload();
    await untilOutcome(page, "cancelled");
    for (const text of ["pause after this case", "paused by you", "goes on"]) await log.getByText(text).waitFor();
    expect(await log.getByText("SKIPPED").count()).toBeGreaterThan(0);
  });

  it("reads its log from the bundle after the server was started again", async () => {
    await server.close();
    server = await startServer({ evidence });
    await watched.page.goto(server.url);
    const { page } = watched;
    await untilOutcome(page, "cancelled");
    await page.locator(".log").getByText("paused by you").waitFor();
    await page.locator(".log").getByText("Cancelled by you").waitFor();
    await page.getByLabel("Show one route").selectOption("naive");
    expect(new Set(await page.locator("table.cases tbody tr td:nth-child(4)").allInnerTexts())).toEqual(
      new Set(["naive"]),
    );
  });

  it("in all of this there was no console error, no uncaught error and no violation of the policy", () => {
    // The old server's window was told that its connection had gone; that is no error of the page.
    expect(watched.faults.filter((fault) => !/WebSocket|ERR_CONNECTION/.test(fault))).toEqual([]);
  });
});
