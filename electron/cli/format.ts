/** Rows of results in the terminal. */
import type { ResultRecord } from "../runs/record.ts";
import { figureText, timeText, verdictWord } from "../words.ts";

const COLOURS = { pass: 36, fail: 31, not_run: 31 } as const;

export function painted(text: string, verdict: ResultRecord["verdict"], colour: boolean): string {
  return colour ? `\u001b[${COLOURS[verdict]}m${text}\u001b[0m` : text;
}

/** Widths of the columns of result rows. */
export interface RowWidths {
  readonly case: number;
  readonly route: number;
}

function cells(widths: RowWidths, parts: readonly [string, string, string, string, string, string, string]): string {
  const [verdict, key, route, maxAbs, nmse, row, time] = parts;
  return [
    verdict.padEnd(9),
    key.padEnd(widths.case),
    route.padEnd(widths.route),
    maxAbs.padStart(9),
    nmse.padStart(9),
    row.padEnd(17),
    time.padStart(9),
  ]
    .join("  ")
    .trimEnd();
}

export function headText(widths: RowWidths): string {
  return cells(widths, ["verdict", "case", "route", "max abs", "NMSE", "worst row", "time"]);
}

/** One row: verdict, case, route, max abs, NMSE, worst row, time. */
export function rowText(result: ResultRecord, widths: RowWidths, colour: boolean): string {
  const { metrics } = result;
  const word = verdictWord(result);
  const text = cells(widths, [
    word,
    result.case,
    result.route,
    metrics === null ? "no output" : figureText(metrics.maxAbs),
    metrics === null ? "" : figureText(metrics.nmse),
    metrics === null ? "" : metrics.worstRow,
    metrics === null && result.ms === null ? "" : timeText(result.ms),
  ]);
  return painted(word, result.verdict, colour) + text.slice(word.length);
}
