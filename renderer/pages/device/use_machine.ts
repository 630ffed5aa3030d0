/** The state of the machine, asked again every few seconds while the page is seen. */
import { useEffect, useState } from "react";
import type { CallOutput } from "../../../electron/contract.ts";
import { type Answer, failureView, useSession } from "../../state/session.ts";

export type MachineState = CallOutput<"device.state">;

const EVERY_MS = 4000;

export function useMachine(): Answer<MachineState> {
  const { workbench } = useSession();
  const [answer, setAnswer] = useState<Answer<MachineState>>({ state: "asking" });
  useEffect(() => {
    let wanted = true;
    const ask = (): void => {
      if (document.hidden) return;
      workbench.call("device.state", {}).then(
        (value) => wanted && setAnswer({ state: "there", value }),
        (error: unknown) => wanted && setAnswer({ state: "failed", failure: failureView(error) }),
      );
    };
    ask();
    const timer = setInterval(ask, EVERY_MS);
    return () => {
      wanted = false;
      clearInterval(timer);
    };
  }, [workbench]);
  return answer;
}
