/**
 * `lockstep verify BUNDLE`: every check, with reasons, and what is attached to the bundle. Exit 0 valid, 1 where the bundle or an
 * attachment is not, 2 where there is no bundle to check.
 */
import { executionText } from "../evidence/execution.ts";
import { stableJson } from "../evidence/json.ts";
import { verifyBundle } from "../evidence/verify.ts";
import { counted } from "../words.ts";
import { attachedCheckLines } from "./attachments.ts";
import { withBundleAsync } from "./bundle_argument.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./parity.ts";

export function verify(bundle: string, options: { readonly json?: boolean }, output: Output): Promise<number> {
  return withBundleAsync(bundle, (folder) => verifyFolder(folder, options.json === true, output));
}

async function verifyFolder(folder: string, json: boolean, output: Output): Promise<number> {
  const { result, checks, identity, notes, record } = verifyBundle(folder);
  const attached = await attachedCheckLines(folder);
  const exit = result === "valid" && attached.held ? EXIT.passed : EXIT.failed;
  if (json) {
    const { attachments, reasons } = attached.verified;
    const beside = attachments.map((entry) => ({ id: entry.id, reasons: entry.reasons }));
    output.line(
      stableJson({
        result,
        identity,
        checks,
        notes,
        outcome: record?.outcome ?? null,
        attachments: { held: attached.held, attached: beside, reasons },
      }).trimEnd(),
    );
    return exit;
  }
  for (const [index, check] of checks.entries()) {
    output.line(`${check.reasons.length === 0 ? "held  " : "BROKEN"}  ${index + 1}  ${check.title}`);
    for (const reason of check.reasons) output.line(`           ${reason}`);
  }
  for (const line of attached.lines) output.line(line);
  output.line("");
  const broken = checks.findIndex((check) => check.reasons.length > 0);
  if (broken >= 0) {
    output.line(`Invalid at step ${broken + 1} of ${checks.length}: ${checks[broken]!.reasons[0]}`);
    return exit;
  }
  output.line(`Valid: ${checks.length} of ${checks.length} checks held. Integrity only, author unknown`);
  if (!attached.held) output.line("What is attached to it is not: see the lines above. No verdict rests on it");
  else if (attached.lines.length > 0) {
    output.line(
      `${counted(attached.lines.length, "attachment")} held: evidence of other tools, not measured by Lockstep`,
    );
  }
  output.line(`identity: sha256:${identity}`);
  for (const note of notes) output.line(note);
  if (record !== null) {
    output.line(`outcome of the run: ${record.outcome}, ${record.results.length} of ${record.planned.length} results`);
    output.line(executionText(record));
  }
  return exit;
}
