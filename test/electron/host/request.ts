/** What the tests of the host ask for: the quick suite's naive route on 33 tokens, with what they change. */
import fs from "node:fs";
import path from "node:path";
import type { RunRequest } from "../../../electron/host/messages.ts";

/** A request whose bundle is staged in a fresh folder below `folder`. */
export function runRequest(folder: string, change: Partial<RunRequest> = {}): RunRequest {
  return {
    suite: "quick",
    inputs: null,
    outputs: null,
    producer: null,
    operator: null,
    route: "naive",
    case: "L33",
    device: null,
    chip: null,
    validation: false,
    seed: null,
    timeoutMs: null,
    workers: null,
    staging: fs.mkdtempSync(path.join(folder, "staging-")),
    ...change,
  };
}
