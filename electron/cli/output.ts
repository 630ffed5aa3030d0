/** The only place that writes to the terminal. Results go to standard output, everything else to standard error. */
import fs from "node:fs";

/** Where a command writes. Tests give it arrays. */
export interface Output {
  /** A line on standard output. */
  line(text: string): void;
  /** A line on standard error. */
  note(text: string): void;
  /** What is going on now: one line that is rewritten on a terminal, plain lines elsewhere. */
  progress(text: string): void;
  /** Ends the progress line. */
  clear(): void;
  readonly colour: boolean;
}

/** Without a terminal a progress line is written at most this often, so that a log stays readable. */
const PLAIN_INTERVAL_MS = 5000;
const TTY_INTERVAL_MS = 50;

/** Output on the process's own streams. */
export function terminal(): Output {
  const live = process.stderr.isTTY === true;
  let shown = false;
  let lastWrite = 0;
  const clear = (): void => {
    if (shown) writeAll(2, "\r\u001b[2K");
    shown = false;
  };
  return {
    colour: process.stdout.isTTY === true && process.env.NO_COLOR === undefined,
    clear,
    line: (text) => {
      clear();
      writeAll(1, `${text}\n`);
    },
    note: (text) => {
      clear();
      writeAll(2, `${text}\n`);
    },
    progress: (text) => {
      const now = performance.now();
      if (now - lastWrite < (live ? TTY_INTERVAL_MS : PLAIN_INTERVAL_MS)) return;
      lastWrite = now;
      if (live) {
        const width = process.stderr.columns ?? 100;
        writeAll(2, `\r\u001b[2K${text.slice(0, Math.max(10, width - 1))}`);
        shown = true;
      } else {
        writeAll(2, `${text}\n`);
      }
    },
  };
}

/** Writes at once, so that nothing is lost when the process exits; a closed pipe ends the program as it does others. */
function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  let done = 0;
  while (done < bytes.length) {
    try {
      done += fs.writeSync(descriptor, bytes, done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EAGAIN") continue;
      if (code === "EPIPE") process.exit(141);
      throw error;
    }
  }
}
