/** What a device or a run is, in a word that nobody overlooks: emulated, a virtual GPU, a run under validation. */
import type { ReactElement } from "react";

/** What of a profile decides how its results are read. */
interface Marked {
  readonly execution: string;
  readonly virtualGpu?: { readonly value: boolean } | undefined;
}

/** `chip`: results are evidence for a chip. Otherwise why they are for none. */
export type Standing = "chip" | "emulated" | "virtual" | "imported";

export function standingOf(execution: string, device: Marked | null | undefined): Standing {
  if (execution === "imported" || execution === "emulated") return execution;
  return device?.virtualGpu?.value === true ? "virtual" : "chip";
}

export const STANDING_TITLES: Readonly<Record<Exclude<Standing, "chip">, string>> = {
  emulated: "An emulated result is about the kernel's source and supports no chip",
  virtual: "A GPU that a hypervisor lends to a virtual machine: its results support no chip",
  imported: "Another engine computed the outputs; they were judged here, not run here",
};

const WORDS: Readonly<Record<Exclude<Standing, "chip">, string>> = {
  emulated: "EMULATED",
  virtual: "VIRTUAL GPU",
  imported: "imported",
};

const LOOKS: Readonly<Record<Exclude<Standing, "chip">, string>> = {
  emulated: "tag emu",
  virtual: "tag virtual",
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
