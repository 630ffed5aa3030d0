/** The menu is the registry of actions, each once, and the roles of the system. */
import type { MenuItemConstructorOptions } from "electron";
import { describe, expect, it } from "vitest";
import { WINDOW_ACTIONS } from "../../../electron/actions.ts";
import { accelerator, DOCUMENTS, type MenuOptions, menuTemplate } from "../../../electron/shell/menu.ts";

function template(change: Partial<MenuOptions> = {}): MenuItemConstructorOptions[] {
  return menuTemplate({ mac: true, devTools: false, perform: () => {}, openDocument: () => {}, ...change });
}

function items(menus: readonly MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  return menus.flatMap(({ submenu }) => (Array.isArray(submenu) ? submenu : []));
}

describe("the menu", () => {
  it("holds every action of the registry once, by its title", () => {
    for (const mac of [true, false]) {
      const actions = items(template({ mac })).filter(({ id }) => id !== undefined);
      expect(actions.map(({ id }) => id).sort()).toEqual(WINDOW_ACTIONS.map(({ id }) => id).sort());
      for (const { id, label } of actions) expect(label).toBe(WINDOW_ACTIONS.find((action) => action.id === id)?.title);
    }
  });

  it("does in the window what is chosen", () => {
    const [performed, opened]: [string[], string[]] = [[], []];
    const menus = template({ perform: (id) => performed.push(id), openDocument: (url) => opened.push(url) });
    for (const item of items(menus)) item.click?.(undefined as never, undefined, undefined as never);
    expect([...performed].sort()).toEqual(WINDOW_ACTIONS.map(({ id }) => id).sort());
    expect(opened).toEqual(DOCUMENTS.map(({ url }) => url));
  });

  it("shows keys with a modifier alone, and leaves them to the window", () => {
    const shown = items(template()).filter((item) => item.accelerator !== undefined);
    const wanted = WINDOW_ACTIONS.filter(({ keys }) => keys.some((key) => key.startsWith("mod+")));
    expect(shown.map(({ id }) => id).sort()).toEqual(wanted.map(({ id }) => id).sort());
    expect(shown.length).toBeGreaterThan(0);
    for (const item of shown) {
      expect(item.accelerator).toMatch(/^CommandOrControl\+/);
      expect(item.registerAccelerator).toBe(false);
    }
    expect(accelerator("mod+shift+p")).toBe("CommandOrControl+Shift+P");
    expect(accelerator("mod+.")).toBe("CommandOrControl+.");
    expect(accelerator("mod+[")).toBe("CommandOrControl+[");
  });

  it("has About and Settings in the app's menu on a Mac, and About in Help elsewhere", () => {
    const idsOf = (menus: readonly MenuItemConstructorOptions[], role: string) =>
      items(menus.filter((menu) => menu.role === role)).flatMap(({ id }) => id ?? []);
    expect(idsOf(template(), "appMenu")).toEqual(["window.about", "window.settings"]);
    expect(idsOf(template(), "help")).toEqual([]);
    expect(idsOf(template({ mac: false }), "help")).toEqual(["window.about"]);
  });

  it("has the roles of the system, and those for developers in a checkout alone", () => {
    const roles = (menus: readonly MenuItemConstructorOptions[]) => menus.flatMap(({ role }) => role ?? []);
    expect(roles(template())).toEqual(["appMenu", "fileMenu", "editMenu", "windowMenu", "help"]);
    expect(roles(template({ mac: false }))).toEqual(["fileMenu", "editMenu", "windowMenu", "help"]);
    expect(roles(items(template()))).not.toContain("toggleDevTools");
    expect(roles(items(template({ devTools: true })))).toContain("toggleDevTools");
  });
});
