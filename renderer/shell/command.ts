/** The command line that does what the view at hand does: the page says it, the status bar shows it. */
import { useEffect } from "react";
import { commandLine } from "../../electron/actions.ts";
import { createStore, useStore } from "../state/store.ts";

const command = createStore("");

export function useViewCommand(words: readonly string[]): void {
  const line = commandLine(words);
  useEffect(() => command.set(line), [line]);
}

export function useCommandLine(): string {
  return useStore(command);
}

export function copyCommand(): void {
  void copyText(command.get());
}

/** What was copied last, for the live region. */
export const copied = createStore("");

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    copied.set(`Copied: ${text}`);
  } catch {
    copied.set("The browser did not allow copying");
  }
}
