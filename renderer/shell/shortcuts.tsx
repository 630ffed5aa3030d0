/** All shortcuts, from the registry. */
import type { ReactElement } from "react";
import { WINDOW_ACTIONS } from "../../electron/actions.ts";
import { Key } from "../parts/button.tsx";
import { useSettings } from "../state/settings.ts";
import { Dialog } from "./dialog.tsx";

const SECTIONS = [...new Set(WINDOW_ACTIONS.map((action) => action.section))];

export function Shortcuts({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { singleKeys } = useSettings();
  return (
    <Dialog label="All shortcuts" className="sheet" onClose={onClose}>
      <div className="ph">
        <h2>All shortcuts</h2>
        <span className="meta">
          {singleKeys ? "single keys work outside text fields" : "single keys are turned off in the settings"}
        </span>
        <span className="sp" />
        <button type="button" className="btn" onClick={onClose}>
          Close <Key stroke="escape" />
        </button>
      </div>
      <div className="cols">
        {SECTIONS.map((section) => (
          <section key={section}>
            <h3>{section}</h3>
            {WINDOW_ACTIONS.filter((action) => action.section === section && action.keys.length > 0).map((action) => (
              <div key={action.id} className="line">
                <span className="sp">{action.title}</span>
                {action.command === null ? null : <code className="mono t3">lockstep {action.command}</code>}
                <span className="strokes">
                  {action.keys.map((stroke) => (
                    <Key key={stroke} stroke={stroke} />
                  ))}
                </span>
              </div>
            ))}
          </section>
        ))}
      </div>
    </Dialog>
  );
}
