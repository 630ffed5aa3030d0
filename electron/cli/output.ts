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

/**
 * Words from files and records may hold control characters; a terminal must not obey them, nor turn a line around at marks of
 * direction. Line ends, tabs and the colours of this program stay.
 */
export function shown(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought
  const sought = /\u001b\[(?:0|31|36)m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
  return text.replace(sought, (found) => {
    if (found.length > 1) return found;
    const code = found.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, "0")}`;
  });
}

/** Output on the process's own streams. */
export function terminal(): Output {
  const live = process.stderr.isTTY === true;
  let drawn = false;
  let lastWrite = 0;
  const clear = (): void => {
    if (drawn) writeAll(2, "\r\u001b[2K");
    drawn = false;
  };
  return {
    colour: process.stdout.isTTY === true && process.env.NO_COLOR === undefined,
    clear,
    line: (text) => {
      clear();
      writeAll(1, `${shown(text)}\n`);
    },
    note: (text) => {
      clear();
      writeAll(2, `${shown(text)}\n`);
    },
    progress: (text) => {
      const now = performance.now();
      if (now - lastWrite < (live ? TTY_INTERVAL_MS : PLAIN_INTERVAL_MS)) return;
      lastWrite = now;
      if (live) {
        const width = process.stderr.columns ?? 100;
        writeAll(2, `\r\u001b[2K${shown(text).slice(0, Math.max(10, width - 1))}`);
        drawn = true;
      } else {
        writeAll(2, `${shown(text)}\n`);
      }
    },
  };
}

/**
 * Writes at once, so that nothing is lost when the process exits. A closed pipe ends the program as it does others; results
 * that cannot be written end it as a run that could not be. Standard error is not worth ending for.
 */
function writeAll(descriptor: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  let done = 0;
  while (done < bytes.length) {
    try {
      done += fs.writeSync(descriptor, bytes, done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EAGAIN") {
        Atomics.wait(pause, 0, 0, 5);
        continue;
      }
      // A terminal that was closed answers EIO; the run is cancelled by its SIGHUP.
      if (descriptor === 2 || code === "EIO") return;
      if (code === "EPIPE") process.exit(141);
      writeAll(2, `Standard output cannot be written (${code}).\n`);
      process.exit(2);
    }
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));
