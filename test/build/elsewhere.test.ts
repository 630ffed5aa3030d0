/** The table of tests of one system alone names every file that is one, and none that is not there. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { WHERE } from "../electron/runs/harness.ts";
import { ELSEWHERE, notRunOn } from "../elsewhere.mjs";

const read = (file: string): string => fs.readFileSync(path.join(WHERE.root, file), "utf8");

describe("tests of one system alone", () => {
  it("are files that are there, each once, with a reason", () => {
    const files = ELSEWHERE.flatMap((entry) => entry.files);
    expect(new Set(files).size).toBe(files.length);
    for (const file of files) expect(fs.existsSync(path.join(WHERE.root, file)), file).toBe(true);
    for (const { why } of ELSEWHERE) expect(why).toMatch(/^[a-z].{20,}[^.]$/);
  });

  it("name every test that runs the stand-in for Metal", () => {
    const tests = fs
      .readdirSync(path.join(WHERE.root, "test"), { recursive: true, encoding: "utf8" })
      .map((name) => `test/${name.split(path.sep).join("/")}`)
      .filter((name) => name.endsWith(".test.ts"));
    const running = tests.filter((name) => /\b(openStandIn|buildStandIn)\b|stand_in\/bench/.test(read(name)));
    const listed = notRunOn("darwin").flatMap(({ files }) => files);
    expect(running.filter((name) => !listed.includes(name) && name !== "test/build/elsewhere.test.ts")).toEqual([]);
    expect(running.length).toBeGreaterThan(10);
  });

  it("are left out elsewhere", () => {
    expect(notRunOn("linux").flatMap(({ files }) => files)).toEqual(["test/native/metal/real_device.test.ts"]);
    expect(notRunOn("darwin").flatMap(({ files }) => files)).not.toContain("test/native/metal/real_device.test.ts");
  });
});
