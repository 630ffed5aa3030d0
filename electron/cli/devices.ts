/** `lockstep devices`: each device and, for what is not there, why and the mend. */

import type { DeviceEntry, DeviceFact, DeviceProfile, Known } from "../../native/device.ts";
import { stableJson } from "../evidence/json.ts";
import { chipSupport } from "../evidence/level.ts";
import { deviceWanted } from "../host/device_name.ts";
import { devicesOf } from "../host/door_devices.ts";
import type { Places } from "../host/root.ts";
import { UsageError } from "../runs/usage.ts";
import { bytesText } from "../words.ts";
import { type DeviceOptions, withHost } from "./device_options.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export async function devices(
  options: DeviceOptions & { readonly json?: boolean },
  where: Places,
  output: Output,
): Promise<number> {
  const asked = deviceWanted(options.device ?? null, options.chip ?? null);
  const chip = asked?.kind === "emulated" ? asked.chip : undefined;
  const all = await withHost(where, (host) => devicesOf(host, chip));
  const entries = options.device === undefined ? all : named(all, options.device);
  if (options.json) output.line(stableJson({ devices: entries }).trimEnd());
  else for (const line of entries.flatMap(entryLines)) output.line(line);
  return entries.some((entry) => entry.available) ? EXIT.passed : EXIT.couldNotRun;
}

/** The entries of the kind that a name begins with, or the one of that id. Throws `UsageError` for an id that is not there. */
function named(entries: readonly DeviceEntry[], device: string): readonly DeviceEntry[] {
  const [kind, index] = device.split(":");
  const ofKind = entries.filter((entry) => entry.kind === kind);
  if (kind !== "metal" || index === undefined) return ofKind;
  const found = ofKind.filter((entry) => !entry.available || entry.profile.id === device);
  if (found.length > 0) return found;
  const ids = ofKind.flatMap((entry) => (entry.available ? [entry.profile.id] : [])).join(", ");
  throw new UsageError(`The device "${device}" is not there: Metal lists ${ids}.`);
}

export function entryLines(entry: DeviceEntry): readonly string[] {
  if (entry.available) return profileLines(entry.profile);
  return [`${entry.kind.padEnd(10)} not there: ${entry.reason}`, `${"".padEnd(10)} mend: ${entry.mend}`];
}

function profileLines(profile: DeviceProfile): readonly string[] {
  const fact = (label: string, known: Known<unknown>, text = String(known.value)) =>
    `${"".padEnd(10)} ${label.padEnd(18)} ${text}  (${known.by}: ${known.source})`;
  const { limits } = profile;
  return [
    `${profile.execution.padEnd(10)} ${profile.id}  ${profile.name.value}`,
    fact("chip", profile.chip),
    fact("family", profile.family),
    fact("architecture", profile.architecture),
    fact("GPU cores", profile.gpuCores, String(profile.gpuCores.value ?? "not known")),
    fact("OS", profile.os),
    fact("Metal", profile.metalVersion),
    fact(
      "limits",
      limits,
      `${limits.value.maxThreadsPerThreadgroup.toLocaleString("en-US")} threads, ` +
        `${bytesText(limits.value.maxThreadgroupMemoryBytes)} of threadgroup memory, SIMD width ${limits.value.simdWidth}`,
    ),
    fact("toolchain", profile.toolchain),
    ...(profile.virtualGpu === undefined
      ? []
      : [fact("virtual GPU", profile.virtualGpu, profile.virtualGpu.value ? "yes" : "no")]),
    ...(profile.facts ?? []).map(factLine),
    `${"".padEnd(10)} ${supportText(profile)}`,
  ];
}

function factLine({ id, value, by, source, reason }: DeviceFact): string {
  const text = value ?? `not known: ${reason ?? "no reason given"}`;
  return `${"".padEnd(10)} ${id.padEnd(18)} ${text}  (${by}: ${source})`;
}

/** What runs on the device say about a chip. */
function supportText(profile: DeviceProfile): string {
  const { chip, why } = chipSupport({ execution: profile.execution, device: profile });
  if (chip !== null) return `runs on it support ${chip}`;
  return `${profile.execution}: supports no chip${why === null ? "" : `: ${why}`}`;
}
