/** Words for how a value is known; an assumed or inferred value never supports a claim. Pure. */
export type KnownBy = "api" | "probe" | "table" | "inferred" | "assumed";

export const KNOWN_BY: Readonly<Record<KnownBy, string>> = {
  api: "API",
  probe: "probe",
  table: "table",
  inferred: "inferred",
  assumed: "assumed",
};

/** Not read from anything: it supports no claim. */
export function isSoft(by: KnownBy): boolean {
  return by === "assumed" || by === "inferred";
}
