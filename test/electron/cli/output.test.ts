import { expect, it } from "vitest";
import { shown } from "../../../electron/cli/output.ts";

it("what a terminal would obey is written out, and the program's own colours stay", () => {
  expect(shown("\u001b[31mred\u001b[0m\tof\nmine")).toBe("\u001b[31mred\u001b[0m\tof\nmine");
  expect(shown("a\u001b]0;title\u0007b\u009b31mc\rd\u0000")).toBe("a\\x1b]0;title\\x07b\\x9b31mc\\x0dd\\x00");
  expect(shown("name\u202etxt.exe\u2066\u2069")).toBe("name\\u202etxt.exe\\u2066\\u2069");
});
