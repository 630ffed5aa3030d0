/** Keys as text: `r`, `shift+c`, `mod+k`, `?`, `arrowdown`. Pure. */

/** What is used of a `KeyboardEvent`. */
export interface KeyLike {
  readonly key: string;
  readonly metaKey: boolean;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

export function isMac(platform: string): boolean {
  return /mac|iphone|ipad/i.test(platform);
}

/** The text of a key stroke; undefined with Alt, or with Control on a Mac, which belong to the system. */
export function keyText(event: KeyLike, mac: boolean): string | undefined {
  if (event.altKey || (mac ? event.ctrlKey : event.metaKey)) return undefined;
  const mod = mac ? event.metaKey : event.ctrlKey;
  const key = event.key.toLowerCase();
  // Shift is part of a sign such as `?`, and stands apart from letters and named keys.
  const shift = event.shiftKey && (key.length > 1 || /^\p{L}$/u.test(key));
  return `${mod ? "mod+" : ""}${shift ? "shift+" : ""}${key}`;
}

/** Strokes that work inside a text field as well. */
export function worksInText(text: string): boolean {
  return text.startsWith("mod+") || text === "escape" || text === "f6" || text === "shift+f6";
}

/** A letter, a digit or a sign by itself or with Shift: what a user can turn off. Named keys and the space bar stay. */
export function isSingle(text: string): boolean {
  const key = text.replace(/^shift\+/, "");
  return key.length === 1 && key !== " ";
}

const NAMES: Readonly<Record<string, string>> = {
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
  escape: "Esc",
  enter: "↵",
  backspace: "⌫",
  f6: "F6",
  " ": "Space",
};

/** How a stroke is written on a button: `⌘K` on a Mac, `Ctrl K` elsewhere. */
export function keyLabel(text: string, mac: boolean): string {
  const parts = text.split("+");
  const key = parts.pop() || "+";
  const name = NAMES[key] ?? key.toUpperCase();
  const mod = parts.includes("mod") ? (mac ? "⌘" : "Ctrl ") : "";
  const shift = parts.includes("shift") ? "⇧" : "";
  return `${mod}${shift}${name}`;
}
