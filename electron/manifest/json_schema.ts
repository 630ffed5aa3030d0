/** The JSON Schema of manifests, for editors: made from the schema that manifests are read by. */
import * as z from "zod";
import { manifestSchema } from "./manifest.ts";

/** The text of `docs/kernel-manifest.schema.json`. */
export function manifestJsonSchema(): string {
  const schema = z.toJSONSchema(manifestSchema, { io: "input" });
  return `${JSON.stringify({ title: "Lockstep kernel manifest", ...schema }, null, 2)}\n`;
}
