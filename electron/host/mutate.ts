/**
 * `lockstep mutate`: plants faults in the project's own kernels and says what caught each. It loads the addon itself, like
 * the host, in a process of its own: a mutant may do anything.
 *
 * Exit 0 if every mutant that is not equivalent was caught and the clean kernels are silent; 1 if one survived; 2 where
 * nothing could be run.
 */
import fs from "node:fs";
import path from "node:path";
import { loadAddon } from "../../native/addon.ts";
import { openEmulatedDevice } from "../../native/emulator/open.ts";
import { suiteCases } from "../cases/suites.ts";
import { allMutants, type Bench, campaign, checkClean, type MutantResult, sample } from "../mutation/campaign.ts";
import { mutantLine, mutantTable, summaryLine } from "../mutation/table.ts";
import { catalogueFor } from "../runs/catalogue.ts";
import { hostFacts } from "./facts.ts";
import { kernelFiles, places } from "./root.ts";

/** One in so many where a sample is asked for, as continuous integration does. */
const SAMPLE = 10;

interface Arguments {
  readonly sample: boolean;
  readonly seed: number;
  readonly only: string | undefined;
  readonly json: boolean;
  readonly table: string | undefined;
}

function readArguments(argv: readonly string[]): Arguments {
  const value = (flag: string): string | undefined => {
    const at = argv.indexOf(flag);
    return at < 0 ? undefined : argv[at + 1];
  };
  return {
    sample: argv.includes("--sample"),
    seed: Number(value("--seed") ?? 1),
    only: value("--only"),
    json: argv.includes("--json"),
    table: value("--table"),
  };
}

async function openBench(): Promise<Bench> {
  const where = places();
  const addon = loadAddon(where.addon);
  const device = await openEmulatedDevice({ addon, runnerPath: where.runner });
  return {
    device,
    addon,
    catalogue: catalogueFor(device.profile),
    suite: suiteCases("standard", { golden: where.golden }),
    host: hostFacts(),
    read: (file) => fs.readFileSync(path.join(where.kernels, file), "utf8"),
  };
}

async function main(argv: readonly string[]): Promise<number> {
  const given = readArguments(argv);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  const benches = [await openBench(), await openBench()];
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  try {
    const [first] = benches;
    const every = allMutants(kernelFiles(places().kernels), first!.read);
    const named = given.only === undefined ? every : every.filter(({ id }) => id.includes(given.only!));
    const mutants = given.sample ? sample(named, SAMPLE, given.seed) : named;
    if (mutants.length === 0) {
      say(`No mutant's id contains "${given.only}"; there are ${every.length}, such as ${every[0]?.id}.`);
      return 2;
    }
    const begin = performance.now();
    await checkClean(first!, stop.signal);
    if (stop.signal.aborted) return 130;
    say(`The clean kernels are silent. ${mutants.length} of ${every.length} mutants`);
    const results = await campaign({
      mutants,
      benches,
      signal: stop.signal,
      onResult: (result: MutantResult) => {
        if (!given.json) process.stdout.write(`${mutantLine(result)}\n`);
      },
    });
    if (stop.signal.aborted) return 130;
    const seconds = (performance.now() - begin) / 1000;
    const order = new Map(mutants.map(({ id }, index) => [id, index]));
    const sorted = [...results].sort((a, b) => order.get(a.mutant.id)! - order.get(b.mutant.id)!);
    if (given.json) process.stdout.write(`${JSON.stringify({ seconds, results: sorted })}\n`);
    else process.stdout.write(`${summaryLine(sorted, seconds)}\n`);
    if (given.table !== undefined) fs.writeFileSync(given.table, mutantTable(sorted));
    return sorted.some(({ fate }) => fate.state === "survived") ? 1 : 0;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return 2;
  } finally {
    for (const { device } of benches) await device.close();
  }
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  },
);
