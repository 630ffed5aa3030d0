/** The corpus of the checker: every kernel gives the reports that stand beside it, and no others. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECK_KINDS, type CheckKind } from "../../native/check.ts";
import { type CompileOptions, DeviceError, type Flavour, type Library } from "../../native/device.ts";
import type { EmulatedDevice } from "../../native/emulator/device.ts";
import { testDevice, testToolchain } from "../native/msl/workbench.ts";
import { type CorpusCase, type CorpusFile, readCorpusFile } from "./format.ts";
import { complaints, reportsOf } from "./judge.ts";

const FOLDER = join(import.meta.dirname, "kernels");

/** Cases that the checker does not judge rightly yet, with what is wrong. Each must really fail. */
const PENDING: Readonly<Record<string, string>> = {};

const files: readonly CorpusFile[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".metal"))
  .sort()
  .map((name) => readCorpusFile(name, readFileSync(join(FOLDER, name), "utf8")));
const cases = files.flatMap((file) => file.cases);

/** Kinds that the processor's traps show, which x86-64 Linux alone has. */
const TRAPPED: readonly CheckKind[] = ["nan_created", "infinity_created"];

let device: EmulatedDevice;
let traps: boolean;
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
    const reports = await reportsOf(device, await libraryOf(file, one.math), one, flavour);
    return complaints(traps ? one : { ...one, must: one.must.filter(({ kind }) => !TRAPPED.includes(kind)) }, reports);
  } catch (error) {
    if (error instanceof DeviceError) return [`failed: ${error.message}`];
    throw error;
  }
}

beforeAll(async () => {
  device = await testDevice();
  const { platform, architecture } = await testToolchain();
  traps = platform === "linux" && architecture === "x86_64";
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
  it("has at least 210 cases, 80 of which must be silent, each under a name of its own", () => {
    expect(cases.length).toBeGreaterThanOrEqual(210);
    expect(cases.filter((one) => one.must.length === 0).length).toBeGreaterThanOrEqual(80);
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
