/**
 * `npm run bench`: the figures that the project holds itself to, each beside what it is compared to, in one run. It loads
 * the addon itself, like the host, and is never part of a test: times on a shared machine prove nothing by themselves.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { loadAddon } from "../../native/addon.ts";
import { openEmulatedDevice } from "../../native/emulator/open.ts";
import { benchChecker } from "../bench/checker.ts";
import { benchCompile } from "../bench/compile.ts";
import { benchKernel, KERNEL_BENCHES } from "../bench/kernels.ts";
import { type BenchRow, headLine, rowLine } from "../bench/row.ts";
import { benchSuites } from "../bench/suites.ts";
import { benchWindow } from "../bench/window.ts";
import { places } from "./root.ts";

const where = places();
const only = process.argv.slice(2);
const wants = (part: string): boolean => only.length === 0 || only.includes(part);
const PARTS = ["kernels", "compile", "checker", "suites", "window"];

function emit(row: BenchRow): void {
  process.stdout.write(`${rowLine(row)}\n`);
}

async function main(): Promise<void> {
  const unknown = only.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`There is no part "${unknown}" of the benchmark: ${PARTS.join(", ")}.`);
  const cpu = os.cpus()[0]?.model ?? "unknown CPU";
  process.stdout.write(
    `${os.cpus().length} x ${cpu}, Node ${process.versions.node}; emulated, no evidence about a chip\n`,
  );
  process.stdout.write(`${headLine()}\n`);
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-bench-"));
  const readSource = (file: string) => fs.readFileSync(path.join(where.kernels, file), "utf8");
  try {
    const addon = loadAddon(where.addon);
    const device = await openEmulatedDevice({ addon, runnerPath: where.runner });
    try {
      if (wants("kernels"))
        for (const bench of KERNEL_BENCHES) emit(await benchKernel(bench, device, addon, readSource));
      if (wants("compile")) for (const row of await benchCompile(device, readSource)) emit(row);
      if (wants("checker")) await benchChecker(where, device, addon, readSource, scratch, emit);
    } finally {
      await device.close();
    }
    if (wants("window")) await benchWindow(where, scratch, emit);
    if (wants("suites")) await benchSuites(path.join(where.root, "out", "cli.mjs"), scratch, emit);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

// A reader that has seen enough closes the pipe.
process.stdout.on("error", () => process.exit(2));

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
});
