/** The devices of this machine: every value with how it is known, limits, toolchain, and why others are not there. */
import type { ReactElement } from "react";
import type { CallOutput } from "../../electron/contract.ts";
import { FailureNote } from "../parts/failure.tsx";
import { Verdict } from "../parts/glyph.tsx";
import { Pane, PaneHead } from "../parts/pane.tsx";
import { countText } from "../parts/text.ts";
import { useViewCommand } from "../shell/command.ts";
import { useTrail } from "../shell/top_bar.tsx";
import { useAnswer } from "../state/session.ts";
import { setParams, useView } from "../state/view.ts";

type Entry = CallOutput<"devices.list">["devices"][number];
type Profile = Extract<Entry, { available: true }>["profile"];
type Chip = CallOutput<"chips.list">["chips"][number];
type KnownBy = Profile["name"]["by"];

/** Words for how a value is known; an assumed or inferred value never supports a claim. */
const KNOWN_BY: Readonly<Record<KnownBy, string>> = {
  api: "API",
  probe: "probe",
  table: "table",
  inferred: "inferred",
  assumed: "assumed",
};

const KIND_NAMES = { metal: "Metal", emulated: "Emulated", nvidia: "NVIDIA" } as const;

interface Fact {
  readonly label: string;
  readonly value: string;
  readonly by: KnownBy;
  readonly source: string;
}

function factsOf(profile: Profile): readonly Fact[] {
  const fact = (label: string, known: { readonly by: KnownBy; readonly source: string }, value: string): Fact => ({
    label,
    value,
    by: known.by,
    source: known.source,
  });
  return [
    fact("name", profile.name, profile.name.value),
    fact("chip", profile.chip, profile.chip.value),
    fact("GPU family", profile.family, profile.family.value),
    fact("architecture", profile.architecture, profile.architecture.value),
    fact(
      "GPU cores",
      profile.gpuCores,
      profile.gpuCores.value === undefined ? "not known" : countText(profile.gpuCores.value),
    ),
    fact("system", profile.os, profile.os.value),
    fact("Metal language", profile.metalVersion, profile.metalVersion.value),
    fact("toolchain", profile.toolchain, profile.toolchain.value),
  ];
}

const LIMITS = [
  ["simdWidth", "lanes of a simdgroup", ""],
  ["maxThreadsPerThreadgroup", "threads of a threadgroup", ""],
  ["maxThreadgroupMemoryBytes", "threadgroup memory", "B"],
  ["threadgroupMemoryAlignmentBytes", "threadgroup alignment", "B"],
  ["bufferSlots", "buffer slots", ""],
  ["setBytesMax", "largest setBytes", "B"],
] as const;

function ProfileTable({ profile }: { readonly profile: Profile }): ReactElement {
  const limits = profile.limits;
  return (
    <div className="body scroll">
      <table className="tbl fix facts">
        <thead>
          <tr>
            <th className="c-label">value</th>
            <th className="c-value">is</th>
            <th className="c-by">known by</th>
            <th>source</th>
          </tr>
        </thead>
        <tbody>
          {factsOf(profile).map((fact) => (
            <tr key={fact.label}>
              <td className="t2">{fact.label}</td>
              <td className="m el" title={fact.value}>
                {fact.value}
              </td>
              <td className={fact.by === "assumed" || fact.by === "inferred" ? "ambig" : "t2"}>{KNOWN_BY[fact.by]}</td>
              <td className="t3 el" title={fact.source}>
                {fact.source}
              </td>
            </tr>
          ))}
          <tr className="grp">
            <td colSpan={4}>Limits, which decide whether a dispatch is legal</td>
          </tr>
          {LIMITS.map(([key, label, unit]) => (
            <tr key={key}>
              <td className="t2">{label}</td>
              <td className="m">
                {countText(limits.value[key])}
                {unit === "" ? "" : ` ${unit}`}
              </td>
              <td className={limits.by === "assumed" || limits.by === "inferred" ? "ambig" : "t2"}>
                {KNOWN_BY[limits.by]}
              </td>
              <td className="t3 el" title={limits.source}>
                {limits.source}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function DeviceList({ devices }: { readonly devices: readonly Entry[] }): ReactElement {
  return (
    <>
      {devices.map((entry) => (
        <div key={entry.kind} className="devrow">
          <div className="row">
            <span className="m">{KIND_NAMES[entry.kind]}</span>
            <span className="sp" />
            {entry.available ? <Verdict name="pass">there</Verdict> : <Verdict name="notrun">not there</Verdict>}
          </div>
          {entry.available ? (
            <p className="t2 small">
              {entry.profile.name.value}, <span className="mono">{entry.profile.id}</span>
            </p>
          ) : (
            <>
              <p className="t2 small">{entry.reason}</p>
              <p className="t3 small">Next: {entry.mend}</p>
            </>
          )}
        </div>
      ))}
    </>
  );
}

/** Chips as choices of what to emulate, newest family first. */
function ChipChoice({ chips, chip }: { readonly chips: readonly Chip[]; readonly chip: string | null }): ReactElement {
  return (
    <label className="row small t2">
      Emulate
      <select
        className="inp"
        value={chip ?? ""}
        onChange={(event) => setParams({ chip: event.target.value })}
        aria-label="Chip to emulate"
      >
        <option value="">default</option>
        {chips.map((entry) => (
          <option key={entry.shortName} value={entry.shortName}>
            {entry.shortName}, {entry.family}
          </option>
        ))}
      </select>
    </label>
  );
}

function Meaning({ profile }: { readonly profile: Profile }): ReactElement {
  if (profile.execution !== "emulated") {
    return <p className="note">Results on this device are evidence for {profile.chip.value} alone.</p>;
  }
  return (
    <p className="note">
      The emulated device runs the kernel's own source on the CPU. Its results are about that source and never about a
      chip: it is more lenient than Apple's compiler and not bit-exact. Times are times of the emulation.
    </p>
  );
}

function ChipFacts({ chip }: { readonly chip: Chip }): ReactElement {
  return (
    <dl className="kv">
      <dt>generation</dt>
      <dd>{chip.generation}</dd>
      <dt>architecture</dt>
      <dd>
        {chip.architecture ?? "not known"} <span className="t3">{chip.architectureConfidence}</span>
      </dd>
      <dt>clock</dt>
      <dd>
        {chip.clockGhz === null ? "not known" : `${chip.clockGhz} GHz`}{" "}
        <span className="t3">{chip.clockConfidence}</span>
      </dd>
      {chip.variants.map((variant) => (
        <div key={variant.gpuCores} className="pair">
          <dt>{variant.gpuCores} cores</dt>
          <dd>{variant.memoryBandwidthGbS === null ? "bandwidth not known" : `${variant.memoryBandwidthGbS} GB/s`}</dd>
        </div>
      ))}
    </dl>
  );
}

export function DevicePage(): ReactElement {
  const { params } = useView();
  const chip = params.chip ?? null;
  const answer = useAnswer("devices.list", { chip });
  const chips = useAnswer("chips.list", {});
  useViewCommand(["lockstep", "devices", ...(chip === null ? [] : ["--chip", chip])]);
  const devices = answer.state === "there" ? answer.value.devices : [];
  const profile = devices.flatMap((entry) => (entry.available ? [entry.profile] : []))[0];
  useTrail("Device", profile?.id ?? "none");
  const entry =
    chips.state === "there"
      ? chips.value.chips.find((item) => item.shortName === profile?.chip.value.replace(/^Apple /, ""))
      : undefined;
  return (
    <div className="page device-cols">
      <Pane label="Device">
        <PaneHead title={profile?.name.value ?? "Device"} meta={profile?.id}>
          {chips.state === "there" ? <ChipChoice chips={chips.value.chips} chip={chip} /> : null}
        </PaneHead>
        {answer.state === "failed" ? (
          <div className="inset">
            <FailureNote failure={answer.failure} />
          </div>
        ) : null}
        {profile === undefined ? null : <ProfileTable profile={profile} />}
      </Pane>
      <Pane label="Devices of this machine" line className="scroll">
        <PaneHead title="Devices of this machine" meta="in order of preference" />
        <DeviceList devices={devices} />
        {profile === undefined ? null : (
          <>
            <PaneHead title="What its evidence is worth" line />
            <div className="inset">
              <Meaning profile={profile} />
            </div>
          </>
        )}
        {entry === undefined ? null : (
          <>
            <PaneHead title={entry.name} meta="chip table, public sources" line />
            <div className="inset">
              <ChipFacts chip={entry} />
            </div>
          </>
        )}
      </Pane>
    </div>
  );
}
