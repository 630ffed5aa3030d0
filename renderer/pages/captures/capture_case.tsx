/**
 * Captures the dispatches of the selected case to a `.gputrace` for Xcode, where there is a Metal device; elsewhere it says
 * why not. A capture is no evidence, and times inside it are no timings.
 */
import { type ReactElement, useId, useState } from "react";
import type { CallOutput } from "../../../electron/contract.ts";
import { FailureNote } from "../../parts/failure.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { plural, sizeText } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { copyText } from "../../shell/command.ts";
import { chosenProfile, metalOnly } from "../../state/device_choice.ts";
import type { RunModel } from "../../state/run_model.ts";
import { type FailureView, failureView, useAnswer, useLive, useSession } from "../../state/session.ts";

type Taken = CallOutput<"captures.take">;

type Taking =
  | { readonly state: "none" }
  | { readonly state: "running" }
  | { readonly state: "there"; readonly taken: Taken }
  | { readonly state: "failed"; readonly failure: FailureView };

interface CaptureCaseProps {
  readonly run: RunModel;
  /** Key of the case. */
  readonly name: string;
  readonly route: string;
}

export function CaptureCase({ run, name, route }: CaptureCaseProps): ReactElement {
  const { workbench } = useSession();
  const running = useLive()?.outcome === "running";
  const id = useId();
  const key = JSON.stringify([run.id, name, route]);
  const [known, setKnown] = useState<{ readonly key: string; readonly taking: Taking }>({
    key,
    taking: { state: "none" },
  });
  const taking: Taking = known.key === key ? known.taking : { state: "none" };
  const answer = useAnswer("devices.list", { chip: null });
  const devices = answer.state === "there" ? answer.value.devices : [];
  // On the device of the run where that is one of this machine, else on the system's own.
  const own = run.execution === "metal" ? (run.device?.id ?? null) : null;
  const there = chosenProfile(devices, { device: own, chip: null })?.name.value === run.device?.name.value;
  const device = own !== null && there ? own : "metal";
  const metal = metalOnly(devices, { device, chip: null });
  const suite = run.suite === "quick" || run.suite === "standard" || run.suite === "full" ? run.suite : undefined;
  const blocked = !metal.possible
    ? metal.reason
    : running
      ? "a run is going on"
      : suite === undefined
        ? "its inputs came from a file: lockstep capture takes them"
        : taking.state === "running"
          ? "it is being captured"
          : undefined;
  const take = async (): Promise<void> => {
    if (suite === undefined) return;
    const put = (next: Taking): void => setKnown({ key, taking: next });
    put({ state: "running" });
    await workbench.call("captures.take", { suite, case: name, route, device, out: null }).then(
      (taken) => put({ state: "there", taken }),
      (error: unknown) => put({ state: "failed", failure: failureView(error) }),
    );
  };
  useAction("capture.take", () => void take(), blocked);
  return (
    <>
      <div className="row capture-line small">
        <button
          type="button"
          className={blocked === undefined ? "btn" : "btn off"}
          aria-disabled={blocked !== undefined}
          aria-describedby={id}
          data-action="capture.take"
          onClick={() => {
            if (blocked === undefined) void take();
          }}
        >
          Capture this case
        </button>
        <span id={id} className="t3 micro el" title={blocked}>
          {taking.state === "running" ? <Glyph name="running" /> : null}{" "}
          {blocked ?? "writes a .gputrace for Xcode, in a process of its own; it is no evidence"}
        </span>
      </div>
      {taking.state === "there" ? <TakenLine taken={taking.taken} /> : null}
      {taking.state === "failed" ? (
        <div className="inset">
          <FailureNote failure={taking.failure} />
        </div>
      ) : null}
    </>
  );
}

function TakenLine({ taken }: { readonly taken: Taken }): ReactElement {
  const { path, bytes, files, dispatches, device, note } = taken;
  return (
    <div className="inset captured small" data-captured="">
      <p>
        <span className="mono breakable">{path}</span>{" "}
        <button type="button" className="btn quiet" onClick={() => void copyText(path)}>
          Copy path
        </button>
      </p>
      <p className="t2 micro">
        {plural(dispatches.length, "dispatch").replace(/hs$/, "hes")} on {device.name}, {device.os};{" "}
        {plural(files, "file")}, {sizeText(bytes)}
      </p>
      <p className="t3 micro">{note}</p>
    </div>
  );
}
