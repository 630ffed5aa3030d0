/**
 * The Kernels page in a browser: a check compiles the route, and an error of the compiler stands at its line; the reports of
 * the checker open at both lines of a race, and a clean kernel says what was looked at.
 */
import fs from "node:fs";
import path from "node:path";
import type { Browser, Download, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratchFolder, WHERE } from "../electron/runs/harness.ts";
import type { Fault } from "../kernels/faults.ts";
import { programWith } from "./program.ts";
import { openPage, type Server, startBrowser, startServer, untilOutcome } from "./window.ts";

/** A source that no compiler takes: what is summed has lost its name. */
const UNDECLARED: Fault = {
  name: "undeclared_name",
  operator: "mla_prefill",
  route: "naive",
  file: "mla_prefill/naive.metal",
  find: "const float base = softmax_base(maximum);",
  replace: "const float base = softmax_base(lost_name);",
  what: "a name that is not declared",
};

/** A tile that is read before all simdgroups have written it. */
const RACE: Fault = {
  name: "barrier_removed",
  operator: "gqa_decode",
  route: "fused_split_kv_p32",
  file: "gqa_decode/fused_split_kv.metal",
  find: "    threadgroup_barrier(mem_flags::mem_threadgroup);\n\n    // Four scores",
  replace: "    // Four scores",
  what: "the barrier behind the stores of the tile is gone",
};

const CASE = "gqa_decode/h32kv4d512/L33/spread/f32";

/** 1-based number of the first line of a source that holds `text`. */
function lineOf(root: string, file: string, text: string): number {
  const lines = fs.readFileSync(path.join(root, "kernels", file), "utf8").split("\n");
  return lines.findIndex((line) => line.includes(text)) + 1;
}

async function open(browser: Browser, server: Server) {
  const watched = await openPage(browser);
  await watched.page.goto(server.url);
  await watched.page.locator(".nav").waitFor();
  return watched;
}

/** Runs one route on one case by way of the page Dispatch. */
async function runRoute(page: Page, route: string, outcome: string): Promise<void> {
  await page.keyboard.press("2");
  await page.getByLabel("Operator").selectOption("gqa_decode");
  await page.getByLabel("Case to begin with").selectOption(CASE);
  await page.getByLabel("Force route").selectOption(route);
  await page.locator(`.strip[data-chosen="${route}"]`).waitFor();
  await page.locator('[data-action="run.start"]:not([disabled])').waitFor();
  await page.keyboard.press("r");
  await untilOutcome(page, outcome);
}

async function textOf(download: Promise<Download>): Promise<string> {
  return fs.readFileSync(await (await download).path(), "utf8");
}

let browser: Browser;
const servers: Server[] = [];
const folders: string[] = [];

beforeAll(async () => {
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  for (const server of servers) await server.close();
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

async function serverWith(fault?: Fault): Promise<{ readonly server: Server; readonly root: string }> {
  const root = fault === undefined ? WHERE.root : programWith(fault);
  if (fault !== undefined) folders.push(root);
  const server = await startServer({ root });
  servers.push(server);
  return { server, root };
}

describe("kernels", () => {
  it("compiles a route by a key, and shows an error at its line", async () => {
    const { server } = await serverWith(UNDECLARED);
    const { page, faults, context } = await open(browser, server);
    const line = lineOf(WHERE.root, UNDECLARED.file, UNDECLARED.find);
    await page.keyboard.press("8");
    await page.locator('[data-route="naive"]').first().click();
    await page.locator('[data-check="none"]').waitFor();
    await page.keyboard.press("k");
    await page.locator('[data-check="there"]', { hasText: "compiles" }).waitFor();
    expect(await page.locator(".checkline").innerText()).toContain("built on emulated:m3-max");

    await page.locator('[data-route="naive"]').last().click();
    await page
      .locator(".checkline")
      .getByRole("button", { name: /^Check/ })
      .click();
    await page.locator('[data-check="there"]', { hasText: "does not compile" }).waitFor();
    const place = page.locator(".place").first();
    expect(await place.innerText()).toContain(`${UNDECLARED.file}:${line}:`);
    await place.click();
    const said = page.locator(`[data-line="${line}"] [data-said="compiler"]`);
    await said.waitFor();
    expect(await said.innerText()).toMatch(/error, column \d+: .*lost_name/);
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe("reports", () => {
  it("lead from the failed gate to both lines of a race, by keys", async () => {
    const { server, root } = await serverWith(RACE);
    const { page, faults, context } = await open(browser, server);
    const [stored, read] = [
      lineOf(root, RACE.file, "tile_keys[i] = key;"),
      lineOf(root, RACE.file, "dot(mine[i], tile_keys[quad])"),
    ];
    await runRoute(page, RACE.route, "failed");
    await page.locator('tr[data-state="fail"]').click();
    await page.locator(".gatelist a", { hasText: "checker" }).click();
    await page.locator('[data-reports="fail"]').waitFor();
    expect(await page.locator(".strip .say").innerText()).toMatch(
      /^\d+ errors in 1 set of pipelines on its small case$/,
    );

    // From what was looked at down to the race between the store and the first read.
    await page.locator("body").click({ position: { x: 700, y: 20 } });
    await page.locator('.reportlist .sel[data-report="race"]').waitFor();
    await page.keyboard.press("ArrowUp");
    await page.locator('[data-table="sets"]').waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    const current = page.locator(".reportlist .sel");
    expect(await current.innerText()).toContain(`fused_split_kv.metal:${stored}, ${read}`);

    await page.keyboard.press("Enter");
    const marked = (line: number) => page.locator(`.ln[data-line="${line}"]`);
    await marked(stored).locator('[data-mark="first"]').waitFor();
    expect(await marked(stored).locator('[data-mark="first"]').innerText()).toMatch(/1\s*write/);
    expect(await marked(read).locator('[data-mark="second"]').innerText()).toMatch(/2\s*read/);
    expect(await marked(stored).getAttribute("class")).toContain("on");
    await page.keyboard.press("Enter");
    await expect.poll(() => marked(read).getAttribute("class")).toContain("on");
    expect(page.url()).toContain("side=second");

    const side = page.locator('[aria-label="Report"]');
    const said = await side.innerText();
    for (const words of ["race between simdgroups", "tile_keys[i] = key;", "lane", "threadgroup", "blind to"]) {
      expect(said).toContain(words);
    }
    // What was selected is in the address.
    await page.reload();
    await expect.poll(() => marked(read).getAttribute("class")).toContain("on");

    const sarif = page.waitForEvent("download");
    await page.locator('[data-action="report.sarif"]').click();
    const log = JSON.parse(await textOf(sarif)) as {
      readonly runs: readonly { readonly results: readonly { readonly ruleId: string }[] }[];
    };
    expect(log.runs[0]?.results.map(({ ruleId }) => ruleId)).toContain("race");
    await page.keyboard.press("/");
    await page.keyboard.type("nothing of this kind");
    await page.getByText("No report has these words").waitFor();
    await page.keyboard.press("Escape");
    await current.waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it("of a clean kernel say what was looked at and what cannot be seen; bytes stand beside its lines", async () => {
    const { server, root } = await serverWith();
    const { page, faults, context } = await open(browser, server);
    await page.keyboard.press("8");
    await page.getByRole("button", { name: "Reports" }).click();
    await page.getByText("A run has the checker look at every set of pipelines once").waitFor();
    await runRoute(page, "naive", "passed");
    await page.keyboard.press("8");
    await page.locator('.strip[data-checked="pass"]').or(page.locator('.strip[data-checked="none"]')).waitFor();
    await page.getByRole("button", { name: "Reports" }).click();
    await page.locator('[data-reports="pass"]').waitFor();
    expect(await page.locator(".strip .say").innerText()).toBe("No report: 1 set of pipelines on its small case");
    expect(await page.locator('[data-table="sets"] tbody tr').innerText()).toContain("no report");
    expect(await page.locator('[aria-label="What the checker cannot see"]').innerText()).toContain(
      "paths that this input does not take",
    );

    await page.getByRole("button", { name: "Source" }).click();
    await page.locator('[data-route="naive"]').first().click();
    await page.locator('.strip[data-checked="pass"]').waitFor();
    await page.getByLabel("bytes").check();
    const line = lineOf(root, "gqa_decode/naive.metal", "device float* row = scores");
    await expect.poll(() => page.locator(`[data-line="${line}"] .bytescell`).innerText()).toMatch(/B$/);
    expect(await page.locator(".bytesnote").innerText()).toContain("exact, after optimisation, emulated");
    expect(faults).toEqual([]);
    await context.close();
  });

  it("of a manifest are asked for by its path, and open at their lines", async () => {
    const { server } = await serverWith();
    const folder = scratchFolder();
    folders.push(folder);
    const file = path.join(folder, "late.kernel.json");
    fs.writeFileSync(
      path.join(folder, "late.metal"),
      [
        "#include <metal_stdlib>",
        "using namespace metal;",
        "kernel void late(device float* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {",
        "  threadgroup float shared[64];",
        "  shared[i] = float(i);",
        "  out[i] = shared[63 - i];",
        "}",
        "",
      ].join("\n"),
    );
    fs.writeFileSync(
      file,
      JSON.stringify({
        schema: "lockstep.kernel/1",
        name: "late",
        source: "late.metal",
        sizes: { N: 64 },
        buffers: [{ name: "out", scratch: "4 * N" }],
        dispatches: [
          {
            function: "late",
            threadgroups: [1],
            threadsPerThreadgroup: ["N"],
            arguments: [{ index: 0, buffer: "out" }],
          },
        ],
      }),
    );
    const { page, faults, context } = await open(browser, server);
    await page.keyboard.press("8");
    await page.locator(".kernels-page").waitFor();
    await page.keyboard.press("m");
    await page.getByRole("textbox", { name: "Manifest" }).fill(path.join(folder, "nothing.kernel.json"));
    await page.locator(".manifestform").getByRole("button", { name: "Check" }).click();
    await page.locator('[data-manifest="refused"]', { hasText: "cannot be read" }).waitFor();
    await page.getByRole("textbox", { name: "Manifest" }).fill(file);
    await page.keyboard.press("Enter");
    await page.locator('[data-reports="fail"]').waitFor();
    expect(await page.locator(".strip .say").innerText()).toContain("in late at N 64");
    await page.locator('.ln[data-line="5"] [data-mark]').waitFor();
    await page.locator('.ln[data-line="6"] [data-mark]').waitFor();
    expect(await page.locator(".status .cli").innerText()).toContain(`lockstep check ${file} --traffic`);

    // The same folder, sent by the window.
    await page.getByRole("button", { name: "Other manifest" }).click();
    await page.getByLabel("Folder that holds a manifest and its sources").setInputFiles(folder);
    await page.locator('[data-reports="fail"]').waitFor();
    expect(await page.locator(".status .cli").innerText()).toContain("lockstep check late.kernel.json");
    expect(faults).toEqual([]);
    await context.close();
  });
});
