/** Keeps the record of a run from its events, in the door, so that it outlives the host. */

import type { RecordDraft } from "../evidence/bundle.ts";
import { claimsOf } from "../evidence/level.ts";
import type { RunEvent } from "./events.ts";
import { type LogLine, logLine } from "./log.ts";
import type { CaseRecord, Outcome, ResultRecord } from "./record.ts";

type Planned = Extract<RunEvent, { type: "planned" }>;

export interface RecorderFacts {
  readonly app: RecordDraft["app"];
  readonly command: readonly string[];
  readonly startedAt: string;
}

/** What every record says about its own limits. */
const LIMITS: readonly string[] = [
  "Evidence from an emulated device supports no chip: the emulation is more lenient than Apple's compiler and not bit-exact.",
  "Times of an emulated device are times of the emulation.",
  "Digests show that files belong together, not who made them.",
];

export class Recorder {
  readonly #facts: RecorderFacts;
  #planned: Planned | undefined;
  readonly #cases = new Map<string, CaseRecord>();
  readonly #results: ResultRecord[] = [];
  readonly #log: LogLine[] = [];
  readonly #began = performance.now();
  #last = "";

  constructor(facts: RecorderFacts) {
    this.#facts = facts;
  }

  /** True once the plan is known: from then on there is something to record. */
  get planned(): boolean {
    return this.#planned !== undefined;
  }

  get results(): readonly ResultRecord[] {
    return this.#results;
  }

  get total(): number {
    return this.#planned?.planned.length ?? 0;
  }

  /** Words for where the run was when it stopped. */
  get position(): string {
    return `${this.#last || "before the first case"}, ${this.#results.length} of ${this.total} finished`;
  }

  /** What happened so far and when, as the bundle keeps it. */
  get log(): readonly LogLine[] {
    return this.#log;
  }

  /** Takes an event in. `at` is the time since the run began, in milliseconds. */
  add(event: RunEvent, at: number = performance.now() - this.#began): void {
    const line = logLine(event, at, this.#log.at(-1));
    if (line !== undefined) this.#log.push(line);
    if (event.type === "planned") {
      this.#planned = event;
      for (const entry of event.cases) this.#cases.set(entry.key, entry);
    } else if (event.type === "case") {
      this.#cases.set(event.case.key, event.case);
    } else if (event.type === "result") {
      this.#results.push(event.result);
    } else if (event.type === "progress") {
      this.#last = `${event.case}, ${event.route ?? "no route yet"}, ${event.phase}`;
    }
  }

  /** The whole log of a run that ended so. */
  endedLog(outcome: Outcome, reason: string | null, at: number = performance.now() - this.#began): readonly LogLine[] {
    return [...this.#log, { type: "ended", at, outcome, reason: reason?.slice(0, 4096) ?? null }];
  }

  /** The record as far as it is known. Throws Error before the plan is there. */
  draft(outcome: Outcome, reason: string | null, finishedAt: string): RecordDraft {
    const planned = this.#planned;
    if (planned === undefined) throw new Error("There is no plan to record.");
    const { execution, device, producer, host, suite } = planned;
    const basis = {
      execution,
      device,
      producer,
      planned: planned.planned,
      cases: [...this.#cases.values()],
      results: this.#results,
    };
    return {
      app: this.#facts.app,
      command: [...this.#facts.command],
      startedAt: this.#facts.startedAt,
      finishedAt,
      outcome,
      outcomeReason: reason,
      host,
      suite,
      ...basis,
      results: [...this.#results],
      claims: [...claimsOf(basis)],
      limits: [...LIMITS],
    };
  }
}
