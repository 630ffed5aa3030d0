/** Ctrl-C and its kin: the first wish ends a door in order, a second one at once. */

/** Ctrl-C reaches a whole process group, and `npm start` passes it on: within this time that is still one wish. */
const SAME_WISH_MS = 1000;

/** Exit status after an interrupt, as shells have it. */
export const INTERRUPTED = 130;

/** `end` ends in order, cancelling a run; `endNow` ends at once. */
export function onInterrupt(end: () => void, endNow: () => void): void {
  let asked: number | undefined;
  const stop = (): void => {
    if (asked === undefined) {
      asked = performance.now();
      process.stderr.write("Ending; a run is cancelled and what is finished is kept. Once more ends at once\n");
      end();
    } else if (performance.now() - asked > SAME_WISH_MS) endNow();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
}
