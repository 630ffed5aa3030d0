/** The verification of one bundle: its steps, its identity, what it claims. */
import type { ReactElement } from "react";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { PaneHead } from "../../parts/pane.tsx";
import { entryStanding, outcomeWord, underValidation } from "../../parts/run_entry.ts";
import { StandingTag, ValidationTag } from "../../parts/standing.tsx";
import { countText, digestText, plural, runName, shortDigest, sizeText } from "../../parts/text.ts";
import { ViewLink } from "../../shell/nav.tsx";
import type { RunEntryView, VerificationView, VerifiedView, VerifyProgressView } from "../../state/session.ts";
import { Notes } from "./notes.tsx";

export type Verified = VerifiedView | undefined;

/** `; 2 attached files held`: beside the bundle's own result, of which it is no part. */
function attachedText({ attached }: VerificationView): string {
  if (attached === undefined) return "";
  const held = attached.reasons.length === 0 && attached.attachments.every(({ reasons }) => reasons.length === 0);
  return held ? `; ${plural(attached.attachments.length, "attached file")} held` : "; an attached file is broken";
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
      <div className="small t2">
        {valid ? "Integrity only, author unknown" : "No claim from this bundle counts"}
        {attachedText(verified)}
      </div>
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
      <AttachedSteps verified={verified} />
    </ol>
  );
}

/** What is attached to the bundle: no part of it, so that it decides nothing of its result. */
function AttachedSteps({ verified }: { readonly verified: VerificationView }): ReactElement | null {
  const { attached } = verified;
  if (attached === undefined) return null;
  const beside = attached.reasons.length === 0 ? [] : [{ id: "beside", name: null, reasons: attached.reasons }];
  return (
    <>
      {[...attached.attachments, ...beside].map(({ id, name, reasons }) => (
        <li key={id} className={reasons.length === 0 ? "stp" : "stp bad"} data-attached={id}>
          <span />
          <Glyph name={reasons.length === 0 ? "pass" : "fail"} />
          <span>
            <span className="breakable">attached: {name ?? "what lies beside the bundle"}, no part of it</span>
            <span className="sr">{reasons.length === 0 ? "held" : "broken"}</span>
            {reasons.slice(0, 5).map((reason) => (
              <span key={reason} className="micro t2 block breakable">
                {reason}
              </span>
            ))}
          </span>
        </li>
      ))}
    </>
  );
}

interface IdentityProps {
  readonly entry: Extract<RunEntryView, { state: "kept" }>;
  readonly from: string | undefined;
}

function Identity({ entry, from }: IdentityProps): ReactElement {
  return (
    <>
      <PaneHead title="Identity" line>
        <ActionButton action="evidence.reveal" look="quiet">
          Folder
        </ActionButton>
        {from === undefined ? null : (
          <ActionButton action="bundle.close" look="quiet">
            Close
          </ActionButton>
        )}
      </PaneHead>
      <dl className="kv inset">
        <dt>bundle</dt>
        <dd title={entry.id}>{runName(entry.id)}</dd>
        <dt>manifest</dt>
        <dd className="mono" title={entry.identity}>
          sha256 {digestText(entry.identity)}
        </dd>
        <dt>device</dt>
        <dd>
          {entry.execution}, {entry.deviceName} <StandingTag standing={entryStanding(entry)} />
          {underValidation(entry) ? <ValidationTag /> : null}
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

function Progress({ progress }: { readonly progress: VerifyProgressView | undefined }): ReactElement {
  const { step = 0, steps = 1, title = "waiting for its turn", bytes = 0, totalBytes = 0 } = progress ?? {};
  return (
    <div className="inset verifying" data-verified="running">
      <div className="row small">
        <Glyph name="running" />
        <span className="el">{step === 0 ? title : `Check ${step} of ${steps}: ${title}`}</span>
      </div>
      <progress max={Math.max(1, totalBytes)} value={bytes} aria-label="Bytes read against their digests" />
      <div className="row micro t3">
        <span>
          {sizeText(bytes)} of {sizeText(totalBytes)} read
        </span>
        <span className="sp" />
        <ActionButton action="evidence.stop" look="quiet">
          Stop
        </ActionButton>
      </div>
    </div>
  );
}

/** What stands above a bundle that nothing is known of: its claims count for nothing yet. */
function Unverified({ from }: { readonly from: string | undefined }): ReactElement {
  return (
    <div className="inset unverified" data-verified="none">
      <p className="small">
        <b className="m">{from === undefined ? "Unverified" : "Read-only, unverified"}</b>
        {from === undefined ? "" : `, opened from ${from}`}
      </p>
      <p className="t2 small">
        Not verified in this session. Verification checks every file against its digest and every verdict against its
        gates.
      </p>
    </div>
  );
}

interface VerificationPaneProps {
  readonly entry: RunEntryView | undefined;
  readonly verified: Verified;
  /** Where the bundle came from; undefined for one of this folder. */
  readonly from: string | undefined;
}

export function VerificationPane({ entry, verified, from }: VerificationPaneProps): ReactElement {
  if (entry === undefined) {
    return (
      <>
        <PaneHead title="Verification" />
        <p className="nothing t3">Select a bundle</p>
      </>
    );
  }
  const done = verified?.state === "done" ? verified.verification : undefined;
  const running = verified?.state === "running" || verified?.state === "waiting";
  return (
    <>
      <PaneHead title="Verification">
        {running ? null : (
          <ActionButton action="evidence.verify" look={verified === undefined ? "primary" : "plain"}>
            {verified === undefined ? "Verify" : "Verify again"}
          </ActionButton>
        )}
      </PaneHead>
      {done === undefined ? <Unverified from={from} /> : <Summary verified={done} />}
      {running ? <Progress progress={verified.state === "running" ? verified.progress : undefined} /> : null}
      <div className="body scroll">
        {done === undefined ? null : <Steps verified={done} />}
        {verified?.state === "failed" ? (
          <div className="inset">
            <FailureNote failure={verified.failure} />
          </div>
        ) : null}
        {entry.state === "bad" ? (
          <div className="inset">
            <FailureNote failure={{ name: "NoBundle", message: entry.reason, mend: entry.mend }} />
          </div>
        ) : null}
      </div>
      {entry.state === "kept" && from === undefined ? <Notes key={entry.id} id={entry.id} /> : null}
      {entry.state === "kept" ? <Identity entry={entry} from={from} /> : null}
    </>
  );
}
