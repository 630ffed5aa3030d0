/**
 * Processor time, where the system tells it: what a run costs whoever else uses the machine. Overheads of one worker are
 * ratios of it. Elsewhere the clock on the wall stands in.
 */
import fs from "node:fs";
import { milliseconds } from "./measure.ts";

/** Milliseconds of a tick in /proc: USER_HZ is 100 on every Linux of the two architectures. */
const TICK_MS = 10;

/** Fields of /proc/PID/stat, counted from 0, behind the name in parentheses. */
const PARENT = 1;
const USER = 11;
const SYSTEM = 12;
const REAPED_USER = 13;
const REAPED_SYSTEM = 14;

function statOf(pid: number | "self"): readonly string[] | undefined {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

function ticks(stat: readonly string[] | undefined, user: number, system: number): number {
  return stat === undefined ? 0 : (Number(stat[user]) + Number(stat[system])) * TICK_MS;
}

/** Milliseconds of the processor that live children of this process have used, and those that it has waited for. */
function childrenMs(): { readonly live: number; readonly reaped: number } {
  let live = 0;
  for (const name of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statOf(Number(name));
    if (stat !== undefined && Number(stat[PARENT]) === process.pid) live += ticks(stat, USER, SYSTEM);
  }
  return { live, reaped: ticks(statOf("self"), REAPED_USER, REAPED_SYSTEM) };
}

/**
 * Milliseconds that `work` costs the child processes of this one: the kernel runner, or a program that `work` starts and
 * waits for. Steps of 10. Wall time where the system is not Linux.
 */
export async function childMilliseconds(work: () => Promise<unknown>): Promise<number> {
  if (process.platform !== "linux") return milliseconds(work);
  const before = childrenMs();
  await work();
  const after = childrenMs();
  return after.live + after.reaped - before.live - before.reaped;
}
