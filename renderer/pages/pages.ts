/** The pages by id: title and component. A new page is a component here; its place and key are in the registry's `PAGE_IDS`. */
import type { ComponentType } from "react";
import type { PageId } from "../../electron/actions.ts";
import { CapturesPage } from "./captures/captures_page.tsx";
import { DevicePage } from "./device/device_page.tsx";
import { DispatchPage } from "./dispatch/dispatch_page.tsx";
import { EvidencePage } from "./evidence/evidence_page.tsx";
import { FragmentsPage } from "./fragments/fragments_page.tsx";
import { GatesPage } from "./gates_page.tsx";
import { KernelsPage } from "./kernels/kernels_page.tsx";
import { ParityPage } from "./parity/parity_page.tsx";
import { RunPage } from "./run/run_page.tsx";

export interface PageEntry {
  readonly title: string;
  readonly component: ComponentType;
}

export const PAGES: Readonly<Record<PageId, PageEntry>> = {
  device: { title: "Device", component: DevicePage },
  dispatch: { title: "Dispatch", component: DispatchPage },
  run: { title: "Run", component: RunPage },
  parity: { title: "Parity", component: ParityPage },
  captures: { title: "Captures", component: CapturesPage },
  fragments: { title: "Fragments", component: FragmentsPage },
  evidence: { title: "Evidence", component: EvidencePage },
  kernels: { title: "Kernels", component: KernelsPage },
  gates: { title: "Gates", component: GatesPage },
};
