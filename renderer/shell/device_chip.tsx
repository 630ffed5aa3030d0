/** The kind of device first, always in words: emulated is never mistaken for real. */
import type { ReactElement } from "react";
import { useAnswer } from "../state/session.ts";

/** The device that a run would take, or null where there is none; undefined while it is asked for. */
export function useDefaultDevice() {
  const answer = useAnswer("devices.list", { chip: null });
  if (answer.state !== "there") return undefined;
  return answer.value.devices.flatMap((entry) => (entry.available ? [entry.profile] : []))[0] ?? null;
}

export function DeviceChip(): ReactElement | null {
  const device = useDefaultDevice();
  if (device === undefined) return null;
  if (device === null) {
    return (
      <div className="dev none">
        <span className="kind">NO DEVICE</span>
        <span className="name">Oracle and dispatch only</span>
      </div>
    );
  }
  const emulated = device.execution === "emulated";
  return (
    <div className={emulated ? "dev emu" : "dev real"} title={`${device.name.value}, ${device.os.value}`}>
      <span className="kind">{device.execution.toUpperCase()}</span>
      <span className="name">{device.chip.value}</span>
      <span className="prof">{device.family.value}</span>
    </div>
  );
}
