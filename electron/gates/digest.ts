/** The digest that records carry of the table of gates. Apart from the table, which the window shows and Node is not in. */
import { createHash } from "node:crypto";
import { gatesJson } from "./gates.ts";

/** SHA-256 (lower-case hex) of `gatesJson()`. */
export function gatesDigest(): string {
  return createHash("sha256").update(gatesJson()).digest("hex");
}
