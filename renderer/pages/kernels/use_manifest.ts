/** The check of a manifest's kernel that this window asked for: one at a time, kept until another one is asked for. */
import { useCallback } from "react";
import type { Workbench } from "../../../electron/contract/connect.ts";
import type { StreamInput, StreamItem } from "../../../electron/contract.ts";
import { type FailureView, failureView, useSession } from "../../state/session.ts";
import { createStore, useStore } from "../../state/store.ts";
import type { KernelAnswer } from "./report_rows.ts";

export type KernelAsked = StreamInput<"kernel.check">;
export type KernelProgress = Extract<StreamItem<"kernel.check">, { type: "kernel_progress" }>;
export type KernelRefused = Extract<StreamItem<"kernel.check">, { type: "kernel_refused" }>;

export type ManifestCheck =
  | { readonly state: "none" }
  | { readonly state: "running"; readonly asked: KernelAsked; readonly progress: KernelProgress | null }
  | { readonly state: "there"; readonly asked: KernelAsked; readonly answer: KernelAnswer }
  | { readonly state: "refused"; readonly asked: KernelAsked; readonly refused: KernelRefused }
  | { readonly state: "failed"; readonly asked: KernelAsked; readonly failure: FailureView };

const shown = createStore<ManifestCheck>({ state: "none" });
let going: AbortController | undefined;

async function ask(workbench: Workbench, asked: KernelAsked): Promise<void> {
  const controller = new AbortController();
  going = controller;
  const put = (check: ManifestCheck): void => {
    if (going === controller) shown.set(check);
  };
  put({ state: "running", asked, progress: null });
  try {
    for await (const item of workbench.stream("kernel.check", asked, { signal: controller.signal })) {
      if (item.type === "kernel_progress") put({ state: "running", asked, progress: item });
      else if (item.type === "kernel_ended") put({ state: "there", asked, answer: item.answer });
      else put({ state: "refused", asked, refused: item });
    }
  } catch (error) {
    put({ state: "failed", asked, failure: failureView(error) });
  }
  if (controller.signal.aborted && going === controller) shown.set({ state: "none" });
}

/** Begins a check, unless one is going on. */
export function checkManifest(workbench: Workbench, asked: KernelAsked): void {
  if (shown.get().state !== "running") void ask(workbench, asked);
}

export interface ManifestChecks {
  readonly check: ManifestCheck;
  readonly start: (asked: KernelAsked) => void;
  readonly cancel: () => void;
}

export function useManifest(): ManifestChecks {
  const { workbench } = useSession();
  const check = useStore(shown);
  const start = useCallback((asked: KernelAsked) => checkManifest(workbench, asked), [workbench]);
  return { check, start, cancel: useCallback(() => going?.abort(), []) };
}
