/** The colours of a canvas: the tokens of the theme at hand, and colour scales made of their stops. */
import { useSyncExternalStore } from "react";

/** Steps of a colour scale. */
export const STEPS = 512;

const STOPS = 9;

/** Red, green, blue of `#rrggbb`. */
export function parseHex(text: string): readonly [number, number, number] {
  const value = Number.parseInt(text.trim().replace("#", ""), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** A colour as one word of an `ImageData`, little endian. */
export function pixel([red, green, blue]: readonly [number, number, number]): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** `STEPS` colours between the stops, interpolated in sRGB, as pixels. */
export function ramp(stops: readonly string[]): Uint32Array {
  const colors = stops.map(parseHex);
  return Uint32Array.from({ length: STEPS }, (_, step) => {
    const at = (step / (STEPS - 1)) * (colors.length - 1);
    const left = Math.min(colors.length - 2, Math.floor(at));
    const [a, b] = [colors[left]!, colors[left + 1]!];
    const mix = (channel: 0 | 1 | 2): number => Math.round(a[channel] + (b[channel] - a[channel]) * (at - left));
    return pixel([mix(0), mix(1), mix(2)]);
  });
}

/** A token of the theme at hand: `token("--text")`. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The stops of a scale of the tokens, low to high. */
export function stopsOf(scale: "seq" | "div"): readonly string[] {
  return Array.from({ length: STOPS }, (_, stop) => token(`--${scale}-${stop}`));
}

function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

/** The theme that is drawn, `light` or `dark`: what was drawn on a canvas is drawn again when it changes. */
export function useDrawnTheme(): string {
  return useSyncExternalStore(subscribe, () => document.documentElement.dataset.theme ?? "light");
}
