/** What can be set for this window. Everything holds at once; nothing needs a restart. */
import type { ReactElement, ReactNode } from "react";
import { Key } from "../parts/button.tsx";
import { useMedia } from "../parts/panes.tsx";
import { Segments } from "../parts/segments.tsx";
import { changeSettings, DENSITIES, THEMES, useSettings } from "../state/settings.ts";
import { Dialog } from "./dialog.tsx";

interface RowProps {
  readonly title: string;
  readonly note: string;
  readonly children: ReactNode;
}

function Row({ title, note, children }: RowProps): ReactElement {
  return (
    <div className="setting">
      <div className="sp">
        <div className="m">{title}</div>
        <div className="micro t3">{note}</div>
      </div>
      {children}
    </div>
  );
}

interface SettingsDialogProps {
  readonly onClose: () => void;
  readonly onAbout: () => void;
}

export function SettingsDialog({ onClose, onAbout }: SettingsDialogProps): ReactElement {
  const { theme, density, singleKeys } = useSettings();
  const reduced = useMedia("(prefers-reduced-motion: reduce)");
  return (
    <Dialog label="Settings" className="sheet small-sheet" onClose={onClose}>
      <div className="ph">
        <h2>Settings</h2>
        <span className="meta">kept in this browser</span>
        <span className="sp" />
        <button type="button" className="btn" onClick={onClose}>
          Close <Key stroke="escape" />
        </button>
      </div>
      <div className="settings">
        <Row title="Theme" note="system follows light and dark of the desktop">
          <Segments
            label="Theme"
            choices={THEMES}
            chosen={theme}
            onChoose={(choice) => changeSettings({ theme: choice })}
          />
        </Row>
        <Row title="Density" note="height of rows, controls and pane heads">
          <Segments
            label="Density"
            choices={DENSITIES}
            chosen={density}
            onChoose={(choice) => changeSettings({ density: choice })}
          />
        </Row>
        <Row title="Single keys" note="letters, digits and signs as shortcuts outside text fields">
          <Segments
            label="Single keys"
            choices={["on", "off"]}
            chosen={singleKeys ? "on" : "off"}
            onChoose={(choice) => changeSettings({ singleKeys: choice === "on" })}
          />
        </Row>
        <Row title="Motion" note="follows the system; data never moves by itself">
          <span className="t2">{reduced ? "reduced" : "short transitions"}</span>
        </Row>
      </div>
      <div className="sheet-foot">
        <button type="button" className="btn quiet" onClick={onAbout}>
          About Lockstep
        </button>
      </div>
    </Dialog>
  );
}
