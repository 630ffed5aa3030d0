/** Which build this is, and what is known of its parts: run, on a stand-in, emulated, only compiled, or never run. */
import type { ReactElement } from "react";
import { Key } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure.tsx";
import { Verdict } from "../parts/glyph.tsx";
import type { GlyphName } from "../parts/sprite.tsx";
import { useAnswer } from "../state/session.ts";
import { Dialog } from "./dialog.tsx";
import { PROVEN, STANDING_WORDS, type Standing } from "./proven.ts";

const STANDING_GLYPHS: Readonly<Record<Exclude<Standing, "model" | "stand_in">, GlyphName>> = {
  run: "pass",
  read: "blocked",
  never: "notrun",
};

function StandingCell({ standing }: { readonly standing: Standing }): ReactElement {
  if (standing === "model") return <span className="tag emu">{STANDING_WORDS.model.toUpperCase()}</span>;
  if (standing === "stand_in") return <span className="tag virtual">{STANDING_WORDS.stand_in}</span>;
  return <Verdict name={STANDING_GLYPHS[standing]}>{STANDING_WORDS[standing]}</Verdict>;
}

function Build(): ReactElement | null {
  const info = useAnswer("app.info", {});
  if (info.state === "asking") return null;
  if (info.state === "failed") return <FailureNote failure={info.failure} />;
  const { version, commit, platform, node, evidence, gates, desktop } = info.value;
  const rows: readonly (readonly [string, string])[] = [
    ["version", version],
    ["commit", commit ?? "not known: built outside a checkout"],
    ["platform", platform],
    ["Node", node],
    ["window", desktop ? "desktop app" : "browser, served by this machine alone"],
    ["gates, sha256", gates],
    ["bundles", evidence],
  ];
  return (
    <dl className="kv build">
      {rows.map(([name, value]) => (
        <div key={name} className="pair">
          <dt>{name}</dt>
          <dd className="mono">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function About({ onClose }: { readonly onClose: () => void }): ReactElement {
  return (
    <Dialog label="About Lockstep" className="sheet" onClose={onClose}>
      <div className="ph">
        <h2>About Lockstep</h2>
        <span className="meta">proves attention kernels for Apple GPUs, and says how each thing is known</span>
        <span className="sp" />
        <button type="button" className="btn" onClick={onClose}>
          Close <Key stroke="escape" />
        </button>
      </div>
      <div className="about">
        <Build />
        <table className="tbl fix proven">
          <thead>
            <tr>
              <th className="c-part">part</th>
              <th className="c-standing">state</th>
              <th>how it is checked</th>
              <th>what that does not show</th>
            </tr>
          </thead>
          <tbody>
            {PROVEN.map(({ part, standing, how, limit }) => (
              <tr key={part}>
                <td className="m wrap">{part}</td>
                <td>
                  <StandingCell standing={standing} />
                </td>
                <td className="wrap t2">{how}</td>
                <td className="wrap t2">{limit}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p className="small t3">
          Part by part in docs/limits.md; read on in README.md, docs/architecture.md and docs/emulated-device.md.
          Apache-2.0, see LICENSE.
        </p>
      </div>
    </Dialog>
  );
}
