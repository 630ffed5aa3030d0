/** Strokes as text, on a Mac and elsewhere; the registry names none twice. */
import { describe, expect, it } from "vitest";
import { SHARED_KEYS, WINDOW_ACTIONS } from "../../electron/actions.ts";
import { type KeyLike, keyLabel, keyText, worksInText } from "../../renderer/shell/keys.ts";

function stroke(key: string, change: Partial<KeyLike> = {}): KeyLike {
  return { key, metaKey: false, ctrlKey: false, altKey: false, shiftKey: false, ...change };
}

describe("keys", () => {
  it("become text", () => {
    expect(keyText(stroke("r"), false)).toBe("r");
    expect(keyText(stroke("R", { shiftKey: true }), false)).toBe("shift+r");
    expect(keyText(stroke("?", { shiftKey: true }), false)).toBe("?");
    expect(keyText(stroke("ArrowDown"), false)).toBe("arrowdown");
    expect(keyText(stroke("k", { ctrlKey: true }), false)).toBe("mod+k");
    expect(keyText(stroke("k", { metaKey: true }), true)).toBe("mod+k");
    expect(keyText(stroke("C", { metaKey: true, shiftKey: true }), true)).toBe("mod+shift+c");
  });

  it("of the system are left alone", () => {
    expect(keyText(stroke("k", { ctrlKey: true }), true)).toBeUndefined();
    expect(keyText(stroke("k", { metaKey: true }), false)).toBeUndefined();
    expect(keyText(stroke("r", { altKey: true }), false)).toBeUndefined();
  });

  it("are written as on the keyboard at hand", () => {
    expect(["mod+shift+c", "shift+r", "arrowup", "?", "mod+."].map((text) => keyLabel(text, true))).toEqual([
      "⌘⇧C",
      "⇧R",
      "↑",
      "?",
      "⌘.",
    ]);
    expect(keyLabel("mod+k", false)).toBe("Ctrl K");
  });

  it("work in a text field only with a modifier, or as Escape and F6", () => {
    expect(["r", "1", "?", "/", "arrowdown"].filter(worksInText)).toEqual([]);
    expect(["mod+k", "escape", "f6"].every(worksInText)).toBe(true);
  });

  it("stand for one action each, but for those that are listed as shared", () => {
    const keys = WINDOW_ACTIONS.flatMap((action) => action.keys);
    const twice = keys.filter((key, at) => keys.indexOf(key) !== at);
    expect(twice.sort()).toEqual([...SHARED_KEYS].sort());
    expect(new Set(WINDOW_ACTIONS.map((action) => action.id)).size).toBe(WINDOW_ACTIONS.length);
  });
});
