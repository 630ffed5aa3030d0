/** Claims, bundles and their verification. */
import { Fragment, type ReactElement } from "react";
import "../../styles/evidence.css";
import { save } from "../../charts/save.ts";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { FilterField } from "../../parts/filter_field.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { Empty, Pane, PaneHead } from "../../parts/pane.tsx";
import { WIDE_FROM } from "../../parts/pane_widths.ts";
import { Panes, useMedia } from "../../parts/panes.tsx";
import { entryGlyph, entryStanding, entryWord, underValidation } from "../../parts/run_entry.ts";
import type { Standing } from "../../parts/standing.tsx";
import { countText, plural, runName, shortDigest, sizeText } from "../../parts/text.ts";
import { rowHeight, useRowInSight, useWindowed } from "../../parts/windowed.ts";
import { useAction } from "../../shell/actions.ts";
import { copied, copyText, useViewCommand } from "../../shell/command.ts";
import { useViewExecution } from "../../shell/execution.ts";
import { matchWords } from "../../shell/match.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { useBaseline } from "../../state/baseline.ts";
import { type RunEntryView, type Session, useAnswer, useRuns, useSession } from "../../state/session.ts";
import { useStore } from "../../state/store.ts";
import { fetchZip } from "../../state/transfer.ts";
import { setParams, useView } from "../../state/view.ts";
import { ClaimsPane } from "./claims_pane.tsx";
import { DiffView } from "./diff_view.tsx";
import { useDiffActions } from "./use_diff_actions.ts";
import { VerificationPane, type Verified } from "./verification.tsx";

function VerifiedCell({ verified, bad }: { readonly verified: Verified; readonly bad: boolean }): ReactElement {
  if (bad) return <Verdict name="fail">no bundle</Verdict>;
  switch (verified?.state) {
    case undefined:
      return <Verdict name="notrun">unverified</Verdict>;
    case "waiting":
    case "running":
      return <Verdict name="running">verifying</Verdict>;
    case "failed":
      return <Verdict name="notrun">failed</Verdict>;
    case "done":
      return verified.verification.result === "valid" ? (
        <Verdict name="pass">valid</Verdict>
      ) : (
        <Verdict name="fail">invalid</Verdict>
      );
  }
}

const DEVICE_LOOKS: Readonly<Record<Standing, string>> = {
  chip: "el",
  imported: "el",
  emulated: "el emuink",
  virtual: "el virtualink",
  unsure: "el virtualink",
};

const MARKS: Readonly<Partial<Record<Standing, readonly string[]>>> = {
  virtual: ["virtual GPU"],
  unsure: ["supports no chip"],
};

/** The device's id; that of a Metal device says nothing, so that its name stands there, and what its results are worth. */
function deviceText(entry: Extract<RunEntryView, { state: "kept" }>): string {
  const name = entry.execution === "metal" ? entry.deviceName : entry.device;
  const marks = [...(MARKS[entryStanding(entry)] ?? []), ...(underValidation(entry) ? ["validation"] : [])];
  return [name, ...marks].join(", ");
}

interface BundleRowProps {
  readonly entry: RunEntryView;
  readonly verified: Verified;
  readonly note: string;
  /** True where there is room for the digest of the manifest. */
  readonly wide: boolean;
  /** True where a bundle of the list has a note. */
  readonly noted: boolean;
}

function BundleRow({ entry, verified, note, wide, noted }: BundleRowProps): ReactElement {
  const pinned = useBaseline() === entry.id;
  const kept = entry.state === "kept" ? entry : undefined;
  const standing = kept === undefined ? "chip" : entryStanding(kept);
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
        {runName(entry.id)} {pinned ? <span className="tag">baseline</span> : null}
      </td>
      {noted ? (
        <td className="el t2 c-note" title={note}>
          {note}
        </td>
      ) : null}
      <td
        className={DEVICE_LOOKS[standing]}
        title={kept === undefined ? undefined : `${kept.deviceName}: ${deviceText(kept)}`}
      >
        {kept === undefined ? "" : deviceText(kept)}
      </td>
      <td className="num">{kept === undefined ? "" : `${countText(kept.passed)} of ${countText(kept.planned)}`}</td>
      <td className="num t2">{kept === undefined ? "" : sizeText(kept.bytes)}</td>
      {wide ? <td className="mono t3">{kept === undefined ? "" : shortDigest(kept.identity)}</td> : null}
    </>
  );
}

interface BundlesProps {
  readonly entries: readonly RunEntryView[];
  /** The first ones of them were opened from elsewhere. */
  readonly openedCount: number;
  readonly selected: string | undefined;
}

function Bundles({ entries, openedCount, selected }: BundlesProps): ReactElement {
  const session = useSession();
  const verified = useStore(session.verified);
  const notes = useStore(session.notes);
  const wide = useMedia(`(min-width: ${WIDE_FROM}px)`);
  const noted = entries.some(({ id }) => notes.has(id));
  const columns = 6 + (noted ? 1 : 0) + (wide ? 1 : 0);
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
            {noted ? <th className="c-note">notes</th> : null}
            <th className="c-device">device</th>
            <th className="num c-count">passed</th>
            <th className="num c-size">size</th>
            {wide ? <th className="c-digest">manifest</th> : null}
          </tr>
        </thead>
        <tbody>
          {before > 0 ? <tr className="spacer" style={{ height: before }} /> : null}
          {entries.slice(from, to).map((entry, index) => (
            <Fragment key={entry.id}>
              {openedCount > 0 && (from + index === 0 || from + index === openedCount) ? (
                <tr className="group">
                  <td colSpan={columns}>
                    {from + index === 0
                      ? `Opened, not of this folder: read-only, no claim above rests on them, ${openedCount}`
                      : "Of this folder"}
                  </td>
                </tr>
              ) : null}
              <tr
                className={entry.id === selected ? "sel pickable" : "pickable"}
                aria-selected={entry.id === selected}
                data-bundle={entry.id}
                onClick={() => setParams({ bundle: entry.id })}
              >
                <BundleRow
                  entry={entry}
                  verified={verified.get(entry.id)}
                  wide={wide}
                  noted={noted}
                  note={notes.get(entry.id)?.text.split("\n", 1)[0] ?? ""}
                />
              </tr>
            </Fragment>
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
  const failure = useStore(useSession().failure);
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
      <div className="row">
        <ActionButton action="page.run" look="primary" large>
          Run a suite
        </ActionButton>
        <ActionButton action="bundle.open" large>
          Open a bundle
        </ActionButton>
      </div>
      {failure === null ? null : <FailureNote failure={failure} />}
    </Empty>
  );
}

/** Writes the zip of a bundle: where the desktop asks to, or as a download of the browser. */
async function exportBundle(session: Session, id: string, desktop: boolean): Promise<void> {
  await session.attempt(async () => {
    if (!desktop) {
      save(await fetchZip(session.workbench, id), `${id}.zip`);
      return;
    }
    const { path } = await session.workbench.call("evidence.save", { id });
    if (path !== null) copied.set(`Exported to ${path}`);
  });
}

/** Shows the folder where there is a file manager; elsewhere its path is copied. */
async function reveal(session: Session, id: string): Promise<void> {
  const answer = await session.attempt(() => session.workbench.call("evidence.reveal", { id }));
  if (answer !== undefined && !answer.revealed) await copyText(answer.path);
}

/** The actions on the selected bundle. */
function useBundleActions(selected: RunEntryView | undefined, isOpened: boolean, desktop: boolean): void {
  const session = useSession();
  const id = selected?.id;
  const verified = useStore(session.verified).get(id ?? "");
  const missing = id === undefined ? "no bundle is selected" : undefined;
  const busy = verified?.state === "running" || verified?.state === "waiting";
  useAction(
    "evidence.verify",
    () => id !== undefined && void session.verify(id),
    missing ?? (busy ? "it is verified now" : undefined),
  );
  useAction(
    "evidence.stop",
    () => id !== undefined && session.stopVerifying(id),
    busy ? undefined : "nothing is verified now",
  );
  useAction("evidence.export", () => id !== undefined && void exportBundle(session, id, desktop), missing);
  useAction("evidence.reveal", () => id !== undefined && void reveal(session, id), missing);
  useAction(
    "bundle.close",
    () => id !== undefined && void session.attempt(() => session.workbench.call("bundle.close", { id })),
    isOpened ? undefined : "the selected bundle is one of this folder",
  );
}

/** What the filter of bundles looks at. */
function hayOf(entry: RunEntryView, note: string): string {
  return `${runName(entry.id)} ${entryWord(entry)} ${entry.state === "kept" ? entry.device : entry.state === "bad" ? entry.reason : ""} ${note}`;
}

function BundlesView({ folder, desktop }: { readonly folder: string; readonly desktop: boolean }): ReactElement {
  const { params } = useView();
  const session = useSession();
  const runs = useRuns();
  const opened = useStore(session.opened);
  const notes = useStore(session.notes);
  const verified = useStore(session.verified);
  const failure = useStore(session.failure);
  const own = (runs ?? []).filter((entry) => entry.state !== "running");
  const text = params.q ?? "";
  const match = matchWords(text);
  const matches = (entry: RunEntryView): boolean => match.test(hayOf(entry, notes.get(entry.id)?.text ?? ""));
  const foreign = opened.map(({ entry }) => entry).filter(matches);
  const shown = [...foreign, ...own.filter(matches)];
  const all = [...opened.map(({ entry }) => entry), ...own];
  const selected = all.find((entry) => entry.id === params.bundle) ?? shown[0];
  const from = opened.find(({ entry }) => entry.id === selected?.id)?.from;
  useTrail("Evidence", plural(all.length, "bundle"));
  const place = from ?? (selected === undefined ? "" : `${folder}/${selected.id}`);
  useViewCommand(selected === undefined ? ["lockstep", "parity"] : ["lockstep", "verify", place]);
  useViewExecution(
    selected?.state === "kept"
      ? { execution: selected.execution, where: selected.deviceName, standing: entryStanding(selected) }
      : null,
  );
  const move = (by: number): void => {
    const at = shown.findIndex((entry) => entry.id === selected?.id);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    if (next !== undefined) setParams({ bundle: next.id });
  };
  useAction("list.next", () => move(1));
  useAction("list.previous", () => move(-1));
  useAction("window.close", () => {
    session.failure.set(null);
    setParams({ q: null });
  });
  useBundleActions(selected, from !== undefined, desktop);
  const { against } = useDiffActions(selected?.id);
  if (runs === null) return <div className="page" />;
  if (all.length === 0) return <NoBundles />;
  return (
    <Panes
      page="evidence"
      rightLabel="Verification"
      right={
        <Pane label="Verification" line>
          <VerificationPane
            entry={selected}
            verified={selected === undefined ? undefined : verified.get(selected.id)}
            from={from}
          />
        </Pane>
      }
    >
      <div className="page evidence-rows">
        <Pane label="Claims">
          <ClaimsPane />
        </Pane>
        <Pane label="Bundles" className="hl">
          <PaneHead title="Bundles" meta="drop a bundle anywhere to verify it">
            <FilterField label="Filter the bundles" value={text} onChange={(q) => setParams({ q })} />
            <ActionButton action="bundle.open">Open</ActionButton>
            <ActionButton
              action="diff.show"
              disabled={against === undefined}
              title={against === undefined ? "there is no other run" : `with ${runName(against)}`}
            >
              Diff
            </ActionButton>
            <ActionButton action="diff.pin">Pin</ActionButton>
            <ActionButton action="evidence.export">Export</ActionButton>
          </PaneHead>
          {failure === null ? null : (
            <div className="inset">
              <FailureNote failure={failure} />
            </div>
          )}
          <Bundles entries={shown} openedCount={foreign.length} selected={selected?.id} />
        </Pane>
      </div>
    </Panes>
  );
}

export function EvidencePage(): ReactElement {
  const { params } = useView();
  const info = useAnswer("app.info", {});
  const { a, b } = params;
  const folder = info.state === "there" ? info.value.evidence : "evidence";
  if (a !== undefined && b !== undefined) return <DiffView key={`${a} ${b}`} a={a} b={b} folder={folder} />;
  return <BundlesView folder={folder} desktop={info.state === "there" && info.value.desktop} />;
}
