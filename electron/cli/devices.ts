/** `lockstep devices`: each device and, for what is not there, why and the mend. */

import type { DeviceProfile, Known } from "../../native/device.ts";
import { listDevices } from "../../native/devices.ts";
import { stableJson } from "../evidence/json.ts";
import { chipOf } from "../host/device_name.ts";
import { bytesText } from "../words.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export async function devices(
  options: { readonly json?: boolean; readonly chip?: string },
  output: Output,
): Promise<number> {
  const chip = chipOf(null, options.chip ?? null);
  const entries = await listDevices(chip === undefined ? {} : { chip });
  if (options.json) {
    output.line(stableJson({ devices: entries }).trimEnd());
    return entries.some((entry) => entry.available) ? EXIT.passed : EXIT.couldNotRun;
  }
  for (const entry of entries) {
    if (entry.available) for (const line of profileLines(entry.profile)) output.line(line);
    else {
      output.line(`${entry.kind.padEnd(10)} not there: ${entry.reason}`);
      output.line(`${"".padEnd(10)} mend: ${entry.mend}`);
    }
  }
  return entries.some((entry) => entry.available) ? EXIT.passed : EXIT.couldNotRun;
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
    ...(profile.execution === "emulated" ? [`${"".padEnd(10)} emulated: supports no chip`] : []),
  ];
}
