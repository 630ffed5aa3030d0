/** The run that others are held against: pinned by the user, kept between visits. */
import * as z from "zod";
import { runIdSchema } from "../../electron/contract.ts";
import { createStore, useStore } from "./store.ts";
import { parseStored, readStored, writeStored } from "./stored.ts";

/** A change of meaning takes a new number. */
const BASELINE_KEY = "lockstep.baseline.1";

export const baselineSchema = z.strictObject({ id: runIdSchema }).nullable();

const baseline = createStore<string | null>(null);

export function startBaseline(): void {
  const put = (value: z.infer<typeof baselineSchema>): void => baseline.set(value?.id ?? null);
  put(readStored(BASELINE_KEY, baselineSchema, null));
  addEventListener("storage", ({ key, newValue }) => {
    if (key === BASELINE_KEY) put(parseStored(baselineSchema, newValue, null));
  });
}

/** Pins a run, or unpins it where it is pinned already. */
export function togglePinned(id: string): void {
  const next = baseline.get() === id ? null : id;
  baseline.set(next);
  writeStored(BASELINE_KEY, next === null ? null : { id: next });
}

export function useBaseline(): string | null {
  return useStore(baseline);
}

/** What a run is held against: the baseline, or else the run before it in `ids`, newest first. */
export function counterpart(id: string, pinned: string | null, ids: readonly string[]): string | undefined {
  if (pinned !== null && pinned !== id && ids.includes(pinned)) return pinned;
  const at = ids.indexOf(id);
  return at < 0 ? undefined : (ids[at + 1] ?? ids[at - 1]);
}
