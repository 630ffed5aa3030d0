/** What a user has set for this window. Kept in this browser; other windows of the same origin follow at once. */
import * as z from "zod";
import { createStore, useStore } from "./store.ts";
import { parseStored, readStored, writeStored } from "./stored.ts";

export const THEMES = ["light", "dark", "system"] as const;

export const DENSITIES = ["compact", "default", "comfortable"] as const;

export const settingsSchema = z.strictObject({
  theme: z.enum(THEMES),
  density: z.enum(DENSITIES),
  /** Whether single letters, digits and signs are shortcuts. */
  singleKeys: z.boolean(),
});
export type Settings = Readonly<z.infer<typeof settingsSchema>>;

export const DEFAULT_SETTINGS: Settings = { theme: "system", density: "default", singleKeys: true };

/** `renderer/public/first_paint.js` reads it too; a change of meaning takes a new number. */
export const SETTINGS_KEY = "lockstep.settings.1";

/** What the document shows. */
export const settings = createStore<Settings>(DEFAULT_SETTINGS);

export function startSettings(): void {
  settings.set(readStored(SETTINGS_KEY, settingsSchema, DEFAULT_SETTINGS));
  addEventListener("storage", ({ key, newValue }) => {
    if (key === SETTINGS_KEY) settings.set(parseStored(settingsSchema, newValue, DEFAULT_SETTINGS));
  });
}

export function changeSettings(change: Partial<Settings>): void {
  settings.set((before) => ({ ...before, ...change }));
  writeStored(SETTINGS_KEY, settings.get());
}

export function useSettings(): Settings {
  return useStore(settings);
}
