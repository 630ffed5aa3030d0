/** Which manifest is checked: by its path on this machine, or a folder that the window sends. */
import { type FormEvent, type ReactElement, useRef, useState } from "react";
import { excerpt } from "../../../electron/checker/excerpt.ts";
import { FailureNote } from "../../parts/failure.tsx";
import { Verdict } from "../../parts/glyph.tsx";
import { plural } from "../../parts/text.ts";
import { setParams, useView } from "../../state/view.ts";
import { askedOf, askedOfFolder, type FolderFile, isWanted, type ManifestFields } from "./manifest_asked.ts";
import type { KernelProgress, KernelRefused, ManifestCheck, ManifestChecks } from "./use_manifest.ts";

const PHASES: Readonly<Record<KernelProgress["phase"], string>> = {
  compile: "compiling",
  run: "running",
  repeat: "running again",
  oracle: "comparing with the oracle",
};

function progressText(progress: KernelProgress | null): string {
  if (progress === null) return "reading the manifest";
  const { flavour, phase, dispatch, fraction } = progress;
  const share = fraction === null ? "" : ` ${Math.floor(100 * fraction)} %`;
  return `${flavour}: ${PHASES[phase]}${dispatch === null ? "" : ` ${dispatch}`}${share}`;
}

function Refused({ refused }: { readonly refused: KernelRefused }): ReactElement {
  const texts = new Map(refused.texts.map(({ path, text }) => [path, text]));
  return (
    <div className="refused" role="alert">
      <Verdict name={refused.code === "cancelled" ? "cancel" : "fail"}>
        {refused.code === "cancelled" ? "cancelled" : "not checked"}
      </Verdict>
      <p>{refused.message}</p>
      {refused.diagnostics.slice(0, 8).map((diagnostic) => (
        <div key={`${diagnostic.path} ${diagnostic.line} ${diagnostic.column} ${diagnostic.message}`}>
          <p className="small mono">
            {diagnostic.path}:{diagnostic.line}:{diagnostic.column}: {diagnostic.severity}: {diagnostic.message}
          </p>
          <pre className="excerpt">{excerpt(texts, diagnostic).join("\n")}</pre>
        </div>
      ))}
      {refused.diagnostics.length > 8 ? (
        <p className="t3 micro">{plural(refused.diagnostics.length - 8, "more message")}</p>
      ) : null}
    </div>
  );
}

function State({ check }: { readonly check: ManifestCheck }): ReactElement | null {
  if (check.state === "running") return <Verdict name="running">{progressText(check.progress)}</Verdict>;
  if (check.state === "refused") return <Refused refused={check.refused} />;
  if (check.state === "failed") return <FailureNote failure={check.failure} />;
  return null;
}

async function readFolder(list: FileList): Promise<readonly FolderFile[]> {
  const wanted = [...list].filter(({ name }) => isWanted(name)).slice(0, 2000);
  return Promise.all(
    wanted.map(async (file) => ({
      // The first part is the folder itself.
      path: file.webkitRelativePath.split("/").slice(1).join("/"),
      text: await file.text(),
    })),
  );
}

export function ManifestForm({ checks }: { readonly checks: ManifestChecks }): ReactElement {
  const { params } = useView();
  const { check, start, cancel } = checks;
  const [reason, setReason] = useState<string | null>(null);
  const folder = useRef<HTMLInputElement | null>(null);
  const fields: ManifestFields = { path: params.manifest ?? "", root: params.root ?? "", sizes: params.set ?? "" };
  const running = check.state === "running";
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const asked = askedOf(fields);
    setReason(asked.reason ?? null);
    if (asked.value !== undefined) start(asked.value);
  };
  const chosen = async (list: FileList | null): Promise<void> => {
    if (list === null || list.length === 0) return;
    const asked = askedOfFolder(await readFolder(list), fields.sizes);
    setReason(asked.reason ?? null);
    if (asked.value !== undefined) start(asked.value);
  };
  const field = (name: string, key: string, value: string, hint: string): ReactElement => (
    <label className="formrow">
      <span>{name}</span>
      <input
        className="inp"
        type="text"
        spellCheck={false}
        autoComplete="off"
        placeholder={hint}
        value={value}
        disabled={running}
        onChange={({ target }) => setParams({ [key]: target.value })}
      />
    </label>
  );
  return (
    <form className="manifestform" onSubmit={submit} aria-live="polite" data-manifest={check.state}>
      <h1>Check the kernel of a manifest</h1>
      <p className="t2">
        Races, bounds, unwritten memory and traffic of any Metal kernel. A kernel is native code with the rights of its
        runner; docs/kernel-manifest.md says what stands in a manifest.
      </p>
      {field("Manifest", "manifest", fields.path, "path of KERNEL.kernel.json on this machine")}
      {field("Sources below", "root", fields.root, "the manifest's folder")}
      {field("Sizes", "set", fields.sizes, "those of the manifest; N=64,D=128")}
      <div className="row formactions">
        {running ? (
          <button type="button" className="btn lg" onClick={cancel}>
            Cancel
          </button>
        ) : (
          <>
            <button type="submit" className="btn pri lg">
              Check
            </button>
            <button type="button" className="btn lg" onClick={() => folder.current?.click()}>
              Choose a folder
            </button>
          </>
        )}
        <input
          ref={(element) => {
            folder.current = element;
            // React knows no such attribute.
            element?.setAttribute("webkitdirectory", "");
          }}
          type="file"
          hidden
          aria-label="Folder that holds a manifest and its sources"
          onChange={({ target }) => {
            void chosen(target.files).finally(() => {
              target.value = "";
            });
          }}
        />
      </div>
      {reason === null ? <State check={check} /> : <p className="note fail">{reason}</p>}
    </form>
  );
}
