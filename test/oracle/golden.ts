/** The golden files, and how a test compares with them. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { PrefillInput } from "../../oracle/attention.ts";
import { openSafetensors, readTensor, type SafetensorsFile } from "../../oracle/safetensors.ts";
import { widenToF64 } from "../../oracle/tensor.ts";

const GOLDEN = fileURLToPath(new URL("../golden/", import.meta.url));

export function goldenPath(name: string): string {
  return path.join(GOLDEN, name);
}

export function goldenJson(name: string): unknown {
  return JSON.parse(readFileSync(goldenPath(name), "utf8"));
}

export function openGolden(name: string): SafetensorsFile {
  return openSafetensors(goldenPath(`${name}.safetensors`));
}

/** A tensor of a file as doubles. */
export function values(file: SafetensorsFile, name: string): Float64Array {
  return widenToF64(readTensor(file, name));
}

/** Largest |value|. */
export function largest(array: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < array.length; i++) most = Math.max(most, Math.abs(array[i]!));
  return most;
}

/**
 * Largest |a - b|, where each difference is divided by `size(i)`. Equal infinities differ by 0; a NaN on either side, or
 * different lengths, give NaN, which no tolerance accepts.
 */
export function worstDifference(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  size: (i: number) => number = () => 1,
): number {
  if (a.length !== b.length) return Number.NaN;
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    if (a[i] === b[i]) continue;
    const difference = Math.abs(a[i]! - b[i]!) / size(i);
    if (!(difference <= worst)) worst = difference;
    if (Number.isNaN(worst)) return worst;
  }
  return worst;
}

/** The prefill input of a file `mla_prefill_*`. */
export function prefillInput(file: SafetensorsFile): PrefillInput {
  const shape = (name: string) => file.entries.get(name)!.shape;
  const cuSeqlens = readTensor(file, "cu_seqlens").data;
  return {
    qNope: values(file, "q_nope"),
    qRope: values(file, "q_rope"),
    kNope: values(file, "k_nope"),
    kRope: values(file, "k_rope"),
    v: values(file, "v"),
    heads: shape("q_nope")[1]!,
    nope: shape("q_nope")[2]!,
    rope: shape("q_rope")[2]!,
    value: shape("v")[2]!,
    cuSeqlensQ: cuSeqlens,
    cuSeqlensK: cuSeqlens,
    qOffset: new Int32Array(cuSeqlens.length - 1),
    scale: Number(file.metadata.scale),
  };
}

/**
 * How far a float64 output may be from the reference, relative to the largest |v|: 1e-13, or what rounding leaves in
 * scores that are sums of terms as large as `conditioning`.
 */
export function tolerance(conditioning: ArrayLike<number>): number {
  return Math.max(1e-13, 2 ** -50 * largest(conditioning));
}

/** The stress cases of `softmax_stress` as rows of scores over one set of values. */
export function softmaxCases(file: SafetensorsFile) {
  const names = Object.keys(JSON.parse(file.metadata.notes!) as Record<string, string>);
  return names.map((name) => {
    const [rows, n] = file.entries.get(`${name}.scores`)!.shape as [number, number];
    const scores = values(file, `${name}.scores`);
    const live = file.entries.has(`${name}.live`) ? readTensor(file, `${name}.live`).data : undefined;
    return {
      name,
      rows: Array.from({ length: rows }, (_, r) => scores.slice(r * n, r * n + (live === undefined ? n : live[r]!))),
      v: values(file, `${name}.v`),
      width: 32,
      n,
      live: Array.from({ length: rows }, (_, r) => (live === undefined ? n : live[r]!)),
    };
  });
}
