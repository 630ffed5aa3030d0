/** The corpus of the checker: every kernel gives the reports that stand beside it, and no others. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECK_KINDS } from "../../native/check.ts";
import { type CompileOptions, DeviceError, type Flavour, type Library } from "../../native/device.ts";
import type { EmulatedDevice } from "../../native/emulator/device.ts";
import { testDevice } from "../native/msl/workbench.ts";
import { type CorpusCase, type CorpusFile, readCorpusFile } from "./format.ts";
import { complaints, reportsOf } from "./judge.ts";

const FOLDER = join(import.meta.dirname, "kernels");

/** Cases that the checker does not judge rightly yet, with what is wrong. Each must really fail. */
const PENDING: Readonly<Record<string, string>> = {
  sum_after_early_return: "lanes that have returned are not missed at a collective",
  matrix_load_behind_the_end: "the load of a matrix ends the run",
  tiles_that_overlap: "stores of different matrices count as the same value",
  plain_clear_of_an_atomic: "an atomic hides the same thread's plain store before it",
  uncleared_atomic: "an atomic that reads does not ask whether threadgroup memory was written",
  reads_of_two_memories_behind_one_load: "a load that the compiler merged has no line",
  reused_tile_without_second_barrier: "an unrolled line is reported once for each copy",
  signed_product_of_32_bits: "an access 8 GiB away is laid to another buffer",
  local_array_never_filled: "stack arrays are not looked at",
  fully_masked_row: "NaN is not looked for",
  zero_times_infinity: "NaN is not looked for",
  zero_over_zero: "NaN is not looked for",
  root_of_a_negative_number: "NaN is not looked for",
  logarithm_of_a_negative_number: "NaN is not looked for",
  online_softmax_with_first_block_masked: "NaN is not looked for",
  division_by_zero: "infinities are not looked for",
  float_sum_overflows: "infinities are not looked for",
  half_numerator_overflows: "infinities are not looked for",
  float_to_half_overflows: "infinities are not looked for",
  exponential_overflows: "infinities are not looked for",
  unsigned_difference_below_zero: "integer arithmetic is not looked at",
};

const files: readonly CorpusFile[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".metal"))
  .sort()
  .map((name) => readCorpusFile(name, readFileSync(join(FOLDER, name), "utf8")));
const cases = files.flatMap((file) => file.cases);

let device: EmulatedDevice;
/** By file and math mode. */
const libraries = new Map<string, Promise<Library>>();

function libraryOf(file: CorpusFile, mathMode: NonNullable<CompileOptions["mathMode"]>): Promise<Library> {
  const key = `${file.path} ${mathMode}`;
  const library = libraries.get(key) ?? device.compile({ path: file.path, text: file.text }, { mathMode });
  libraries.set(key, library);
  return library;
}

/** What is wrong with a case; a run that fails is wrong too. */
async function judged(file: CorpusFile, one: CorpusCase, flavour: Flavour): Promise<readonly string[]> {
  try {
    return complaints(one, await reportsOf(device, await libraryOf(file, one.math), one, flavour));
  } catch (error) {
    if (error instanceof DeviceError) return [`failed: ${error.message}`];
    throw error;
  }
}

beforeAll(async () => {
  device = await testDevice();
});

afterAll(async () => {
  await device.close();
});

describe.each(files)("$path", (file) => {
  const runs = file.cases.flatMap((one) => one.flavours.map((flavour) => ({ one, flavour, name: one.name })));
  it.each(runs)("$name ($flavour)", async ({ one, flavour }) => {
    const wrong = await judged(file, one, flavour);
    const pending = PENDING[one.name];
    if (pending === undefined) expect(wrong).toEqual([]);
    else expect(wrong, `${one.name} is right now: take it from the list (${pending})`).not.toEqual([]);
  });
});

describe("the corpus", () => {
  it("has at least 80 cases, 20 of which must be silent, each under a name of its own", () => {
    expect(cases.length).toBeGreaterThanOrEqual(80);
    expect(cases.filter((one) => one.must.length === 0).length).toBeGreaterThanOrEqual(20);
    expect(new Set(cases.map((one) => one.name)).size).toBe(cases.length);
  });

  it("expects every kind of report somewhere", () => {
    const expected = new Set(cases.flatMap((one) => one.must.map((report) => report.kind)));
    expect(CHECK_KINDS.filter((kind) => !expected.has(kind))).toEqual([]);
  });

  it("lists nothing as pending that is not there", () => {
    const names = new Set(cases.map((one) => one.name));
    expect(Object.keys(PENDING).filter((name) => !names.has(name))).toEqual([]);
  });
});
