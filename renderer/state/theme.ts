/** Puts the settings that are seen on the document: theme, density, whether single keys are shown. */
import { type Settings, settings, startSettings } from "./settings.ts";

const DARK = "(prefers-color-scheme: dark)";

/** The attributes of the document for a set of settings. Pure. */
export function attributesOf(
  { theme, density, singleKeys }: Settings,
  systemDark: boolean,
): Readonly<Record<"theme" | "density" | "keys", string>> {
  const dark = theme === "dark" || (theme === "system" && systemDark);
  return { theme: dark ? "dark" : "light", density, keys: singleKeys ? "on" : "off" };
}

/** Takes the settings and follows them and the system from now on. `first_paint.js` has set the theme before. */
export function startTheme(): void {
  startSettings();
  const system = matchMedia(DARK);
  const apply = (): void => {
    Object.assign(document.documentElement.dataset, attributesOf(settings.get(), system.matches));
  };
  settings.subscribe(apply);
  system.addEventListener("change", apply);
  apply();
}
