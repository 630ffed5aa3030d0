/** `lockstep diff A B`: what differs between two bundles. Exit 0 where nothing broke, 1 where a verdict did or B lacks a result of A, 2 where one cannot be read. */
import { stableJson } from "../evidence/json.ts";
import { deltaText, diffRuns, isWorse, type RunDiff } from "../runs/diff.ts";
import { counted } from "../words.ts";
import { openRecord } from "./bundle_argument.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export function diff(a: string, b: string, options: { readonly json?: boolean }, output: Output): number {
  const result = diffRuns(openRecord(a), openRecord(b));
  if (options.json) output.line(stableJson(result).trimEnd());
  else for (const line of linesOf(result)) output.line(line);
  return isWorse(result) ? EXIT.failed : EXIT.passed;
}

/** Sections in the order in which they matter; each says its own count, so that nothing is silent. */
function linesOf(result: RunDiff): readonly string[] {
  const lines: string[] = [`Circumstances that differ: ${result.config.length}`];
  for (const { fact, a, b, note } of result.config) {
    lines.push(`  ${fact}: ${a ?? "none"} -> ${b ?? "none"}${note === null ? "" : ` (${note})`}`);
  }
  lines.push(
    "",
    `Verdicts that changed: ${result.verdicts.length} of ${counted(result.shared, "result")} that both have`,
  );
  for (const item of result.verdicts) {
    const reason = item.b.error ?? item.a.error;
    lines.push(
      `  ${item.change.padEnd(6)}  ${item.case}  ${item.route}: ${item.a.verdict} -> ${item.b.verdict}${reason === null ? "" : ` (${reason})`}`,
    );
    for (const delta of item.deltas)
      if (delta.word !== "same") lines.push(`          ${delta.metric}: ${deltaText(delta)}`);
  }
  lines.push("", `Outputs that differ under the same verdict: ${result.figures.length}`);
  for (const item of result.figures) {
    const moved = item.deltas.filter((delta) => delta.word !== "same" && delta.metric !== "ms");
    const words = moved.map((delta) => `${delta.metric} ${deltaText(delta)}`).join("; ");
    lines.push(`  ${item.case}  ${item.route}: ${words === "" ? "other bits, the same errors" : words}`);
  }
  lines.push("", `Same bits in both: ${result.same}`);
  for (const [name, only] of [
    ["A", result.onlyA],
    ["B", result.onlyB],
  ] as const) {
    lines.push(`Only in ${name}: ${only.length}`);
    for (const item of only) lines.push(`  ${item.verdict.padEnd(8)}  ${item.case}  ${item.route}`);
  }
  return lines;
}
