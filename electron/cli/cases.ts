/** `lockstep cases`: the cases of a suite or of a file. */
import { type Case, lengthKey } from "../cases/case.ts";
import { casesFromFile } from "../cases/file.ts";
import { SUITES, type SuiteName, suiteCases, suiteSummary } from "../cases/suites.ts";
import { stableJson } from "../evidence/json.ts";
import type { Places } from "../host/root.ts";
import { unknownName } from "../runs/usage.ts";
import { counted } from "../words.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export interface CasesOptions {
  readonly suite?: string;
  readonly inputs?: string;
  readonly json?: boolean;
}

/** The cases that the options name. Throws `UsageError` for an unknown suite. */
export function namedCases(options: CasesOptions, where: Places): readonly Case[] {
  if (options.inputs !== undefined) return casesFromFile(options.inputs);
  const wanted = options.suite ?? "standard";
  const suite = SUITES.find((name) => name === wanted);
  if (suite === undefined) throw unknownName("suite", wanted, SUITES);
  return suiteCases(suite, { golden: where.golden });
}

export function cases(options: CasesOptions, where: Places, output: Output): number {
  const all = namedCases(options, where);
  if (options.json) {
    output.line(
      stableJson({
        cases: all.map(({ key, alias, shape, source, boundary }) => ({ key, alias, shape, source, boundary })),
      }).trimEnd(),
    );
    return EXIT.passed;
  }
  const suite = (options.suite ?? "standard") as SuiteName;
  if (options.inputs === undefined) output.line(`${suite}: ${suiteSummary(suite)}`);
  const width = all.reduce((most, entry) => Math.max(most, entry.key.length), 0);
  for (const entry of all) {
    const boundary = entry.boundary ? "boundary" : "";
    output.line(`${entry.key.padEnd(width)}  ${lengthKey(entry.shape).padEnd(9)}  ${boundary}`.trimEnd());
  }
  output.line(`${counted(all.length, "case")}, ${all.filter((entry) => entry.boundary).length} of the boundary set`);
  return EXIT.passed;
}
