/** `lockstep export DIR --out FILE`: a bundle as one zip file, the same bytes wherever it is made. */
import fs from "node:fs";
import path from "node:path";
import { stableJson } from "../evidence/json.ts";
import { exportZip } from "../evidence/zip.ts";
import { UsageError } from "../runs/usage.ts";
import { bytesText, shellQuote } from "../words.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export interface ExportOptions {
  readonly out?: string;
  readonly json?: boolean;
}

export function exportBundle(folder: string, options: ExportOptions, output: Output): number {
  if (fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`${folder} is no folder: give the folder of a bundle.`);
  }
  const name = path.basename(path.resolve(folder));
  const target = options.out ?? `${name}.zip`;
  const { bytes } = exportZip(path.resolve(folder), path.resolve(target));
  if (options.json) output.line(stableJson({ file: path.resolve(target), bytes }).trimEnd());
  else {
    output.line(`${target}: ${bytesText(bytes)}`);
    output.line(`verify: lockstep verify ${shellQuote(target)}`);
  }
  return EXIT.passed;
}
