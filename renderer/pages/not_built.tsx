/** Pages that are not built yet. Each says what it will show and where that is to be had now. */
import type { ReactElement } from "react";
import { ActionButton } from "../parts/button.tsx";
import { Empty } from "../parts/pane.tsx";
import { useViewCommand } from "../shell/command.ts";
import { useTrail } from "../shell/top_bar.tsx";

interface NotBuiltProps {
  readonly page: string;
  readonly will: string;
  readonly meanwhile: string;
  readonly command: readonly string[];
  readonly action: string;
  readonly label: string;
}

function NotBuilt({ page, will, meanwhile, command, action, label }: NotBuiltProps): ReactElement {
  useTrail(page, "not built yet");
  useViewCommand(command);
  return (
    <Empty title={`${page} is not built yet`}>
      <p className="t2 para">{will}</p>
      <p className="t2 after">{meanwhile}</p>
      <ActionButton action={action} look="primary" large>
        {label}
      </ActionButton>
    </Empty>
  );
}

export function CapturesPage(): ReactElement {
  return (
    <NotBuilt
      page="Captures"
      will="This page will show the resource receipts of each pipeline against its contract, occupancy, memory traffic and timings."
      meanwhile="Every bundle holds the receipts of its pipelines in data/receipts; the gate on resources compares them with the contract."
      command={["lockstep", "parity"]}
      action="page.evidence"
      label="Show the bundles"
    />
  );
}
