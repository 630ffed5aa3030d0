/** One sentence or two: where results were computed, and what they are no evidence of. Pure. */
import type { DeviceProfile, Known } from "../../native/device.ts";
import type { Producer, RunRecord } from "../runs/record.ts";
import { chipSupport } from "./level.ts";

/** What the words are made of. */
interface ExecutionFacts {
  readonly execution: RunRecord["execution"];
  readonly device: RunRecord["device"] | DeviceProfile;
  readonly producer: Producer | null;
  readonly validation?: RunRecord["validation"] | undefined;
}

/** A value, and how it is known where that is not from the device itself. */
function knownText({ value, by }: Known<string>): string {
  return by === "api" || by === "probe" ? value : `${value} (${by})`;
}

/** Words for what the evidence is, and is not. */
export function executionText({ execution, device, producer, validation }: ExecutionFacts): string {
  if (device !== null && execution === "emulated") {
    const system = `${device.os.value}, Metal ${device.metalVersion.value}`;
    return `execution: emulated. ${device.name.value}, ${system} assumed. This is no evidence about a chip`;
  }
  if (producer !== null)
    return `execution: imported. Computed by ${producer.engine} on ${producer.chip}; judged here, not run here`;
  if (device !== null && execution === "metal") return metalText(device, validation !== undefined);
  return `execution: ${execution}`;
}

function metalText(device: NonNullable<ExecutionFacts["device"]>, validated: boolean): string {
  const { chip, why } = chipSupport({ execution: "metal", device: device as RunRecord["device"] });
  const facts = [device.chip, device.family, device.os].map(knownText).join(", ");
  const about =
    chip === null
      ? `This is no evidence about a chip: ${why}`
      : `This is evidence about ${chip}, as far as its cases reach`;
  const times = validated ? ". Under validation: its times are no timings" : "";
  return `execution: metal. ${device.name.value}: ${facts}. ${about}${times}`;
}
