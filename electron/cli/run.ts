/** What each command of the registry does: option values in, exit code out. */
import type { CommandId } from "../actions.ts";
import type { Places } from "../host/root.ts";
import { type AttachmentsOptions, type AttachOptions, attachFile, listAttachments } from "./attachments.ts";
import { type CaptureOptions, captureCase } from "./capture.ts";
import { type CasesOptions, cases } from "./cases.ts";
import { type CheckKernelOptions, checkKernel } from "./check_kernel.ts";
import type { DeviceOptions } from "./device_options.ts";
import { devices } from "./devices.ts";
import { diff } from "./diff.ts";
import { type DispatchCommandOptions, explainDispatch } from "./dispatch.ts";
import { type ExportOptions, exportBundle } from "./export.ts";
import { type MutateOptions, mutate } from "./mutate.ts";
import { type OfflineOptions, offline } from "./offline.ts";
import { type OpenOptions, openWindow } from "./open.ts";
import type { Output } from "./output.ts";
import { type ParityOptions, parity } from "./parity.ts";
import { type RunKernelOptions, runKernel } from "./run_kernel.ts";
import { verify } from "./verify.ts";

export interface CommandContext {
  readonly places: Places;
  readonly output: Output;
  /** The words of the command line, for the record. */
  readonly argv: readonly string[];
}

/** Values of options and arguments by name. */
export type CommandValues = Readonly<Record<string, string | boolean | undefined>>;

export const RUN: Readonly<Record<CommandId, (values: CommandValues, context: CommandContext) => Promise<number>>> = {
  parity: (values, { places, output, argv }) => parity(values as ParityOptions, argv, places, output),
  run: (values, { places, output }) => runKernel(values as RunKernelOptions, places, output),
  check: (values, { places, output }) => checkKernel(values as CheckKernelOptions, places, output),
  mutate: (values, { places }) => mutate(values as MutateOptions, places),
  verify: (values, { output }) => verify(String(values.bundle), { json: values.json === true }, output),
  attach: (values, { places, output }) =>
    attachFile(String(values.bundle), String(values.file), values as AttachOptions, places, output),
  attachments: (values, { output }) => listAttachments(String(values.bundle), values as AttachmentsOptions, output),
  diff: async (values, { output }) => diff(String(values.a), String(values.b), { json: values.json === true }, output),
  export: async (values, { output }) => exportBundle(String(values.dir), values as ExportOptions, output),
  offline: (values, { places, output }) => offline(values as OfflineOptions, places, output),
  open: (values, { places }) => openWindow(String(values.bundle), values as OpenOptions, places),
  capture: (values, { places, output }) => captureCase(values as CaptureOptions, places, output),
  dispatch: (values, { places, output }) => explainDispatch(values as DispatchCommandOptions, places, output),
  devices: (values, { places, output }) => devices(values as DeviceOptions, places, output),
  cases: (values, { places, output }) => cases(values as CasesOptions, places, output),
};
