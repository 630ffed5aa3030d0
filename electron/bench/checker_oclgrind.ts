/**
 * Oclgrind on an OpenCL port of the fused decode kernel (`test/bench/gqa_fused_partial.cl`): what another checker of GPU
 * kernels needs for the same shape and inputs. Its partials are merged and held against the float64 oracle, so that the
 * port is known to compute the same.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { DecodeShape } from "../../kernels/route.ts";
import { childMilliseconds } from "./checker_time.ts";

const PROGRAM = "oclgrind-kernel";
export const NO_OCLGRIND = "oclgrind is not installed: apt-get install oclgrind";

const PARTITIONS = 32;
const LANES = 32;

/** The largest NMSE of the port's output in float32 that is taken for right. */
const NMSE_LIMIT = 1e-10;

export interface OclgrindRun {
  /** Milliseconds of the kernel: a run of the shape less one without tokens, which starts, compiles and reads the same. */
  readonly kernelMs: number;
  /** Milliseconds of the start alone. */
  readonly startMs: number;
  /** Squared error of the merged output over the squared reference. */
  readonly nmse: number;
}

export function findOclgrind(): string | undefined {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => path.join(folder, PROGRAM)).find((file) => fs.existsSync(file));
}

/** A buffer of the simulation's file: its words as they are, so that no digit is lost. */
function words(bytes: Uint8Array): string {
  const view = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const lines = [`<size=${bytes.byteLength} uint hex>`];
  for (let i = 0; i < view.length; i += 16) {
    lines.push(Array.from(view.subarray(i, i + 16), (word) => word.toString(16)).join(" "));
  }
  return lines.join("\n");
}

function simulation(shape: DecodeShape, live: number, inputs: readonly string[]): string {
  const { heads, kvHeads, dim, scale } = shape;
  const states = PARTITIONS * heads;
  const scalars = [heads, kvHeads, live, PARTITIONS].map((value) => `<size=4 uint>\n${value}`);
  const threads = (heads / kvHeads) * LANES;
  return [
    ...["gqa_fused_partial.cl", "gqa_fused_partial", `${threads * kvHeads} ${PARTITIONS} 1`, `${threads} 1 1`, ""],
    ...inputs,
    ...[4 * states, 4 * states, 4 * states * dim].map((size) => `<size=${size} uint hex noinit dump>`),
    ...scalars,
    `<size=4 float>\n${scale}`,
    "",
  ].join("\n");
}

/** Runs one simulation; resolves with what it printed. Throws Error where Oclgrind fails or finds anything. */
function simulate(program: string, folder: string, file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const args = ["--data-races", "--uninitialized", "--num-threads", "1", file];
    const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0 && errors.trim() === "") resolve(out);
      else reject(new Error(`${PROGRAM} ended with ${code}: ${errors.trim().slice(0, 400)}`));
    });
  });
}

/** The buffers that the simulation dumped, in the order of the kernel's arguments. */
function dumped(text: string): readonly Float32Array[] {
  const parts = text.split(/^Argument '\w+': /m).slice(1);
  return parts.map((part) => {
    const bits = Uint32Array.from(part.matchAll(/= (?:0x)?([0-9a-f]+)$/gm), ([, word]) => Number.parseInt(word!, 16));
    return new Float32Array(bits.buffer);
  });
}

/** M = max M_p, S = sum S_p exp(M_p - M), out = sum O_p exp(M_p - M) / S, in double. */
function merged(shape: DecodeShape, partials: readonly Float32Array[]): Float64Array {
  const { heads, dim } = shape;
  const [maxima, sums, numerators] = partials;
  if (maxima?.length !== PARTITIONS * heads || numerators?.length !== PARTITIONS * heads * dim || sums === undefined) {
    throw new Error(`${PROGRAM} did not print the partials of ${PARTITIONS} partitions.`);
  }
  const out = new Float64Array(heads * dim);
  for (let head = 0; head < heads; head++) {
    const states = Array.from({ length: PARTITIONS }, (_, partition) => partition * heads + head);
    const maximum = Math.max(...states.map((state) => maxima[state]!));
    const weights = states.map((state) => Math.exp(maxima[state]! - maximum));
    const sum = states.reduce((total, state, i) => total + sums[state]! * weights[i]!, 0);
    for (let d = 0; d < dim; d++) {
      const numerator = states.reduce((total, state, i) => total + numerators[state * dim + d]! * weights[i]!, 0);
      out[head * dim + d] = numerator / sum;
    }
  }
  return out;
}

function nmseOf(got: Float64Array, reference: Float64Array): number {
  let error = 0;
  let norm = 0;
  for (let i = 0; i < reference.length; i++) {
    error += (got[i]! - reference[i]!) ** 2;
    norm += reference[i]! ** 2;
  }
  return error / norm;
}

/**
 * Runs the port with races and uninitialised reads looked for, one thread. `tensors` are q, k and v as the kernel gets
 * them, `reference` is the oracle's output [head, dim]. Throws Error where the port's output is not that.
 */
export async function runOclgrind(
  program: string,
  root: string,
  scratch: string,
  shape: DecodeShape,
  tensors: readonly Uint8Array[],
  reference: Float64Array,
): Promise<OclgrindRun> {
  const folder = path.join(scratch, "oclgrind");
  fs.mkdirSync(folder, { recursive: true });
  const port = "gqa_fused_partial.cl";
  fs.copyFileSync(path.join(root, "test", "bench", port), path.join(folder, port));
  const inputs = tensors.map(words);
  fs.writeFileSync(path.join(folder, "whole.sim"), simulation(shape, shape.live, inputs));
  fs.writeFileSync(path.join(folder, "empty.sim"), simulation(shape, 0, inputs));
  const startMs = await childMilliseconds(() => simulate(program, folder, "empty.sim"));
  let text = "";
  const wholeMs = await childMilliseconds(async () => {
    text = await simulate(program, folder, "whole.sim");
  });
  const nmse = nmseOf(merged(shape, dumped(text)), reference);
  if (!(nmse <= NMSE_LIMIT)) throw new Error(`The OpenCL port has an NMSE of ${nmse}; the limit is ${NMSE_LIMIT}.`);
  return { kernelMs: wholeMs - startMs, startMs, nmse };
}
