/** Builds kernel modules: precompiled prefix and runtime objects once per flavour, then compile and link. */
import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import * as z from "zod";
import { DeviceError, type Diagnostic, type Flavour, isCheckFlavour } from "../device.ts";
import { parseDiagnostics, parseUndefinedSymbols } from "../msl/clang_output.ts";
import { includeFolders, nativeFolder } from "../msl/paths.ts";
import { type ProcessOptions, type ProcessResult, runProcess } from "../msl/process.ts";
import type { Toolchain } from "../msl/toolchain.ts";
import { SharedWork } from "../shared_work.ts";
import { diskFull, isDiskFull, type ModuleCache, sha256 } from "./cache.ts";
import { type CompileStep, compileFlags, linkCommand } from "./flags.ts";
import { KERNEL_OBJECT } from "./locations.ts";

/** What a compilation of a kernel came to. */
export type BuildResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[]; readonly undefinedSymbols: readonly string[] };

/** What clang and lld say when they cannot write. */
const NO_SPACE = /No space left on device/i;

const sourceLine = /^(\S+\.cpp)\s+(all|lockstep|check)$/;

export class ModuleBuilder {
  readonly toolchain: Toolchain;
  /** Digest of every header and source that a module is made of, and of where they lie. */
  readonly headersDigest: string;
  readonly #cache: ModuleCache;
  /** Folders and files of parts that are made. */
  readonly #parts = new Map<string, string>();
  readonly #making = new SharedWork<string>();

  constructor(toolchain: Toolchain, cache: ModuleCache) {
    this.toolchain = toolchain;
    this.#cache = cache;
    this.headersDigest = headersDigest();
  }

  /** Digest of everything but the kernel itself that decides what a module of this flavour is. */
  identity(flavour: Flavour): string {
    const { toolchain } = this;
    return sha256(
      JSON.stringify([
        toolchain.id,
        this.headersDigest,
        compileFlags(toolchain, "kernel", flavour),
        compileFlags(toolchain, "runtime", flavour),
        linkCommand(toolchain, [], "").args,
      ]),
    );
  }

  /**
   * Compiles and links rewritten text into `output`. Rejects with `unavailable` if the toolchain itself fails, and with
   * `cancelled`, when no compiler of this request runs any more, where `signal` aborts.
   */
  async build(
    text: string,
    flavour: Flavour,
    folder: string,
    output: string,
    signal?: AbortSignal,
  ): Promise<BuildResult> {
    const [prefix, runtime] = await bothOf(this.#prefix(flavour, signal), this.#runtime(flavour, signal));
    const object = join(folder, KERNEL_OBJECT);
    const compiled = await this.#clang(
      "kernel",
      flavour,
      ["-include-pch", prefix, "-x", "c++", "-c", "-", "-o", object],
      { input: text, signal },
    );
    if (compiled.status !== 0) {
      if (NO_SPACE.test(compiled.stderr)) throw diskFull(this.#cache.folder);
      const diagnostics = parseDiagnostics(compiled.stderr);
      if (diagnostics.some((entry) => entry.severity === "error"))
        return { ok: false, diagnostics, undefinedSymbols: [] };
      throw this.#toolFailure(this.toolchain.clang, compiled);
    }
    const { program, args } = linkCommand(this.toolchain, [object, ...(await objectsIn(runtime))], output);
    const linked = await runProcess(program, args, { signal });
    // The linker of macOS leaves the lines in the object.
    const keepsLines = linked.status === 0 && this.toolchain.platform === "darwin" && isCheckFlavour(flavour);
    if (!keepsLines) await rm(object, { force: true });
    if (linked.status === 0) return { ok: true };
    const undefinedSymbols = parseUndefinedSymbols(linked.stderr);
    if (undefinedSymbols.length === 0) throw this.#toolFailure(program, linked);
    return { ok: false, diagnostics: [], undefinedSymbols };
  }

  /** The precompiled prefix of a flavour, as a path. */
  #prefix(flavour: Flavour, signal: AbortSignal | undefined): Promise<string> {
    return this.#part(`prefix ${flavour}`, signal, async (stop) => {
      const digest = this.identity(flavour);
      const found = await this.#cache.lookup("prefix", digest, z.null());
      const entry =
        found ??
        (await this.#cache.store("prefix", digest, z.null(), async (folder) => {
          const header = join(nativeFolder(), "msl", "include", "metal", "prelude.h");
          const args = ["-x", "c++-header", header, "-o", join(folder, "prelude.pch")];
          const result = await this.#clang("kernel", flavour, args, { signal: stop });
          if (result.status !== 0) throw this.#toolFailure(this.toolchain.clang, result);
          return null;
        }));
      return join(entry.folder, "prelude.pch");
    });
  }

  /** The folder with the runtime objects of a flavour. */
  #runtime(flavour: Flavour, signal: AbortSignal | undefined): Promise<string> {
    return this.#part(`runtime ${flavour}`, signal, async (stop) => {
      const digest = this.identity(flavour);
      const found = await this.#cache.lookup("runtime", digest, z.null());
      const entry =
        found ??
        (await this.#cache.store("runtime", digest, z.null(), async (folder) => {
          for (const source of runtimeSources(flavour)) {
            const args = ["-x", "c++", "-c", source, "-o", join(folder, `${basename(source, ".cpp")}.o`)];
            const result = await this.#clang("runtime", flavour, args, { signal: stop });
            if (result.status !== 0) throw this.#toolFailure(this.toolchain.clang, result);
          }
          return null;
        }));
      return entry.folder;
    });
  }

  /** Made once. A failure is not kept: the next pipeline tries again. */
  async #part(
    name: string,
    signal: AbortSignal | undefined,
    make: (stop: AbortSignal) => Promise<string>,
  ): Promise<string> {
    const known = this.#parts.get(name);
    if (known !== undefined) return known;
    const made = await this.#making.join(name, signal, make);
    this.#parts.set(name, made);
    return made;
  }

  async #clang(
    step: CompileStep,
    flavour: Flavour,
    args: readonly string[],
    options: ProcessOptions,
  ): Promise<ProcessResult> {
    const includes = includeFolders().flatMap((folder) => ["-I", folder]);
    // The prefix is found by a digest over its headers, so their times of change do not matter.
    const fixed = ["-fno-color-diagnostics", "-fno-caret-diagnostics", "-Xclang", "-fno-validate-pch"];
    const flags = [...compileFlags(this.toolchain, step, flavour), ...includes, ...fixed];
    return await runProcess(this.toolchain.clang, [...flags, ...args], options);
  }

  #toolFailure(program: string, result: ProcessResult): DeviceError {
    if (NO_SPACE.test(result.stderr) || isDiskFull(this.#cache.folder)) return diskFull(this.#cache.folder);
    const words = result.stderr.trim().slice(0, 1_500) || `exit ${result.status ?? "by a signal"}`;
    return new DeviceError("unavailable", `${program} could not build the emulator's own parts: ${words}`);
  }
}

/** Sources of the module runtime for a flavour, from `native/emulator/runtime/SOURCES`. */
export function runtimeSources(flavour: Flavour): readonly string[] {
  const folder = join(nativeFolder(), "emulator", "runtime");
  return readFileSync(join(folder, "SOURCES"), "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, name, which] = sourceLine.exec(line.trim()) ?? [];
      // The callbacks of a flavour that does both are those that check; they meet first.
      const wanted = isCheckFlavour(flavour) ? "check" : flavour;
      return name !== undefined && (which === "all" || which === wanted) ? [join(folder, name)] : [];
    });
}

/** Both results. Rejects when both have ended, so that nothing of a request goes on behind its end. */
async function bothOf<T>(first: Promise<T>, second: Promise<T>): Promise<readonly [T, T]> {
  await Promise.allSettled([first, second]);
  return [await first, await second];
}

async function objectsIn(folder: string): Promise<readonly string[]> {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".o"))
    .sort()
    .map((name) => join(folder, name));
}

let knownDigest: string | undefined;

/** Digest of every header and source that modules are made of, and of where they lie. Read once in a process. */
export function headersDigest(): string {
  knownDigest ??= digestFolders(includeFolders());
  return knownDigest;
}

function digestFolders(folders: readonly string[]): string {
  const parts: string[] = [];
  for (const folder of folders) {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
    for (const file of files) parts.push(file, sha256(readFileSync(file)));
  }
  return sha256(parts.join("\n"));
}
