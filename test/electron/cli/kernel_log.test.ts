/** What a kernel logs is shown with its thread, once, and at a length that can be read. */
import { expect, it } from "vitest";
import { logLines } from "../../../electron/checker/text.ts";

it("shows level, dispatch, thread and message, and says how much is left", () => {
  const line = {
    level: "info",
    label: "k",
    message: "element 40 is 20.0",
    threadgroup: [1, 0, 0],
    position: [8, 0, 0],
    thread: 8,
  } as const;
  expect(logLines({})).toEqual([]);
  expect(logLines({ log: { lines: [line], lost: 0 } })).toEqual([
    "logged by the kernel, 1 line",
    "  info    k, threadgroup (1, 0, 0), thread 8: element 40 is 20.0",
  ]);
  const many = logLines({ log: { lines: Array.from({ length: 1000 }, () => line), lost: 5 } });
  expect(many[0]).toBe("logged by the kernel, 1,005 lines");
  expect(many.at(-1)).toBe("  and 965 more lines");
});
