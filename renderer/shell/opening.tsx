/** Files that come from outside: dropped anywhere on the window, chosen, named by path, or opened by the desktop's shell. */
import { type ReactElement, type SubmitEvent, useEffect, useRef, useState } from "react";
import { askedOfFolder, isWanted } from "../pages/kernels/manifest_asked.ts";
import { checkManifest } from "../pages/kernels/use_manifest.ts";
import { FailureNote } from "../parts/failure.tsx";
import { sizeText } from "../parts/text.ts";
import { pendingAttachment } from "../state/attached.ts";
import { failureView, type Session, useAnswer, useSession } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { type Dropped, type DroppedFile, droppedOf, kindOfFolder, sendFiles, transfer } from "../state/transfer.ts";
import { go, parseView } from "../state/view.ts";
import { useAction } from "./actions.ts";
import { droppedPath } from "./desktop.ts";
import { Dialog } from "./dialog.tsx";

/** Goes to an opened bundle; it stands there as unverified until its verification has ended. */
function showBundle(session: Session, id: string): void {
  go("evidence", { bundle: id });
  void session.verify(id);
}

/** Opens what was dropped: by its path where a desktop knows it, by its contents elsewhere. */
async function take(session: Session, dropped: Dropped, path: string | undefined, signal: AbortSignal): Promise<void> {
  const { workbench, failure } = session;
  failure.set(null);
  try {
    if (dropped.kind === "other") throw new Error(dropped.reason);
    if (dropped.kind === "kernel") {
      await takeKernel(session, dropped, path);
    } else if (dropped.kind === "attachment") {
      await takeAttachment(session, dropped, path);
    } else if (path !== undefined && dropped.kind === "inputs") {
      go("run", { inputs: path });
    } else if (path !== undefined) {
      const { id } = await workbench.call("bundle.open", { path });
      if (id !== null) showBundle(session, id);
    } else {
      const sent = await sendFiles(workbench, dropped, signal);
      if (sent.kind === "inputs") go("run", { inputs: sent.path });
      else if (sent.kind === "bundle") showBundle(session, sent.id);
    }
  } catch (error) {
    if (!signal.aborted) failure.set(failureView(error));
  }
}

/** Asks whether to attach a file to the run at hand, or the newest one that is kept. */
async function takeAttachment(
  session: Session,
  { name, files }: Extract<Dropped, { kind: "attachment" }>,
  path: string | undefined,
): Promise<void> {
  const { page, params } = parseView(location.hash);
  const run = page === "evidence" ? params.bundle : params.run;
  const { runs } = await session.workbench.call("runs.list", {});
  const kept = runs.filter((entry) => entry.state === "kept");
  const target = run === undefined ? kept[0] : kept.find((entry) => entry.id === run);
  if (target === undefined) {
    const why = run === undefined ? "there is none" : `${run} is still going on, or was opened from elsewhere`;
    throw new Error(`${name} can be attached to a run that this folder keeps; ${why}`);
  }
  pendingAttachment.set({ name, file: files[0]!.file, path });
  go("captures", { run: target.id, attached: "on" });
}

/** Checks the kernel of a manifest: by its path where a desktop knows it, by the texts beside it elsewhere. */
async function takeKernel(
  { workbench }: Session,
  { files }: Extract<Dropped, { kind: "kernel" }>,
  path: string | undefined,
): Promise<void> {
  const view = { view: "reports", from: "manifest" };
  const only = files.length === 1 ? path : undefined;
  if (only !== undefined) {
    go("kernels", { ...view, manifest: only });
    return;
  }
  const wanted = files.filter((file) => isWanted(file.path));
  const texts = await Promise.all(wanted.map(async (each) => ({ path: each.path, text: await each.file.text() })));
  const asked = askedOfFolder(texts, "");
  if (asked.value === undefined) throw new Error(asked.reason);
  go("kernels", view);
  checkManifest(workbench, asked.value);
}

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

/** Takes drops on the whole window. True while files are over it. */
function useDrops(receive: (dropped: Dropped, path: string | undefined) => void): boolean {
  const [over, setOver] = useState(false);
  const latest = useRef(receive);
  latest.current = receive;
  useEffect(() => {
    // Every element that is entered and left counts; outside the window none is left.
    let depth = 0;
    const enter = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth += 1;
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const move = (event: DragEvent): void => {
      if (hasFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      depth = 0;
      setOver(false);
      if (!hasFiles(event) || event.dataTransfer === null) return;
      // Without this the browser would go to the file and the window be gone.
      event.preventDefault();
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry());
      const files = [...event.dataTransfer.files];
      const path = files[0] === undefined ? undefined : droppedPath(files[0]);
      droppedOf(entries, files).then(
        (dropped) => latest.current(dropped, path),
        (error: unknown) => latest.current({ kind: "other", reason: failureView(error).message }, undefined),
      );
    };
    addEventListener("dragenter", enter);
    addEventListener("dragleave", leave);
    addEventListener("dragover", move);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragenter", enter);
      removeEventListener("dragleave", leave);
      removeEventListener("dragover", move);
      removeEventListener("drop", drop);
    };
  }, []);
  return over;
}

/** Lets the user choose a file, or a folder, and passes it on as if it had been dropped. */
function Chooser({ onChosen }: { readonly onChosen: (dropped: Dropped) => void }): ReactElement {
  const folder = useRef<HTMLInputElement | null>(null);
  const file = useRef<HTMLInputElement | null>(null);
  useEffect(() => {
    // Not known to React's types: the input takes a folder with everything below it.
    folder.current?.setAttribute("webkitdirectory", "");
  }, []);
  const fromFolder = (files: readonly File[]): void => {
    const [first] = files;
    if (first === undefined) return;
    const name = first.webkitRelativePath.split("/", 1)[0] ?? first.name;
    const below = files.map((entry): DroppedFile => {
      return { path: entry.webkitRelativePath.slice(name.length + 1), file: entry };
    });
    onChosen({ kind: kindOfFolder(below), name, files: below });
  };
  return (
    <div className="row">
      <button type="button" className="btn" onClick={() => folder.current?.click()}>
        Choose a folder
      </button>
      <button type="button" className="btn" onClick={() => file.current?.click()}>
        Choose a zip or a .safetensors file
      </button>
      <input
        ref={folder}
        type="file"
        hidden
        data-choose="folder"
        aria-label="Folder of a bundle"
        onChange={(event) => fromFolder([...(event.target.files ?? [])])}
      />
      <input
        ref={file}
        type="file"
        hidden
        data-choose="file"
        accept=".zip,.lockstep,.safetensors"
        aria-label="Zip of a bundle, or tensors"
        onChange={(event) => void droppedOf([], [...(event.target.files ?? [])]).then(onChosen)}
      />
    </div>
  );
}

interface OpenDialogProps {
  readonly onClose: () => void;
  readonly onChosen: (dropped: Dropped) => void;
}

function OpenDialog({ onClose, onChosen }: OpenDialogProps): ReactElement {
  const session = useSession();
  const failure = useStore(session.failure);
  const [path, setPath] = useState("");
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const named = path.trim();
    if (/\.safetensors$/i.test(named)) {
      onClose();
      go("run", { inputs: named });
      return;
    }
    const answer = await session.attempt(() => session.workbench.call("bundle.open", { path: named }));
    if (answer?.id == null) return;
    onClose();
    showBundle(session, answer.id);
  };
  return (
    <Dialog label="Open a bundle from elsewhere" className="sheet small-sheet" onClose={onClose}>
      <div className="ph">
        <h2>Open from elsewhere</h2>
        <span className="meta">read-only, listed apart, verified at once</span>
      </div>
      <form className="inset opening" onSubmit={(event) => void submit(event)}>
        <label>
          <span className="block small m">Path on the machine of the workbench</span>
          <input
            type="text"
            className="wide-field mono"
            value={path}
            placeholder="/home/me/2026-11-29t211238z-quick.lockstep"
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setPath(event.target.value)}
          />
        </label>
        <p className="small t2">
          A bundle's folder or a zip of it; a .safetensors file, whose cases a run takes; or a folder with a
          .kernel.json, whose kernel is checked
        </p>
        {failure === null ? null : <FailureNote failure={failure} />}
        <div className="row">
          <button type="submit" className="btn pri" disabled={path.trim() === ""}>
            Open
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
      <div className="inset opening hl">
        <p className="small t2">Or send it from this browser: drop it anywhere on the window, or choose it</p>
        <Chooser
          onChosen={(dropped) => {
            onClose();
            onChosen(dropped);
          }}
        />
      </div>
    </Dialog>
  );
}

/** Used once, by the frame. */
export function Opening(): ReactElement | null {
  const session = useSession();
  const info = useAnswer("app.info", {});
  const [asking, setAsking] = useState(false);
  const shown = useStore(session.shown);
  const going = useStore(transfer);
  const stop = useRef<AbortController | null>(null);
  const receive = (dropped: Dropped, path?: string): void => {
    stop.current?.abort();
    stop.current = new AbortController();
    void take(session, dropped, path, stop.current.signal);
  };
  const over = useDrops(receive);
  const desktop = info.state === "there" && info.value.desktop;
  const ask = (): void => {
    session.failure.set(null);
    setAsking(true);
  };
  const open = async (): Promise<void> => {
    if (!desktop) {
      ask();
      return;
    }
    const answer = await session.attempt(() => session.workbench.call("bundle.open", { path: null }));
    if (answer?.id != null) showBundle(session, answer.id);
  };
  const close = (): void => {
    session.failure.set(null);
    setAsking(false);
  };
  useAction("bundle.open", () => void open());
  // The desktop's dialog is for bundles.
  useAction("run.inputs", ask);
  useEffect(() => {
    if (shown === null) return;
    session.shown.set(null);
    showBundle(session, shown);
  }, [shown, session]);
  return (
    <>
      {over ? (
        <div className="dropping" role="status">
          <p>
            <b className="m">Drop to open.</b> A bundle's folder or a zip of it is verified; the cases of a .safetensors
            file are offered as a run
          </p>
        </div>
      ) : null}
      {going === null ? null : (
        <div className="transfer" role="status">
          <span className="el">{going.label}</span>
          <progress max={Math.max(1, going.total)} value={going.done} aria-label={going.label} />
          <span className="num t2 nw">
            {sizeText(going.done)} of {sizeText(going.total)}
          </span>
          <button type="button" className="btn" onClick={() => stop.current?.abort()}>
            Stop
          </button>
        </div>
      )}
      {asking ? <OpenDialog onClose={close} onChosen={receive} /> : null}
    </>
  );
}
