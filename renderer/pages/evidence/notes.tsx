/** What a user writes about a run: kept beside the bundle, never in it. */
import { type ReactElement, useRef, useState } from "react";
import { PaneHead } from "../../parts/pane.tsx";
import { whenText } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { focusRevealed } from "../../shell/drawer.ts";
import { useSession } from "../../state/session.ts";
import { useStore } from "../../state/store.ts";

/** With `key={id}`, so that a draft never goes to another run. */
export function Notes({ id }: { readonly id: string }): ReactElement {
  const session = useSession();
  const note = useStore(session.notes).get(id);
  const [draft, setDraft] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement | null>(null);
  const begin = (): void => {
    setDraft(note?.text ?? "");
    requestAnimationFrame(() => {
      const { current } = field;
      focusRevealed(current);
      current?.setSelectionRange(current.value.length, current.value.length);
    });
  };
  const keep = async (): Promise<void> => {
    if (draft !== null && (await session.writeNote(id, draft))) setDraft(null);
  };
  useAction("evidence.notes", begin);
  return (
    <>
      <PaneHead
        title="Notes"
        meta={note === undefined ? "beside the bundle, no evidence" : whenText(note.changedAt)}
        line
      >
        {draft === null ? (
          <button type="button" className="btn quiet" onClick={begin}>
            {note === undefined ? "Write" : "Edit"}
          </button>
        ) : (
          <>
            <button type="button" className="btn" onClick={() => void keep()}>
              Keep
            </button>
            <button type="button" className="btn quiet" onClick={() => setDraft(null)}>
              Discard
            </button>
          </>
        )}
      </PaneHead>
      <div className="inset notes small">
        {draft === null ? (
          note === undefined ? null : (
            <p>{note.text}</p>
          )
        ) : (
          <textarea
            ref={field}
            className="notes-field"
            aria-label="Notes on the run"
            value={draft}
            maxLength={16_384}
            onChange={(event) => setDraft(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") {
                event.stopPropagation();
                setDraft(null);
              } else if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
                event.preventDefault();
                void keep();
              }
            }}
          />
        )}
      </div>
    </>
  );
}
