/** The verification of one bundle: its steps, its identity, what it claims. */
import type { ReactElement } from "react";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { PaneHead } from "../../parts/pane.tsx";
import { outcomeWord } from "../../parts/run_entry.ts";
import { countText, digestText, runName, shortDigest, sizeText } from "../../parts/text.ts";
import { ViewLink } from "../../shell/nav.tsx";
import type { FailureView, RunEntryView, VerificationView } from "../../state/session.ts";

export type Verified = VerificationView | "running" | FailureView | undefined;

function isVerification(value: Verified): value is VerificationView {
  return typeof value === "object" && "checks" in value;
}

function Summary({ verified }: { readonly verified: VerificationView }): ReactElement {
  const { checks } = verified;
  const broken = checks.findIndex((check) => check.reasons.length > 0);
  const valid = verified.result === "valid";
  return (
    <div className={valid ? "strip p tight" : "strip f tight"} data-verified={verified.result}>
      <div className="row">
        <Glyph name={valid ? "pass" : "fail"} big />
        <span className={valid ? "say pass" : "say fail"}>{valid ? "Valid" : "Invalid"}</span>
        <span className="small t2">
          {valid ? `${checks.length} of ${checks.length} checks held` : `at step ${broken + 1} of ${checks.length}`}
        </span>
      </div>
      <div className="small t2">{valid ? "Integrity only, author unknown" : "No claim from this bundle counts"}</div>
    </div>
  );
}

function Steps({ verified }: { readonly verified: VerificationView }): ReactElement {
  return (
    <ol className="steps">
      {verified.checks.map((check, index) => {
        const held = check.reasons.length === 0;
        return (
          <li key={check.id} className={held ? "stp" : "stp bad"}>
            <span className="t3 num">{index + 1}</span>
            <Glyph name={held ? "pass" : "fail"} />
            <span>
              <span className={held ? "" : "m"}>{check.title}</span>
              <span className="sr">{held ? "held" : "broken"}</span>
              {check.reasons.slice(0, 5).map((reason) => (
                <span key={reason} className="micro t2 block breakable">
                  {reason}
                </span>
              ))}
              {check.reasons.length > 5 ? (
                <span className="micro t3 block">and {check.reasons.length - 5} more</span>
              ) : null}
            </span>
          </li>
        );
      })}
      {verified.notes.map((note) => (
        <li key={note} className="stp">
          <span />
          <Glyph name="ambig" />
          <span className="t2">{note}</span>
        </li>
      ))}
    </ol>
  );
}

function Identity({ entry }: { readonly entry: Extract<RunEntryView, { state: "kept" }> }): ReactElement {
  return (
    <>
      <PaneHead title="Identity" line />
      <dl className="kv inset">
        <dt>bundle</dt>
        <dd title={entry.id}>{runName(entry.id)}</dd>
        <dt>manifest</dt>
        <dd className="mono" title={entry.identity}>
          sha256 {digestText(entry.identity)}
        </dd>
        <dt>device</dt>
        <dd className={entry.execution === "emulated" ? "emuink" : ""}>
          {entry.execution}, {entry.deviceName}
        </dd>
        <dt>results</dt>
        <dd>
          {countText(entry.passed)} pass, {countText(entry.failed)} fail of {countText(entry.planned)}
        </dd>
        <dt>outcome</dt>
        <dd>
          <ViewLink view={{ page: "run", params: { run: entry.id } }}>
            {outcomeWord(entry.outcome)}, show the run
          </ViewLink>
        </dd>
        <dt>gates</dt>
        <dd className="mono">{shortDigest(entry.gates)}</dd>
        <dt>size</dt>
        <dd>{sizeText(entry.bytes)}</dd>
        <dt>signer</dt>
        <dd>unsigned: author unknown</dd>
      </dl>
    </>
  );
}

interface VerificationPaneProps {
  readonly entry: RunEntryView | undefined;
  readonly verified: Verified;
}

export function VerificationPane({ entry, verified }: VerificationPaneProps): ReactElement {
  if (entry === undefined) {
    return (
      <>
        <PaneHead title="Verification" />
        <p className="nothing t3">Select a bundle</p>
      </>
    );
  }
  return (
    <>
      <PaneHead title="Verification">
        <ActionButton action="evidence.verify" look={verified === undefined ? "primary" : "plain"}>
          {verified === undefined ? "Verify" : "Verify again"}
        </ActionButton>
      </PaneHead>
      {verified === undefined ? (
        <p className="inset t2 small">
          Not verified in this session. Verification checks every file against its digest and every verdict against its
          gates.
        </p>
      ) : null}
      {verified === "running" ? <p className="inset t2 small">Verifying</p> : null}
      {isVerification(verified) ? <Summary verified={verified} /> : null}
      <div className="body scroll">
        {isVerification(verified) ? <Steps verified={verified} /> : null}
        {typeof verified === "object" && !isVerification(verified) ? (
          <div className="inset">
            <FailureNote failure={verified} />
          </div>
        ) : null}
        {entry.state === "bad" ? (
          <div className="inset">
            <FailureNote failure={{ name: "NoBundle", message: entry.reason, mend: entry.mend }} />
          </div>
        ) : null}
      </div>
      {entry.state === "kept" ? <Identity entry={entry} /> : null}
    </>
  );
}
