/**
 * STAND-IN for tests: what Metal's run-time compiler would do, by the front end and the module builder of the emulated
 * device. The stand-in starts it as a child and asks one question a line; see compiler.h for the form.
 *
 * Arguments: addon and runner of the emulated device, in STAND_IN_ADDON and STAND_IN_RUNNER.
 */
import { createInterface } from "node:readline";
import * as z from "zod";
import { loadAddon } from "../../../../native/addon.ts";
import { type CompileOptions, DeviceError, type Diagnostic, type Library } from "../../../../native/device.ts";
import { cacheFolder, ModuleCache } from "../../../../native/emulator/cache.ts";
import { openEmulatedDevice } from "../../../../native/emulator/open.ts";

type Words = readonly string[];

const environment = z
  .object({ STAND_IN_ADDON: z.string().min(1), STAND_IN_RUNNER: z.string().min(1) })
  .parse(process.env);

const device = await openEmulatedDevice({
  addon: loadAddon(environment.STAND_IN_ADDON),
  runnerPath: environment.STAND_IN_RUNNER,
});
const cache = new ModuleCache(cacheFolder());
const libraries = new Map<string, Library>();

/** As Metal's compiler prints them; without `#line` the source is called `program_source`. */
function appleWords(diagnostics: readonly Diagnostic[]): string {
  const lines = diagnostics.map(
    ({ path, line, column, severity, message }) => `${path}:${line}:${column}: ${severity}: ${message}\n`,
  );
  return lines.join("");
}

/** `library TEXT VERSION MATH [MACRO VALUE]...` */
async function library(words: Words): Promise<readonly Words[]> {
  const [text = "", languageVersion = "", mathMode = "", ...macros] = words;
  const defines: Record<string, string> = {};
  for (let i = 0; i < macros.length; i += 2) defines[macros[i] ?? ""] = macros[i + 1] ?? "";
  const options: CompileOptions = { languageVersion, defines, mathMode: mathMode === "fast" ? "fast" : "safe" };
  try {
    const made = await device.compile({ path: "program_source", text }, options);
    // Metal finds every fault when it compiles, the emulated device some only when it builds a kernel.
    if (made.functionConstants.length === 0) await buildAll(made);
    const key = String(libraries.size);
    libraries.set(key, made);
    return [
      ["library", key],
      ...(made.warnings.length === 0 ? [] : [["warnings", appleWords(made.warnings)]]),
      ...made.functions.map((one) => ["function", one.name]),
      ...made.functionConstants.map((one) => [
        "constant",
        one.name,
        String(one.index),
        one.type,
        // What a source asks about may be left unset.
        new RegExp(`is_function_constant_defined\\s*\\(\\s*${one.name}\\s*\\)`).test(text) ? "optional" : "required",
      ]),
    ];
  } catch (error) {
    return refused(error);
  }
}

/** Rejects where a kernel of the library has a fault; its static threadgroup memory is the pipeline's business. */
async function buildAll(made: Library): Promise<void> {
  for (const { name } of made.functions) {
    await device.pipeline(made, name).catch((error: unknown) => {
      if (!(error instanceof DeviceError) || error.diagnostics.length > 0) throw error;
    });
  }
}

/** `function LIBRARY NAME [INDEX VALUE]...` */
async function specialise(words: Words): Promise<readonly Words[]> {
  const [key = "", name = "", ...given] = words;
  const from = libraries.get(key);
  if (from === undefined) throw new Error(`there is no library ${key}`);
  const constants: Record<string, number | boolean> = {};
  for (let i = 0; i < given.length; i += 2) {
    const value = given[i + 1] ?? "";
    const index = given[i] ?? "";
    // Metal ignores values of constants that a library does not have.
    if (!from.functionConstants.some((one) => String(one.index) === index)) continue;
    constants[index] = value === "true" || value === "false" ? value === "true" : Number(value);
  }
  try {
    const { id, receipt, function: kernel } = await device.pipeline(from, name, { constants });
    const module = await cache.lookup("module", id, z.unknown());
    if (module === undefined) throw new Error(`the module of ${name} is not in the cache`);
    return [
      [
        "module",
        `${module.folder}/kernel.module`,
        "lockstep_entry",
        String(receipt.maxTotalThreadsPerThreadgroup.value),
        String(receipt.staticThreadgroupMemoryBytes.value),
      ],
      ...(kernel.arguments ?? []).map((one) => [
        "argument",
        one.name,
        one.kind,
        String(one.index),
        one.readOnly || one.addressSpace === "constant" ? "const" : "mutable",
        String(pointeeBytes(one.type ?? "", from.source.text)),
      ]),
    ];
  } catch (error) {
    if (error instanceof DeviceError && /threadgroup memory; the limit/.test(error.message)) {
      return [["pipeline_refused", error.message]];
    }
    return refused(error);
  }
}

const SCALAR_BYTES: Readonly<Record<string, number>> = {
  bool: 1,
  char: 1,
  uchar: 1,
  short: 2,
  ushort: 2,
  half: 2,
  bfloat: 2,
  int: 4,
  uint: 4,
  float: 4,
  long: 8,
  ulong: 8,
};

interface Layout {
  readonly bytes: number;
  readonly alignment: number;
}

/** Of a scalar, a vector or a structure of these; undefined for the rest, which is not worked out here. */
function layoutOf(type: string, text: string): Layout | undefined {
  const [, scalar = "", lanes] = /^([a-z]+)([234])?$/.exec(type) ?? [];
  const each = SCALAR_BYTES[scalar];
  if (each !== undefined) {
    const bytes = each * (lanes === "3" ? 4 : Number(lanes ?? 1));
    return { bytes, alignment: bytes };
  }
  const body = new RegExp(`struct\\s+${type}\\s*\\{([^}]*)\\}`).exec(text)?.[1];
  if (body === undefined) return undefined;
  let end = 0;
  let most = 1;
  for (const [, field = "", names = ""] of body.matchAll(/(\w+)\s+([\w\s,]+);/g)) {
    const layout = layoutOf(field, text);
    if (layout === undefined) return undefined;
    for (const _name of names.split(",")) end = roundUp(end, layout.alignment) + layout.bytes;
    most = Math.max(most, layout.alignment);
  }
  return { bytes: roundUp(end, most), alignment: most };
}

function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}

/** Bytes of what a pointer or reference points to; 0 where it is not known. */
function pointeeBytes(type: string, text: string): number {
  const words = type.replaceAll(/[*&]|\b(?:const|device|constant|threadgroup|volatile)\b/g, " ");
  return layoutOf(words.trim(), text)?.bytes ?? 0;
}

function refused(error: unknown): readonly Words[] {
  if (!(error instanceof DeviceError)) throw error;
  const { diagnostics, message } = error;
  return [["refused", diagnostics.length === 0 ? message : appleWords(diagnostics)]];
}

function unescaped(word: string): string {
  return Buffer.from(
    word.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  ).toString();
}

function escaped(word: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not stand in a line
  return word.replace(/[\u0000-\u001f%]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const [verb = "", ...words] = line.split("\t").map(unescaped);
  const answer = verb === "library" ? await library(words) : await specialise(words);
  process.stdout.write(`${answer.map((one) => `${one.map(escaped).join("\t")}\n`).join("")}end\n`);
}
await device.close();
