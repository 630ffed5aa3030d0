/** Nothing has run yet: what a run is, which suites there are, one button. */
import type { ReactElement } from "react";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { Empty } from "../../parts/pane.tsx";
import { standingOf } from "../../parts/standing.tsx";
import { useAnswer, useSession } from "../../state/session.ts";
import { useStore } from "../../state/store.ts";
import { DeviceField, type RunTarget } from "./device_picker.tsx";
import { InputsTag } from "./run_strip.tsx";
import { type Suite, SuitePicker } from "./suite_picker.tsx";

/** What is there and what is not, in words. */
function Readiness(): ReactElement | null {
  const answer = useAnswer("devices.list", { chip: null });
  if (answer.state !== "there") return null;
  const { devices } = answer.value;
  const emulated = devices.find((entry) => entry.kind === "emulated");
  const metal = devices.find((entry) => entry.kind === "metal");
  return (
    <div className="row micro readiness">
      {emulated?.available ? (
        <Verdict name="pass">{emulated.profile.toolchain.value}</Verdict>
      ) : (
        <Verdict name="notrun">{emulated?.available === false ? emulated.reason : "no emulated device"}</Verdict>
      )}
      {metal?.available ? (
        <Verdict name="pass">{metal.profile.name.value}</Verdict>
      ) : (
        <Verdict name="notrun">no Metal device: no evidence for a chip</Verdict>
      )}
    </div>
  );
}

interface RunEmptyProps {
  readonly suite: Suite;
  /** A file that was dropped or named: its cases in the place of a suite. */
  readonly inputs: string | undefined;
  readonly on: RunTarget;
}

export function RunEmpty({ suite, inputs, on }: RunEmptyProps): ReactElement {
  const failure = useStore(useSession().failure);
  const device = on.profile;
  const where =
    device === undefined
      ? "."
      : device.execution === "emulated"
        ? `. Routes run on an emulated ${device.chip.value}; its results are about the source, not about a chip.`
        : standingOf(device.execution, device) === "virtual"
          ? `. Routes run on ${device.name.value}, a virtual GPU; its results support no chip.`
          : `. Routes run on ${device.name.value}.`;
  return (
    <Empty title="Nothing has run yet">
      <p className="t2 after">A run compares each route with the float64 oracle on the same inputs{where}</p>
      {inputs === undefined ? (
        <SuitePicker suite={suite} />
      ) : (
        <p className="after">
          <span className="block small t2">The cases of this file, in the place of a suite:</span>
          <InputsTag inputs={inputs} />
        </p>
      )}
      <DeviceField target={on} />
      <div className="row after">
        <ActionButton action="run.start" look="primary" large>
          Run {inputs === undefined ? suite : "the file's cases"}
        </ActionButton>
        <ActionButton action="run.inputs" large>
          {inputs === undefined ? "Take a file instead" : "Take another file"}
        </ActionButton>
      </div>
      {failure === null ? null : <FailureNote failure={failure} />}
      <Readiness />
    </Empty>
  );
}
