/** Keeps the record of a run from its events, in the door, so that it outlives the host. */

import type { RecordDraft } from "../evidence/bundle.ts";
import { chipSupport, claimsOf } from "../evidence/level.ts";
import { withValidation } from "../validation/gate.ts";
import type { RecordValidation, ValidationLog } from "../validation/report.ts";
import type { RunEvent } from "./events.ts";
import { type LogLine, logLine } from "./log.ts";
import { outcomeOf } from "./outcome.ts";
import type { CaseRecord, Outcome, ResultRecord, RunRecord } from "./record.ts";

type Planned = Extract<RunEvent, { type: "planned" }>;

export interface RecorderFacts {
  readonly app: RecordDraft["app"];
  readonly command: readonly string[];
  readonly startedAt: string;
}

const DIGESTS = "Digests show that files belong together, not who made them.";

const EMULATED_LIMITS: readonly string[] = [
  "Evidence from an emulated device supports no chip: the emulation is more lenient than Apple's compiler and not bit-exact.",
  "Times of an emulated device are times of the emulation.",
  DIGESTS,
];

/** What a record says about its own limits. */
function limitsOf(basis: Pick<RunRecord, "execution" | "device" | "validation">): readonly string[] {
  if (basis.execution !== "metal") return EMULATED_LIMITS;
  const { chip, why } = chipSupport(basis);
  const isVirtual = basis.device?.virtualGpu?.value === true;
  return [
    chip === null
      ? `This evidence supports no chip: ${why ?? "no chip is named"}.`
      : `This evidence is about ${chip} under ${basis.device?.os.value ?? "an unknown system"}, as far as its cases reach.`,
    ...(isVirtual ? ["A virtual GPU may report another family and other limits than the chip below it."] : []),
    "The checker and the comparison with lockstep belong to the emulated device and did not run: silence about races proves nothing here.",
    basis.validation === undefined
      ? "Each time names the clock that it was read from; the first of two runs is timed, without a warm-up."
      : "Validation instruments the pipelines: times of this run are no timings, and resource receipts are those of instrumented pipelines.",
    DIGESTS,
  ];
}

export class Recorder {
  readonly #facts: RecorderFacts;
  #planned: Planned | undefined;
  readonly #cases = new Map<string, CaseRecord>();
  readonly #results: ResultRecord[] = [];
  readonly #log: LogLine[] = [];
  readonly #began = performance.now();
  #validation: { readonly log: ValidationLog; readonly record: RecordValidation } | undefined;
  #last = "";

  constructor(facts: RecorderFacts) {
    this.#facts = facts;
  }

  /** True once the plan is known: from then on there is something to record. */
  get planned(): boolean {
    return this.#planned !== undefined;
  }

  /** With the gate of validation once its log is there. */
  get results(): readonly ResultRecord[] {
    return this.#validation === undefined ? this.#results : withValidation(this.#results, this.#validation.log);
  }

  /** True where the host runs under Metal's validation. */
  get instrumented(): boolean {
    return this.#planned?.instrumented === true;
  }

  /** Takes in what validation said, when the host has ended: a result may fail by it that had passed every other gate. */
  validated(log: ValidationLog, record: RecordValidation): void {
    this.#validation = { log, record };
  }

  /** How a run ended that the host ended as `outcome`: validation may turn a pass. */
  outcomeAfter(outcome: Outcome): Outcome {
    const own = outcome === "passed" || outcome === "failed";
    return own && this.#validation !== undefined ? outcomeOf(this.total, this.results) : outcome;
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
    const verdicts = this.results.map(({ verdict }) => verdict);
    let next = 0;
    const lines = this.#log.map((line) => {
      if (line.type !== "result") return line;
      const verdict = verdicts[next] ?? line.verdict;
      next += 1;
      return { ...line, verdict };
    });
    return [...lines, { type: "ended", at, outcome, reason: reason?.slice(0, 4096) ?? null }];
  }

  /** The record as far as it is known. Throws Error before the plan is there. */
  draft(outcome: Outcome, reason: string | null, finishedAt: string): RecordDraft {
    const planned = this.#planned;
    if (planned === undefined) throw new Error("There is no plan to record.");
    const { execution, device, choice, producer, host, suite } = planned;
    const results = [...this.results];
    const basis = {
      execution,
      device,
      producer,
      planned: planned.planned,
      cases: [...this.#cases.values()],
      results,
      ...(this.#validation === undefined ? {} : { validation: this.#validation.record }),
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
      ...(choice === undefined ? {} : { choice }),
      ...basis,
      claims: [...claimsOf(basis)],
      limits: [...limitsOf(basis)],
    };
  }
}
