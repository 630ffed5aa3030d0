/** The palette: signs, elements by index, and the command of each action. */
import { describe, expect, it } from "vitest";
import { WINDOW_ACTIONS, type WindowAction } from "../../../electron/actions.ts";
import { lineOf } from "../../../renderer/shell/actions.ts";
import { isSingle, worksInText } from "../../../renderer/shell/keys.ts";
import { indexItem, readQuery } from "../../../renderer/shell/palette_items.ts";
import type { Row } from "../../../renderer/state/rows.ts";

const CASE = "gqa_decode/L8-h4kv2d16/f32/synthetic.spread/0x1";

function rowOf(shape: object): Row {
  return {
    key: `${CASE}|naive`,
    case: CASE,
    route: "naive",
    state: "pass",
    record: { shape } as unknown as Row["record"],
    result: undefined,
  };
}

const DECODE = rowOf({ operator: "gqa_decode", heads: 4, kvHeads: 2, dim: 16, live: 8 });

function action(id: string): WindowAction {
  return WINDOW_ACTIONS.find((each) => each.id === id)!;
}

describe("a query", () => {
  it("begins with a sign or with none", () => {
    expect(readQuery("> cancel")).toEqual({ sign: ">", text: "cancel" });
    expect(readQuery("@T 77")).toEqual({ sign: "@", text: "T 77" });
    expect(readQuery("#quick")).toEqual({ sign: "#", text: "quick" });
    expect(readQuery(":12")).toEqual({ sign: ":", text: "12" });
    expect(readQuery("go to: x")).toEqual({ sign: "", text: "go to: x" });
    expect(readQuery("")).toEqual({ sign: "", text: "" });
  });
});

describe("an index", () => {
  it("is an element of the result at hand", () => {
    let went = -1;
    const item = indexItem({ id: "r", row: DECODE }, "35", (index) => {
      went = index;
    });
    expect(item.blocked).toBeUndefined();
    expect(item.title).toBe("Go to h 2, d 3, index 35");
    item.run();
    expect(went).toBe(35);
  });

  it("may be named by head and dimension", () => {
    expect(indexItem({ id: "r", row: DECODE }, "h2 d3", () => undefined).title).toBe("Go to h 2, d 3, index 35");
  });

  it("that is none says what there is, and goes nowhere", () => {
    let went = false;
    for (const text of ["64", "h9", "nonsense", "", "-1"]) {
      const item = indexItem({ id: "r", row: DECODE }, text, () => {
        went = true;
      });
      expect([text, item.blocked]).toEqual([text, expect.stringContaining("0 to 63")]);
      item.run();
    }
    expect(went).toBe(false);
  });

  it("needs a result", () => {
    expect(indexItem(undefined, "3", () => undefined).blocked).toBe("no result is at hand");
  });
});

describe("the command of an action", () => {
  const view = "lockstep parity --suite quick --route naive";

  it("is the view's where both are of one command", () => {
    expect(lineOf(action("run.start"), undefined, view)).toBe(view);
    expect(lineOf(action("run.start"), undefined, "lockstep parity")).toBe("lockstep parity");
  });

  it("is its own where the view is about something else", () => {
    expect(lineOf(action("run.start"), ["lockstep", "parity", "--case", "a b"], "lockstep dispatch --case x")).toBe(
      "lockstep parity --case 'a b'",
    );
    expect(lineOf(action("evidence.verify"), undefined, view)).toBe("lockstep verify");
    expect(lineOf(action("page.run"), undefined, view)).toBe("lockstep parity");
  });

  it("is none where the action concerns the window alone", () => {
    expect(lineOf(action("window.settings"), undefined, view)).toBeNull();
    expect(lineOf(action("window.command"), undefined, view)).toBe(view);
  });
});

describe("single keys", () => {
  it("are letters, digits and signs, with Shift too", () => {
    expect(["r", "shift+c", "1", "?", "/", "["].every(isSingle)).toBe(true);
    expect(["mod+k", "arrowdown", "shift+f6", "escape", " ", "backspace"].some(isSingle)).toBe(false);
  });

  it("never include the ways to another pane, the palette or the settings", () => {
    for (const id of ["window.pane", "window.paneback", "window.palette", "window.settings", "window.close"]) {
      expect([id, action(id).keys.some((stroke) => !isSingle(stroke) && worksInText(stroke))]).toEqual([id, true]);
    }
  });
});
