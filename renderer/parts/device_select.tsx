/** Choice of a device: Metal devices and chips to emulate, what is not there with its reason. Its value is in the URL. */
import type { ReactElement } from "react";
import {
  type DeviceChoice,
  type DeviceEntry,
  deviceOptions,
  optionChoice,
  optionValue,
} from "../state/device_choice.ts";
import { useAnswer } from "../state/session.ts";

interface DeviceSelectProps {
  readonly label: string;
  readonly devices: readonly DeviceEntry[];
  readonly choice: DeviceChoice;
  readonly title?: string;
  readonly onChoose: (choice: DeviceChoice) => void;
}

export function DeviceSelect({ label, devices, choice, title, onChoose }: DeviceSelectProps): ReactElement {
  const chips = useAnswer("chips.list", {});
  const groups = deviceOptions(devices, chips.state === "there" ? chips.value.chips : []);
  const value = optionValue(choice);
  const offered = groups.flatMap(({ options }) => options).find((option) => option.value === value);
  return (
    <select
      className={value === "" ? "inp devsel" : "inp devsel chg"}
      aria-label={label}
      // A narrow field cuts the name.
      title={title ?? offered?.label}
      value={value}
      onChange={(event) => onChoose(optionChoice(event.target.value))}
    >
      {offered !== undefined ? null : <option value={value}>{choice.chip ?? choice.device}</option>}
      {groups.map((group) => (
        <optgroup key={group.label} label={group.label}>
          {group.options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.disabled}>
              {option.label}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}
