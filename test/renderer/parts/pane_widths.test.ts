/** Widths of panes: defaults, fitting into a window, keys, and what is read back from storage. */
import { describe, expect, it } from "vitest";
import { PAGE_IDS } from "../../../electron/actions.ts";
import {
  DRAWER_BELOW,
  defaultWidth,
  dragged,
  drawerWidth,
  fitWidths,
  greatestWidth,
  PANE_WIDTHS,
  type PageWidths,
  widthByKey,
  widthsKey,
} from "../../../renderer/parts/pane_widths.ts";
import { parseStored } from "../../../renderer/state/stored.ts";

/** Of the navigation: the whole one, and the rail of narrow windows. */
const NAV = 164;
const RAIL = 48;

function defaults(page: PageWidths, windowWidth: number): { readonly left: number; readonly right: number } {
  return {
    left: page.left === undefined ? 0 : defaultWidth(page.left, windowWidth),
    right: page.right === undefined ? 0 : defaultWidth(page.right, windowWidth),
  };
}

describe("the table", () => {
  it("has the design's widths at 1,280 and from 1,600 px", () => {
    expect(defaults(PANE_WIDTHS.parity, 1280)).toEqual({ left: 232, right: 322 });
    expect(defaults(PANE_WIDTHS.parity, 1599)).toEqual({ left: 232, right: 322 });
    expect(defaults(PANE_WIDTHS.parity, 1600)).toEqual({ left: 300, right: 400 });
    expect(defaults(PANE_WIDTHS.dispatch, 1280)).toEqual({ left: 252, right: 300 });
    expect(defaults(PANE_WIDTHS.run, 1920)).toEqual({ left: 0, right: 460 });
  });

  it("fits whole at 1,280 px, and with its least widths where the drawer begins", () => {
    for (const id of PAGE_IDS) {
      const page: PageWidths = PANE_WIDTHS[id];
      expect([id, fitWidths(1280 - NAV, page, defaults(page, 1280))]).toEqual([id, defaults(page, 1280)]);
      const least = (page.left?.min ?? 0) + page.centre + (page.right?.min ?? 0);
      expect([id, least <= DRAWER_BELOW - NAV]).toEqual([id, true]);
      // Without its right pane, at the smallest window that the desktop allows.
      expect([id, (page.left?.min ?? 0) + page.centre <= 1000 - RAIL]).toEqual([id, true]);
    }
  });
});

describe("fitting", () => {
  const page: PageWidths = {
    left: { narrow: 200, wide: 300, min: 150 },
    right: { narrow: 300, wide: 400, min: 250 },
    centre: 400,
  };

  it("gives what was asked for where there is room", () => {
    expect(fitWidths(1000, page, { left: 200, right: 300 })).toEqual({ left: 200, right: 300 });
    expect(fitWidths(Number.POSITIVE_INFINITY, page, { left: 200, right: 300 })).toEqual({ left: 200, right: 300 });
  });

  it("takes from the right first, then from the left, and from neither below its minimum", () => {
    expect(fitWidths(880, page, { left: 200, right: 300 })).toEqual({ left: 200, right: 280 });
    expect(fitWidths(820, page, { left: 200, right: 300 })).toEqual({ left: 170, right: 250 });
    expect(fitWidths(500, page, { left: 200, right: 300 })).toEqual({ left: 150, right: 250 });
    expect(fitWidths(2000, page, { left: 10, right: 20 })).toEqual({ left: 150, right: 250 });
  });

  it("leaves out a side that is not there", () => {
    expect(fitWidths(1000, { centre: 400 }, { left: 200, right: 300 })).toEqual({ left: 0, right: 0 });
  });

  it("lets a side grow to what the other and the centre leave", () => {
    expect(greatestWidth(1000, page, "left", 300)).toBe(300);
    expect(greatestWidth(700, page, "right", 200)).toBe(250);
  });

  it("leaves a strip of the centre beside a drawer", () => {
    expect(drawerWidth(952, page, 300)).toBe(300);
    expect(drawerWidth(350, page, 300)).toBe(270);
    expect(drawerWidth(300, page, 300)).toBe(250);
  });
});

describe("keys on a separator", () => {
  const limits = { min: 150, max: 400 };

  it("move it where the arrow points", () => {
    expect(widthByKey("ArrowRight", false, "left", 200, limits)).toBe(208);
    expect(widthByKey("ArrowRight", false, "right", 200, limits)).toBe(192);
    expect(widthByKey("ArrowLeft", true, "right", 200, limits)).toBe(232);
  });

  it("stop at the limits", () => {
    expect(widthByKey("ArrowLeft", true, "left", 160, limits)).toBe(150);
    expect(widthByKey("Home", false, "right", 200, limits)).toBe(150);
    expect(widthByKey("End", false, "left", 200, limits)).toBe(400);
  });

  it("are left alone where they mean nothing here", () => {
    expect(widthByKey("ArrowUp", false, "left", 200, limits)).toBeUndefined();
    expect(widthByKey("r", false, "left", 200, limits)).toBeUndefined();
  });
});

describe("what is read back", () => {
  const read = (text: string | null): unknown => parseStored(dragged, text, {});

  it("is what was kept", () => {
    expect(read('{"left":240}')).toEqual({ left: 240 });
    expect(read('{"left":240,"right":333}')).toEqual({ left: 240, right: 333 });
  });

  it("is nothing where it is broken, foreign or absurd", () => {
    for (const text of [null, "", "{", "[]", '{"left":"240"}', '{"left":-4}', '{"left":1e9}', '{"middle":3}']) {
      expect([text, read(text)]).toEqual([text, {}]);
    }
  });

  it("has a key of its own for every page", () => {
    expect(new Set(PAGE_IDS.map(widthsKey)).size).toBe(PAGE_IDS.length);
  });
});
