/**
 * A host that says what it is told: a child that answers a run with given events and lines of standard error, so that the doors
 * can be tested with what a Metal host would say. It computes nothing.
 */
import fs from "node:fs";
import path from "node:path";
import type { RunEvent } from "../../../electron/runs/events.ts";
import type { RunRecord } from "../../../electron/runs/record.ts";
import type { DeviceEntry } from "../../../native/device.ts";
import { type FixtureOptions, fixtureDraft } from "../evidence/fixture.ts";

/** One thing that the host does, in order. */
export type Step = { readonly write: string } | { readonly send: unknown };

export interface Told {
  /** What a run or a capture is answered with. */
  readonly steps: readonly Step[];
  /** Folder whose `data` is copied into the staged bundle of a run. */
  readonly payload?: string;
  /** Written when it is let go. */
  readonly last?: string;
  readonly metal?: readonly DeviceEntry[];
}

/** Writes the host into `folder` and returns its path. Each message that it receives is a line of `<path>.heard`. */
export function toldHost(folder: string, told: Told): string {
  const file = path.join(fs.mkdtempSync(path.join(folder, "host-")), "host.mjs");
  fs.writeFileSync(
    file,
    `import fs from "node:fs";
const told = ${JSON.stringify(told)};
const say = (message) => process.send(message);
process.on("message", (message) => {
  fs.appendFileSync(${JSON.stringify(`${file}.heard`)}, JSON.stringify({ ...message, env: process.env.MTL_SHADER_VALIDATION ?? process.env.MTL_CAPTURE_ENABLED ?? null }) + "\\n");
  if (message.type === "devices") say({ type: "devices_listed", id: message.id, metal: told.metal });
  if (message.type !== "run" && message.type !== "capture") return;
  if (told.payload !== undefined) fs.cpSync(told.payload, message.request.staging, { recursive: true });
  for (const step of told.steps) {
    if ("write" in step) fs.writeSync(2, step.write);
    else say(step.send);
  }
});
process.on("disconnect", () => {
  if (told.last !== undefined) fs.writeSync(2, told.last);
  process.exit(0);
});
`,
  );
  return file;
}

/** What the host has heard so far. */
export function heard(file: string): readonly { readonly type: string; readonly env: string | null }[] {
  if (!fs.existsSync(`${file}.heard`)) return [];
  return fs
    .readFileSync(`${file}.heard`, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly type: string; readonly env: string | null });
}

/**
 * The events of a run of the fixture's two cases, and the folder of its files. `between` is written to standard error before
 * the result of that index.
 */
export function fixtureRun(
  folder: string,
  options: FixtureOptions & {
    readonly instrumented?: boolean;
    readonly between?: (keys: readonly string[]) => readonly string[];
  },
): Pick<Told, "steps" | "payload"> & { readonly draft: ReturnType<typeof fixtureDraft> } {
  const payload = fs.mkdtempSync(path.join(folder, "payload-"));
  const draft = fixtureDraft(payload, options);
  const { suite, execution, device, choice, producer, host, planned, cases, results } = draft;
  const lines = options.between?.(cases.map(({ key }) => key)) ?? [];
  const events: RunEvent[] = [
    {
      type: "planned",
      suite,
      execution,
      device,
      ...(choice === undefined ? {} : { choice }),
      ...(options.instrumented ? { instrumented: true } : {}),
      producer,
      host,
      planned,
      cases: cases as RunRecord["cases"],
    },
  ];
  const steps: Step[] = [
    ...events.map((send) => ({ send })),
    ...results.flatMap((result, index): Step[] => [
      ...(lines[index] === undefined ? [] : [{ write: lines[index] }]),
      { send: { type: "result", result } },
    ]),
    { send: { type: "finished", outcome: "passed", reason: null } },
  ];
  return { steps, payload, draft };
}
