/** The command that does what this view does, where runs execute, the host, the gates. */
import type { ReactElement } from "react";
import { Icon } from "../parts/glyph.tsx";
import { standingOf } from "../parts/standing.tsx";
import { shortDigest, whenText } from "../parts/text.ts";
import { type HostStateView, useAnswer, useHost } from "../state/session.ts";
import { perform } from "./actions.ts";
import { useCommandLine } from "./command.ts";
import { useNextDevice } from "./device_chip.tsx";
import { useShownExecution } from "./execution.ts";

function hostText(host: HostStateView): string {
  switch (host.state) {
    case "idle":
      return "host starts with the first run";
    case "running":
      return "host running";
    case "stopped":
      return "host stopped, a fresh one starts with the next run";
    case "ready":
      return host.lastStop === null ? "host ready" : `host restarted ${whenText(host.since)}`;
  }
}

export function StatusBar(): ReactElement {
  const command = useCommandLine();
  const device = useNextDevice();
  const view = useShownExecution();
  const execution = view?.execution ?? device?.execution;
  const standing = view?.standing ?? (device == null ? "chip" : standingOf(device.execution, device));
  const host = useHost();
  const info = useAnswer("app.info", {});
  return (
    <footer className="status">
      <div className="cli">
        <span className="p">CLI</span>
        <code title={command}>{command}</code>
        <button
          type="button"
          className="btn icon quiet copy"
          aria-label="Copy the command"
          onClick={() => perform("window.command")}
        >
          <Icon name="copy" size={12} />
        </button>
      </div>
      {execution === undefined ? null : (
        <span title={view?.where} data-execution={execution}>
          execution <b className={standing === "emulated" ? "m emuink" : "m"}>{execution}</b>
          {execution === "imported" ? ", judged here" : null}
          {standing === "virtual" ? <b className="m virtualink">, virtual GPU</b> : null}
          {standing === "unsure" ? <b className="m virtualink">, of no known chip</b> : null}
        </span>
      )}
      {host === null ? null : (
        <span
          title={host.pid === null ? undefined : `process ${host.pid}`}
          data-host={host.state}
          data-pid={host.pid ?? ""}
        >
          <span className={`dot ${host.state}`} />
          {hostText(host)}
        </span>
      )}
      {info.state === "there" ? (
        <>
          <span className="long">
            gates <span className="mono">{shortDigest(info.value.gates)}</span>
          </span>
          <button
            type="button"
            className="version t3"
            title="About Lockstep"
            aria-label={`About Lockstep ${info.value.version}`}
            onClick={() => perform("window.about")}
          >
            {info.value.version}
          </button>
        </>
      ) : null}
    </footer>
  );
}
