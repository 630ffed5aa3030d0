/** Answers of the Captures page from the bundles: receipts of a result, timings of a case over the runs of a device. */
import type { CaseTimings, InspectedCapture, TimingSample } from "../captures/messages.ts";
import { occupancyModel } from "../captures/models.ts";
import type { RunEntry } from "../contract.ts";
import type { RunRecord } from "../runs/record.ts";
import { WorkbenchError } from "./failure.ts";
import type { History } from "./history.ts";

/** Runs of a device that are looked through for timings, newest first. */
const MOST_RUNS = 40;

type KeptEntry = Extract<RunEntry, { readonly state: "kept" }>;

/** What a run recorded of every case: far smaller than its record, so that it is kept. */
type RunSamples = ReadonlyMap<string, readonly TimingSample[]>;

export class Captures {
  readonly #history: History;
  /** By the digest of the manifest, which changes with what it binds. */
  readonly #samples = new Map<string, RunSamples>();

  constructor(history: History) {
    this.#history = history;
  }

  /** Receipts of one route on one case. Throws `WorkbenchError` where the run has no such result. */
  async inspect(id: string, caseKey: string, route: string): Promise<InspectedCapture> {
    const record = await this.#history.record(id);
    const result = record.results.find((entry) => entry.case === caseKey && entry.route === route);
    if (result === undefined) {
      throw new WorkbenchError(
        `${id} has no result of ${route} on ${caseKey}`,
        "take a case and a route of its record",
      );
    }
    const receipts = await Promise.all(
      result.receipts.map(async (file) => ({ path: file, receipt: await this.#history.receipt(id, file) })),
    );
    const family = record.device?.family.value ?? null;
    const occupancy = family === null ? null : occupancyModel(family);
    const noModel = family === null ? "imported outputs name no device" : `no model for this family: ${family}`;
    return { receipts, occupancy, noModel: occupancy === null ? noModel : null };
  }

  /** Every recorded time of a case on the device of run `id`, oldest first. */
  async timings(id: string, caseKey: string): Promise<CaseTimings> {
    const own = await this.#history.entry(id);
    if (own.state !== "kept") throw new WorkbenchError(`${id} is no kept run`, "wait until it has ended");
    const { device, deviceName, execution } = own;
    // The first Metal device of every Mac is `metal:0`: its name tells two of them apart.
    const same = (await this.#history.list()).filter(
      (entry): entry is KeptEntry =>
        entry.state === "kept" &&
        entry.device === device &&
        entry.deviceName === deviceName &&
        entry.execution === execution,
    );
    const looked = same.slice(0, MOST_RUNS);
    // A run beyond the limit is still the one that was asked about.
    if (!looked.some((entry) => entry.id === id)) looked.push(own);
    const samples: TimingSample[] = [];
    for (const entry of looked.reverse()) samples.push(...((await this.#of(entry)).get(caseKey) ?? []));
    return { device, deviceName, execution, samples, runs: looked.length, left: same.length - looked.length };
  }

  async #of(entry: KeptEntry): Promise<RunSamples> {
    const known = this.#samples.get(entry.identity);
    if (known !== undefined) return known;
    const found = samplesOf(entry.id, await this.#history.record(entry.id));
    this.#samples.set(entry.identity, found);
    for (const [oldest] of this.#samples) {
      if (this.#samples.size <= 4 * MOST_RUNS) break;
      this.#samples.delete(oldest);
    }
    return found;
  }
}

function samplesOf(run: string, { startedAt, results }: RunRecord): RunSamples {
  const found = new Map<string, TimingSample[]>();
  for (const { case: key, route, timings, verdict } of results) {
    // Validation changes the pipelines: what was measured then is no timing.
    if (timings.length === 0 || timings.some(({ instrumented }) => instrumented === true)) continue;
    const sample: TimingSample = {
      run,
      startedAt,
      route,
      dispatches: timings.map(({ label, ns, clock }) => ({ label, ns, ...(clock === undefined ? {} : { clock }) })),
      passed: verdict === "pass",
    };
    const own = found.get(key);
    if (own === undefined) found.set(key, [sample]);
    else own.push(sample);
  }
  return found;
}
