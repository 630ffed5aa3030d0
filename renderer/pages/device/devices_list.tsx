/** The devices of this machine in order of preference, why others are not there, and what evidence of this one is worth. */
import type { ReactElement } from "react";
import type { CallOutput } from "../../../electron/contract.ts";
import { Verdict } from "../../parts/glyph.tsx";

export type DeviceEntry = CallOutput<"devices.list">["devices"][number];
export type Profile = Extract<DeviceEntry, { available: true }>["profile"];

const KIND_NAMES = { metal: "Metal", emulated: "Emulated", nvidia: "NVIDIA" } as const;

export function DevicesList({ devices }: { readonly devices: readonly DeviceEntry[] }): ReactElement {
  return (
    <>
      {devices.map((entry) => (
        <div key={entry.kind} className="devrow">
          <div className="row">
            <span className="m small">{KIND_NAMES[entry.kind]}</span>
            {entry.available ? (
              <span className="t2 small el">
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

function Meaning({ profile }: { readonly profile: Profile }): ReactElement {
  return (
    <p className="t3 micro">
      {profile.execution === "emulated"
        ? "Runs the kernel's own source on the CPU. Its results are about that source and never about a chip: it is more lenient than Apple's compiler and not bit-exact. Times are times of the emulation."
        : `Results on this device are evidence for ${profile.chip.value} alone.`}
    </p>
  );
}
