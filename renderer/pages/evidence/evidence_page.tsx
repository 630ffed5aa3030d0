/** Claims, bundles and their verification. */
import type { ReactElement } from "react";
import { ActionButton } from "../../parts/button.tsx";
import { FilterField } from "../../parts/filter_field.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { Empty, Pane, PaneHead } from "../../parts/pane.tsx";
import { entryGlyph, entryWord } from "../../parts/run_entry.ts";
import { countText, plural, runName, shortDigest, sizeText } from "../../parts/text.ts";
import { rowHeight, useRowInSight, useWindowed } from "../../parts/windowed.ts";
import { useAction } from "../../shell/actions.ts";
import { useViewCommand } from "../../shell/command.ts";
import { matchWords } from "../../shell/match.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { type RunEntryView, useAnswer, useRuns, useSession } from "../../state/session.ts";
import { useStore } from "../../state/store.ts";
import { setParams, useView } from "../../state/view.ts";
import { ClaimsPane } from "./claims_pane.tsx";
import { VerificationPane, type Verified } from "./verification.tsx";

function VerifiedCell({ verified, bad }: { readonly verified: Verified; readonly bad: boolean }): ReactElement {
  if (bad) return <Verdict name="fail">no bundle</Verdict>;
  if (verified === undefined) return <Verdict name="notrun">not verified</Verdict>;
  if (verified === "running") return <Verdict name="running">verifying</Verdict>;
  if (!("result" in verified)) return <Verdict name="notrun">failed</Verdict>;
  return verified.result === "valid" ? <Verdict name="pass">valid</Verdict> : <Verdict name="fail">invalid</Verdict>;
}

function BundleRow({ entry, verified }: { readonly entry: RunEntryView; readonly verified: Verified }): ReactElement {
  const kept = entry.state === "kept" ? entry : undefined;
  return (
    <>
      <td>
        <VerifiedCell verified={verified} bad={entry.state === "bad"} />
      </td>
      <td>
        {entry.state === "bad" ? (
          <span className="t3 el" title={entry.reason}>
            {entry.reason}
          </span>
        ) : (
          <Verdict name={entryGlyph(entry)}>{entryWord(entry)}</Verdict>
        )}
      </td>
      <td className="el" title={entry.id}>
        {runName(entry.id)}
      </td>
      <td className={kept?.execution === "emulated" ? "el emuink" : "el"}>{kept?.device ?? ""}</td>
      <td className="num">{kept === undefined ? "" : `${countText(kept.passed)} of ${countText(kept.planned)}`}</td>
      <td className="num t2">{kept === undefined ? "" : sizeText(kept.bytes)}</td>
      <td className="mono t3">{kept === undefined ? "" : shortDigest(kept.identity)}</td>
    </>
  );
}

interface BundlesProps {
  readonly entries: readonly RunEntryView[];
  readonly selected: string | undefined;
}

function Bundles({ entries, selected }: BundlesProps): ReactElement {
  const verified = useStore(useSession().verified);
  const height = rowHeight();
  const { ref, from, to, before, after } = useWindowed(entries.length, height);
  useRowInSight(
    ref,
    entries.findIndex((entry) => entry.id === selected),
    height,
  );
  return (
    <div className="body scroll" ref={ref}>
      <table className="tbl fix bundles">
        <thead>
          <tr>
            <th className="c-state">verified</th>
            <th className="c-outcome">outcome</th>
            <th>bundle</th>
            <th>device</th>
            <th className="num c-count">passed</th>
            <th className="num c-size">size</th>
            <th className="c-digest">manifest</th>
          </tr>
        </thead>
        <tbody>
          {before > 0 ? <tr className="spacer" style={{ height: before }} /> : null}
          {entries.slice(from, to).map((entry) => (
            <tr
              key={entry.id}
              className={entry.id === selected ? "sel pickable" : "pickable"}
              aria-selected={entry.id === selected}
              data-bundle={entry.id}
              onClick={() => setParams({ bundle: entry.id })}
            >
              <BundleRow entry={entry} verified={verified.get(entry.id)} />
            </tr>
          ))}
          {after > 0 ? <tr className="spacer" style={{ height: after }} /> : null}
        </tbody>
      </table>
      {entries.length === 0 ? <p className="nothing t3">No bundle matches the filter</p> : null}
    </div>
  );
}

function NoBundles(): ReactElement {
  const info = useAnswer("app.info", {});
  return (
    <Empty title="No bundle yet">
      <p className="t2 after">
        A run writes a bundle: its record, raw outputs and sources, each bound by a digest.{" "}
        {info.state === "there" ? (
          <>
            They are kept in <code className="mono breakable">{info.value.evidence}</code>
          </>
        ) : null}
      </p>
      <ActionButton action="page.run" look="primary" large>
        Run a suite
      </ActionButton>
    </Empty>
  );
}

export function EvidencePage(): ReactElement {
  const { params } = useView();
  const session = useSession();
  const runs = useRuns();
  const info = useAnswer("app.info", {});
  const verified = useStore(session.verified);
  const entries = (runs ?? []).filter((entry) => entry.state !== "running");
  const text = params.q ?? "";
  const match = matchWords(text);
  const shown = entries.filter((entry) =>
    match.test(`${runName(entry.id)} ${entryWord(entry)} ${entry.state === "kept" ? entry.device : entry.reason}`),
  );
  const selected = entries.find((entry) => entry.id === params.bundle) ?? shown[0];
  const folder = info.state === "there" ? info.value.evidence : "evidence";
  useTrail("Evidence", plural(entries.length, "bundle"));
  useViewCommand(selected === undefined ? ["lockstep", "parity"] : ["lockstep", "verify", `${folder}/${selected.id}`]);
  const move = (by: number): void => {
    const at = shown.findIndex((entry) => entry.id === selected?.id);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    if (next !== undefined) setParams({ bundle: next.id });
  };
  useAction("list.next", () => move(1));
  useAction("list.previous", () => move(-1));
  useAction("window.close", () => setParams({ q: null }));
  useAction(
    "evidence.verify",
    () => void (selected === undefined ? undefined : session.verify(selected.id)),
    selected === undefined ? "no bundle is selected" : undefined,
  );
  if (runs === null) return <div className="page" />;
  if (entries.length === 0) return <NoBundles />;
  return (
    <div className="page evidence-cols">
      <div className="page evidence-rows">
        <Pane label="Claims">
          <ClaimsPane />
        </Pane>
        <Pane label="Bundles" className="hl">
          <PaneHead title="Bundles" meta={folder}>
            <FilterField label="Filter the bundles" value={text} onChange={(q) => setParams({ q })} />
          </PaneHead>
          <Bundles entries={shown} selected={selected?.id} />
        </Pane>
      </div>
      <Pane label="Verification" line>
        <VerificationPane entry={selected} verified={selected === undefined ? undefined : verified.get(selected.id)} />
      </Pane>
    </div>
  );
}
