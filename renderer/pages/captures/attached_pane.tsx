/**
 * Attached: what other tools wrote about the run, kept beside its bundle. A line at the foot of the page; opened, it takes the
 * place of the times that Lockstep measured, so that the two never stand in one table.
 */
import { type ReactElement, useRef, useState } from "react";
import { ATTACHED_WORDS, DOES_NOT_SHOW, KIND_WORDS } from "../../../electron/attachments/attachment.ts";
import { csvText, saveCsv } from "../../charts/save.ts";
import { TableTwin, type Twin } from "../../charts/table_twin.tsx";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { plural, shortDigest, sizeText, whenText } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { type AttachedList, pendingAttachment } from "../../state/attached.ts";
import { useStore } from "../../state/store.ts";
import { setParams, useView } from "../../state/view.ts";
import { AttachDialog, RemoveDialog } from "./attach_dialog.tsx";
import {
  ATTACHED_HEAD,
  type AttachmentView,
  attachedRow,
  attachedTable,
  type ListedView,
  orderedSeries,
  tableText,
} from "./attached_rows.ts";
import { useAttached } from "./use_attached.ts";

/** True where the pane is opened: the page leaves its place to it. */
export function attachedShown(params: Readonly<Record<string, string>>): boolean {
  return params.attached === "on";
}

function nameOf({ id, attachment }: ListedView): string {
  return attachment === null ? id.slice(0, 12) : attachment.original.name;
}

interface AttachedPaneProps {
  readonly id: string;
  /** False while the run goes on: it has no bundle yet. */
  readonly kept: boolean;
}

export function AttachedPane({ id, kept }: AttachedPaneProps): ReactElement {
  const { params } = useView();
  const answer = useAttached(kept ? id : null);
  const pending = useStore(pendingAttachment);
  const chooser = useRef<HTMLInputElement | null>(null);
  const list = answer.state === "there" ? answer.value : null;
  const entries = list?.attachments ?? [];
  const shown = attachedShown(params);
  const selected = entries.find((entry) => entry.id.startsWith(params.file ?? "-")) ?? entries[0];
  const blocked = kept ? (list?.readOnly ?? undefined) : "the run has no bundle yet";
  const toggle = (): void => setParams({ attached: shown ? null : "on", file: null });
  useAction("attached.show", toggle);
  useAction("attached.add", () => chooser.current?.click(), blocked);
  return (
    <Pane label="Attached" className={shown ? "attached hl" : "attached-line hl"}>
      <PaneHead
        title="Attached"
        meta={
          entries.length === 0
            ? "nothing: an export of xctrace or counters of Xcode can be"
            : `${plural(entries.length, "file")} of other tools, not measured by Lockstep`
        }
      >
        {shown && entries.length > 1 ? (
          <select
            className="inp case"
            aria-label="Attached file"
            value={selected?.id ?? ""}
            onChange={(event) => setParams({ file: event.target.value.slice(0, 12) })}
          >
            {entries.map((entry) => (
              <option key={entry.id} value={entry.id}>
                {nameOf(entry)}
              </option>
            ))}
          </select>
        ) : null}
        <ActionButton action="attached.add" look="quiet">
          Attach
        </ActionButton>
        <button type="button" className="btn quiet" aria-expanded={shown} data-action="attached.show" onClick={toggle}>
          {shown ? "Close" : "Show"}
        </button>
      </PaneHead>
      {answer.state === "failed" ? (
        <div className="inset">
          <FailureNote failure={answer.failure} />
        </div>
      ) : shown && list !== null ? (
        selected === undefined ? (
          <NothingAttached />
        ) : (
          <Selected key={selected.id} id={id} entry={selected} list={list} />
        )
      ) : null}
      <input
        ref={chooser}
        type="file"
        hidden
        data-choose="attachment"
        accept=".xml,.csv,.txt"
        aria-label="File to attach"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) pendingAttachment.set({ name: file.name, file, path: undefined });
          target.value = "";
        }}
      />
      {pending === null || blocked !== undefined ? null : (
        <AttachDialog
          id={id}
          pending={pending}
          onAttached={(attachment) => setParams({ attached: "on", file: attachment.slice(0, 12) })}
        />
      )}
    </Pane>
  );
}

function NothingAttached(): ReactElement {
  return (
    <div className="inset small t2 attached-none">
      <p>
        Drop an export of <code className="mono">xctrace export</code> (XML) or the counters that Xcode's Metal debugger
        writes (CSV) on the window. They are kept beside the bundle with their digest and shown here, apart from what
        the run measured.
      </p>
    </div>
  );
}

interface SelectedProps {
  readonly id: string;
  readonly entry: ListedView;
  readonly list: AttachedList;
}

function Selected({ id, entry, list }: SelectedProps): ReactElement {
  const [removing, setRemoving] = useState(false);
  const { attachment, reasons } = entry;
  const remove =
    list.readOnly === null ? (
      <button type="button" className="btn quiet" onClick={() => setRemoving(true)}>
        Remove
      </button>
    ) : null;
  return (
    <>
      {reasons.length === 0 ? null : (
        <div className="inset small" data-attached="broken">
          <Verdict name="fail">{reasons.join("; ")}</Verdict>
        </div>
      )}
      {attachment === null ? (
        <div className="inset row">{remove}</div>
      ) : (
        <Attached attachment={attachment} entry={entry} list={list}>
          {remove}
        </Attached>
      )}
      {removing ? (
        <RemoveDialog id={id} attachment={entry.id} name={nameOf(entry)} onClose={() => setRemoving(false)} />
      ) : null}
    </>
  );
}

interface AttachedProps {
  readonly attachment: AttachmentView;
  readonly entry: ListedView;
  readonly list: AttachedList;
  readonly children: ReactElement | null;
}

function Attached({ attachment, entry, list, children }: AttachedProps): ReactElement {
  const { kind, original, summary, importedAt } = attachment;
  const series = orderedSeries(attachment, list.labels);
  const all = series.map((each) => attachedRow(each, list.labels));
  const { head, rows, common, texts } = attachedTable(all);
  const twin: Twin = {
    columns: head.map((title, index) => ({ title, text: index < texts })),
    count: rows.length,
    row: (index) => rows[index]!,
  };
  const save = (): void => {
    const note = `${ATTACHED_WORDS}; ${original.name}, sha256 ${original.sha256}`;
    saveCsv(`attached-${entry.id.slice(0, 12)}`, csvText(note, ATTACHED_HEAD, all));
  };
  return (
    <>
      <div className="inset attached-facts small">
        <p>
          <span className="tag">{KIND_WORDS[kind]}</span> <b className="m breakable">{original.name}</b>,{" "}
          {sizeText(Number(original.bytes))}, <span title={original.sha256}>sha256 {shortDigest(original.sha256)}</span>
          , attached {whenText(importedAt)}
        </p>
        <p className="t2">
          {summary.tool.name}, version {summary.tool.version ?? "not stated in the file"}
          {summary.facts.map(({ label, value }) => `; ${label} ${value}`).join("")}
        </p>
        {summary.tables.slice(0, 4).map((table, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: tables of one name stand in a fixed order.
          <p key={index} className="t2">
            {tableText(table)}
          </p>
        ))}
        {common === "" ? null : <p className="t2">{common}</p>}
        {summary.tables.length > 4 ? <p className="t3">and {summary.tables.length - 4} more tables</p> : null}
      </div>
      {series.length === 0 ? <p className="nothing t3">No value was read of it</p> : <TableTwin {...twin} />}
      <div className="attached-foot micro">
        <ul className="t3">
          {summary.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
          <li>It does not show {DOES_NOT_SHOW[kind].join("; ")}</li>
        </ul>
        <p className="row">
          <b className="t2">{ATTACHED_WORDS}</b>
          <span className="sp" />
          <button type="button" className="btn quiet" disabled={series.length === 0} onClick={save}>
            CSV
          </button>
          {children}
        </p>
      </div>
    </>
  );
}
