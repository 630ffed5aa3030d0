/** The self-test of the check flavours: a kernel of which every access is known, before counts are called exact. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CheckResult, TrafficBytes } from "../check.ts";
import type { Device, Dispatch, Flavour, SubmitResult } from "../device.ts";
import { nativeFolder } from "../msl/paths.ts";

const SOURCE = "self_test_traffic.metal";
const THREADGROUPS = 2;
const THREADS = 64;
const THREADS_IN_ALL = THREADGROUPS * THREADS;
const TURNS = 3;

interface KnownLine {
  readonly line: number;
  readonly access: "read" | "write";
  readonly buffer: string;
  readonly bytes: TrafficBytes;
}

/** What the kernel does, line by line. */
const KNOWN: readonly KnownLine[] = [
  { line: 12, access: "read", buffer: "self-test input", bytes: each(THREADS_IN_ALL, 16, 32 * 16) },
  { line: 13, access: "write", buffer: "stage", bytes: each(THREADS_IN_ALL, 4, 32 * 4) },
  { line: 15, access: "read", buffer: "stage", bytes: each(THREADS_IN_ALL, 4, 32 * 4) },
  // Eight lanes share an address.
  { line: 17, access: "read", buffer: "stage", bytes: each(TURNS * THREADS_IN_ALL, 4, 4 * 4) },
  // Two elements a lane, one behind the other because the block is transposed.
  { line: 21, access: "read", buffer: "stage", bytes: each(2 * THREADS_IN_ALL, 4, 32 * 4) },
  { line: 22, access: "write", buffer: "self-test output", bytes: each(THREADS_IN_ALL, 4, 32 * 4) },
];

function each(accesses: number, bytes: number, distinct: number): TrafficBytes {
  const simdAccesses = accesses / 32;
  return { requested: accesses * bytes, distinct: simdAccesses * distinct, accesses, simdAccesses };
}

/**
 * Why the counts of this flavour cannot be called exact, or undefined. Rejects where the kernel does not run.
 * @param submit runs the kernel without asking for this test
 */
export async function trafficProblem(
  device: Pick<Device, "compile" | "pipeline" | "allocate">,
  flavour: Flavour,
  submit: (dispatches: readonly Dispatch[]) => Promise<SubmitResult>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const text = await readFile(join(nativeFolder(), "emulator", SOURCE), "utf8");
  const library = await device.compile({ path: SOURCE, text }, {}, signal);
  const pipeline = await device.pipeline(library, "self_test_traffic", { flavour }, signal);
  const input = device.allocate(THREADS_IN_ALL * 16, "self-test input");
  const output = device.allocate(THREADS_IN_ALL * 4, "self-test output");
  try {
    input.write(0, new Uint8Array(input.bytes));
    const { check } = await submit([
      {
        label: "self-test",
        pipeline,
        threadgroups: [THREADGROUPS, 1, 1],
        threadsPerThreadgroup: [THREADS, 1, 1],
        arguments: [
          { index: 0, buffer: input },
          { index: 1, buffer: output },
          { index: 2, bytes: new Uint8Array(Uint32Array.of(9).buffer) },
        ],
        threadgroupMemory: [{ index: 0, bytes: THREADS * 4 }],
      },
    ]);
    return check ? resultProblem(check) : "the self-test kernel reported nothing";
  } finally {
    input.release();
    output.release();
  }
}

/** What is wrong with the counts of the self-test kernel, or undefined. */
export function resultProblem(check: CheckResult): string | undefined {
  const report = check.reports[0];
  if (report) return `the self-test kernel is correct, but there is a report: ${report.message}`;
  const lines = check.traffic.dispatches.flatMap((dispatch) => dispatch.lines);
  for (const known of KNOWN) {
    const found = lines.filter(
      ({ location, access, buffer }) =>
        location?.line === known.line && access === known.access && buffer === known.buffer,
    );
    for (const key of ["requested", "distinct", "accesses", "simdAccesses"] as const) {
      const actual = found.reduce((total, line) => total + line.bytes[key], 0);
      if (actual === known.bytes[key]) continue;
      return `line ${known.line} of the self-test kernel has ${key} ${actual} on ${known.buffer}; it must be ${known.bytes[key]}`;
    }
  }
  return undefined;
}
