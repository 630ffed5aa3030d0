/** `lockstep attach`, `attachments`, `verify` and `export` of a bundle with attachments, as the command line says it. */
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Output } from "../../../electron/cli/output.ts";
import { main } from "../../../electron/cli.ts";
import { attachedBeside } from "../../../electron/evidence/bag.ts";
import { COUNTERS_CSV, INTERVALS_XML } from "../attachments/exports.ts";
import { fixtureBundle, temporary } from "../evidence/fixture.ts";
import { WHERE } from "../runs/harness.ts";

let folder: string;
let bundle: string;

beforeEach(() => {
  folder = temporary();
  bundle = fixtureBundle(folder).path;
});

afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

async function lockstep(...argv: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const output: Output = {
    line: (text) => void out.push(text),
    note: (text) => void err.push(text),
    progress: () => undefined,
    clear: () => undefined,
    colour: false,
  };
  const exit = await main(argv, WHERE, output);
  return { exit, out: out.join("\n"), err: err.join("\n") };
}

function file(name: string, text: string): string {
  const place = path.join(folder, name);
  fs.writeFileSync(place, text);
  return place;
}

describe("lockstep attach", () => {
  it("says what was read, with units, and that it was not measured here", async () => {
    const { exit, out } = await lockstep("attach", bundle, file("gpu.xml", INTERVALS_XML));
    expect(exit).toBe(0);
    expect(out).toMatch(/^[0-9a-f]{12} {2}gpu\.xml, xctrace export, [\d,]+ bytes, sha256 [0-9a-f]{12}$/m);
    expect(out).toMatch(
      /^ +Command Buffer 0:partial +duration, node \(42\), Compute +2 +6,343,830 +13,830 +3,171,915 +6,330,000 +ns$/m,
    );
    expect(out).toContain("does not show that the traced process was this run");
    expect(out).toContain("Attached evidence: read from a file of another tool, not measured by Lockstep");
  });

  it("refuses what is no such file with the line, exit 2; an unknown kind; a zip", async () => {
    const bad = await lockstep("attach", bundle, file("a.xml", INTERVALS_XML.slice(0, -60)));
    expect(bad).toMatchObject({ exit: 2, err: expect.stringMatching(/^a\.xml, line \d+: the file ends within/) });
    expect((await lockstep("attach", bundle, file("a.txt", "x"), "--json")).out).toContain('"code":"input"');
    expect((await lockstep("attach", bundle, "x", "--kind", "xcode")).err).toContain('No kind is called "xcode"');
    expect((await lockstep("attach", file("b.zip", "PK"), "x")).err).toContain("not a zip of it");
    expect(fs.existsSync(attachedBeside(bundle))).toBe(false);
  });
});

describe("lockstep attachments", () => {
  it("lists everything, as JSON too, and takes one away by its id", async () => {
    expect((await lockstep("attachments", bundle)).out).toBe("Nothing is attached");
    const labelled = COUNTERS_CSV.replaceAll("merge 0x", "attention 0x");
    const added = await lockstep("attach", bundle, file("Counters.csv", labelled), "--json");
    const { id } = JSON.parse(added.out) as { readonly id: string };
    const { exit, out } = await lockstep("attachments", bundle);
    expect(exit).toBe(0);
    expect(out).toMatch(/attention +ALU Utilization +1 +none +0\.5 +0\.5 +0\.5 +not stated +attention, by name/);
    const { attachments } = JSON.parse((await lockstep("attachments", bundle, "--json")).out);
    expect(attachments).toMatchObject([{ id, reasons: [], matches: [{ label: "attention", dispatch: "attention" }] }]);
    expect((await lockstep("attachments", bundle, "--remove", "000000")).err).toContain("names 0 attachments");
    expect((await lockstep("attachments", bundle, "--remove", id.slice(0, 6))).exit).toBe(0);
    expect((await lockstep("attachments", bundle)).out).toBe("Nothing is attached");
  });
});

describe("lockstep verify", () => {
  it("looks at what is attached, in the zip as well, and exits 1 where it is broken although the bundle is valid", async () => {
    await lockstep("attach", bundle, file("gpu.xml", INTERVALS_XML));
    const zip = path.join(folder, "out.zip");
    expect((await lockstep("export", bundle, "--out", zip)).exit).toBe(0);
    const good = await lockstep("verify", zip);
    expect(good.exit).toBe(0);
    expect(good.out).toMatch(/^held {4}attached [0-9a-f]{12}: gpu\.xml, xctrace export$/m);
    expect(good.out).toContain("1 attachment held: evidence of other tools, not measured by Lockstep");
    const beside = attachedBeside(bundle);
    fs.rmSync(path.join(beside, fs.readdirSync(beside)[0]!, "original.gz"));
    const bad = await lockstep("verify", bundle);
    expect(bad.exit).toBe(1);
    expect(bad.out).toMatch(/^BROKEN {2}attached/m);
    expect(bad.out).toContain("What is attached to it is not: see the lines above. No verdict rests on it");
    const json = JSON.parse((await lockstep("verify", bundle, "--json")).out);
    expect(json).toMatchObject({
      result: "valid",
      attachments: { held: false, attached: [{ reasons: ["original.gz is missing"] }] },
    });
    expect((await lockstep("attachments", bundle)).exit).toBe(1);
  });
});
