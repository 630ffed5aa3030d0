/** The JSON Schema for editors is the schema that manifests are read by, and every manifest of the project fits it. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { manifestJsonSchema } from "../../../electron/manifest/json_schema.ts";
import { evaluateSizes } from "../../../electron/manifest/sizes.ts";
import { parseManifest } from "../../../electron/manifest/sources.ts";
import { WHERE } from "../runs/harness.ts";

const SCHEMA = path.join(WHERE.root, "docs", "kernel-manifest.schema.json");
const GUIDE = path.join(WHERE.root, "docs", "kernel-manifest.md");

function manifests(): readonly string[] {
  const folder = path.join(WHERE.root, "manifests");
  return fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".kernel.json"))
    .map((name) => path.join(folder, name));
}

describe("the JSON Schema", () => {
  it("is the one in docs/", () => {
    expect(JSON.parse(fs.readFileSync(SCHEMA, "utf8"))).toEqual(JSON.parse(manifestJsonSchema()));
  });
});

describe("every manifest", () => {
  it("fits, names the schema beside it, and its sizes have values", () => {
    expect(manifests().length).toBeGreaterThanOrEqual(8);
    for (const file of manifests()) {
      const manifest = parseManifest(fs.readFileSync(file, "utf8"), file);
      expect(path.resolve(path.dirname(file), manifest.$schema ?? ""), file).toBe(SCHEMA);
      expect(Object.values(evaluateSizes(manifest.sizes)).every(Number.isFinite), file).toBe(true);
      expect(manifest.project?.commit, file).toMatch(/^[0-9a-f]{40}$/);
    }
  });
});

describe("the guide", () => {
  const text = fs.readFileSync(GUIDE, "utf8");

  it("names every key of the schema", () => {
    const keys = new Set<string>();
    const walk = (node: unknown): void => {
      if (Array.isArray(node)) for (const item of node) walk(item);
      else if (typeof node === "object" && node !== null) {
        const { properties } = node as { readonly properties?: Readonly<Record<string, unknown>> };
        for (const key of Object.keys(properties ?? {})) keys.add(key);
        for (const value of Object.values(node)) walk(value);
      }
    };
    walk(JSON.parse(manifestJsonSchema()));
    expect(keys.size).toBeGreaterThan(40);
    expect([...keys].filter((key) => !text.includes(`\`${key}\``))).toEqual([]);
  });

  it("begins with a manifest and a kernel that can be pasted", () => {
    const [, json = ""] = /```json\n([\s\S]*?)```/.exec(text) ?? [];
    expect(parseManifest(json, "the guide").dispatches).toHaveLength(1);
    expect(text).toMatch(/```metal\n[\s\S]*kernel void/);
  });
});
