/** A device as lines, each fact with how it is known, and what in it contradicts something else. Pure. */
import type { DeviceFact, DeviceProfile } from "../../native/device.ts";
import type { StepReport } from "./machine.ts";

function factLine({ label, value, by, source, reason }: DeviceFact): string {
  return value === null ? `${label}: not known: ${reason} (${source})` : `${label}: ${value} (${by}: ${source})`;
}

/** Facts of a profile as lines, each with how it is known. */
export function profileLines(profile: DeviceProfile): readonly string[] {
  const { name, chip, architecture, family, metalVersion, os: system, gpuCores, toolchain, virtualGpu } = profile;
  const named = Object.entries({ name, chip, architecture, family, metalVersion, os: system, gpuCores, toolchain });
  const all = virtualGpu === undefined ? named : [...named, ["virtualGpu", virtualGpu] as const];
  return [
    ...all.map(([label, known]) => `${label}: ${String(known.value ?? "not known")} (${known.by}: ${known.source})`),
    ...(profile.facts ?? []).map(factLine),
  ];
}

/** What in a profile contradicts something else in it, or itself. Sentences without a full stop. */
function profileContradictions(profile: DeviceProfile): readonly string[] {
  const { limits, family, virtualGpu, facts = [] } = profile;
  const check = facts.find(({ id }) => id === "chip_check")?.value ?? null;
  return [
    ...(check?.startsWith("differs") ? [`the device and the table of chips: ${check}`] : []),
    ...(limits.value.simdWidth === 32 ? [] : [`SIMD width ${limits.value.simdWidth}; every Apple GPU has 32`]),
    ...(family.value === "apple5" && virtualGpu?.value !== true
      ? ["family Apple5 without being marked as a virtual GPU; no M-series GPU reports it"]
      : []),
    ...(profile.execution === "metal" && virtualGpu === undefined
      ? ["it does not say whether the GPU is a virtual one"]
      : []),
  ];
}

/**
 * What the detection says. A contradiction fails it, and those behind it go on: the device is there, and what it does counts more
 * than what a table says of it.
 */
export function devicesReport(profile: DeviceProfile): StepReport {
  const marked = profile.virtualGpu?.value ? ", a virtual GPU: its results support no chip" : "";
  const words = `${profile.id}: ${profile.name.value}, ${profile.family.value}, ${profile.os.value}${marked}`;
  const wrong = profileContradictions(profile);
  if (wrong.length === 0) return { outcome: "passed", words };
  return { outcome: "failed", words: `${words}; ${wrong.join("; ")}`, usable: true };
}
