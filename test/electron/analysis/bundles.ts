/** Bundles of real runs, for what looks at them. */
import fs from "node:fs";
import path from "node:path";
import { BAGIT_TXT } from "../../../electron/evidence/bag.ts";
import { closeBundle } from "../../../electron/evidence/bundle.ts";
import type { RunEvent } from "../../../electron/runs/events.ts";
import type { Outcome } from "../../../electron/runs/record.ts";
import { Recorder } from "../../../electron/runs/recorder.ts";

/** Closes what a run left in `staging` as the bundle `name` in `folder`, and returns its path. */
export function bundleOf(
  folder: string,
  name: string,
  run: { readonly staging: string; readonly events: readonly RunEvent[]; readonly outcome: Outcome },
  command: readonly string[] = ["lockstep", "parity"],
): string {
  const recorder = new Recorder({
    app: { name: "lockstep", version: "0.0.0", commit: null },
    command,
    startedAt: "2026-01-02T03:04:05.000Z",
  });
  for (const event of run.events) recorder.add(event);
  fs.writeFileSync(path.join(run.staging, "bagit.txt"), BAGIT_TXT);
  const draft = recorder.draft(run.outcome, null, "2026-01-02T03:04:06.000Z");
  return closeBundle({ folder: run.staging, target: path.join(folder, `${name}.lockstep`) }, draft).path;
}
