/** Whole commands as a user runs them, with an empty and with a warm module cache, and the memory that the longest case takes. */
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { milliseconds } from "./measure.ts";
import type { BenchRow } from "./row.ts";

interface Command {
  readonly cli: string;
  readonly args: readonly string[];
  readonly cache: string;
  readonly out: string;
}

function start(command: Command): ChildProcess {
  const env = { ...process.env, LOCKSTEP_CACHE: command.cache };
  const args = [command.cli, ...command.args, "--out", command.out];
  return spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "ignore"] });
}

/** Resolves with the exit code. */
function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}

/** Seconds of a command that must pass. */
async function seconds(command: Command): Promise<number> {
  const ms = await milliseconds(async () => {
    const status = await ended(start(command));
    if (status !== 0) throw new Error(`lockstep ${command.args.join(" ")} ended with ${status}: run it to see why.`);
  });
  return ms / 1000;
}

/** Resident bytes of a process and its descendants, shared pages counted once (Linux; proportional set size). */
function residentBytes(root: number): number {
  const parents = new Map<number, number>();
  for (const name of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = fs
        .readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ");
      parents.set(Number(name), Number(fields[1]));
    } catch {
      // ended meanwhile
    }
  }
  let total = 0;
  for (const pid of parents.keys()) {
    let ancestor: number | undefined = pid;
    while (ancestor !== undefined && ancestor !== root) ancestor = parents.get(ancestor);
    if (ancestor !== root) continue;
    try {
      const pss = /^Pss:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
      total += Number(pss ?? 0) * 1024;
    } catch {
      // ended meanwhile
    }
  }
  return total;
}

/** Peak memory of the command and everything it starts, sampled every 100 ms. */
async function peakGiB(command: Command): Promise<number> {
  const child = start(command);
  let peak = 0;
  const sampler = setInterval(() => {
    if (child.pid !== undefined) peak = Math.max(peak, residentBytes(child.pid));
  }, 100);
  const status = await ended(child);
  clearInterval(sampler);
  if (status !== 0) throw new Error(`lockstep ${command.args.join(" ")} ended with ${status}: run it to see why.`);
  return peak / 2 ** 30;
}

export async function benchSuites(cli: string, scratch: string, emit: (row: BenchRow) => void): Promise<void> {
  const cache = path.join(scratch, "cache");
  const out = path.join(scratch, "evidence");
  const run = (...args: string[]) => seconds({ cli, args: ["parity", ...args], cache, out });
  const row = (name: string, value: number, target: number): BenchRow => ({
    name,
    value,
    unit: "s",
    target,
    comparedWith: null,
    compared: null,
  });
  const cold = await run("--suite", "standard");
  emit(row("suite standard, empty cache", cold, 75));
  const warm = await run("--suite", "standard");
  emit({ ...row("suite standard, warm cache", warm, 30), comparedWith: "empty cache", compared: cold });
  emit(row("suite quick, warm cache", await run("--suite", "quick"), 5));
  if (process.platform === "linux") {
    const args = ["parity", "--suite", "full", "--case", "L131072.tail4", "--route", "fused_split_kv_p32"];
    const peak = await peakGiB({ cli, args, cache, out });
    emit({
      name: "memory, L=131072, all processes",
      value: peak,
      unit: "GiB",
      target: 4,
      comparedWith: null,
      compared: null,
    });
  }
}
