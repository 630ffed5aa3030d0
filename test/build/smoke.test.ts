/** Without a display the smoke test of the desktop app says `not run` for each of its steps, and never `passed`. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { STEPS } from "../../build/smoke.mjs";
import { WHERE } from "../electron/runs/harness.ts";

describe("npm run smoke:electron", () => {
  it("says of every step that it did not run, and why", () => {
    const env = { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "", ELECTRON_OVERRIDE_DIST_PATH: "/nowhere" };
    const script = path.join(WHERE.root, "build", "smoke.mjs");
    const { status, stdout } = spawnSync(process.execPath, [script], { cwd: WHERE.root, encoding: "utf8", env });
    expect(status).toBe(0);
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(STEPS.length + 1);
    STEPS.forEach(({ name }, index) => {
      expect(lines[index]).toMatch(new RegExp(`^not run +${name}: (there is no|ELECTRON_OVERRIDE_DIST_PATH)`));
    });
    expect(lines.at(-1)).toMatch(/^not run: /);
    expect(lines.filter((line) => line.startsWith("passed"))).toEqual([]);
  });
});
