/** The device's profile and limits: every value with how it is known and where it was read. */
import type { ReactElement } from "react";
import { isSoft, KNOWN_BY, type KnownBy } from "../../parts/known_by.ts";
import { countText, sizeText } from "../../parts/text.ts";
import type { Profile } from "../../state/device_choice.ts";
import type { Chip } from "./words.ts";

export interface ProfileFact {
  readonly label: string;
  /** Null: not known, for `reason`. */
  readonly value: string | null;
  readonly by: KnownBy;
  readonly source: string;
  readonly reason?: string | null;
}

function factsOf(profile: Profile): readonly ProfileFact[] {
  const fact = (label: string, known: { readonly by: KnownBy; readonly source: string }, value: string) => ({
    label,
    value,
    by: known.by,
    source: known.source,
  });
  const cores = profile.gpuCores.value;
  return [
    fact("name", profile.name, profile.name.value),
    fact("chip", profile.chip, profile.chip.value),
    fact("GPU family", profile.family, profile.family.value),
    fact("architecture", profile.architecture, profile.architecture.value),
    fact("GPU cores", profile.gpuCores, cores === undefined ? "not known" : countText(cores)),
    fact("system", profile.os, profile.os.value),
    fact("Metal language", profile.metalVersion, profile.metalVersion.value),
    fact("toolchain", profile.toolchain, profile.toolchain.value),
    ...virtualOf(profile),
  ];
}

function virtualOf({ virtualGpu }: Profile): readonly ProfileFact[] {
  if (virtualGpu === undefined) return [];
  const value = virtualGpu.value ? "yes: results support no chip" : "no";
  return [{ label: "virtual GPU", value, by: virtualGpu.by, source: virtualGpu.source }];
}

/** Bytes as `48.0 GiB, 51,539,607,552 B`, ticks with commas, anything else as it is. */
export function factText(id: string, value: string): string {
  const count = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(count)) return value;
  if (id.endsWith("_bytes")) return count < 1024 ? `${value} B` : `${sizeText(count)}, ${countText(count)} B`;
  return id.endsWith("_hz") ? countText(count) : value;
}

/** What else a Metal device was asked, in the order in which it has it. */
function moreFactsOf({ facts = [] }: Profile): readonly ProfileFact[] {
  return facts.map(({ id, label, value, by, source, reason }) => ({
    label,
    value: value === null ? null : factText(id, value),
    by,
    source,
    reason,
  }));
}

const LIMITS = [
  ["simdWidth", "lanes of a simdgroup", ""],
  ["maxThreadsPerThreadgroup", "threads of a threadgroup", ""],
  ["maxThreadgroupMemoryBytes", "threadgroup memory", " B"],
  ["threadgroupMemoryAlignmentBytes", "threadgroup alignment", " B"],
  ["bufferSlots", "buffer slots", ""],
  ["setBytesMax", "largest setBytes", " B"],
] as const;

function limitsOf({ limits }: Profile): readonly ProfileFact[] {
  return LIMITS.map(([key, label, unit]) => ({
    label,
    value: `${countText(limits.value[key])}${unit}`,
    by: limits.by,
    source: limits.source,
  }));
}

/** What the chip table has of the chip: its clock, and every variant that was sold. */
function chipFactsOf(chip: Chip): readonly ProfileFact[] {
  const clock = chip.clockGhz === null ? "not known" : `${chip.clockGhz} GHz`;
  return [
    { label: "GPU clock", value: clock, by: "table", source: chip.clockConfidence },
    ...chip.variants.map(({ gpuCores, memoryBandwidthGbS }) => ({
      label: `variant of ${gpuCores} cores`,
      value: memoryBandwidthGbS === null ? "bandwidth not known" : `${memoryBandwidthGbS} GB/s`,
      by: "table" as const,
      source: `native/chips.json: ${chip.sources.join(", ")}`,
    })),
  ];
}

function Row({ fact }: { readonly fact: ProfileFact }): ReactElement {
  return (
    <tr>
      <td className="t2 el" title={fact.label}>
        {fact.label}
      </td>
      {fact.value === null ? (
        <td className="t3 el" title={fact.reason ?? undefined}>
          not known: {fact.reason}
        </td>
      ) : (
        <td className="m el" title={fact.value}>
          {fact.value}
        </td>
      )}
      <td className={fact.value !== null && isSoft(fact.by) ? "ambig" : "t2"}>{KNOWN_BY[fact.by]}</td>
      <td className="t3 el" title={fact.source}>
        {fact.source}
      </td>
    </tr>
  );
}

interface ProfileTableProps {
  readonly profile: Profile;
  /** Its chip in the chip table; undefined where the table does not have it. */
  readonly chip: Chip | undefined;
}

export function ProfileTable({ profile, chip }: ProfileTableProps): ReactElement {
  const more = moreFactsOf(profile);
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
            <Row key={fact.label} fact={fact} />
          ))}
          {more.length === 0 ? null : (
            <>
              <tr className="grp">
                <td colSpan={4}>What else the device and its system say</td>
              </tr>
              {more.map((fact) => (
                <Row key={fact.label} fact={fact} />
              ))}
            </>
          )}
          <tr className="grp">
            <td colSpan={4}>Limits, which decide whether a dispatch is legal</td>
          </tr>
          {limitsOf(profile).map((fact) => (
            <Row key={fact.label} fact={fact} />
          ))}
          {chip === undefined ? null : (
            <>
              <tr className="grp">
                <td colSpan={4}>{chip.name}, as it was sold</td>
              </tr>
              {chipFactsOf(chip).map((fact) => (
                <Row key={fact.label} fact={fact} />
              ))}
            </>
          )}
        </tbody>
      </table>
    </div>
  );
}
