/** Starts the window: theme and view first, then the connection, then the page. */
import "./zod_config.ts";
import "./styles/tokens.css";
import "./styles/components.css";
import "./styles/controls.css";
import "./styles/verdicts.css";
import "./styles/tables.css";
import "./styles/window.css";
import "./styles/overlays.css";
import "./styles/pages.css";
import "./styles/adapt.css";
import { type ReactElement, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { openBridge, windowShell } from "./bridge.ts";
import { FailureNote } from "./parts/failure.tsx";
import { Empty } from "./parts/pane.tsx";
import { App } from "./shell/app.tsx";
import { startBaseline } from "./state/baseline.ts";
import { type FailureView, failureView, SessionContext, startSession } from "./state/session.ts";
import { startTheme } from "./state/theme.ts";
import { startViews } from "./state/view.ts";

function NoWorkbench({ failure }: { readonly failure: FailureView }): ReactElement {
  return (
    <main className="alone" data-failure={failure.name}>
      <Empty title="No workbench behind this window">
        <FailureNote failure={failure} />
      </Empty>
    </main>
  );
}

async function start(): Promise<void> {
  startTheme();
  if (windowShell() !== undefined) document.documentElement.dataset.door = "desktop";
  const root = createRoot(document.getElementById("root")!);
  try {
    // The bridge takes the token out of the fragment before the view is read from it.
    const workbench = await openBridge();
    startViews();
    startBaseline();
    const session = startSession(workbench);
    root.render(
      <StrictMode>
        <SessionContext value={session}>
          <App />
        </SessionContext>
      </StrictMode>,
    );
  } catch (error) {
    root.render(<NoWorkbench failure={failureView(error)} />);
  }
}

void start();
