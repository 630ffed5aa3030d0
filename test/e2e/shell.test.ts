/**
 * The frame of the window in a real browser: names of controls, sizes of text, widths, panes that are dragged, the drawer,
 * settings, the palette. Against the real server.
 */
import { execFileSync } from "node:child_process";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PAGE_IDS, type PageId } from "../../electron/actions.ts";
import { WHERE } from "../electron/runs/harness.ts";
import { openPage, type Server, startBrowser, startServer, type Watched } from "./window.ts";

let server: Server;
let browser: Browser;
let watched: Watched;
let page: Page;

/** One small case, so that pages about results have something to show. */
function runOne(evidence: string): void {
  const words = ["parity", "--suite", "quick", "--operator", "mla_prefill", "--route", "naive", "--case", "T17"];
  execFileSync(process.execPath, [path.join(WHERE.root, "out", "cli.mjs"), ...words, "--out", evidence], {
    stdio: "ignore",
  });
}

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  runOne(server.evidence);
  watched = await openPage(browser);
  page = watched.page;
  await page.goto(server.url);
  await page.locator(".app").waitFor();
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function show(id: PageId): Promise<void> {
  await page.goto(`${server.origin}/#/${id}`);
  await page.locator(`main[data-page="${id}"] :is(.page .ph, .empty h1, .strip)`).first().waitFor();
  await settled();
}

/** Answers come one after the other: until twelve frames have passed in which nothing changed. */
function settled(): Promise<void> {
  return page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        let quiet = 0;
        const observer = new MutationObserver(() => {
          quiet = 0;
        });
        observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
        const frame = (): void => {
          quiet++;
          if (quiet <= 12) requestAnimationFrame(frame);
          else {
            observer.disconnect();
            resolve();
          }
        };
        frame();
      }),
  );
}

/** What is wrong with what is shown: controls without a name, small text, a window that scrolls sideways. */
function faultsOf(): readonly string[] {
  const seen = (element: Element): boolean => (element as HTMLElement).checkVisibility({ visibilityProperty: true });
  const text = (element: Element | null): string => element?.textContent?.trim() ?? "";
  /** After "Accessible name and description computation", for the ways of naming that this window uses. */
  const nameOf = (element: Element): string => {
    const by = element.getAttribute("aria-labelledby");
    const labels = element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.labels : null;
    return (
      element.getAttribute("aria-label")?.trim() ||
      (by === null ? "" : text(document.getElementById(by))) ||
      [...(labels ?? [])].map(text).join(" ").trim() ||
      (element.matches("button, a, summary, [role=option], [role=tab]") ? text(element) : "") ||
      element.getAttribute("title")?.trim() ||
      ""
    );
  };
  const describe = (element: Element): string => {
    const html = element.outerHTML;
    return html.length > 160 ? `${html.slice(0, 160)}...` : html;
  };
  const faults: string[] = [];
  const controls = "button, a[href], input, select, textarea, summary, [role=separator], [role=slider], [tabindex='0']";
  for (const element of document.querySelectorAll(controls)) {
    if (seen(element) && nameOf(element) === "") faults.push(`no name: ${describe(element)}`);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent === null || node.textContent?.trim() === "" || !seen(parent) || parent.closest("title, defs") !== null) {
      continue;
    }
    const size = Number.parseFloat(getComputedStyle(parent).fontSize);
    // The index of an element in a fragment's cell may be 10 px.
    const least = parent.closest(".fm") === null ? 11 : 10;
    if (size < least) faults.push(`text of ${size} px: "${text(parent).slice(0, 40)}" in ${describe(parent)}`);
  }
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth)
    faults.push(`the window is ${root.scrollWidth} of ${root.clientWidth} px wide`);
  for (const element of document.querySelectorAll(".app > *, .page, .panes > .pane, .drawer")) {
    const box = element.getBoundingClientRect();
    if (seen(element) && box.width > 0 && (box.right > innerWidth + 1 || box.left < -1)) {
      faults.push(`beyond the window: ${element.className} from ${box.left} to ${box.right} of ${innerWidth}`);
    }
  }
  for (const element of document.querySelectorAll(".top, .nav, .status, .ph")) {
    if (seen(element) && element.scrollWidth > element.clientWidth + 1) {
      faults.push(`cut off: ${element.className} "${text(element).slice(0, 60)}"`);
    }
  }
  for (const element of document.querySelectorAll("td, dd, p")) {
    const { clientWidth: width, clientHeight: height } = element;
    // Words that are broken into single letters, one below the other.
    if (seen(element) && text(element).length > 6 && width < 30 && height > 2 * width) {
      faults.push(`squeezed into ${width} px: "${text(element).slice(0, 40)}"`);
    }
  }
  return faults;
}

describe("every page", () => {
  it("the check finds a control without a name, small text, and what is too wide", async () => {
    await show("gates");
    const found = await page.evaluate(`(() => {
      const bad = document.createElement("div");
      bad.innerHTML = "<button></button><input type='text'><small>small</small>";
      bad.lastChild.style.fontSize = "9px";
      bad.className = "page";
      bad.style.width = "3000px";
      document.querySelector(".main").append(bad);
      const faults = (${faultsOf.toString()})();
      bad.remove();
      return faults;
    })()`);
    for (const fault of ["no name: <button>", "no name: <input", "text of 9 px", "beyond the window: page"]) {
      expect(found).toContainEqual(expect.stringContaining(fault));
    }
  });

  for (const [width, height] of [
    [1000, 700],
    [1100, 700],
    [1280, 800],
    [1920, 1200],
  ] as const) {
    it(`names its controls, has no small text and fits into ${width} x ${height}`, async () => {
      await page.setViewportSize({ width, height });
      const faults: Record<string, readonly string[]> = {};
      for (const id of PAGE_IDS) {
        await show(id);
        faults[id] = await page.evaluate(faultsOf);
        const details = page.locator('[data-action="window.details"]');
        if ((await details.count()) === 0) continue;
        await details.click();
        faults[`${id}, its drawer`] = await page.evaluate(faultsOf);
        await page.keyboard.press("Escape");
      }
      await page.setViewportSize({ width: 1280, height: 800 });
      expect(Object.keys(faults)).toEqual(expect.arrayContaining([...PAGE_IDS]));
      expect(Object.entries(faults).filter(([, found]) => found.length > 0)).toEqual([]);
    });
  }

  it("so do the dialogs", async () => {
    for (const [stroke, name] of [
      ["ControlOrMeta+,", "Settings"],
      ["ControlOrMeta+k", "Command palette"],
      ["?", "All shortcuts"],
    ] as const) {
      await page.keyboard.press(stroke);
      await page.getByRole("dialog", { name }).waitFor();
      expect([name, await page.evaluate(faultsOf)]).toEqual([name, []]);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });
});

describe("panes", () => {
  const width = (label: string): Promise<number> =>
    page
      .locator(`section[aria-label="${label}"]`)
      .evaluate((element) => Math.round(element.getBoundingClientRect().width));

  it("have the design's widths, are dragged, keep it over a reload, and are reset by a double click", async () => {
    await show("dispatch");
    expect([await width("What if"), await width("Chips")]).toEqual([252, 300]);
    const separator = page.locator('[data-separator="right"]');
    const box = (await separator.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, 400);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 40, 420, { steps: 4 });
    await page.mouse.up();
    expect(await width("Chips")).toBe(340);
    expect(await separator.getAttribute("aria-valuenow")).toBe("340");
    await page.reload();
    await separator.waitFor();
    expect(await width("Chips")).toBe(340);
    await separator.dblclick({ position: { x: 4, y: 300 } });
    expect(await width("Chips")).toBe(300);
  });

  it("are moved by arrow keys, which then move no row, and stop at the minimum", async () => {
    const chip = await page.locator("tr[data-chip].sel").getAttribute("data-chip");
    const separator = page.locator('[data-separator="left"]');
    await separator.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    expect(await width("What if")).toBe(292);
    await page.keyboard.press("Home");
    expect(String(await width("What if"))).toBe(await separator.getAttribute("aria-valuemin"));
    await page.keyboard.press("Enter");
    expect(await width("What if")).toBe(252);
    expect(await page.locator("tr[data-chip].sel").getAttribute("data-chip")).toBe(chip);
  });

  it("what is kept is read as if a stranger had written it", async () => {
    await page.evaluate(() => localStorage.setItem("lockstep.panes.1.dispatch", '{"left":"wide"}'));
    await page.reload();
    await page.locator('[data-separator="left"]').waitFor();
    expect(await width("What if")).toBe(252);
    await page.evaluate(() => localStorage.removeItem("lockstep.panes.1.dispatch"));
  });
});

describe("a narrow window", () => {
  it("has the right pane beside the centre at 1,100 px, and as a drawer at 1,099", async () => {
    await page.setViewportSize({ width: 1100, height: 700 });
    await show("dispatch");
    expect(await page.locator(".drawer").count()).toBe(0);
    expect(await page.locator('section[aria-label="Chips"]').isVisible()).toBe(true);
    await page.setViewportSize({ width: 1099, height: 700 });
    await page.locator('[data-action="window.details"]').waitFor();
    expect(await page.locator('section[aria-label="Chips"]').isVisible()).toBe(false);
    expect((await page.locator(".nav").boundingBox())!.width).toBe(48);
  });

  it("opens the drawer by its button, says so, and Escape gives the focus back", async () => {
    const button = page.locator('[data-action="window.details"]');
    expect(await button.getAttribute("aria-expanded")).toBe("false");
    await button.focus();
    await page.keyboard.press("Enter");
    expect(await button.getAttribute("aria-expanded")).toBe("true");
    const pane = page.locator('section[aria-label="Chips"]');
    expect(await pane.isVisible()).toBe(true);
    expect(await pane.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("Escape");
    expect(await pane.isVisible()).toBe(false);
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it("a key that goes to something in the drawer opens it; Escape clears the filter first, then closes it", async () => {
    await page.locator("body").click({ position: { x: 500, y: 20 } });
    await page.keyboard.press("/");
    await page.keyboard.type("M2");
    const pane = page.locator('section[aria-label="Chips"]');
    expect(await pane.locator("tr[data-chip]").count()).toBe(4);
    await page.keyboard.press("Escape");
    expect(await pane.locator("tr[data-chip]").count()).toBeGreaterThan(10);
    expect(await pane.isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    expect(await pane.isVisible()).toBe(false);
  });

  it("F6 reaches the drawer while it is open", async () => {
    await page.keyboard.press("ControlOrMeta+i");
    const names = new Set<string | null>();
    for (let step = 0; step < 4; step++) {
      await page.keyboard.press("F6");
      names.add(await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? null));
    }
    expect([...names].sort()).toEqual(["Candidates", "Chips", "What if"]);
    await page.keyboard.press("ControlOrMeta+i");
    expect(await page.locator('section[aria-label="Chips"]').isVisible()).toBe(false);
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});

describe("settings", () => {
  it("theme, density and single keys hold at once and after a reload", async () => {
    await show("gates");
    await page.keyboard.press("ControlOrMeta+,");
    const dialog = page.getByRole("dialog", { name: "Settings" });
    await dialog.getByRole("button", { name: "dark" }).click();
    await dialog.getByRole("button", { name: "compact" }).click();
    await dialog.getByRole("button", { name: "off" }).click();
    const shown = (): Promise<readonly (string | undefined)[]> =>
      page.evaluate(() => {
        const { theme, density, keys } = document.documentElement.dataset;
        return [theme, density, keys, getComputedStyle(document.documentElement).getPropertyValue("--row").trim()];
      });
    expect(await shown()).toEqual(["dark", "compact", "off", "22px"]);
    await page.keyboard.press("Escape");
    await page.reload();
    await page.locator(".gates-table").waitFor();
    expect(await shown()).toEqual(["dark", "compact", "off", "22px"]);
    await page.keyboard.press("1");
    await page.keyboard.press("F6");
    expect(page.url()).toContain("#/gates");
    await page.keyboard.press("ControlOrMeta+,");
    await dialog.getByRole("button", { name: "system" }).click();
    await dialog.getByRole("button", { name: "default" }).click();
    await dialog.getByRole("button", { name: "on" }).click();
    await page.keyboard.press("Escape");
    await page.keyboard.press("1");
    await page.locator('main[data-page="device"]').waitFor();
  });

  it("the theme is there before the window's own code has run", async () => {
    const other = await openPage(browser);
    await other.page.goto(server.url);
    await other.page.locator(".app").waitFor();
    await other.page.keyboard.press("ControlOrMeta+,");
    await other.page.getByRole("dialog").getByRole("button", { name: "dark" }).click();
    // Nothing but the page itself, its style and the small script.
    await other.page.route(/assets\/.*\.js$/, (route) => route.abort());
    await other.page.reload();
    expect(await other.page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe("rgb(14, 16, 19)");
    expect(await other.page.locator(".app").count()).toBe(0);
    await other.context.close();
  });

  it("about says which build this is, and what never ran", async () => {
    await page.locator(".status .version").click();
    const text = await page.getByRole("dialog", { name: "About Lockstep" }).innerText();
    expect(text).toContain("version");
    expect(text).toContain("EMULATED");
    expect(text).toContain("nothing here has run on a Mac");
    await page.keyboard.press("Escape");
  });
});

describe("the palette", () => {
  const open = async (query: string): Promise<void> => {
    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.type(query);
  };

  it("goes to an element by its index, and says what is none", async () => {
    await show("parity");
    await open(":999999999");
    expect(await page.locator(".pal .it").innerText()).toMatch(/is no element of .*0 to /s);
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type(":12");
    await page.keyboard.press("Enter");
    await page.locator('[data-element="12"]').waitFor();
    expect(page.url()).toContain("el=12");
  });

  it("narrows down to actions, cases and runs by a sign", async () => {
    await open(">");
    expect(await page.locator(".pal .sec").allInnerTexts()).toContain("Window");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("#");
    expect(await page.locator(".pal .it").count()).toBe(1);
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("@T17");
    await page.keyboard.press("Enter");
    await page.locator('main[data-page="parity"]').waitFor();
  });

  it("copies the command of the selected item, and says of a blocked one why", async () => {
    await watched.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await open("go to device");
    await page.keyboard.press("ControlOrMeta+Shift+c");
    await page.locator(".pal .ft", { hasText: "Copied: lockstep devices" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("lockstep devices");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("cancel the run");
    const blocked = page.locator(".pal .it", { hasText: "Cancel the run" });
    expect(await blocked.getAttribute("aria-disabled")).toBe("true");
    expect(await blocked.innerText()).toContain("not in this view");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("settings");
    await page.keyboard.press("ControlOrMeta+Shift+c");
    await page.locator(".pal .ft", { hasText: "no command does it" }).waitFor();
    await page.keyboard.press("Escape");
  });

  it("keeps the focus inside while it is open", async () => {
    await open("");
    for (let step = 0; step < 6; step++) await page.keyboard.press("Tab");
    const inside = await page.evaluate(
      () => document.activeElement === document.body || document.activeElement?.closest("dialog") !== null,
    );
    expect(inside).toBe(true);
    await page.keyboard.press("Escape");
  });
});

describe("on the desktop", () => {
  it("the top bar moves the window, and its controls do not; in a browser nothing of that holds", async () => {
    const regions = (): Promise<readonly string[]> =>
      page.evaluate(() =>
        [".top", ".top .search"].map((name) =>
          getComputedStyle(document.querySelector(name)!).getPropertyValue("-webkit-app-region"),
        ),
      );
    const before = await regions();
    expect(before).not.toContain("drag");
    await page.evaluate(() => {
      document.documentElement.dataset.door = "desktop";
      document.documentElement.dataset.system = "mac";
    });
    expect(await regions()).toEqual(["drag", "no-drag"]);
    expect((await page.locator(".brand svg").boundingBox())!.x).toBeGreaterThan(78);
    await page.evaluate(() => {
      delete document.documentElement.dataset.door;
      delete document.documentElement.dataset.system;
    });
  });
});

describe("all of this", () => {
  it("caused no console error, no uncaught error and no violation of the policy", () => {
    expect(watched.faults).toEqual([]);
  });
});
