/** `lockstep mutate`: starts the campaign in a process of its own, since it loads the addon and runs wrong kernels. */
import { spawn } from "node:child_process";
import path from "node:path";
import type { Places } from "../host/root.ts";
import { UsageError } from "../runs/usage.ts";
import { EXIT } from "./parity.ts";

export interface MutateOptions {
  readonly sample?: boolean;
  readonly seed?: string;
  readonly only?: string;
  readonly table?: string;
  readonly json?: boolean;
}

/** Exit 0 where every mutant that counts was caught, 1 where one survived, 2 where nothing could be run, 130 interrupted. */
export function mutate(options: MutateOptions, where: Places): Promise<number> {
  const { sample, seed, only, table, json } = options;
  if (seed !== undefined && !/^\d{1,9}$/.test(seed)) {
    throw new UsageError(`--seed is "${seed}" and must be a whole number of at most nine digits.`);
  }
  const words = [
    ...(sample ? ["--sample"] : []),
    ...(json ? ["--json"] : []),
    ...Object.entries({ seed, only, table }).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, value],
    ),
  ];
  const program = path.join(path.dirname(where.host), "mutate.mjs");
  const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "inherit", "inherit"] });
  // The campaign hears the interrupt itself, as a member of the same process group.
  const wait = (): void => {};
  process.on("SIGINT", wait);
  return new Promise((resolve) => {
    child.on("error", () => resolve(EXIT.couldNotRun));
    child.on("exit", (code) => {
      process.off("SIGINT", wait);
      resolve(code ?? EXIT.interrupted);
    });
  });
}
