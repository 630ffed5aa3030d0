/** The Metal device: an Apple GPU through `binding.ts`. Decides, words and records; the binding only does. */
import { performance } from "node:perf_hooks";
import { bufferProblem } from "../buffer.ts";
import {
  type CompileOptions,
  type Device,
  type DeviceBuffer,
  DeviceError,
  type DeviceProfile,
  type Dispatch,
  type FunctionConstant,
  type KernelArgument,
  type Library,
  type MetalSource,
  type Pipeline,
  type PipelineDescriptor,
  type ResourceReceipt,
  type SubmitOptions,
  type SubmitResult,
} from "../device.ts";
import { type ModuleCache, sha256 } from "../emulator/cache.ts";
import { dispatchProblem, paddedMemory, threadLimitProblem, unknownKernel } from "../legality.ts";
import { summarise } from "../msl/diagnostics.ts";
import { optionsProblem } from "../msl/front_end.ts";
import { type FlatSource, flatten } from "../msl/source.ts";
import { unlessCancelled } from "../shared_work.ts";
import { allocationProblem } from "./allocation.ts";
import { buildWithArchive, pipelineDigest } from "./archive.ts";
import type {
  MetalArgument,
  MetalBinding,
  MetalCompileReply,
  MetalCompileRequest,
  MetalConnection,
  MetalDeviceFacts,
  MetalDispatch,
  MetalLibraryFunction,
  MetalLibraryHandle,
  MetalPipelineHandle,
  MetalPipelineReply,
  MetalSystemFacts,
} from "./binding.ts";
import { MetalBuffer } from "./buffer.ts";
import { encodeConstants, libraryConstants } from "./constants.ts";
import { compileRefusal, readMetalMessages, refusalText } from "./diagnostics.ts";
import { chooseLanguage, type LanguageChoice } from "./language.ts";
import { registerBracket } from "./registers.ts";
import { runSubmission } from "./submission.ts";

/** The first MSL in which kernels can log. */
const LOGGING_LANGUAGE = 3 * 65_536 + 2;

type Language = Extract<LanguageChoice, { ok: true }>;
type Compiled = Extract<MetalCompileReply, { ok: true }>;

/** What stands behind a `Library` that this device made. */
interface LibraryParts {
  readonly flat: FlatSource;
  readonly request: MetalCompileRequest;
  readonly language: Language;
  readonly handle: MetalLibraryHandle;
  readonly functions: readonly MetalLibraryFunction[];
  readonly constants: readonly FunctionConstant[];
  readonly mathModeBy: Compiled["mathModeBy"];
}

interface PipelineParts {
  readonly handle: MetalPipelineHandle;
  readonly staticThreadgroupBytes: number;
}

export interface MetalDeviceParts {
  readonly profile: DeviceProfile;
  readonly facts: MetalDeviceFacts;
  readonly system: MetalSystemFacts;
  readonly connection: MetalConnection;
  /** The connection was opened with logging. */
  readonly logging: boolean;
  /** Null: no binary archive is read or written. */
  readonly cache: ModuleCache | null;
}

export class MetalDevice implements Device {
  readonly profile: DeviceProfile;
  readonly #parts: MetalDeviceParts;
  readonly #libraries = new WeakMap<Library, LibraryParts>();
  readonly #pipelines = new WeakMap<Pipeline, PipelineParts>();
  /** Pipelines being built, so that two requests for the same one compile it once. */
  readonly #building = new Map<string, Promise<MetalPipelineReply>>();
  readonly #buffers = new Set<MetalBuffer>();
  /** The end of the submission before. */
  #before: Promise<unknown> = Promise.resolve();
  /** A dispatch that outlived its time and still runs. */
  #stuck: { readonly words: string; readonly rest: Promise<void> } | undefined;
  #capturing = false;
  #closed = false;

  constructor(parts: MetalDeviceParts) {
    this.profile = parts.profile;
    this.#parts = parts;
  }

  /**
   * Compiles at run time. Rejects with `compile_failed`: Metal's words whole in the message, and its errors as diagnostics at
   * the author's positions; or the MSL version that this macOS does not have. Metal's compiler cannot be stopped: where
   * `signal` aborts, this rejects at once with `cancelled`, and what is compiled is dropped.
   */
  async compile(source: MetalSource, options: CompileOptions = {}, signal?: AbortSignal): Promise<Library> {
    this.#checkOpen();
    const { system, connection, logging } = this.#parts;
    const problem = optionsProblem(options);
    if (problem !== undefined) throw new DeviceError("compile_failed", `${source.path}: ${problem}`);
    const language = chooseLanguage(options.languageVersion, system.osVersion);
    if (!language.ok) throw new DeviceError("compile_failed", `${source.path}: ${language.problem}.`);
    const flattened = flatten(source, options.includes);
    if (!flattened.ok) throw new DeviceError("compile_failed", summarise(flattened.diagnostics), flattened.diagnostics);
    const { flat } = flattened;
    const request: MetalCompileRequest = {
      text: flat.text,
      languageVersion: language.raw,
      mathMode: options.mathMode ?? "safe",
      macros: macrosOf(options),
      logging: logging && language.raw >= LOGGING_LANGUAGE,
    };
    const reply = await unlessCancelled(signal, () => connection.compile(request));
    if (!reply.ok) {
      const diagnostics = readMetalMessages(reply.error.words, flat);
      throw new DeviceError("compile_failed", compileRefusal(flat, reply.error, diagnostics), diagnostics);
    }
    const constants = libraryConstants(reply.functions);
    const library: Library = {
      id: sha256(JSON.stringify([request, system.osVersion, system.osBuild, this.#parts.facts.architecture])),
      source,
      options,
      functions: reply.functions.map(({ name }) => ({ name })),
      functionConstants: constants,
      warnings: reply.warnings === null ? [] : readMetalMessages(reply.warnings, flat),
    };
    const { library: handle, functions, mathModeBy } = reply;
    this.#libraries.set(library, { flat, request, language, handle, functions, constants, mathModeBy });
    return library;
  }

  /**
   * Builds one kernel, out of the binary archive where that has it. Rejects with `pipeline_refused`: no such kernel or
   * constant, a constant without a value, a flavour of the emulated device, or Metal's words. Rejects with `cancelled` as
   * soon as `signal` aborts; the pipeline is built to its end all the same, for whoever asks next.
   */
  async pipeline(
    library: Library,
    functionName: string,
    descriptor: PipelineDescriptor = {},
    signal?: AbortSignal,
  ): Promise<Pipeline> {
    this.#checkOpen();
    const start = performance.now();
    const refuse = (words: string): DeviceError => new DeviceError("pipeline_refused", words);
    const parts = this.#libraries.get(library);
    if (parts === undefined) throw refuse("The library was not compiled by this device.");
    const { flavour = "fast" } = descriptor;
    if (flavour !== "fast") {
      const why = "runs what its own compiler makes, the other flavours are ways to build for the emulated device";
      throw refuse(`${functionName}: flavour '${flavour}' is not there on ${this.profile.id}, which ${why}: use fast.`);
    }
    const entry = parts.functions.find((one) => one.name === functionName);
    if (entry === undefined) throw refuse(unknownKernel(library, functionName));
    const encoded = encodeConstants(entry, parts.constants, descriptor.constants ?? {});
    if (!encoded.ok) throw refuse(encoded.problem);
    const limit = descriptor.maxTotalThreadsPerThreadgroup;
    const illegal = threadLimitProblem(limit, this.profile.limits.value);
    if (illegal !== undefined) throw refuse(`${functionName}: ${illegal}.`);
    const required = descriptor.requiredThreadsPerThreadgroup;
    const { facts, system } = this.#parts;
    const digest = pipelineDigest({
      source: parts.request.text,
      macros: parts.request.macros,
      language: parts.request.languageVersion,
      mathMode: parts.request.mathMode,
      logging: parts.request.logging,
      function: functionName,
      constants: encoded.constants,
      maxTotalThreadsPerThreadgroup: limit ?? null,
      requiredThreadsPerThreadgroup: required ?? null,
      osBuild: system.osBuild,
      osVersion: system.osVersion,
      architecture: facts.architecture,
      deviceName: facts.name,
    });
    const build = (archive: string | null): Promise<MetalPipelineReply> =>
      this.#parts.connection.pipeline(parts.handle, {
        function: functionName,
        constants: encoded.constants,
        maxTotalThreadsPerThreadgroup: limit ?? null,
        requiredThreadsPerThreadgroup: required ?? null,
        archive,
      });
    const reply = await unlessCancelled(signal, () => this.#buildOnce(digest, build));
    if (!reply.ok) {
      throw refuse(refusalText(encoded.missing ?? `No pipeline of '${functionName}' was made.`, reply.error));
    }
    const registers =
      limit === undefined
        ? registerBracket(this.profile.family.value, reply.maxTotalThreadsPerThreadgroup, parts.flat.text).known
        : null;
    const receipt: ResourceReceipt = {
      function: functionName,
      ...measured(reply),
      ...(registers === null ? {} : { registers }),
      language: { value: parts.language.version, by: "api", source: languageSource(parts.language) },
      mathMode: { value: parts.request.mathMode, by: "api", source: mathModeSource(parts.mathModeBy) },
      digest,
      compileMs: performance.now() - start,
      cached: reply.archive === "hit",
    };
    const kernelArguments = reply.arguments === null ? undefined : argumentsOf(reply.arguments);
    const pipeline: Pipeline = {
      id: digest,
      function: {
        name: functionName,
        ...(kernelArguments === undefined ? {} : { arguments: kernelArguments }),
      },
      flavour,
      ...(required === undefined ? {} : { requiredThreadsPerThreadgroup: required }),
      receipt,
    };
    this.#pipelines.set(pipeline, {
      handle: reply.pipeline,
      staticThreadgroupBytes: reply.staticThreadgroupMemoryBytes,
    });
    return pipeline;
  }

  /** Allocates shared memory. Throws `unavailable` for more than the largest buffer or the recommended working set. */
  allocate(bytes: number, label: string): DeviceBuffer {
    this.#checkOpen();
    const { connection, facts } = this.#parts;
    const problem = allocationProblem(bytes, label, facts, () => connection.allocatedBytes());
    if (problem !== undefined) throw new DeviceError("unavailable", problem);
    let memory: MetalBuffer["memory"];
    try {
      memory = connection.allocate(bytes, label);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      throw new DeviceError("unavailable", `Buffer '${label}' was not allocated: ${words}`);
    }
    const buffer: MetalBuffer = new MetalBuffer(memory, bytes, label, () => this.#buffers.delete(buffer));
    this.#buffers.add(buffer);
    return buffer;
  }

  /**
   * Checks every dispatch, then runs them in order, each in a command buffer and an encoder of its own. Submissions run one
   * after the other. Rejects with `timed_out` while the kernel still runs: see `unavailable` of the next submission.
   */
  async submit(dispatches: readonly Dispatch[], options: SubmitOptions = {}): Promise<SubmitResult> {
    this.#checkOpen();
    // Refused at once, whatever runs; looked at again when its turn has come.
    for (const dispatch of dispatches) this.#prepare(dispatch);
    const mine = this.#before.then(
      () => this.#submitNow(dispatches, options),
      () => this.#submitNow(dispatches, options),
    );
    this.#before = mine;
    return await mine;
  }

  /** Writes what `work` submits to a `.gputrace`. Rejects with `unavailable` where Metal does not capture. */
  async capture<T>(path: string, work: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    const refuse = (words: string): DeviceError => new DeviceError("unavailable", words);
    if (this.#capturing) throw refuse(`${path} cannot be captured: another capture runs. Wait for its end.`);
    if (!path.endsWith(".gputrace")) throw refuse(`${path} cannot be captured to: Xcode opens files named *.gputrace.`);
    if (this.#parts.logging) {
      throw refuse(
        `${path} cannot be captured: this device takes what kernels log, and Metal cannot do both. Open it without logging.`,
      );
    }
    const { connection } = this.#parts;
    // Command buffers that were made before do not belong to it.
    await this.#before.catch(() => undefined);
    this.#checkFree();
    const started = connection.startCapture(path);
    if (!started.ok) throw refuse(refusalText(`${path} cannot be captured.`, started.error));
    this.#capturing = true;
    try {
      return await work();
    } finally {
      this.#capturing = false;
      if (!this.#closed) connection.stopCapture();
    }
  }

  /** Releases every buffer. Waits for a submission in flight, but not for a dispatch that outlived its time. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#before.catch(() => undefined);
    const { connection } = this.#parts;
    if (this.#capturing) connection.stopCapture();
    for (const buffer of [...this.#buffers]) buffer.release();
    // What is in flight holds what it needs.
    connection.close();
  }

  async #submitNow(dispatches: readonly Dispatch[], options: SubmitOptions): Promise<SubmitResult> {
    this.#checkFree();
    const prepared = dispatches.map((dispatch) => this.#prepare(dispatch));
    if (prepared.length === 0) return { timings: [] };
    const { connection } = this.#parts;
    const timings = await runSubmission(
      {
        dispatches,
        start: (native) => connection.submit(prepared, native),
        onStuck: (rest, words) => {
          const stuck = { rest, words };
          this.#stuck = stuck;
          void rest.then(() => {
            if (this.#stuck === stuck) this.#stuck = undefined;
          });
        },
      },
      options,
    );
    return { timings };
  }

  #prepare(dispatch: Dispatch): MetalDispatch {
    const refuse = (why: string): DeviceError =>
      new DeviceError("dispatch_refused", `Dispatch '${dispatch.label}': ${why}.`);
    const parts = this.#pipelines.get(dispatch.pipeline);
    if (parts === undefined) throw refuse("its pipeline was not built by this device");
    const problem = dispatchProblem(dispatch, {
      limits: this.profile.limits.value,
      staticThreadgroupBytes: parts.staticThreadgroupBytes,
      maxThreads: dispatch.pipeline.receipt.maxTotalThreadsPerThreadgroup.value,
      countsPadding: true,
      bufferProblem: (argument) => bufferProblem(argument, this.#buffers),
    });
    if (problem !== undefined) throw refuse(problem);
    return {
      label: dispatch.label,
      pipeline: parts.handle,
      threadgroups: dispatch.threadgroups,
      threadsPerThreadgroup: dispatch.threadsPerThreadgroup,
      bindings: dispatch.arguments.map((argument): MetalBinding => {
        if ("bytes" in argument) return { index: argument.index, bytes: argument.bytes };
        return { index: argument.index, memory: argument.buffer.memory, offset: argument.offset ?? 0 };
      }),
      threadgroupMemory: paddedMemory(dispatch).filter(({ bytes }) => bytes > 0),
    };
  }

  #buildOnce(
    digest: string,
    build: (archive: string | null) => Promise<MetalPipelineReply>,
  ): Promise<MetalPipelineReply> {
    const running = this.#building.get(digest);
    if (running !== undefined) return running;
    const { cache } = this.#parts;
    const built = (cache === null ? build(null) : buildWithArchive(cache, digest, build)).finally(() =>
      this.#building.delete(digest),
    );
    this.#building.set(digest, built);
    return built;
  }

  #checkFree(): void {
    if (this.#stuck === undefined) return;
    const words = `${this.profile.id} takes nothing: ${this.#stuck.words} outlived its time and still runs on the GPU, which Metal cannot stop. Wait for its end, or start the process again.`;
    throw new DeviceError("unavailable", words);
  }

  #checkOpen(): void {
    if (this.#closed) throw new DeviceError("unavailable", `Device ${this.profile.id} is closed: open it again.`);
  }
}

function macrosOf(options: CompileOptions): MetalCompileRequest["macros"] {
  const given = Object.entries(options.defines ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return given.map(([name, value]) => [name, String(value)] as const);
}

/** What the pipeline state says of itself. */
function measured(reply: Extract<MetalPipelineReply, { ok: true }>) {
  return {
    simdWidth: api(reply.simdWidth, "threadExecutionWidth"),
    maxTotalThreadsPerThreadgroup: api(reply.maxTotalThreadsPerThreadgroup, "maxTotalThreadsPerThreadgroup"),
    staticThreadgroupMemoryBytes: api(reply.staticThreadgroupMemoryBytes, "staticThreadgroupMemoryLength"),
  } as const;
}

function api(value: number, property: string) {
  return { value, by: "api", source: `MTLComputePipelineState.${property}` } as const;
}

function languageSource({ reason }: Language): string {
  return `MTLCompileOptions.languageVersion: ${reason}`;
}

function mathModeSource(by: Compiled["mathModeBy"]): string {
  return by === "mathMode"
    ? "MTLCompileOptions.mathMode and mathFloatingPointFunctions"
    : "MTLCompileOptions.fastMathEnabled: this macOS or the SDK of the addon has no mathMode";
}

/** The arguments that the kernel uses, as Metal reflects them. */
function argumentsOf(reflected: readonly MetalArgument[]): readonly KernelArgument[] {
  return reflected.flatMap(({ name, kind, index, access, used, dataBytes, alignment }) => {
    if (kind === "other" || !used) return [];
    const pointee = kind === "buffer" && dataBytes > 0 ? { pointeeBytes: dataBytes } : {};
    const aligned = kind === "buffer" && alignment > 1 ? { alignmentBytes: alignment } : {};
    return [{ name, kind, index, readOnly: access === 0, ...pointee, ...aligned }];
  });
}
