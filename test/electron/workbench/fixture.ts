/** A window on a real workbench, over a MessagePort, with an evidence folder of its own. */
import fs from "node:fs";
import { answer } from "../../../electron/contract/answer.ts";
import { connect, type Workbench } from "../../../electron/contract/connect.ts";
import { portChannel } from "../../../electron/contract/port.ts";
import type { RunItem, StartRequest } from "../../../electron/contract.ts";
import { openWorkbench } from "../../../electron/workbench/workbench.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";

export interface OpenedWindow {
  readonly window: Workbench;
  readonly evidence: string;
  /** Opens a bundle as the desktop shell does. */
  readonly open: (path: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export function openWindow(): OpenedWindow {
  const evidence = scratchFolder();
  const workbench = openWorkbench({ places: WHERE, evidence });
  const { port1, port2 } = new MessageChannel();
  answer(portChannel(port1), workbench.handlers);
  const window = connect(portChannel(port2));
  return {
    window,
    evidence,
    open: (file) => workbench.open(file),
    close: async () => {
      window.close();
      await workbench.close();
      fs.rmSync(evidence, { recursive: true, force: true });
    },
  };
}

export function request(change: Partial<StartRequest> = {}): StartRequest {
  return {
    suite: "quick",
    inputs: null,
    operator: null,
    route: "naive",
    case: "gqa_decode/h32kv4d512/L33/spread/f32",
    device: null,
    chip: null,
    validation: false,
    seed: null,
    timeoutMs: null,
    workers: null,
    ...change,
  };
}

/** Follows the run `id` to its end. `onItem` sees each item as it comes. */
export async function follow(
  window: Workbench,
  id: string,
  onItem: (item: RunItem) => void = () => undefined,
): Promise<readonly RunItem[]> {
  const items: RunItem[] = [];
  for await (const item of window.stream("runs.events", {})) {
    if (item.id !== id) continue;
    items.push(item as RunItem);
    onItem(item as RunItem);
    if (item.type === "ended") break;
  }
  return items;
}
