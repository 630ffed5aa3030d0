/** The device that the next run takes, its kind first and always in words: what is emulated is never mistaken for real. */
import type { ReactElement } from "react";
import { STANDING_TITLES, standingOf } from "../parts/standing.tsx";
import { AT_HAND, choiceOf, chosenProfile } from "../state/device_choice.ts";
import { useAnswer } from "../state/session.ts";
import { useView } from "../state/view.ts";

/** Pages whose parameters say which device the next run takes. */
const CHOOSING = ["run", "device", "dispatch"];

/** The device that a run would take, or null where there is none; undefined while it is asked for. */
export function useNextDevice() {
  const { page, params } = useView();
  const choice = CHOOSING.includes(page) ? choiceOf(params) : AT_HAND;
  const answer = useAnswer("devices.list", { chip: choice.chip });
  if (answer.state === "asking") return undefined;
  // A chip that does not exist is said by the page.
  return answer.state === "there" ? (chosenProfile(answer.value.devices, choice) ?? null) : undefined;
}

export function DeviceChip(): ReactElement | null {
  const device = useNextDevice();
  if (device === undefined) return null;
  if (device === null) {
    return (
      <div className="dev none">
        <span className="kind">NO DEVICE</span>
        <span className="name">Oracle and dispatch only</span>
      </div>
    );
  }
  const standing = standingOf(device.execution, device);
  const look = standing === "emulated" ? "dev emu" : standing === "chip" ? "dev real" : "dev virtual";
  const about = standing === "chip" ? "" : `. ${STANDING_TITLES[standing]}`;
  return (
    <div className={look} title={`${device.name.value}, ${device.os.value}${about}`} data-standing={standing}>
      <span className="kind">{device.execution.toUpperCase()}</span>
      {standing === "virtual" ? <span className="kind">VIRTUAL GPU</span> : null}
      {standing === "unsure" ? <span className="kind">NO CHIP</span> : null}
      <span className="name">{standing === "virtual" ? device.name.value : device.chip.value}</span>
      <span className="prof">{device.family.value}</span>
    </div>
  );
}
