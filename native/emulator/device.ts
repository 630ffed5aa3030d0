/** The emulated device: an Apple GPU family as a model on this machine's CPU. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import * as z from "zod";
import type { Addon } from "../addon.ts";
import { bufferProblem } from "../buffer.ts";
import type { CheckResult } from "../check.ts";
import {
  type CompileOptions,
  type Device,
  type DeviceBuffer,
  DeviceError,
  type DeviceProfile,
  type Diagnostic,
  type Dispatch,
  type Flavour,
  isCheckFlavour,
  type Library,
  type MetalSource,
  type Pipeline,
  type PipelineDescriptor,
  type SubmitOptions,
  type SubmitResult,
} from "../device.ts";
import { dispatchProblem, paddedMemory, threadLimitProblem, unknownKernel } from "../legality.ts";
import { mapDiagnostics, summarise } from "../msl/diagnostics.ts";
import { optionsProblem, type Program, readProgram } from "../msl/front_end.ts";
import { predefinedMacros, preprocess } from "../msl/preprocess.ts";
import { type ReflectedArgument, type ReflectedFunction, reflectionSchema } from "../msl/reflection.ts";
import { type FlatSource, flatten } from "../msl/source.ts";
import { bindConstants, type ConstantValues, globalScope, transform } from "../msl/transform.ts";
import { SharedWork } from "../shared_work.ts";
import { EmulatedBuffer } from "./buffer.ts";
import { type CacheEntry, type ModuleCache, sha256 } from "./cache.ts";
import { checkResult, type Exactness } from "./check_result.ts";
import { ModuleLocations } from "./locations.ts";
import type { ModuleBuilder } from "./module.ts";
import { CheckedRunError, Runner, type RunnerChecks, type RunnerDispatch } from "./runner.ts";
import { trafficProblem } from "./self_test_traffic.ts";
import { unseenVector } from "./unseen.ts";

const diagnosticSchema = z.strictObject({
  severity: z.enum(["error", "warning", "note"]),
  path: z.string(),
  line: z.int(),
  column: z.int(),
  message: z.string(),
});

/** What the cache keeps of a library, beside its preprocessed text. */
const librarySchema = z.strictObject({ reflection: reflectionSchema, warnings: z.array(diagnosticSchema).readonly() });

/** What the cache keeps of a module. */
const moduleSchema = z.strictObject({
  staticThreadgroupBytes: z.int(),
  maxThreadsPerThreadgroup: z.int(),
  /** Names of the arguments that are there with these function constants. */
  liveArguments: z.array(z.string()).readonly(),
});

type LibraryFacts = z.infer<typeof librarySchema>;
type ModuleFacts = z.infer<typeof moduleSchema>;

const PREPROCESSED = "preprocessed.txt";
const MODULE = "kernel.module";
const ENTRY_SYMBOL = "lockstep_entry";
const LOWEST_LIMIT = 1;

/** What stands behind a `Library` that this device made. */
interface LibraryParts {
  readonly flat: FlatSource;
  readonly folder: string;
  readonly facts: LibraryFacts;
}

interface PipelineParts {
  readonly modulePath: string;
  readonly staticThreadgroupBytes: number;
  readonly mathMode: "safe" | "fast";
  /** Read when a report or a count needs them. */
  readonly locations: () => Promise<ModuleLocations>;
}

export interface EmulatedDeviceParts {
  readonly profile: DeviceProfile;
  readonly addon: Addon;
  readonly runnerPath: string;
  readonly cache: ModuleCache;
  readonly builder: ModuleBuilder;
}

export class EmulatedDevice implements Device {
  readonly profile: DeviceProfile;
  readonly #parts: EmulatedDeviceParts;
  readonly #libraries = new WeakMap<Library, LibraryParts>();
  readonly #pipelines = new WeakMap<Pipeline, PipelineParts>();
  /** Modules being built, so that two requests for the same one build it once. */
  readonly #building = new SharedWork<CacheEntry<ModuleFacts>>();
  readonly #buffers = new Set<EmulatedBuffer>();
  readonly #exactness = new Map<Flavour, Exactness>();
  readonly #testing = new SharedWork<Exactness>();
  #runner: Promise<Runner> | undefined;
  #closed = false;

  constructor(parts: EmulatedDeviceParts) {
    this.profile = parts.profile;
    this.#parts = parts;
  }

  /**
   * Preprocesses and reflects. Arithmetic is IEEE whatever `mathMode` asks for. Rejects with `compile_failed` and
   * diagnostics at the author's positions; errors that need a C++ compiler to see (types, names) come from `pipeline`.
   */
  async compile(source: MetalSource, options: CompileOptions = {}, signal?: AbortSignal): Promise<Library> {
    this.#checkOpen();
    const problem = optionsProblem(options);
    if (problem !== undefined) throw new DeviceError("compile_failed", `${source.path}: ${problem}`);
    const flattened = flatten(source, options.includes);
    if (!flattened.ok) throw compileFailed(flattened.diagnostics);
    const { flat } = flattened;
    const { builder, cache } = this.#parts;
    const id = sha256(
      JSON.stringify([
        flat.text,
        predefinedMacros(options),
        options.mathMode ?? "safe",
        builder.headersDigest,
        builder.toolchain.id,
      ]),
    );
    const entry =
      (await cache.lookup("library", id, librarySchema)) ??
      (await cache.store("library", id, librarySchema, async (folder) => {
        const result = await preprocess(builder.toolchain.clang, flat, options, signal);
        if (!result.ok) throw compileFailed(result.diagnostics);
        const read = readProgram(result.text, flat);
        if (!read.ok) throw compileFailed(read.diagnostics);
        await writeFile(join(folder, PREPROCESSED), result.text);
        return { reflection: read.program.reflection, warnings: [...result.warnings] };
      }));
    const { reflection, warnings } = entry.facts;
    const library: Library = {
      id,
      source,
      options,
      functions: reflection.functions.map((one) => publicFunction(one, one.arguments)),
      functionConstants: reflection.functionConstants,
      warnings,
    };
    this.#libraries.set(library, { flat, folder: entry.folder, facts: entry.facts });
    return library;
  }

  /**
   * Builds one kernel for a flavour. Rejects with `pipeline_refused` (no such kernel or constant, a constant without a
   * value, too much static threadgroup memory) or with `compile_failed` and diagnostics.
   */
  async pipeline(
    library: Library,
    functionName: string,
    descriptor: PipelineDescriptor = {},
    signal?: AbortSignal,
  ): Promise<Pipeline> {
    this.#checkOpen();
    const start = performance.now();
    const parts = this.#libraries.get(library);
    if (!parts) throw new DeviceError("pipeline_refused", "The library was not compiled by this device.");
    const { reflection } = parts.facts;
    const entry = reflection.functions.find((one) => one.name === functionName);
    if (!entry) throw new DeviceError("pipeline_refused", unknownKernel(library, functionName));
    const flavour = descriptor.flavour ?? "fast";
    const { values, problem } = bindConstants(reflection.functionConstants, descriptor.constants ?? {});
    if (problem !== undefined) throw new DeviceError("pipeline_refused", `${functionName}: ${problem}.`);
    const limit = this.profile.limits.value;
    const stated = descriptor.maxTotalThreadsPerThreadgroup;
    const illegal = threadLimitProblem(stated, limit);
    if (illegal !== undefined) throw new DeviceError("pipeline_refused", `${functionName}: ${illegal}.`);
    const { builder, cache } = this.#parts;
    const constants = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
    const digest = sha256(JSON.stringify([library.id, functionName, constants, flavour, builder.identity(flavour)]));
    const found = await cache.lookup("module", digest, moduleSchema);
    const module =
      found ??
      (await this.#building.join(digest, signal, (stop) => this.#build(digest, parts, entry, values, flavour, stop)));
    const { staticThreadgroupBytes } = module.facts;
    if (staticThreadgroupBytes > limit.maxThreadgroupMemoryBytes) {
      const actual = staticThreadgroupBytes.toLocaleString("en-US");
      const allowed = limit.maxThreadgroupMemoryBytes.toLocaleString("en-US");
      const message = `${functionName} declares ${actual} bytes of threadgroup memory; the limit is ${allowed}: use a smaller tile.`;
      throw new DeviceError("pipeline_refused", message);
    }
    const attribute = entry.maxTotalThreadsPerThreadgroup ?? Number.POSITIVE_INFINITY;
    const asked = stated ?? Number.POSITIVE_INFINITY;
    const maxThreads = Math.max(
      LOWEST_LIMIT,
      Math.min(limit.maxThreadsPerThreadgroup, module.facts.maxThreadsPerThreadgroup, attribute, asked),
    );
    const live = new Set(module.facts.liveArguments);
    // The module is the same with any limit; the pipeline is not.
    const identity = stated === undefined ? digest : sha256(JSON.stringify([digest, stated]));
    const pipeline: Pipeline = {
      id: identity,
      function: publicFunction(
        entry,
        entry.arguments.filter((argument) => live.has(argument.name)),
      ),
      flavour,
      ...(descriptor.requiredThreadsPerThreadgroup === undefined
        ? {}
        : { requiredThreadsPerThreadgroup: descriptor.requiredThreadsPerThreadgroup }),
      receipt: {
        function: functionName,
        simdWidth: { value: limit.simdWidth, by: "table", source: this.profile.limits.source },
        maxTotalThreadsPerThreadgroup: {
          value: maxThreads,
          by: "assumed",
          source: threadLimitSource(attribute, asked, limit.maxThreadsPerThreadgroup),
        },
        staticThreadgroupMemoryBytes: { value: staticThreadgroupBytes, by: "probe", source: "the compiled module" },
        digest: identity,
        compileMs: performance.now() - start,
        cached: found !== undefined,
      },
    };
    const modulePath = join(module.folder, MODULE);
    let locations: Promise<ModuleLocations> | undefined;
    this.#pipelines.set(pipeline, {
      modulePath,
      staticThreadgroupBytes,
      mathMode: library.options.mathMode === "fast" ? "fast" : "safe",
      locations: () => {
        locations ??= readLocations(modulePath, parts, entry, values);
        return locations;
      },
    });
    return pipeline;
  }

  allocate(bytes: number, label: string): DeviceBuffer {
    this.#checkOpen();
    if (!Number.isSafeInteger(bytes) || bytes < 1) {
      throw new DeviceError("unavailable", `Buffer '${label}' cannot have ${bytes} bytes: it needs at least 1.`);
    }
    const buffer = new EmulatedBuffer(this.#parts.addon.allocate(bytes), bytes, label, (gone) => {
      this.#buffers.delete(gone);
      const { path, fileOffset } = gone.memory;
      void this.#runner?.then((runner) => runner.drop({ path, fileOffset, bytes, label })).catch(() => undefined);
    });
    this.#buffers.add(buffer);
    return buffer;
  }

  /** Checks every dispatch before anything runs, then runs them in order in the runner process. */
  async submit(dispatches: readonly Dispatch[], options: SubmitOptions = {}): Promise<SubmitResult> {
    this.#checkOpen();
    const prepared = dispatches.map((dispatch) => this.#prepare(dispatch));
    if (prepared.length === 0) return { timings: [] };
    const checked = dispatches.filter((dispatch) => isCheckFlavour(dispatch.pipeline.flavour));
    if (checked.length === 0) {
      const runner = await this.#startRunner();
      const { timings } = await runner.submit({ dispatches: prepared }, options);
      return { timings, rights: runner.rights };
    }
    const other = dispatches.find((dispatch) => !isCheckFlavour(dispatch.pipeline.flavour));
    if (other !== undefined) {
      const message = `Dispatch '${other.label}' is of flavour ${other.pipeline.flavour}, '${checked[0]?.label}' of ${checked[0]?.pipeline.flavour}: build all of a submission for check flavours, or none.`;
      throw new DeviceError("dispatch_refused", message);
    }
    const exactness = await this.#exactnessOf(dispatches[0]?.pipeline.flavour ?? "check", options.signal);
    return await this.#submitChecked(dispatches, prepared, options, exactness);
  }

  async #submitChecked(
    dispatches: readonly Dispatch[],
    prepared: readonly RunnerDispatch[],
    options: SubmitOptions,
    exactness: Exactness,
  ): Promise<SubmitResult> {
    const outputs = (options.check?.outputs ?? []).map((buffer) => {
      const { path, fileOffset } = this.#own(buffer).memory;
      return { path, fileOffset, bytes: buffer.bytes, label: buffer.label };
    });
    const read = async (checks: RunnerChecks): Promise<CheckResult> => {
      const locations = await Promise.all(
        dispatches.map((dispatch) => this.#pipelines.get(dispatch.pipeline)?.locations()),
      );
      const known = locations.filter((one) => one !== undefined);
      return checkResult(checks, dispatches, known, exactness);
    };
    const runner = await this.#startRunner();
    try {
      const request = { dispatches: prepared, check: { order: options.check?.order ?? "serial", outputs } };
      const { timings, checks } = await runner.submit(request, options);
      const { rights } = runner;
      return checks === undefined ? { timings, rights } : { timings, rights, check: await read(checks) };
    } catch (error) {
      if (!(error instanceof CheckedRunError)) throw error;
      const { code, message, diagnostics } = error.error;
      throw new DeviceError(code, message, diagnostics, await read(error.checks));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const runner = await this.#runner?.catch(() => undefined);
    await runner?.close();
    for (const buffer of [...this.#buffers]) buffer.release();
  }

  /** Whether counts of a flavour are exact with this compiler: found out once, by a kernel of which every access is known. */
  async #exactnessOf(flavour: Flavour, signal: AbortSignal | undefined): Promise<Exactness> {
    const known = this.#exactness.get(flavour);
    if (known) return known;
    const found = await this.#testing.join(flavour, signal, (stop) => this.#testExactness(flavour, stop));
    this.#exactness.set(flavour, found);
    return found;
  }

  async #testExactness(flavour: Flavour, signal: AbortSignal): Promise<Exactness> {
    const untested: Exactness = { exact: false, reason: "this is the self-test" };
    const submit = (dispatches: readonly Dispatch[]): Promise<SubmitResult> =>
      this.#submitChecked(
        dispatches,
        dispatches.map((dispatch) => this.#prepare(dispatch)),
        { signal },
        untested,
      );
    try {
      const problem = await trafficProblem(this, flavour, submit, signal);
      if (problem !== undefined) return { exact: false, reason: problem };
      return { exact: true, reason: "a kernel of known traffic was counted right with this compiler" };
    } catch (error) {
      if (error instanceof DeviceError && error.code === "cancelled") throw error;
      return { exact: false, reason: `the self-test did not run: ${String(error)}` };
    }
  }

  #prepare(dispatch: Dispatch): RunnerDispatch {
    const parts = this.#pipelines.get(dispatch.pipeline);
    const refuse = (why: string): DeviceError =>
      new DeviceError("dispatch_refused", `Dispatch '${dispatch.label}': ${why}.`);
    if (!parts) throw refuse("its pipeline was not built by this device");
    const problem = dispatchProblem(dispatch, {
      limits: this.profile.limits.value,
      staticThreadgroupBytes: parts.staticThreadgroupBytes,
      maxThreads: dispatch.pipeline.receipt.maxTotalThreadsPerThreadgroup.value,
      bufferProblem: (argument) => bufferProblem(argument, this.#buffers),
    });
    if (problem !== undefined) throw refuse(problem);
    return {
      label: dispatch.label,
      module: { path: parts.modulePath, entry: ENTRY_SYMBOL },
      threadgroups: dispatch.threadgroups,
      threadsPerThreadgroup: dispatch.threadsPerThreadgroup,
      arguments: dispatch.arguments.map((argument) => {
        const parameter = dispatch.pipeline.function.arguments?.find(
          (one) => one.kind === "buffer" && one.index === argument.index,
        );
        const readOnly = parameter !== undefined && (parameter.readOnly || parameter.addressSpace === "constant");
        if ("bytes" in argument) return { ...argument, readOnly };
        const { index, buffer, offset = 0 } = argument;
        const { path, fileOffset } = this.#own(buffer).memory;
        return { index, buffer: { path, fileOffset, bytes: buffer.bytes, label: buffer.label }, offset, readOnly };
      }),
      threadgroupMemory: paddedMemory(dispatch),
      mathMode: parts.mathMode,
    };
  }

  #own(buffer: DeviceBuffer): EmulatedBuffer {
    if (buffer instanceof EmulatedBuffer) return buffer;
    throw new DeviceError("dispatch_refused", `Buffer '${buffer.label}' was allocated by another device.`);
  }

  async #build(
    digest: string,
    library: LibraryParts,
    entry: ReflectedFunction,
    values: ConstantValues,
    flavour: Flavour,
    signal: AbortSignal,
  ): Promise<CacheEntry<ModuleFacts>> {
    const { builder, cache } = this.#parts;
    const preprocessed = await readFile(join(library.folder, PREPROCESSED), "utf8");
    const read = readProgram(preprocessed, library.flat);
    if (!read.ok) throw compileFailed(read.diagnostics);
    const { program } = read;
    const layout = transform(program.syntax, program.declarations, entry, values);
    return await cache.store("module", digest, moduleSchema, async (folder) => {
      const output = join(folder, MODULE);
      const result = await builder.build(layout.text, flavour, folder, output, signal);
      if (!result.ok) {
        if (result.diagnostics.length > 0) {
          const position = kernelPosition(program, entry);
          throw compileFailed(mapDiagnostics(result.diagnostics, program.unit, layout, position));
        }
        throw undefinedSymbols(result.undefinedSymbols, program, entry);
      }
      const facts = await (await this.#startRunner()).inspect(output);
      return {
        staticThreadgroupBytes: facts.staticThreadgroupBytes,
        maxThreadsPerThreadgroup: facts.maxThreadsPerThreadgroup,
        liveArguments: liveArguments(program, entry, values),
      };
    });
  }

  #startRunner(): Promise<Runner> {
    if (!this.#runner) {
      this.#runner = Runner.start(this.#parts.runnerPath);
      this.#runner.catch(() => {
        this.#runner = undefined;
      });
    }
    return this.#runner;
  }

  #checkOpen(): void {
    if (this.#closed) throw new DeviceError("unavailable", `Device ${this.profile.id} is closed: open it again.`);
  }
}

async function readLocations(
  modulePath: string,
  library: LibraryParts,
  entry: ReflectedFunction,
  values: ConstantValues,
): Promise<ModuleLocations> {
  const read = readProgram(await readFile(join(library.folder, PREPROCESSED), "utf8"), library.flat);
  if (!read.ok) throw compileFailed(read.diagnostics);
  const { program } = read;
  const layout = transform(program.syntax, program.declarations, entry, values);
  return await ModuleLocations.read(modulePath, program.unit.files, layout, unseenVector(program.syntax));
}

function publicFunction(entry: ReflectedFunction, shown: readonly ReflectedArgument[]): Library["functions"][number] {
  return {
    name: entry.name,
    arguments: shown.map(({ name, kind, index, addressSpace, readOnly, type }) => ({
      name,
      kind,
      index,
      addressSpace,
      readOnly,
      type,
    })),
    ...(entry.maxTotalThreadsPerThreadgroup === undefined
      ? {}
      : { maxTotalThreadsPerThreadgroup: entry.maxTotalThreadsPerThreadgroup }),
  };
}

function threadLimitSource(attribute: number, asked: number, most: number): string {
  if (asked < Math.min(attribute, most)) return "maxTotalThreadsPerThreadgroup of the pipeline's descriptor";
  if (attribute <= most) return "[[max_total_threads_per_threadgroup]] of the kernel";
  return "the limit of the device; a real pipeline may allow fewer";
}

/** Arguments that need a binding: all but those whose predicate is not known to hold. */
function liveArguments(program: Program, entry: ReflectedFunction, values: ConstantValues): readonly string[] {
  const scope = globalScope(program.declarations, program.syntax, values);
  return entry.arguments
    .filter((argument) => argument.predicate === undefined || Boolean(scope.value(argument.predicate)))
    .map((argument) => argument.name);
}

function kernelPosition(program: Program, entry: ReflectedFunction): Diagnostic {
  const { declarations, syntax } = program;
  const kernel = declarations.kernels.find((one) => entry.expression.startsWith(one.qualifiedName));
  return syntax.diagnostic(kernel?.nameIndex ?? 0, "");
}

function undefinedSymbols(symbols: readonly string[], program: Program, entry: ReflectedFunction): DeviceError {
  const plain = symbols.map((symbol) => symbol.replace(/^.*::/, ""));
  const missing = program.declarations.functionConstants.filter((one) => plain.includes(one.name));
  if (missing.length > 0) {
    const names = missing.map((one) => `'${one.name}' (index ${one.index}, ${one.type})`).join(", ");
    const message = `${entry.name} uses function constants without a value: ${names}. Set them in \`constants\`.`;
    return new DeviceError("pipeline_refused", message);
  }
  const { path, line, column } = kernelPosition(program, entry);
  const message = `'${symbols.join("', '")}' is declared but defined nowhere`;
  return compileFailed([{ severity: "error", path, line, column, message }]);
}

function compileFailed(diagnostics: readonly Diagnostic[]): DeviceError {
  return new DeviceError("compile_failed", summarise(diagnostics), diagnostics);
}
