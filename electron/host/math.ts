/**
 * `npm run math:all [-- SET|FUNCTION ...] [--stride N] [--pairs N]`: the error of every math function of the emulated
 * device, over all floats, halves and bfloats for one argument, over random and edge arguments for more, beside the bound
 * of the specification. Exit 1 if one is not held.
 */
import os from "node:os";
import { parseArgs } from "node:util";
import * as z from "zod";
import {
  buildMathProgram,
  type MathResult,
  mathRows,
  mathViolations,
  runMathProgram,
} from "../../native/msl/math_accuracy.ts";
import { MATH_FUNCTIONS } from "../../native/msl/math_bounds.ts";
import { findToolchain } from "../../native/msl/toolchain.ts";

const HOUR_MS = 3_600_000;
const options = z.strictObject({
  stride: z.coerce.number().int().positive(),
  pairs: z.coerce.number().int().nonnegative(),
  processes: z.coerce.number().int().positive().max(256),
});

function line(result: MathResult, seconds: number): string {
  const held = mathViolations([result]).length === 0;
  return [
    result.row.key.padEnd(24),
    String(result.tested).padStart(11),
    (Number.isFinite(result.worst) ? result.worst.toPrecision(6) : String(result.worst)).padStart(10),
    result.row.bound.words.padEnd(36),
    (held ? "held" : "MISSED").padEnd(7),
    `${seconds.toFixed(0)} s`.padStart(6),
    ` ${result.at.join(", ")}`,
  ].join(" ");
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      stride: { type: "string", default: "1" },
      pairs: { type: "string", default: "20000000" },
      processes: { type: "string", default: String(Math.min(os.cpus().length, 2)) },
    },
  });
  const chosen = options.parse(values);
  const wanted = MATH_FUNCTIONS.filter(
    (one) => positionals.length === 0 || positionals.includes(one.name) || positionals.includes(one.set),
  );
  const unknown = positionals.find((word) => !MATH_FUNCTIONS.some((one) => one.name === word || one.set === word));
  if (unknown !== undefined) {
    const sets = [...new Set(MATH_FUNCTIONS.map((one) => one.set))].join(", ");
    throw new Error(`There is no math function or set "${unknown}": name functions, or sets out of ${sets}.`);
  }
  const toolchain = await findToolchain();
  if (!toolchain.found) throw new Error(`${toolchain.reason}: ${toolchain.mend}`);
  const rows = mathRows(wanted);
  const program = await buildMathProgram(toolchain.found, rows);
  const missed: string[] = [];
  const every = chosen.stride === 1 ? "every float" : `every ${chosen.stride}th float`;
  process.stdout.write(`${every}, ${chosen.pairs} random arguments of more, ${chosen.processes} processes; `);
  process.stdout.write(`${toolchain.found.version}; the emulated device, no evidence about a chip\n`);
  try {
    for (let i = 0; i < rows.length; i += 1) {
      const start = Date.now();
      const results = await runMathProgram(program, i, i, { ...chosen, timeoutMs: HOUR_MS });
      for (const result of results) process.stdout.write(`${line(result, (Date.now() - start) / 1000)}\n`);
      missed.push(...mathViolations(results));
    }
  } finally {
    program.remove();
  }
  for (const words of missed) process.stdout.write(`${words}\n`);
  process.stdout.write(`${rows.length - missed.length} of ${rows.length} within their bounds\n`);
  return missed.length === 0 ? 0 : 1;
}

// A reader that has seen enough closes the pipe.
process.stdout.on("error", () => process.exit(2));

main().then(
  (status) => process.exit(status),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  },
);
