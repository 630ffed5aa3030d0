import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";
import { openSafetensors } from "../../oracle/safetensors.ts";
import { goldenJson, goldenPath } from "./golden.ts";

const manifestSchema = z.record(z.string(), z.looseObject({ bytes: z.number(), sha256: z.string() }));

test("every golden file has the size and digest of the manifest, and opens", () => {
  const manifest = manifestSchema.parse(goldenJson("MANIFEST.json"));
  for (const [name, { bytes, sha256 }] of Object.entries(manifest)) {
    const path = goldenPath(name);
    expect(statSync(path).size, name).toBe(bytes);
    expect(createHash("sha256").update(readFileSync(path)).digest("hex"), name).toBe(sha256);
    if (name.endsWith(".safetensors")) expect(openSafetensors(path).entries.size, name).toBeGreaterThan(0);
  }
});
