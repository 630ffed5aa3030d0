/** What Ctrl-C does to a command that waits for its host. */
import type { Output } from "./output.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What is used of a host. */
interface Interruptible {
  cancel(): void;
  kill(): void;
}

/**
 * The first signal cancels in order and says so, the second ends the program at once. However the program ends, the host
 * does not stay. Returns what stops listening.
 */
export function onInterrupt(host: Interruptible, output: Output, exitCode: number): () => void {
  let asked = false;
  const onSignal = (): void => {
    if (asked) process.exit(exitCode);
    asked = true;
    output.note("Cancelling; once more ends at once");
    host.cancel();
  };
  const onExit = (): void => host.kill();
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on("exit", onExit);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    process.off("exit", onExit);
  };
}
