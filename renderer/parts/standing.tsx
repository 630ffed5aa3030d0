/** What a device or a run is, in a word that nobody overlooks: emulated, a virtual GPU, a run under validation. */
import type { ReactElement } from "react";
import { isSoft, type KnownBy } from "./known_by.ts";

/** What of a profile decides how its results are read. */
interface Marked {
  readonly chip: { readonly by: KnownBy };
  readonly virtualGpu?: { readonly value: boolean; readonly by: KnownBy } | undefined;
}

/** `chip`: results are evidence for a chip. Otherwise why they are for none; `unsure`: what decides it is not known. */
export type Standing = "chip" | "emulated" | "virtual" | "unsure" | "imported";

/** As claims have it (`chipSupport` of `electron/evidence/level.ts`). */
export function standingOf(execution: string, device: Marked | null | undefined): Standing {
  if (execution === "imported" || execution === "emulated") return execution;
  if (device == null || execution !== "metal") return "chip";
  const { chip, virtualGpu } = device;
  if (virtualGpu?.value === true) return "virtual";
  return virtualGpu === undefined || isSoft(virtualGpu.by) || isSoft(chip.by) ? "unsure" : "chip";
}

export const STANDING_TITLES: Readonly<Record<Exclude<Standing, "chip">, string>> = {
  emulated: "An emulated result is about the kernel's source and supports no chip",
  virtual: "A GPU that a hypervisor lends to a virtual machine: its results support no chip",
  unsure: "Chip, or that the GPU is no virtual one, is inferred or assumed: its results support no chip",
  imported: "Another engine computed the outputs; they were judged here, not run here",
};

const WORDS: Readonly<Record<Exclude<Standing, "chip">, string>> = {
  emulated: "EMULATED",
  virtual: "VIRTUAL GPU",
  unsure: "NO CHIP",
  imported: "imported",
};

const LOOKS: Readonly<Record<Exclude<Standing, "chip">, string>> = {
  emulated: "tag emu",
  virtual: "tag virtual",
  unsure: "tag virtual",
  imported: "tag",
};

/** Nothing for a chip: its name stands there. */
export function StandingTag({ standing }: { readonly standing: Standing }): ReactElement | null {
  if (standing === "chip") return null;
  return (
    <span className={LOOKS[standing]} title={STANDING_TITLES[standing]} data-standing={standing}>
      {WORDS[standing]}
    </span>
  );
}

/** A run under Metal's validation: slower, with other registers, so that its times are no timings. */
export function ValidationTag(): ReactElement {
  return (
    <span
      className="tag virtual"
      title="Under Metal's API and shader validation: verdicts count, its times are no timings"
      data-standing="validation"
    >
      VALIDATION
    </span>
  );
}
