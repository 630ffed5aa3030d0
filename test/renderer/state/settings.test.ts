/** Settings: what is read back, what the document shows for them, and that the script before the first paint agrees. */
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";
import { describe, expect, it } from "vitest";
import {
  DEFAULT_SETTINGS,
  SETTINGS_KEY,
  type Settings,
  settingsSchema,
  THEMES,
} from "../../../renderer/state/settings.ts";
import { parseStored } from "../../../renderer/state/stored.ts";
import { attributesOf } from "../../../renderer/state/theme.ts";

describe("settings", () => {
  it("are read back as they were kept", () => {
    const kept: Settings = { theme: "dark", density: "compact", singleKeys: false };
    expect(parseStored(settingsSchema, JSON.stringify(kept), DEFAULT_SETTINGS)).toEqual(kept);
  });

  it("are the defaults where what is kept is broken, foreign or of another form", () => {
    for (const text of [
      null,
      "",
      "dark",
      '"dark"',
      "null",
      '{"theme":"dark"}',
      '{"theme":"pink","density":"default","singleKeys":true}',
      '{"theme":"dark","density":"default","singleKeys":true,"more":1}',
    ]) {
      expect([text, parseStored(settingsSchema, text, DEFAULT_SETTINGS)]).toEqual([text, DEFAULT_SETTINGS]);
    }
  });

  it("become attributes of the document", () => {
    expect(attributesOf(DEFAULT_SETTINGS, false)).toEqual({ theme: "light", density: "default", keys: "on" });
    expect(attributesOf(DEFAULT_SETTINGS, true).theme).toBe("dark");
    expect(attributesOf({ theme: "light", density: "comfortable", singleKeys: false }, true)).toEqual({
      theme: "light",
      density: "comfortable",
      keys: "off",
    });
  });
});

describe("the script before the first paint", () => {
  const script = fs.readFileSync(path.resolve("renderer/public/first_paint.js"), "utf8");

  /** The theme that it sets in a document of its own. */
  function paint(stored: string | null, systemDark: boolean): string | undefined {
    const dataset: { theme?: string } = {};
    vm.runInNewContext(script, {
      localStorage: { getItem: (key: string) => (key === SETTINGS_KEY ? stored : null) },
      matchMedia: () => ({ matches: systemDark }),
      document: { documentElement: { dataset } },
    });
    return dataset.theme;
  }

  it("sets the theme that the window then keeps", () => {
    for (const theme of THEMES) {
      for (const systemDark of [false, true]) {
        const kept: Settings = { ...DEFAULT_SETTINGS, theme };
        expect([theme, systemDark, paint(JSON.stringify(kept), systemDark)]).toEqual([
          theme,
          systemDark,
          attributesOf(kept, systemDark).theme,
        ]);
      }
    }
  });

  it("follows the system where nothing or something broken is kept", () => {
    for (const stored of [null, "{", "null", "7", '{"theme":3}']) {
      expect([stored, paint(stored, true), paint(stored, false)]).toEqual([stored, "dark", "light"]);
    }
  });
});
