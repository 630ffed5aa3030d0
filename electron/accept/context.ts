/** What the steps of an acceptance share, and when a step cannot be run on a machine. */
import type { DeviceProfile } from "../../native/device.ts";
import { writePayload } from "../evidence/bundle.ts";
import { stableJson } from "../evidence/json.ts";
import type { Places } from "../host/root.ts";
import type { RunRecord } from "../runs/record.ts";
import type { Recorder } from "../runs/recorder.ts";
import type { Step } from "./machine.ts";

/** What the steps share. What a step finds out stands in it for those behind it. */
export interface AcceptContext {
  readonly where: Places;
  /** The bundled child that loads the addon. */
  readonly child: string;
  /** As named on the command line: `metal`, `emulated`. */
  readonly device: string;
  readonly suite: string;
  readonly packaging: boolean;
  readonly platform: NodeJS.Platform;
  /** Folder of the staged bundle, and where it will stand. */
  readonly staging: string;
  readonly target: string;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
  /** A line that belongs to no step's result. */
  readonly say: (line: string) => void;
  readonly progress: (text: string) => void;
  profile: DeviceProfile | null;
  /** How the parity run ended, once it has. */
  run: { readonly outcome: RunRecord["outcome"]; readonly reason: string | null } | null;
}

export type AcceptStep = Step<AcceptContext>;

/** Why nothing of Metal can be run on a machine; undefined on a Mac, and where another device was asked for. */
export function noMetal({ device, platform }: Pick<AcceptContext, "device" | "platform">): string | undefined {
  if (platform === "darwin" || !device.startsWith("metal")) return undefined;
  return `this is ${platform}, and Metal is a part of macOS: run it on a Mac with Apple silicon`;
}

export function emulated({ device }: AcceptContext): boolean {
  return device.startsWith("emulated");
}

/** For steps that Metal alone has. */
export function metalAlone(why: string): (context: AcceptContext) => string | undefined {
  return (context) => (emulated(context) ? `${why}; this is the device ${context.device}` : noMetal(context));
}

/** Writes a file of a step into the staged bundle; gives its path there. */
export function write(context: AcceptContext, file: string, value: unknown): string {
  writePayload(context.staging, file, typeof value === "string" ? value : stableJson(value));
  return file;
}
