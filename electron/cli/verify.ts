/** `lockstep verify BUNDLE`: every check, with reasons. Exit 0 valid, 1 invalid, 2 where there is no bundle to check. */
import { stableJson } from "../evidence/json.ts";
import { verifyBundle } from "../evidence/verify.ts";
import { withBundle } from "./bundle_argument.ts";
import type { Output } from "./output.ts";
import { EXIT, executionText } from "./parity.ts";

export function verify(bundle: string, options: { readonly json?: boolean }, output: Output): number {
  const { result, checks, identity, notes, record } = withBundle(bundle, (folder) => verifyBundle(folder));
  if (options.json) {
    output.line(stableJson({ result, identity, checks, notes, outcome: record?.outcome ?? null }).trimEnd());
    return result === "valid" ? EXIT.passed : EXIT.failed;
  }
  for (const [index, check] of checks.entries()) {
    output.line(`${check.reasons.length === 0 ? "held  " : "BROKEN"}  ${index + 1}  ${check.title}`);
    for (const reason of check.reasons) output.line(`           ${reason}`);
  }
  output.line("");
  const broken = checks.findIndex((check) => check.reasons.length > 0);
  if (broken >= 0) {
    output.line(`Invalid at step ${broken + 1} of ${checks.length}: ${checks[broken]!.reasons[0]}`);
    return EXIT.failed;
  }
  output.line(`Valid: ${checks.length} of ${checks.length} checks held. Integrity only, author unknown`);
  output.line(`identity: sha256:${identity}`);
  for (const note of notes) output.line(note);
  if (record !== null) {
    output.line(`outcome of the run: ${record.outcome}, ${record.results.length} of ${record.planned.length} results`);
    output.line(executionText(record));
  }
  return EXIT.passed;
}
