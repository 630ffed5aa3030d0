/** Reports of Metal's validation as rows: those of the result first, and no clean word where silence proves nothing. */
import { describe, expect, it } from "vitest";
import { markLine, readValidation } from "../../../../electron/validation/lines.ts";
import { concerns as recorded, recordValidation } from "../../../../electron/validation/report.ts";
import {
  concerns,
  placeText,
  reportLine,
  reportRows,
  VALIDATION_HEAD,
  type Validation,
  validationSentence,
} from "../../../../renderer/pages/captures/validation_rows.ts";

const ENABLED = "Metal API Validation Enabled\nMetal GPU Validation Enabled\n";
const HERE = { case: "c", route: "naive" };

function read(text: string): Validation {
  return recordValidation(readValidation(text), {}) as Validation;
}

describe("reports of validation", () => {
  const log = read(
    `${ENABLED}${markLine("c", "fused")}Invalid device store executing kernel function k at offset 4\n` +
      `${markLine("c", "naive")}Invalid device load executing kernel function k at offset 8\n`,
  );

  it("come with those of the selected result first, and say during what they came", () => {
    const rows = reportRows(log, HERE);
    expect(rows.map(placeText)).toEqual(["naive on c", "fused on c"]);
    for (const report of rows) {
      expect(concerns(report, HERE)).toBe(recorded(report, HERE));
      expect(reportLine(report)).toHaveLength(VALIDATION_HEAD.length);
    }
    expect(concerns({ ...rows[0]!, at: null }, { case: "x", route: "y" })).toBe(true);
    expect(placeText({ ...rows[0]!, at: null })).toBe("outside any result");
  });

  it("are summed up without a clean word where a layer was not on, lines were lost, or a form is not known", () => {
    expect(validationSentence(log)).toBe("2 errors in Metal's words");
    expect(validationSentence(read(ENABLED))).toContain("reported no error");
    expect(validationSentence(read("Metal API Validation Enabled\n"))).toContain("shader validation is on: silence");
    expect(validationSentence(read(""))).toContain("API and shader validation are on: silence proves nothing");
    const clean = read(ENABLED);
    const lost = { ...clean, counts: { ...clean.counts, dropped: 3 } };
    expect(validationSentence(lost)).toContain("nothing can be concluded");
    const unclear = { ...clean, counts: { ...clean.counts, unclear: 1 } };
    expect(validationSentence(unclear)).toContain("no form knows");
  });
});
