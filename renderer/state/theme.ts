/** Light, dark, or as the system has it. Changes at once and is remembered. */
import { createStore, useStore } from "./store.ts";

export const THEMES = ["light", "dark", "system"] as const;
export type Theme = (typeof THEMES)[number];

const STORED = "lockstep.theme";

const chosen = createStore<Theme>("system");

function apply(): void {
  const theme = chosen.get();
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

/** Before the first paint. */
export function startTheme(): void {
  const stored = localStorage.getItem(STORED);
  chosen.set(THEMES.find((theme) => theme === stored) ?? "system");
  chosen.subscribe(apply);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  apply();
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(STORED, theme);
  chosen.set(theme);
}

export function useTheme(): Theme {
  return useStore(chosen);
}
