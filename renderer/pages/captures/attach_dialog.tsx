/** Asks before a file is attached to a run, and before one is taken away. */
import { type ReactElement, useRef, useState } from "react";
import { FailureNote } from "../../parts/failure.tsx";
import { runName, sizeText } from "../../parts/text.ts";
import { Dialog } from "../../shell/dialog.tsx";
import { attachPending, type Pending, pendingAttachment, removeAttachment } from "../../state/attached.ts";
import { type FailureView, failureView, useSession } from "../../state/session.ts";
import { useStore } from "../../state/store.ts";
import { transfer } from "../../state/transfer.ts";

interface AttachDialogProps {
  readonly id: string;
  readonly pending: Pending;
  /** With the id of the attachment. */
  readonly onAttached: (attachment: string) => void;
}

export function AttachDialog({ id, pending, onAttached }: AttachDialogProps): ReactElement {
  const { workbench } = useSession();
  const going = useStore(transfer);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<FailureView | null>(null);
  const stop = useRef<AbortController | null>(null);
  const close = (): void => {
    stop.current?.abort();
    pendingAttachment.set(null);
  };
  const attach = async (): Promise<void> => {
    const controller = new AbortController();
    stop.current = controller;
    setBusy(true);
    setFailure(null);
    try {
      const attachment = await attachPending(workbench, id, pending, controller.signal);
      pendingAttachment.set(null);
      onAttached(attachment);
    } catch (error) {
      if (!controller.signal.aborted) setFailure(failureView(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog label="Attach a file to the run" className="sheet small-sheet" onClose={close}>
      <div className="ph">
        <h2>Attach to this run</h2>
        <span className="meta">beside the bundle, which stays as it is</span>
      </div>
      <div className="inset opening small">
        <dl className="kv">
          <dt>file</dt>
          <dd className="breakable">
            {pending.name}, {sizeText(pending.file.size)}
          </dd>
          <dt>run</dt>
          <dd title={id}>{runName(id)}</dd>
        </dl>
        <p className="t2">
          It is read and kept as evidence of another tool. That it belongs to this run is your word: the file does not
          say so. A table of contents of a trace may hold the environment of the process; it is kept as it is.
        </p>
        {failure === null ? null : <FailureNote failure={failure} />}
        <div className="row">
          <button type="button" className="btn pri" disabled={busy} onClick={() => void attach()}>
            Attach
          </button>
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          {busy ? (
            <span className="t2" role="status">
              {going === null ? "Reading it" : `${sizeText(going.done)} of ${sizeText(going.total)} sent`}
            </span>
          ) : null}
        </div>
      </div>
    </Dialog>
  );
}

interface RemoveDialogProps {
  readonly id: string;
  readonly attachment: string;
  readonly name: string;
  readonly onClose: () => void;
}

export function RemoveDialog({ id, attachment, name, onClose }: RemoveDialogProps): ReactElement {
  const session = useSession();
  const remove = async (): Promise<void> => {
    onClose();
    await session.attempt(() => removeAttachment(session.workbench, id, attachment));
  };
  return (
    <Dialog label="Take an attachment away" className="sheet small-sheet" onClose={onClose}>
      <div className="ph">
        <h2>Take it away</h2>
      </div>
      <div className="inset opening small">
        <p className="breakable">
          {name} and what was read of it are removed from {runName(id)}. The bundle itself stays as it is.
        </p>
        <div className="row">
          <button type="button" className="btn pri" onClick={() => void remove()}>
            Remove
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
        </div>
      </div>
    </Dialog>
  );
}
