/** Attached evidence in a real browser: a drop asks first, refusals name the line, the table, removal, verification. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { INTERVALS_XML } from "../electron/attachments/exports.ts";
import { fixtureBundle } from "../electron/evidence/fixture.ts";
import { type Opened, openWindow, type Server } from "./window.ts";

let watched: Opened;
let server: Server;

beforeAll(async () => {
  watched = await openWindow(fixtureBundle);
  ({ server } = watched);
});

afterAll(async () => await watched?.close());

async function drop(name: string, text: string): Promise<void> {
  await watched.page.evaluate(
    ([called, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content!], called!));
      dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
    },
    [name, text],
  );
}

/** A label like the one dispatch of the fixture, which is called attention. */
const EXPORT = INTERVALS_XML.replaceAll("Command Buffer 0:partial", "attention:attention");

describe("the pane Attached", () => {
  it("asks before it attaches, says the line of what it refuses, and keeps nothing of that", async () => {
    const { page } = watched;
    await drop("cut.xml", EXPORT.slice(0, -60));
    await page.getByRole("dialog", { name: "Attach a file to the run" }).waitFor();
    expect(fs.readdirSync(server.evidence)).toEqual(["fixture.lockstep"]);
    await page.getByRole("dialog").getByRole("button", { name: "Attach" }).click();
    await page.getByText(/^cut\.xml, line \d+: the file ends within/).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(fs.readdirSync(server.evidence)).toEqual(["fixture.lockstep"]);
  });

  it("shows the figures with their unit, the file with its digest, and a match by name as one", async () => {
    const { page } = watched;
    await drop("gpu.xml", EXPORT);
    await page.getByRole("dialog").getByRole("button", { name: "Attach" }).click();
    const pane = page.getByRole("region", { name: "Attached" });
    await pane.getByText("attention, by name").waitFor();
    const text = await pane.innerText();
    expect(text).toContain("Attached evidence: read from a file of another tool, not measured by Lockstep");
    expect(text).toContain("unit: ns");
    expect(text).toContain("6,343,830");
    expect(text).toMatch(/gpu\.xml, [\d.,]+ Ki?B, sha256 [0-9a-f]{8}/);
    expect(await page.getByRole("region", { name: "Timing" }).count()).toBe(0);
    await page.keyboard.press("Shift+A");
    await page.getByRole("region", { name: "Timing" }).waitFor();
  });

  it("is verified with the bundle, whose own result it does not change", async () => {
    const { page } = watched;
    const beside = path.join(server.evidence, "fixture.lockstep.attachments");
    const [id] = fs.readdirSync(beside);
    await page.keyboard.press("7");
    await page.keyboard.press("v");
    await page.locator(`[data-attached="${id}"]`).waitFor();
    expect(await page.locator(`[data-attached="${id}"]`).innerText()).toContain("attached: gpu.xml, no part of it");
    fs.rmSync(path.join(beside, id!, "original.gz"));
    await page.keyboard.press("v");
    await page.getByText("original.gz is missing").waitFor();
    expect(await page.locator("[data-verified]").getAttribute("data-verified")).toBe("valid");
    await page.getByText("an attached file is broken").waitFor();
  });

  it("takes an attachment away only when it is asked again", async () => {
    const { page, faults } = watched;
    await page.keyboard.press("5");
    await page.keyboard.press("Shift+A");
    const pane = page.getByRole("region", { name: "Attached" });
    await pane.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await pane.getByText("Drop an export of").waitFor();
    expect(fs.readdirSync(server.evidence)).toEqual(["fixture.lockstep"]);
    expect(faults).toEqual([]);
  });
});
