/**
 * The contract: every call and stream that a window and the workbench speak, with the schema of what goes in and what
 * comes out. Both sides check what they receive. Pure: the window imports it, so nothing here may need Node.
 *
 * A call is answered once. A stream goes on until one side ends it. Arrays travel as typed arrays, never as JSON numbers.
 */
import * as z from "zod";
import { checkAnswerSchema, checkRequestSchema } from "./analysis/check_messages.ts";
import { inspectAnswerSchema, whatSchema } from "./analysis/messages.ts";
import { ATTACHMENT_KINDS } from "./attachments/attachment.ts";
import { attachedSchema, attachmentsSchema } from "./attachments/messages.ts";
import { captureAnswerSchema, captureRequestSchema } from "./captures/gputrace.ts";
import { inspectCaptureSchema, timingsSchema } from "./captures/messages.ts";
import { checkKindsSchema, kernelAskedSchema, kernelItemSchema, runChecksSchema } from "./checker/run_checks.ts";
import {
  capabilitiesSchema,
  chipSchema,
  featureSchema,
  gateSchema,
  listedCaseSchema,
  machineFactSchema,
  operatorSchema,
  routeSchema,
} from "./contract/rows.ts";
import { verificationSchema, verifyMessageSchema } from "./evidence/verify_messages.ts";
import { diffSchema } from "./runs/diff.ts";
import { eventSchema } from "./runs/events.ts";
import { logLineSchema } from "./runs/log.ts";
import {
  candidateSchema,
  claimSchema,
  deviceEntrySchema,
  digestSchema,
  LEVELS,
  metricsSchema,
  outcomeSchema,
  pathSchema,
  profileSchema,
  recordSchema,
  shapeSchema,
} from "./runs/record.ts";

const suiteSchema = z.enum(["quick", "standard", "full"]);
const dtypeSchema = z.enum(["f32", "f16", "bf16"]);
const executionSchema = z.enum(["metal", "emulated", "nvidia", "imported"]);
const isoTime = z.iso.datetime();
const count = z.number().int().min(0);

/** Name of a bundle's folder, which is the id of its run. One path segment, so that no id leaves the evidence folder. */
export const runIdSchema = z
  .string()
  .max(200)
  .regex(/^[a-z0-9][a-z0-9._-]*\.lockstep$/, "an id is the name of a bundle: lower case, ending in .lockstep");

/** What a run is asked for; what is null is left to its default, as on the command line. */
const startSchema = z.strictObject({
  suite: suiteSchema,
  /** Absolute path of a safetensors file whose cases run instead of the suite's. */
  inputs: z.string().min(1).max(4096).nullable(),
  operator: operatorSchema.nullable(),
  route: z.string().min(1).max(200).nullable(),
  case: z.string().min(1).max(400).nullable(),
  /** `metal`, `metal:1`, `emulated`, `emulated:apple9`; null for Metal where there is one, else the emulated device. */
  device: z.string().min(1).max(80).nullable(),
  /** A chip or family to emulate; with a Metal device it is refused. */
  chip: z.string().min(1).max(80).nullable(),
  /** Under Metal's API and shader validation; on a Metal device alone. Times of such a run are no timings. */
  validation: z.boolean(),
  seed: z.number().int().min(0).max(0xffffffff).nullable(),
  timeoutMs: z.number().positive().nullable(),
  workers: z.number().int().positive().max(1024).nullable(),
});
export type StartRequest = z.infer<typeof startSchema>;

/** A run as the list has it: going on, kept as a bundle, or a folder that is no bundle and why. */
export const runEntrySchema = z.discriminatedUnion("state", [
  z.strictObject({
    state: z.literal("running"),
    id: runIdSchema,
    startedAt: isoTime,
    suite: suiteSchema,
    planned: count,
    finished: count,
  }),
  z.strictObject({
    state: z.literal("kept"),
    id: runIdSchema,
    startedAt: isoTime,
    finishedAt: isoTime,
    outcome: outcomeSchema,
    outcomeReason: z.string().nullable(),
    execution: executionSchema,
    /** Id of the device, or the producer's chip for imported outputs. */
    device: z.string(),
    deviceName: z.string(),
    /** True where a hypervisor lent the GPU: the run supports no chip. */
    virtualGpu: z.boolean(),
    suite: z.string().nullable(),
    command: z.array(z.string()),
    cases: count,
    planned: count,
    passed: count,
    failed: count,
    bytes: count,
    /** SHA-256 of the manifest. */
    identity: digestSchema,
    gates: digestSchema,
    claims: z.array(claimSchema),
  }),
  z.strictObject({ state: z.literal("bad"), id: z.string(), reason: z.string(), mend: z.string() }),
]);
export type RunEntry = z.infer<typeof runEntrySchema>;

const commandSchema = z.strictObject({ id: z.string(), title: z.string(), summary: z.string(), usage: z.string() });

/** Largest piece of a file that goes over the contract at once. */
export const PIECE_BYTES = 256 * 1024;

const bytesSchema = z.custom<Uint8Array>((value) => value instanceof Uint8Array, "bytes");
const pieceSchema = bytesSchema.refine((value) => value.byteLength <= PIECE_BYTES, `at most ${PIECE_BYTES} bytes`);

/** What a user wrote about a run. Notes stand beside the bundle and are no evidence. */
export const noteSchema = z.strictObject({
  id: runIdSchema,
  text: z.string().min(1).max(16_384),
  changedAt: isoTime,
});
export type Note = z.infer<typeof noteSchema>;

/** A bundle that was opened from elsewhere: read-only, and of no claim of this folder. */
const openedSchema = z.strictObject({
  /** Where it came from, in words: a path, or the name of what was dropped. */
  from: z.string(),
  entry: runEntrySchema,
});

const uploadId = z.uuid();

/** How a window's request failed, in the form in which it travels. */
export const failureSchema = z.strictObject({ name: z.string(), message: z.string(), mend: z.string().optional() });
export type Failure = z.infer<typeof failureSchema>;

/** What a follower of the runs is told: a run begins, says something, ends. */
const runItemSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("started"),
    id: runIdSchema,
    startedAt: isoTime,
    request: startSchema,
    command: z.array(z.string()),
  }),
  z.strictObject({
    type: z.literal("event"),
    id: runIdSchema,
    /** Milliseconds since the run began. */
    at: z.number().min(0),
    event: eventSchema,
  }),
  /** The bundle is written, or the run left none and why. */
  z.strictObject({
    type: z.literal("ended"),
    id: runIdSchema,
    at: z.number().min(0),
    entry: runEntrySchema.nullable(),
    failure: failureSchema.nullable(),
  }),
]);
export type RunItem = z.infer<typeof runItemSchema>;

const hostStateSchema = z.strictObject({
  /** `idle`: not started yet. `stopped`: it died; a fresh one starts with the next run. */
  state: z.enum(["idle", "ready", "running", "stopped"]),
  pid: z.number().int().nullable(),
  since: isoTime,
  /** How the last one that died ended. */
  lastStop: z.strictObject({ reason: z.string(), at: isoTime, pid: z.number().int().nullable() }).nullable(),
  starts: count,
});
export type HostState = z.infer<typeof hostStateSchema>;

const empty = z.strictObject({});

export const CALLS = {
  "app.info": {
    input: empty,
    output: z.strictObject({
      name: z.literal("lockstep"),
      version: z.string(),
      commit: z.string().nullable(),
      platform: z.string(),
      node: z.string(),
      /** Memory of this machine. */
      memoryBytes: count,
      /** Folder of the bundles. */
      evidence: z.string(),
      /** True where dialogs and the file manager of a desktop are at hand. */
      desktop: z.boolean(),
      gates: digestSchema,
    }),
  },
  "devices.list": {
    input: z.strictObject({ chip: z.string().max(80).nullable() }),
    output: z.strictObject({ devices: z.array(deviceEntrySchema) }),
  },
  /** What the device offers that matters to attention kernels: predicted as dispatch does, not probed. */
  "device.features": {
    input: z.strictObject({ device: z.string().max(80).nullable(), chip: z.string().max(80).nullable() }),
    output: z.strictObject({
      /** Id of the device that they are of. */
      device: z.string(),
      capabilities: capabilitiesSchema,
      features: z.array(featureSchema),
    }),
  },
  /** The machine at this moment. Its rows are the same at every call. */
  "device.state": { input: empty, output: z.strictObject({ at: isoTime, facts: z.array(machineFactSchema) }) },
  "chips.list": { input: empty, output: z.strictObject({ chips: z.array(chipSchema), note: z.string() }) },
  "cases.list": {
    input: z.strictObject({ suite: suiteSchema }),
    output: z.strictObject({ suite: suiteSchema, summary: z.string(), cases: z.array(listedCaseSchema) }),
  },
  "dispatch.explain": {
    input: z.strictObject({
      subject: z.discriminatedUnion("kind", [
        z.strictObject({ kind: z.literal("case"), suite: suiteSchema, key: z.string().max(400) }),
        z.strictObject({ kind: z.literal("shape"), shape: shapeSchema }),
      ]),
      /** As in `runs.start`; with both null, for the device at hand. */
      device: z.string().max(80).nullable(),
      chip: z.string().max(80).nullable(),
      /** A route to take whatever the policy says. */
      forced: z.string().max(200).nullable(),
    }),
    output: z.strictObject({
      device: profileSchema,
      /** Why this device, in sentences. */
      reasons: z.array(z.string()),
      capabilities: capabilitiesSchema,
      shape: shapeSchema,
      decision: z.strictObject({
        route: z.string().nullable(),
        reasons: z.array(z.string()),
        candidates: z.array(candidateSchema),
      }),
    }),
  },
  "gates.table": {
    input: empty,
    output: z.strictObject({
      schema: z.string(),
      sha256: digestSchema,
      constants: z.record(z.string(), z.union([z.number(), z.record(z.string(), z.number())])),
      gates: z.array(gateSchema),
    }),
  },
  "kernels.list": {
    input: empty,
    output: z.strictObject({ routes: z.array(routeSchema), files: z.array(z.string()) }),
  },
  "kernels.source": {
    input: z.strictObject({ path: z.string().max(200) }),
    output: z.strictObject({ path: z.string(), text: z.string() }),
  },
  /** Compiles the kernels of a route for a shape through the host; nothing is run. It fails while a run is going on. */
  "kernels.check": { input: checkRequestSchema, output: checkAnswerSchema },
  /** The checker's word on every set of pipelines of a kept run, with the sources as they were compiled. */
  "checks.list": { input: z.strictObject({ id: runIdSchema }), output: runChecksSchema },
  /** What each kind of report rests on, and what it cannot see. */
  "checks.kinds": { input: empty, output: checkKindsSchema },
  /** Newest first. */
  "runs.list": { input: empty, output: z.strictObject({ runs: z.array(runEntrySchema) }) },
  "runs.record": { input: z.strictObject({ id: runIdSchema }), output: recordSchema },
  "runs.metrics": {
    input: z.strictObject({ id: runIdSchema, case: z.string().max(400), route: z.string().max(200) }),
    output: metricsSchema,
  },
  /** An output of a result, as its record lists it: f32 as floats, f16 and bf16 as their 16-bit patterns. */
  "runs.array": {
    input: z.strictObject({ id: runIdSchema, path: pathSchema }),
    output: z.strictObject({
      dtype: dtypeSchema,
      shape: z.array(count),
      data: z.custom<Float32Array | Uint16Array>(
        (value) => value instanceof Float32Array || value instanceof Uint16Array,
        "a typed array of the dtype",
      ),
    }),
  },
  /** A question about one route on one case; it fails while a run is going on. */
  "parity.inspect": {
    input: z.strictObject({
      id: runIdSchema,
      case: z.string().max(400),
      route: z.string().max(200),
      what: whatSchema,
      /** Where the file with the inputs is, if it is no longer where the run found it. */
      inputs: z.string().min(1).max(4096).optional(),
    }),
    output: inspectAnswerSchema,
  },
  /** Resource receipts of one route on one case, and the occupancy model of the device. */
  "captures.inspect": {
    input: z.strictObject({ id: runIdSchema, case: z.string().max(400), route: z.string().max(200) }),
    output: inspectCaptureSchema,
  },
  /** Every recorded time of a case over the runs of the same device, oldest first. */
  "captures.timings": {
    input: z.strictObject({ id: runIdSchema, case: z.string().max(400) }),
    output: timingsSchema,
  },
  /**
   * Captures the dispatches of one case to a `.gputrace`, in a host of its own; it fails while a run is going on, and where
   * there is no Metal device. With `out` null the document goes beside the bundles.
   */
  "captures.take": {
    input: captureRequestSchema
      .omit({ inputs: true, out: true })
      .extend({ out: z.string().min(1).max(4096).nullable() }),
    output: captureAnswerSchema,
  },
  "runs.start": { input: startSchema, output: z.strictObject({ id: runIdSchema }) },
  /** `cancelled` is false where that run is not going on. */
  "runs.cancel": { input: z.strictObject({ id: runIdSchema }), output: z.strictObject({ cancelled: z.boolean() }) },
  /** Pauses after the running case, or goes on. `asked` is false where that run is not going on. */
  "runs.pause": {
    input: z.strictObject({ id: runIdSchema, paused: z.boolean() }),
    output: z.strictObject({ asked: z.boolean() }),
  },
  /** Skips the case if it is the one that runs: what of it has no result yet is `skipped`, which is never a pass. */
  "runs.skip": {
    input: z.strictObject({ id: runIdSchema, case: z.string().max(400) }),
    output: z.strictObject({ asked: z.boolean() }),
  },
  /** The log of a kept run; null where its bundle has none. */
  "runs.log": {
    input: z.strictObject({ id: runIdSchema }),
    output: z.strictObject({ lines: z.array(logLineSchema).nullable() }),
  },
  "runs.diff": { input: z.strictObject({ a: runIdSchema, b: runIdSchema }), output: diffSchema },
  /** Verifies to the end. Windows that ask for the same bundle share the work. */
  "evidence.verify": {
    input: z.strictObject({ id: runIdSchema }),
    output: verificationSchema.extend({ id: runIdSchema }),
  },
  /** Asks where to and writes the zip there. Only with a desktop; `path` is null where the user thought better of it. */
  "evidence.save": {
    input: z.strictObject({ id: runIdSchema }),
    output: z.strictObject({ path: z.string().nullable(), bytes: count }),
  },
  /** The folder of a bundle, shown in the file manager where there is a desktop. */
  "evidence.reveal": {
    input: z.strictObject({ id: runIdSchema }),
    output: z.strictObject({ path: z.string(), revealed: z.boolean() }),
  },
  "notes.list": { input: empty, output: z.strictObject({ notes: z.array(noteSchema) }) },
  /** Writes or, with an empty text, removes the note of a run. Fails where it is not the one of `was` any more. */
  "notes.write": {
    input: z.strictObject({ id: runIdSchema, text: z.string().max(16_384), was: isoTime.nullable() }),
    output: z.strictObject({ note: noteSchema.nullable() }),
  },
  /** What is attached to a run, as it stands. None of it was measured by Lockstep. */
  "attachments.list": { input: z.strictObject({ id: runIdSchema }), output: attachmentsSchema },
  /** Keeps a file of another tool beside the bundle of a run. The kind is what the content says where it is null. */
  "attachments.attach": {
    input: z.strictObject({
      id: runIdSchema,
      path: z.string().min(1).max(4096),
      /** What it is called where the path is that of an upload; null for the name of the file. */
      name: z.string().min(1).max(255).nullable(),
      kind: z.enum(ATTACHMENT_KINDS).nullable(),
    }),
    output: attachedSchema,
  },
  "attachments.remove": {
    input: z.strictObject({ id: runIdSchema, attachment: digestSchema }),
    output: z.strictObject({ removed: z.boolean() }),
  },
  /** Opens a bundle from elsewhere, read-only. Without a path a desktop asks; `id` is null where the user thought better. */
  "bundle.open": {
    input: z.strictObject({ path: z.string().min(1).max(4096).nullable() }),
    output: z.strictObject({ id: runIdSchema.nullable() }),
  },
  /** Takes an opened bundle off the list; what was unpacked for it is removed, what was opened in place is not. */
  "bundle.close": { input: z.strictObject({ id: runIdSchema }), output: z.strictObject({ closed: z.boolean() }) },
  /** Announces files that a window sends: the files of a bundle's folder, a zip of it, one of inputs, or one to attach. */
  "upload.begin": {
    input: z.strictObject({
      purpose: z.enum(["bundle", "zip", "inputs", "attachment"]),
      name: z.string().min(1).max(255),
      files: z
        .array(z.strictObject({ path: z.string().min(1).max(400), bytes: count }))
        .min(1)
        .max(8192),
    }),
    output: z.strictObject({ upload: uploadId }),
  },
  /** The next piece of one of the files; its answer is the sign for the piece after it. */
  "upload.write": {
    input: z.strictObject({ upload: uploadId, file: count, data: pieceSchema }),
    output: z.strictObject({ received: count }),
  },
  /** All pieces are there: an opened bundle, a file of inputs that `runs.start` takes, or one that `attachments.attach` does. */
  "upload.finish": {
    input: z.strictObject({ upload: uploadId }),
    output: z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("bundle"), id: runIdSchema }),
      z.strictObject({ kind: z.literal("inputs"), path: z.string(), tensors: count }),
      z.strictObject({ kind: z.literal("attachment"), path: z.string(), name: z.string() }),
    ]),
  },
  "upload.cancel": { input: z.strictObject({ upload: uploadId }), output: empty },
  "actions.list": { input: empty, output: z.strictObject({ commands: z.array(commandSchema) }) },
} as const;

export const STREAMS = {
  /**
   * Follows the runs of this workbench: first what the present or last run has said so far, then everything as it comes.
   * It ends when the window goes.
   */
  "runs.events": { input: empty, item: runItemSchema },
  "host.state": { input: empty, item: hostStateSchema },
  /** Checks the kernel of a manifest: progress, then the answer or the refusal. Leaving early cancels it. */
  "kernel.check": { input: kernelAskedSchema, item: kernelItemSchema },
  /** How far a verification is, then its result; leaving early gives it up unless another window waits for it. */
  "evidence.verifying": { input: z.strictObject({ id: runIdSchema }), item: verifyMessageSchema },
  /** The zip of a bundle, piece by piece. */
  "evidence.export": {
    input: z.strictObject({ id: runIdSchema }),
    item: z.strictObject({ data: pieceSchema, totalBytes: count }),
  },
  /** The opened bundles, at once and after each change. `shown` is one that a window should go to. */
  "bundle.opened": {
    input: empty,
    item: z.strictObject({ bundles: z.array(openedSchema), shown: runIdSchema.nullable() }),
  },
} as const;

export { LEVELS };

export type CallName = keyof typeof CALLS;
export type StreamName = keyof typeof STREAMS;

/** The same value with nothing that may be changed; typed arrays stay as they are. */
export type Frozen<T> = T extends ArrayBufferView
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Frozen<T[Key]> }
      : T;

export type CallInput<Name extends CallName> = z.output<(typeof CALLS)[Name]["input"]>;
export type CallOutput<Name extends CallName> = Frozen<z.output<(typeof CALLS)[Name]["output"]>>;
export type StreamInput<Name extends StreamName> = z.output<(typeof STREAMS)[Name]["input"]>;
export type StreamItem<Name extends StreamName> = Frozen<z.output<(typeof STREAMS)[Name]["item"]>>;

/** What a handler may look at besides its input. */
export interface CallContext {
  /** Aborts when the window cancels or goes away. */
  readonly signal: AbortSignal;
}

/** What answers: one function for each call and each stream. */
export type Handlers = {
  readonly [Name in CallName]: (
    input: CallInput<Name>,
    context: CallContext,
  ) => CallOutput<Name> | Promise<CallOutput<Name>>;
} & {
  readonly [Name in StreamName]: (input: StreamInput<Name>, context: CallContext) => AsyncIterable<StreamItem<Name>>;
};
