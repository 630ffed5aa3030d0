/** On which device the next run of a suite goes, why, and whether it runs under Metal's validation. */
import { type ReactElement, useId } from "react";
import { DeviceSelect } from "../../parts/device_select.tsx";
import { StandingTag, standingOf } from "../../parts/standing.tsx";
import {
  choiceOf,
  chosenProfile,
  type DeviceChoice,
  type DeviceEntry,
  metalOnly,
  type Profile,
  paramsOf,
  whyDevice,
} from "../../state/device_choice.ts";
import { useAnswer } from "../../state/session.ts";
import { setParams } from "../../state/view.ts";

export interface RunTarget {
  readonly choice: DeviceChoice;
  readonly devices: readonly DeviceEntry[];
  readonly profile: Profile | undefined;
  /** Whether validation and captures are possible on the device, and why not. */
  readonly metal: { readonly possible: boolean; readonly reason: string };
  /** Asked for, and possible. */
  readonly validation: boolean;
}

/** What the URL says of the next run's device. */
export function useRunTarget(params: Readonly<Record<string, string>>): RunTarget {
  const choice = choiceOf(params);
  const answer = useAnswer("devices.list", { chip: choice.chip });
  const devices = answer.state === "there" ? answer.value.devices : [];
  const metal = metalOnly(devices, choice);
  const validation = metal.possible && params.validation === "on";
  return { choice, devices, profile: chosenProfile(devices, choice), metal, validation };
}

/** Parameters that keep the choice in the URL of another view. */
export function targetParams({ choice, validation }: RunTarget): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries({ ...paramsOf(choice), validation: validation ? "on" : null }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    ),
  );
}

/** A box that stays reachable where it cannot be ticked, so that its reason is read out. */
function ValidationBox({ target }: { readonly target: RunTarget }): ReactElement {
  const id = useId();
  const { metal, validation } = target;
  return (
    <>
      <label className={metal.possible ? "tog" : "tog off"}>
        <input
          type="checkbox"
          checked={validation}
          aria-disabled={!metal.possible}
          aria-describedby={id}
          onChange={() => {
            if (metal.possible) setParams({ validation: validation ? null : "on" });
          }}
        />
        with Metal's validation
      </label>
      <span id={id} className="t3 micro el" title={metal.reason}>
        {metal.possible ? "in a process of its own; its times are no timings" : metal.reason}
      </span>
    </>
  );
}

/** In a row of the strip. */
export function DevicePicker({ target }: { readonly target: RunTarget }): ReactElement {
  const { choice, devices } = target;
  return (
    <>
      <span className="small t2 nw">Run suite on</span>
      <DeviceSelect
        label="Device of the next run"
        title={whyDevice(devices, choice)}
        devices={devices}
        choice={choice}
        onChoose={(next) => setParams({ ...paramsOf(next) })}
      />
      <ValidationBox target={target} />
    </>
  );
}

/** Where nothing has run yet: with the reason in full. */
export function DeviceField({ target }: { readonly target: RunTarget }): ReactElement {
  const { choice, devices, profile } = target;
  return (
    <div className="devfield">
      <div className="row">
        <span className="small t2 nw">Run on</span>
        <DeviceSelect
          label="Device of the next run"
          devices={devices}
          choice={choice}
          onChoose={(next) => setParams({ ...paramsOf(next) })}
        />
        {profile === undefined ? null : <StandingTag standing={standingOf(profile.execution, profile)} />}
      </div>
      <p className="micro t3">{whyDevice(devices, choice)}</p>
      <div className="row">
        <ValidationBox target={target} />
      </div>
    </div>
  );
}
