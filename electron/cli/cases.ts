/** `lockstep cases`: the cases of a suite or of a file. */
import { type Case, lengthKey } from "../cases/case.ts";
import { casesFromFile } from "../cases/file.ts";
import { SUITES, type SuiteName, suiteCases, suiteSummary } from "../cases/suites.ts";
import { stableJson } from "../evidence/json.ts";
import type { Places } from "../host/root.ts";
import { catalogueFor } from "../runs/catalogue.ts";
import { unknownName } from "../runs/usage.ts";
import { counted } from "../words.ts";
import { chosenDevice, type DeviceOptions } from "./device_options.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export interface CasesOptions extends DeviceOptions {
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

/** Routes that are built and apply to each case, on the device that the options name; undefined where they name none. */
async function routesOf(
  all: readonly Case[],
  options: CasesOptions,
  where: Places,
): Promise<{ readonly device: string; readonly routes: ReadonlyMap<string, readonly string[]> } | undefined> {
  if (options.device === undefined && options.chip === undefined) return undefined;
  const { profile } = await chosenDevice(options, where);
  const catalogue = catalogueFor(profile);
  const applying = (entry: Case): readonly string[] =>
    catalogue
      .decide(entry.shape)
      .candidates.filter(({ applicable, status }) => applicable && status === "built")
      .map(({ route }) => route);
  return { device: profile.id, routes: new Map(all.map((entry) => [entry.key, applying(entry)])) };
}

export async function cases(options: CasesOptions, where: Places, output: Output): Promise<number> {
  const all = namedCases(options, where);
  const on = await routesOf(all, options, where);
  if (options.json) {
    output.line(
      stableJson({
        ...(on === undefined ? {} : { device: on.device }),
        cases: all.map(({ key, alias, shape, source, boundary }) => ({
          key,
          alias,
          shape,
          source,
          boundary,
          ...(on === undefined ? {} : { routes: on.routes.get(key) }),
        })),
      }).trimEnd(),
    );
    return EXIT.passed;
  }
  const suite = (options.suite ?? "standard") as SuiteName;
  if (options.inputs === undefined) output.line(`${suite}: ${suiteSummary(suite)}`);
  if (on !== undefined) output.line(`routes that apply on ${on.device}`);
  const width = all.reduce((most, entry) => Math.max(most, entry.key.length), 0);
  for (const entry of all) {
    const boundary = entry.boundary ? "boundary" : "";
    const routes = on === undefined ? "" : (on.routes.get(entry.key)?.join(", ") ?? "");
    output.line(
      `${entry.key.padEnd(width)}  ${lengthKey(entry.shape).padEnd(9)}  ${boundary.padEnd(8)}  ${routes}`.trimEnd(),
    );
  }
  output.line(`${counted(all.length, "case")}, ${all.filter((entry) => entry.boundary).length} of the boundary set`);
  return EXIT.passed;
}
