/**
 * Compiling for macOS on a machine without its SDK: Debian's clang with an Apple target, the headers of this folder before
 * those of the machine, and libc++'s headers, whose names in object files are those of macOS's C++ library.
 *
 *   headers/   Foundation, Metal, IOKit: what native/metal uses, with the macOS version of each declaration
 *   system/    the C headers of macOS that sources or libc++ read; others are the machine's own
 *
 * What this shows: sources that pass name what is declared there, with its types, and ask for what the oldest macOS lacks.
 * What it does not show: that macOS declares it so. A wrong stand-in passes a wrong source. On a Mac the same tests read the
 * headers of the SDK instead.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compilations, targets } from "../../../build/native.mjs";
import { runProcess } from "../../../native/msl/process.ts";
import { testToolchain } from "../msl/workbench.ts";

export const ROOT = join(import.meta.dirname, "..", "..", "..");
export const HEADERS = join(import.meta.dirname, "headers");
export const SYSTEM = join(import.meta.dirname, "system");

/** Milliseconds for compiling every source on a machine that is busy with other tests. */
export const PATIENCE = 600_000;

/** Beyond the product's own. The last is off by default: what Metal may leave out is passed on unlooked at. */
const WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wunguarded-availability", "-Wnullable-to-nonnull-conversion"];

/** The version of macOS comes with the flags of the product. */
export const TARGET = "--target=arm64-apple-macos";

/** A source of the product for macOS, with the flags that the product compiles it with. */
export interface Source {
  readonly path: string;
  readonly output: string;
  readonly flags: readonly string[];
  readonly objective: boolean;
}

export const SOURCES: readonly Source[] = targets("darwin").flatMap((target) =>
  compilations(target).map(({ source, flags }) => ({
    path: source,
    output: target.output,
    flags,
    objective: source.endsWith(".mm"),
  })),
);

/** The source at `path`, which must be one of the product. */
export function sourceAt(path: string): Source {
  const found = SOURCES.find((source) => source.path === path);
  if (found === undefined) throw new Error(`${path} is not among the sources for macOS`);
  return found;
}

export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** Compiles for macOS; any warning is an error. Headers of the C++ library are read once and kept. */
export class AppleTarget {
  readonly folder: string;
  readonly clang: string;
  readonly #system: readonly string[];
  readonly #prefixes = new Map<string, Promise<string>>();

  private constructor(folder: string, clang: string, system: readonly string[]) {
    this.folder = folder;
    this.clang = clang;
    this.#system = system;
  }

  /** `headers` stands in the place of the folder of that name. */
  static async open(headers: string = HEADERS): Promise<AppleTarget> {
    const clang = (await testToolchain()).clang;
    const system = process.platform === "darwin" ? [] : await standIns(clang, headers);
    return new AppleTarget(mkdtempSync(join(tmpdir(), "lockstep-apple-")), clang, system);
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** What clang says about `text` in the place of the source; empty if nothing. */
  async diagnose(source: Source, text: string, extra: readonly string[] = []): Promise<string> {
    const args = [...(await this.#flags(source)), ...extra, "-I", join(ROOT, dirname(source.path)), "-fsyntax-only"];
    const language = source.objective ? "objective-c++" : "c++";
    return (await runProcess(this.clang, [...args, "-x", language, "-"], { input: text, cwd: ROOT })).stderr;
  }

  /** Compiles the source to `object`. Throws with clang's words. */
  async compile(source: Source, object: string): Promise<void> {
    const args = [...(await this.#flags(source)), "-c", source.path, "-o", object];
    const { status, stderr } = await runProcess(this.clang, args, { cwd: ROOT });
    if (status !== 0 || stderr !== "") throw new Error(`${source.path}:\n${stderr}`);
  }

  async #flags(source: Source): Promise<readonly string[]> {
    const flags = [
      ...[TARGET, "-std=c++20", "-O3", "-fno-color-diagnostics"],
      ...[...this.#system, ...source.flags, ...WARNINGS],
    ];
    const key = flags.join("\n");
    const prefix = this.#prefixes.get(key) ?? this.#prefix(source, flags, `${this.#prefixes.size}`);
    this.#prefixes.set(key, prefix);
    return [...flags, "-include-pch", await prefix];
  }

  /** The headers of the C++ library that sources with these flags read, compiled: they take longest. */
  async #prefix(source: Source, flags: readonly string[], name: string): Promise<string> {
    const alike = SOURCES.filter((other) => other.output === source.output && other.objective === source.objective);
    const library = alike.flatMap(({ path }) => textOf(path).match(/#include <(?:[a-z_]+|napi\.h)>/g) ?? []);
    const prefix = join(this.folder, `library${name}.pch`);
    const language = source.objective ? "objective-c++-header" : "c++-header";
    const input = `${[...new Set(library)].join("\n")}\n`;
    const args = [...flags, "-x", language, "-", "-o", prefix];
    const { stderr } = await runProcess(this.clang, args, { input, cwd: ROOT });
    if (stderr !== "") throw new Error(`headers of the C++ library:\n${stderr}`);
    return prefix;
  }
}

/** Flags that put the stand-ins before the include path of the machine. */
async function standIns(clang: string, headers: string): Promise<readonly string[]> {
  const { stderr } = await runProcess(clang, ["-E", "-v", "-stdlib=libc++", "-x", "c++", "-"]);
  const listed = /#include <\.\.\.> search starts here:\n([\s\S]*?)End of search list/.exec(stderr)?.[1] ?? "";
  const folders = listed.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  const library = folders.find((folder) => folder.endsWith("/c++/v1"));
  if (library === undefined) {
    throw new Error(`${clang} has no headers of libc++: node build/libcxx.mjs installs them or says how`);
  }
  const others = folders.filter((folder) => folder !== library);
  return [
    ...["-nostdinc", "-nostdinc++"],
    // libc++ and glibc's headers ask for the first; the second is a word of Apple's clang that glibc uses for its own.
    ...["-D_GNU_SOURCE", "-U__nonnull"],
    ...[join(SYSTEM, "cxx"), library, headers, SYSTEM, ...others].flatMap((folder) => ["-isystem", folder]),
    ...["-include", "sys/types.h"],
  ];
}

/** Runs `work` for every item, two at a time. */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}
