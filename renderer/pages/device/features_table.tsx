/** The capability table: what a feature requires, whether the profile has it, and the source. */
import { type ReactElement, useEffect, useRef } from "react";
import type { CallOutput } from "../../../electron/contract.ts";
import { csvText, saveCsv } from "../../charts/save.ts";
import { Verdict } from "../../parts/glyph.tsx";
import { setParams } from "../../state/view.ts";
import { shortRequires } from "./words.ts";

export type Feature = CallOutput<"device.features">["features"][number];

const GROUPS: Readonly<Record<Feature["group"], string>> = {
  matrices: "Matrices and tensors",
  language: "Language and collectives",
  memory: "Memory and threads",
  measuring: "Measuring and checking",
};

const STATES = { held: "held", not_held: "not held", not_known: "not known" } as const;

const BY_WORDS = { predicted: "predicted", api: "API" } as const;

/** How the answers are known: `predicted, not probed`, or how many the device gave itself. */
function knownText(features: readonly Feature[]): string {
  const asked = features.filter(({ by }) => by === "api").length;
  return asked === 0 ? "predicted, not probed" : `${asked} by API, the others predicted`;
}

/** `17 of 20 held, 2 not known; predicted, not probed`. */
export function featuresMeta(features: readonly Feature[]): string {
  const of = (state: Feature["state"]): number => features.filter((feature) => feature.state === state).length;
  return `${of("held")} of ${features.length} held, ${of("not_known")} not known; ${knownText(features)}`;
}

export function saveFeatures(features: readonly Feature[], device: string): void {
  const rows = features.map((row) => [
    row.group,
    row.title,
    row.requires,
    row.actual,
    STATES[row.state],
    BY_WORDS[row.by],
    row.reason,
    row.source,
  ]);
  const head = ["group", "feature", "requires", "has", "state", "known by", "reason", "source"];
  saveCsv(`capabilities-${device}`, csvText(`capabilities of ${device}: ${knownText(features)}`, head, rows));
}

function State({ state }: { readonly state: Feature["state"] }): ReactElement {
  if (state === "held") return <Verdict name="pass">held</Verdict>;
  if (state === "not_held") return <Verdict name="fail">not held</Verdict>;
  return <Verdict name="blocked">not known</Verdict>;
}

interface RowProps {
  readonly feature: Feature;
  readonly open: boolean;
}

function Row({ feature, open }: RowProps): ReactElement {
  const { title, matters, requires, actual, state, reason, source } = feature;
  return (
    <>
      <tr
        className={open ? "sel pickable" : "pickable"}
        onClick={() => setParams({ feature: open ? null : feature.id })}
      >
        <td className="el" title={matters}>
          <button type="button" className="rowbtn" aria-expanded={open}>
            {title}
          </button>
        </td>
        <td className="t2 el" title={requires}>
          {shortRequires(requires)}
        </td>
        <td className="t2 el" title={actual}>
          {actual}
        </td>
        <td>
          <State state={state} />
        </td>
        <td className="t3 el" title={source}>
          {source}
        </td>
      </tr>
      {open ? (
        <tr className="why">
          <td colSpan={5}>
            <p>{matters}</p>
            <p className="t2">{reason}</p>
            {state === "not_known" ? null : (
              <p className="t3">
                requires {requires}; has {actual}; known by: {BY_WORDS[feature.by]}
              </p>
            )}
            <p className="t3">source: {source}</p>
          </td>
        </tr>
      ) : null}
    </>
  );
}

interface FeaturesTableProps {
  readonly features: readonly Feature[];
  /** Id of the feature whose reason is shown. */
  readonly open: string | undefined;
}

export function FeaturesTable({ features, open }: FeaturesTableProps): ReactElement {
  const holder = useRef<HTMLDivElement>(null);
  const there = features.length > 0;
  // A link may name a row that lies below the fold.
  useEffect(() => {
    if (open !== undefined && there) holder.current?.querySelector(".why")?.scrollIntoView({ block: "nearest" });
  }, [open, there]);
  return (
    <div className="body scroll" ref={holder}>
      <table className="tbl fix features">
        <thead>
          <tr>
            <th className="c-feature">feature</th>
            <th>requires</th>
            <th>has</th>
            <th className="c-state">state</th>
            <th className="c-source">source</th>
          </tr>
        </thead>
        {(Object.keys(GROUPS) as Feature["group"][]).map((group) => (
          <tbody key={group}>
            <tr className="grp">
              <td colSpan={5}>{GROUPS[group]}</td>
            </tr>
            {features
              .filter((feature) => feature.group === group)
              .map((feature) => (
                <Row key={feature.id} feature={feature} open={feature.id === open} />
              ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}
