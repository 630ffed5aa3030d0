/** Keeps what a host under validation writes to its standard error, up to a limit, and reads it when the host has ended. */
import { type Staging, writePayload } from "../evidence/bundle.ts";
import { stableJson } from "../evidence/json.ts";
import type { Recorder } from "../runs/recorder.ts";
import { VALIDATION_ENVIRONMENT } from "./environment.ts";
import { droppedLine, readValidation } from "./lines.ts";
import {
  type RecordValidation,
  recordValidation,
  VALIDATION_LOG,
  VALIDATION_TEXT,
  type ValidationLog,
} from "./report.ts";

/** Bytes of text that are kept: a kernel with a fault in every thread writes without end. */
const TEXT_BYTES = 4 * 1024 * 1024;

export class ValidationCollector {
  readonly #limit: number;
  #pieces: string[] = [];
  #bytes = 0;
  /** Lines that found no room. */
  #dropped = 0;
  #full = false;

  constructor(limit: number = TEXT_BYTES) {
    this.#limit = limit;
  }

  /** Takes text as it comes, cut anywhere. */
  add(text: string): void {
    if (this.#full) {
      this.#dropped += linesIn(text);
      return;
    }
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes <= this.#limit) {
      this.#pieces.push(text);
      this.#bytes += bytes;
      return;
    }
    // Marks behind the cut are lost with the rest: from there on nothing can be said of any result.
    this.#full = true;
    this.#dropped = Math.max(1, linesIn(text));
  }

  /** The whole text as it is kept. */
  get text(): string {
    const text = this.#pieces.join("");
    const ended = text === "" || text.endsWith("\n") ? text : `${text}\n`;
    return this.#dropped === 0 ? ended : `${ended}${droppedLine(this.#dropped)}`;
  }

  read(): ValidationLog {
    return readValidation(this.text);
  }

  /** Writes text and log into a staged bundle. Returns the log, and what the record carries of it. */
  write(folder: string): { readonly log: ValidationLog; readonly validation: RecordValidation } {
    const log = this.read();
    writePayload(folder, VALIDATION_TEXT, this.text);
    writePayload(folder, VALIDATION_LOG, stableJson(log));
    return { log, validation: recordValidation(log, VALIDATION_ENVIRONMENT) };
  }
}

function linesIn(text: string): number {
  return text.split("\n").length - 1;
}

/** Puts what validation said into bundle and recorder. Nothing where the run never began: no bundle is kept. */
export function keepValidation(recorder: Recorder, collector: ValidationCollector, staging: Staging): void {
  if (!recorder.planned) return;
  const { log, validation } = collector.write(staging.folder);
  recorder.validated(log, validation);
}
