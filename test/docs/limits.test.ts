/** docs/limits.md says nothing of the repository that is not so, and the window's table says the same. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportZip } from "../../electron/evidence/zip.ts";
import { PROVEN } from "../../renderer/shell/proven.ts";
import { metalBundle } from "../e2e/metal_fixture.ts";
import { fixtureBundle } from "../electron/evidence/fixture.ts";
import { scratchFolder, WHERE } from "../electron/runs/harness.ts";
import { problemsOf, tableOf } from "./limits_table.ts";

const TEXT = fs.readFileSync(path.join(WHERE.root, "docs", "limits.md"), "utf8");

describe("docs/limits.md", () => {
  it("fits the repository: tests, folders, and no word of a Mac without a bundle from one", () => {
    expect(problemsOf(TEXT, WHERE.root)).toEqual([]);
    expect(tableOf(TEXT).length).toBeGreaterThan(30);
  });

  it("every other link of it leads somewhere", () => {
    for (const [, link] of TEXT.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
      expect(fs.existsSync(path.join(WHERE.root, "docs", link!)), link).toBe(true);
    }
  });

  it("README says the same of hardware, and leads there", () => {
    const readme = fs.readFileSync(path.join(WHERE.root, "README.md"), "utf8");
    expect(readme).toContain("(docs/limits.md)");
    expect(readme).toContain("**Nothing here has run on a Mac.**");
  });
});

describe("the window's own table", () => {
  it("calls nothing run that this page calls never run, and nothing of a Mac run at all", () => {
    const standing = (part: string) => PROVEN.find((entry) => entry.part === part)?.standing;
    const cells = (code: string) =>
      tableOf(TEXT).find(({ cells: [part] }) => part?.startsWith(`\`${code}`))?.cells ?? [];
    // Columns: part, executed, type-checked, linked, on a stand-in, emulated, on a Mac.
    const metal = cells("native/metal/*.mm");
    expect(metal[1]).toBe("no");
    expect(metal[2]).toContain("type_check");
    expect(metal[3]).toContain("link");
    expect(metal[4]).toContain("teardown");
    expect([standing("Metal device, on Linux"), standing("Metal device, for macOS")]).toEqual(["stand_in", "read"]);
    expect(cells("electron/shell/")[1]).toBe("no");
    expect(standing("Desktop app")).toBe("stand_in");
    expect(cells("kernels/**/*.metal")[1]).toBe("no");
    expect(standing("Kernels")).toBe("model");
    const anyMac = tableOf(TEXT)
      .slice(1)
      .some(({ cells: row }) => row.at(-1) !== "never");
    expect(standing("Apple GPU, macOS") === "never").toBe(!anyMac);
  });
});

/** The table with one line changed. */
function changed(from: string | RegExp, to: string): string {
  const text = TEXT.replace(from, to);
  if (text === TEXT) throw new Error(`${from} is not in the table`);
  return text;
}

describe("the table is refused", () => {
  const problems = (text: string): string => problemsOf(text, WHERE.root).join("\n");

  it("without a row for a folder, or with one for a folder that is not there", () => {
    expect(problems(changed(/^\| `electron\/offline\/`.*\n/m, ""))).toBe("electron/offline/ has no row");
    expect(problems(changed("`electron/gates/`", "`electron/gone/`"))).toContain("electron/gates/ has no row");
    expect(problems(changed("`electron/gates/`", "`electron/gone/`"))).toContain("electron/gone/ is not there");
  });

  it("with a test that is not there, or a link that is no test", () => {
    expect(problems(changed("native/metal/link.test.ts", "native/metal/gone.test.ts"))).toContain(
      "gone.test.ts is not",
    );
    expect(problems(changed("../test/native/metal/link.test.ts", "architecture.md"))).toContain("is no test");
  });

  it("with a word that nobody defined, a column more, or another order", () => {
    expect(problems(changed("| not native |", "| yes |"))).toContain('"yes" is neither a test nor a known word');
    expect(problems(changed("| never |", "| never | x |"))).toContain("has 8 cells");
    expect(problems(changed("| emulated | on a Mac |", "| on a Mac | emulated |"))).toContain("the columns are");
    expect(problems("no table")).toContain("not there");
  });
});

describe("a row may name a bundle from a Mac", () => {
  let root: string;
  const put = (name: string, bundle: string): string => {
    exportZip(bundle, path.join(root, "hardware", `${name}.zip`));
    return `| [a bundle](../hardware/${name}.zip) |`;
  };
  const problems = (cell: string): string =>
    problemsOf(changed("| never |", cell), root)
      .filter((problem) => problem.includes("on a Mac"))
      .join("\n");

  beforeAll(() => {
    root = scratchFolder();
    for (const folder of ["native", "electron", "hardware"]) fs.mkdirSync(path.join(root, folder));
  });
  afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

  it("and no word instead of one", () => {
    expect(problems("| passed on M3 |")).toContain('"passed on M3" is neither "never" nor a bundle');
    expect(problems("| [a bundle](../hardware/none.zip) |")).toContain("none.zip is not there");
    expect(problems("| [a bundle](../test/none.zip) |")).toContain("is not in hardware/");
  });

  it("that verifies and supports a chip: nothing emulated, nothing of a virtual GPU, nothing that was changed", () => {
    const emulated = fixtureBundle(root).path;
    expect(problems(put("emulated", emulated))).toContain("supports no chip: its execution is emulated");
    const at = { name: "2026-01-02t030405z-quick", startedAt: "2026-01-02T03:04:05.000Z" };
    const virtual = path.join(root, metalBundle(root, { kind: "virtual", ...at }));
    expect(problems(put("virtual", virtual))).toContain("supports no chip: the GPU is a virtual one");
    // Written by hand as everything here: what is looked at is the form alone.
    const made = path.join(root, metalBundle(root, { kind: "m3max", ...at, name: "2026-01-02t040405z-quick" }));
    expect(problems(put("made", made))).toBe("");
    fs.appendFileSync(path.join(root, "hardware", "made.zip"), "x");
    expect(problems("| [a bundle](../hardware/made.zip) |")).not.toBe("");
  });
});
