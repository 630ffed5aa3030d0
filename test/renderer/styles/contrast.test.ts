/** Every pair of ink and ground that the window uses, in both themes, by the formula of WCAG 2.2. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const CSS = fs.readFileSync(path.resolve("renderer/styles/tokens.css"), "utf8");

type Tokens = ReadonlyMap<string, string>;

/** The colours of a theme: declarations of the block whose selector holds `theme`. */
function tokensOf(theme: "light" | "dark"): Tokens {
  const block = new RegExp(`:root\\[data-theme="${theme}"\\]\\s*\\{([^}]*)\\}`).exec(CSS)?.[1] ?? "";
  return new Map([...block.matchAll(/--([a-z0-9-]+):\s*(#[0-9a-f]{6})/g)].map((match) => [match[1]!, match[2]!]));
}

function luminance(hex: string): number {
  const channel = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(ink: string, ground: string): number {
  const [a, b] = [luminance(ink), luminance(ground)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

interface Pair {
  readonly ink: string;
  readonly ground: string;
  /** 4.5 for text, 3 for edges and marks. */
  readonly needs: 4.5 | 3;
}

function pairs(inks: readonly string[], grounds: readonly string[], needs: 4.5 | 3): readonly Pair[] {
  return inks.flatMap((ink) => grounds.map((ground): Pair => ({ ink, ground, needs })));
}

const VERDICTS = ["pass", "fail", "warn", "crash", "idle", "emu"];

const PAIRS: readonly Pair[] = [
  ...pairs(["text", "text-2", "text-3"], ["window", "surface", "sunken", "raised", "hover", "selected"], 4.5),
  ...pairs(VERDICTS, ["surface", "window", "sunken", "selected", "hover"], 4.5),
  ...VERDICTS.flatMap((name) => [...pairs([name], [`${name}-tint`], 4.5), ...pairs(["on-verdict"], [name], 4.5)]),
  ...pairs(["accent-ink"], ["surface", "window", "sunken", "raised", "accent-tint", "hover"], 4.5),
  ...pairs(["on-accent"], ["accent"], 4.5),
  ...pairs(["accent", "control", "axis"], ["surface", "window", "sunken", "selected"], 3),
  ...pairs(["a", "b"], ["surface"], 4.5),
  ...pairs(["canary", "cat-1", "cat-2", "cat-3", "cat-4", "cat-5", "cat-6", "nan", "inf"], ["surface"], 3),
];

/** The pairs that do not reach what they need, with what they have. */
function misses(tokens: Tokens, list: readonly Pair[]): readonly string[] {
  return list.flatMap(({ ink, ground, needs }) => {
    const [a, b] = [tokens.get(ink), tokens.get(ground)];
    if (a === undefined || b === undefined) return [`${ink} on ${ground}: no such token`];
    const has = contrast(a, b);
    return has < needs ? [`${ink} on ${ground}: ${has.toFixed(2)}, needs ${needs}`] : [];
  });
}

describe("contrast", () => {
  it("is computed as WCAG has it", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 6);
    expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  });

  for (const theme of ["light", "dark"] as const) {
    it(`of the ${theme} theme is enough in every pair`, () => {
      expect(misses(tokensOf(theme), PAIRS)).toEqual([]);
    });
  }

  it("that is not enough is found, and so is a token that is gone", () => {
    const pale = new Map([...tokensOf("light"), ["text-3", "#9aa0a8"]]);
    expect(misses(pale, pairs(["text-3"], ["surface"], 4.5))).toEqual(["text-3 on surface: 2.64, needs 4.5"]);
    expect(misses(pale, pairs(["ink"], ["surface"], 3))).toEqual(["ink on surface: no such token"]);
  });
});
