import { expect, it } from "vitest";
import { LOG_COLUMNS, logCells, logMeta, logOf } from "../../../../renderer/pages/kernels/log_rows.ts";

type Answer = Parameters<typeof logOf>[0];

it("lines are those of the flavour that counts, with level, dispatch and thread where known, and what was not kept", () => {
  const log = {
    lines: [
      { level: "error", label: "attention", message: "row 3", threadgroup: [1, 0, 2], position: [4, 0, 0], thread: 4 },
      { level: "info", label: "one of a, b", message: "sum", subsystem: "lockstep", category: "rows" },
    ],
    lost: 1200,
  };
  const answer = { stage: { outcomes: [{ log: { lines: [], lost: 0 } }, { log }] } } as unknown as Answer;
  const shown = logOf(answer)!;
  expect([0, 1, 2].map((index) => logCells(shown, index))).toEqual([
    ["error", "attention", "1, 0, 2", "4", "row 3"],
    ["info", "one of a, b", "", "", "lockstep, rows: sum"],
    [],
  ]);
  expect(LOG_COLUMNS.length).toBe(5);
  expect(logMeta(shown)).toBe("2 lines, 1,200 more not kept");
  expect(logMeta({ ...shown, lost: 0 })).toBe("2 lines");
  expect(logOf({ stage: { outcomes: [{}] } } as unknown as Answer)).toBeUndefined();
});
