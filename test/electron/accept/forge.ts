/** Bundles that lie about their acceptance, and what is found wrong with them. */
import fs from "node:fs";
import path from "node:path";
import { walk } from "../../../electron/evidence/bag.ts";
import { stableJson } from "../../../electron/evidence/json.ts";
import { acceptanceReasons } from "../../../electron/evidence/verify_acceptance.ts";
import { recordSchema } from "../../../electron/runs/record.ts";

/** What the acceptance of a bundle is found to lack, without the other checks, which read every output again. */
export function acceptanceProblems(root: string): string {
  const record = recordSchema.parse(JSON.parse(fs.readFileSync(path.join(root, "data/record.json"), "utf8")));
  const { files } = walk(root);
  const state = { root, onBytes: () => {}, files, manifest: new Map(), identity: null, record, notes: [] };
  return acceptanceReasons(state).join("\n");
}

/** Applies `change` to a copy of the bundle beside it, and gives what is then wrong with its acceptance. */
export function forged(bundle: string, change: (root: string) => void): string {
  const copy = `${bundle}.copy`;
  fs.mkdirSync(copy);
  try {
    for (const part of ["data/acceptance", "data/acceptance.json", "data/record.json"]) {
      fs.cpSync(path.join(bundle, part), path.join(copy, part), { recursive: true });
    }
    change(copy);
    return acceptanceProblems(copy);
  } finally {
    fs.rmSync(copy, { recursive: true, force: true });
  }
}

/** Changes a file: the value of a JSON file, the text of another. */
export function edited<T>(file: string, change: (value: T) => unknown): (root: string) => void {
  return (root) => {
    const place = path.join(root, file);
    const text = fs.readFileSync(place, "utf8");
    const isJson = file.endsWith(".json");
    const value = change((isJson ? JSON.parse(text) : text) as T);
    fs.writeFileSync(place, isJson ? stableJson(value) : String(value));
  };
}
