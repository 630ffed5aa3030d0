/** The devices of this machine in order of preference, why others are not there, and what evidence of each is worth. */
import type { ReactElement } from "react";
import { Verdict } from "../../parts/glyph.tsx";
import { STANDING_TITLES, StandingTag, standingOf } from "../../parts/standing.tsx";
import type { DeviceEntry, Profile } from "../../state/device_choice.ts";
import { setParams } from "../../state/view.ts";

const KIND_NAMES = { metal: "Metal", emulated: "Emulated", nvidia: "NVIDIA" } as const;

interface DevicesListProps {
  readonly devices: readonly DeviceEntry[];
  /** Id of the device that the page shows. */
  readonly shown: string | undefined;
}

export function DevicesList({ devices, shown }: DevicesListProps): ReactElement {
  return (
    <>
      {devices.map((entry) => (
        <div
          key={entry.available ? entry.profile.id : entry.kind}
          className="devrow"
          data-device={entry.available ? entry.profile.id : entry.kind}
        >
          <div className="row">
            <span className="m small nw">
              {entry.available ? <Open profile={entry.profile} shown={shown} /> : KIND_NAMES[entry.kind]}
            </span>
            {entry.available ? (
              <span className="t2 small el" title={entry.profile.name.value}>
                <span className="mono">{entry.profile.id}</span>
              </span>
            ) : null}
            <span className="sp" />
            <span className="small">
              {entry.available ? <Verdict name="pass">there</Verdict> : <Verdict name="notrun">not there</Verdict>}
            </span>
          </div>
          {entry.available ? (
            <Meaning profile={entry.profile} />
          ) : (
            <p className="t3 micro">
              {entry.reason}. Next: {entry.mend}
            </p>
          )}
        </div>
      ))}
    </>
  );
}

/** The device's name as a button that shows it. */
function Open({ profile, shown }: { readonly profile: Profile; readonly shown: string | undefined }): ReactElement {
  const device = profile.execution === "emulated" ? "emulated" : profile.id;
  return (
    <button
      type="button"
      className="rowbtn"
      aria-pressed={profile.id === shown}
      title={`Show ${profile.name.value}`}
      onClick={() => setParams({ device, chip: null, feature: null })}
    >
      {profile.execution === "emulated" ? KIND_NAMES.emulated : profile.name.value}
    </button>
  );
}

function Meaning({ profile }: { readonly profile: Profile }): ReactElement {
  const standing = standingOf(profile.execution, profile);
  return (
    <p className="t3 micro">
      <StandingTag standing={standing} />{" "}
      {standing === "emulated"
        ? "Runs the kernel's own source on the CPU. Its results are about that source and never about a chip: it is more lenient than Apple's compiler and not bit-exact. Times are times of the emulation."
        : standing === "unsure"
          ? `${STANDING_TITLES.unsure}.`
          : standing === "virtual"
            ? `${STANDING_TITLES.virtual}. What it runs was compiled and run by Metal; limits, family and times are the hypervisor's.`
            : `Results on this device are evidence for ${profile.chip.value} alone.`}
    </p>
  );
}
