/**
 * Answers questions about the cases of bundles. The inputs of a case are made again and held to the digests of the record,
 * the oracle runs once, and both are kept for the next question; a run, another case or a while without questions lets
 * them go.
 */
import type { CaseShape, RoutePlan } from "../../kernels/route.ts";
import type { Addon, NativeAttentionResult } from "../../native/addon.ts";
import type { DeviceBuffer } from "../../native/device.ts";
import { SafetensorsError } from "../../oracle/safetensors.ts";
import type { Case } from "../cases/case.ts";
import { type CaseInputs, InputPool, inputBuffers, materialise } from "../cases/inputs.ts";
import { sha256 } from "../evidence/bag.ts";
import { memoryBuffer } from "../runs/imported.ts";
import type { CaseRecord, ResultRecord } from "../runs/record.ts";
import { decodeInput, prefillInput } from "../runs/reference.ts";
import { arrayBytes, type ElementContext, elementAnswer } from "./answers.ts";
import {
  caseOf,
  findCase,
  findResult,
  type OpenBundle,
  openBundle,
  type RouteOutput,
  readOutput,
  requireOut,
} from "./bundle_case.ts";
import { compareRoutes } from "./compare_routes.ts";
import { type ErrorArrays, errorArrays } from "./errors.ts";
import { outputEdges, planOf } from "./geometry.ts";
import { heatMap, notFiniteOf } from "./heat_map.ts";
import { laneErrors, outputFragment } from "./lanes.ts";
import { addressOf, addressWords, extentsOf, positionAxis } from "./layout.ts";
import {
  ANSWER_LIMIT_BYTES,
  type InspectAnswer,
  InspectError,
  type InspectRequest,
  type InspectWhat,
} from "./messages.ts";
import { positionProfile } from "./position_profile.ts";
import { headSummaries, sequenceSummaries, ulpSummary, wholeSummary } from "./summaries.ts";
import { worstElements } from "./worst.ts";

export interface InspectorOptions {
  /** Loaded at the first question. */
  readonly addon: () => Addon;
  /** Folder of the golden files. */
  readonly golden: string;
  /** Milliseconds without a question after which inputs are let go. */
  readonly idleMs?: number;
}

const IDLE_MS = 120_000;
/** Error arrays of so many routes are kept. */
const KEPT_ROUTES = 4;

/** The inputs of one case in memory, and what the oracle says. */
interface Reference {
  readonly key: string;
  readonly buffers: ReadonlyMap<string, DeviceBuffer>;
  readonly oracle: NativeAttentionResult;
  readonly sha256: string;
  readonly ms: number;
  readonly release: () => void;
}

/** One route of a case, ready to be looked at. */
interface Subject {
  readonly entry: CaseRecord;
  readonly result: ResultRecord;
  readonly shape: CaseShape;
  readonly out: RouteOutput;
  readonly errors: ErrorArrays;
  readonly plan: RoutePlan | undefined;
  readonly reference: Reference;
}

export class Inspector {
  readonly #options: InspectorOptions;
  #bundle: OpenBundle | undefined;
  #reference: Reference | undefined;
  readonly #errors = new Map<string, ErrorArrays>();
  #idle: NodeJS.Timeout | undefined;

  constructor(options: InspectorOptions) {
    this.#options = options;
  }

  /** Throws `InspectError` where there is no answer. One question at a time. */
  async inspect(request: InspectRequest): Promise<InspectAnswer> {
    clearTimeout(this.#idle);
    try {
      return await this.#answer(request);
    } catch (error) {
      if (error instanceof RangeError) throw new InspectError("usage", error.message, "ask for what the output has");
      if (error instanceof SafetensorsError) throw new InspectError("input", error.message, "name the file of the run");
      throw error;
    } finally {
      this.#idle = setTimeout(() => this.release(), this.#options.idleMs ?? IDLE_MS);
      this.#idle.unref();
    }
  }

  /** Lets go of inputs and oracle. */
  release(): void {
    clearTimeout(this.#idle);
    this.#reference?.release();
    this.#reference = undefined;
    this.#errors.clear();
  }

  async #answer(request: InspectRequest): Promise<InspectAnswer> {
    const bundle = openBundle(request.bundle, this.#bundle);
    this.#bundle = bundle;
    const entry = findCase(bundle.record, request.case);
    const result = findResult(bundle.record, request.case, request.route);
    const out = requireOut(bundle, entry, result);
    const reference = await this.#referenceOf(bundle, entry, request.inputs);
    const shape = entry.shape;
    const errors = this.#errorsOf(reference, out);
    const plan = bundle.record.execution === "imported" ? undefined : planOf(shape, request.route);
    const answer = this.#look({ entry, result, shape, out, errors, plan, reference }, bundle, request.what);
    const bytes = arrayBytes(answer);
    if (bytes > ANSWER_LIMIT_BYTES) {
      const sides = `${bytes.toLocaleString("en-US")} bytes of arrays; the limit is ${ANSWER_LIMIT_BYTES.toLocaleString("en-US")}`;
      throw new InspectError("usage", `The answer has ${sides}`, "ask for a pooled heat map, or fix an axis");
    }
    return answer;
  }

  #look(subject: Subject, bundle: OpenBundle, what: InspectWhat): InspectAnswer {
    const { shape, errors, plan, out, reference } = subject;
    const extents = extentsOf(shape);
    switch (what.kind) {
      case "summary":
        return summaryAnswer(subject);
      case "profile": {
        const profile = positionProfile(errors, extents, what.axis, what.measure, defined(what.fixed));
        return { kind: "profile", ...profile, edges: outputEdges(shape, plan, what.axis) };
      }
      case "heat_map": {
        const { kind, fixed, ...options } = what;
        return {
          kind,
          ...heatMap(errors, extents, { ...options, fixed: defined(fixed) }),
          rowEdges: outputEdges(shape, plan, what.rowAxis),
          columnEdges: outputEdges(shape, plan, what.columnAxis),
        };
      }
      case "worst":
        return worstAnswer(subject, what);
      case "element": {
        const lse = readOutput(bundle, subject.entry, subject.result, "lse");
        const context: ElementContext = {
          shape,
          plan,
          out,
          lse,
          errors,
          oracle: reference.oracle,
          buffers: reference.buffers,
          limit: errorLimit(subject.result),
        };
        return elementAnswer(context, what);
      }
      case "lanes":
        return lanesAnswer(subject, what.measure);
      case "compare":
        return this.#compare(subject, bundle, what.other);
    }
  }

  #compare(
    subject: Subject,
    bundle: OpenBundle,
    other: Extract<InspectWhat, { kind: "compare" }>["other"],
  ): InspectAnswer {
    const { entry, result, shape, out, reference, plan } = subject;
    const second = other.bundle === null || other.bundle === bundle.folder ? bundle : openBundle(other.bundle);
    const secondEntry = findCase(second.record, entry.key);
    if (inputsKey(secondEntry) !== inputsKey(entry)) {
      throw new InspectError(
        "usage",
        `${entry.key} had other inputs in the other bundle`,
        "compare runs of one seed and file",
      );
    }
    const secondResult = findResult(second.record, entry.key, other.route);
    const secondOut = requireOut(second, secondEntry, secondResult);
    if (secondOut.dtype !== out.dtype) {
      throw new InspectError(
        "usage",
        `${result.route} wrote ${out.dtype} and ${other.route} ${secondOut.dtype}`,
        "compare outputs of one dtype",
      );
    }
    const extents = extentsOf(shape);
    const { difference, ...comparison } = compareRoutes(
      { route: result.route, output: out.values, verdict: result.verdict },
      { route: other.route, output: secondOut.values, verdict: secondResult.verdict },
      reference.oracle.out,
      extents,
      out.dtype,
    );
    // What is not finite on either side is flagged, as in the other charts.
    const a = this.#errorsOf(reference, out).flags;
    const b = this.#errorsOf(reference, secondOut).flags;
    const flags = Uint8Array.from(a, (flag, i) => flag | b[i]!);
    const axis = positionAxis(shape.operator);
    const apart = { flags, abs: difference, relative: difference, ulp: difference, signed: difference };
    const profile = positionProfile(apart, extents, axis, "signed");
    return {
      kind: "compare",
      ...comparison,
      profile: { axis, max: profile.max, at: profile.at, flags: profile.flags, edges: outputEdges(shape, plan, axis) },
    };
  }

  /** Inputs and oracle of a case; those of the question before where they are the same. */
  async #referenceOf(bundle: OpenBundle, entry: CaseRecord, inputs: string | null): Promise<Reference> {
    const key = inputsKey(entry);
    if (this.#reference?.key === key) return this.#reference;
    this.release();
    const addon = this.#options.addon();
    const testCase = caseOf(bundle.record, entry, { inputs, golden: this.#options.golden });
    const pool = new InputPool((bytes, label) => memoryBuffer(addon, bytes, label));
    try {
      const { buffers, facts } = await makeInputs(testCase, pool, addon);
      for (const fact of facts) {
        const recorded = entry.inputs.find((input) => input.name === fact.name);
        if (recorded?.sha256 === fact.sha256) continue;
        const sides = `${fact.name} has the digest ${fact.sha256.slice(0, 12)}, the record says ${recorded?.sha256.slice(0, 12) ?? "nothing"}`;
        throw new InspectError(
          "input",
          `The inputs of ${entry.key} are not those of the run: ${sides}`,
          testCase.path === "" ? "verify the bundle" : `name the file that the run read; this was ${testCase.path}`,
        );
      }
      const start = performance.now();
      const { shape } = testCase;
      const oracle =
        shape.operator === "gqa_decode"
          ? await addon.gqaDecode(decodeInput(shape, buffers))
          : await addon.mlaPrefill(prefillInput(shape, buffers));
      const { buffer, byteOffset, byteLength } = oracle.out;
      const reference = {
        key,
        buffers,
        oracle,
        sha256: sha256(new Uint8Array(buffer, byteOffset, byteLength)),
        ms: performance.now() - start,
        release: () => pool.release(),
      };
      this.#reference = reference;
      return reference;
    } catch (error) {
      pool.release();
      throw error;
    }
  }

  #errorsOf(reference: Reference, out: RouteOutput): ErrorArrays {
    const key = `${out.dtype} ${out.sha256}`;
    const known = this.#errors.get(key);
    const errors = known ?? errorArrays(out.values, reference.oracle.out, out.dtype);
    this.#errors.delete(key);
    this.#errors.set(key, errors);
    for (const [oldest] of this.#errors) {
      if (this.#errors.size <= KEPT_ROUTES) break;
      this.#errors.delete(oldest);
    }
    return errors;
  }
}

/** Limit of the gate on the largest error, as the charts draw it. */
function errorLimit({ gates }: ResultRecord): number | null {
  return gates.find(({ id }) => id === "max_abs")?.limit ?? gates.find(({ id }) => id === "subnormal")?.limit ?? null;
}

/** The inputs of a case. Throws `InspectError` (`input`) where its file holds values that the case cannot have. */
async function makeInputs(testCase: Case, pool: InputPool, addon: Addon): Promise<CaseInputs> {
  try {
    return await materialise(testCase, inputBuffers(testCase.shape), pool, addon);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InspectError("input", `${testCase.path}: ${error.message}`, "name the file of the run");
  }
}

/** Equal for cases with equal shapes and inputs. */
function inputsKey(entry: CaseRecord): string {
  const floats = entry.inputs.filter((input) => input.dtype !== "i32");
  return JSON.stringify([entry.key, entry.shape, floats.map(({ name, sha256: digest }) => [name, digest])]);
}

/** Without keys whose value is undefined. */
function defined(fixed: { token?: number | undefined; head?: number | undefined; dim?: number | undefined }) {
  const { token, head, dim } = fixed;
  return {
    ...(token === undefined ? {} : { token }),
    ...(head === undefined ? {} : { head }),
    ...(dim === undefined ? {} : { dim }),
  };
}

function summaryAnswer({ shape, entry, result, out, errors, reference }: Subject): InspectAnswer {
  const extents = extentsOf(shape);
  const { oracle } = reference;
  return {
    kind: "summary",
    shape: entry.shape,
    dtype: out.dtype,
    extents,
    positionAxis: positionAxis(shape.operator),
    notFinite: notFiniteOf(errors.flags),
    unwritten: result.metrics?.unwritten ?? null,
    whole: wholeSummary(errors, oracle.out),
    heads: headSummaries(errors, oracle.out, extents),
    sequences: shape.operator === "mla_prefill" ? sequenceSummaries(errors, oracle.out, extents, shape) : [],
    ulp: ulpSummary(out.values, oracle.out, errors, out.dtype),
    oracle: { sha256: reference.sha256, asRecorded: entry.oracle?.sha256 === reference.sha256, ms: reference.ms },
  };
}

function worstAnswer(
  { shape, out, errors, reference }: Subject,
  { measure, count }: Extract<InspectWhat, { kind: "worst" }>,
): InspectAnswer {
  const extents = extentsOf(shape);
  const index = worstElements(errors, measure, count);
  const pick = (values: Float64Array): Float64Array => Float64Array.from(index, (at) => values[at]!);
  return {
    kind: "worst",
    measure,
    index,
    output: pick(out.values),
    oracle: pick(reference.oracle.out),
    abs: pick(errors.abs),
    relative: pick(errors.relative),
    ulp: pick(errors.ulp),
    words: [...index].map((at) => addressWords(shape, addressOf(extents, at))),
  };
}

function lanesAnswer(
  { shape, plan, errors, result }: Subject,
  measure: keyof Omit<ErrorArrays, "flags">,
): InspectAnswer {
  const map = outputFragment(plan);
  if (map === undefined || shape.operator !== "mla_prefill") {
    return { kind: "lanes", lanes: null, reason: `${result.route} holds its output in no simdgroup matrices` };
  }
  return { kind: "lanes", lanes: laneErrors(errors, shape, map, measure), reason: null };
}
