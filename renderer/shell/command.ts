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

/** The command line of the view at hand. */
export function viewCommand(): string {
  return command.get();
}

export function copyCommand(): void {
  void copyText(command.get());
}

/** What was copied last, for the live region. */
export const copied = createStore("");

/** Resolves with what is said of it: that it was copied, or that the browser did not allow it. */
export async function copyText(text: string): Promise<string> {
  const said = await navigator.clipboard.writeText(text).then(
    () => `Copied: ${text}`,
    () => "The browser did not allow copying",
  );
  copied.set(said);
  return said;
}
