/** `verify`, `export`, `diff` of bundles and of zips of them: what they write and how they exit. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../../electron/cli.ts";
import { fixtureBundle, temporary } from "../evidence/fixture.ts";
import { WHERE } from "../runs/harness.ts";

let folder: string;
let good: string;
let bad: string;

beforeAll(() => {
  folder = temporary();
  good = fixtureBundle(folder).path;
  bad = fixtureBundle(folder, { error: 0.5 }).path;
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

async function lockstep(...argv: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(argv, WHERE, {
    line: (text) => out.push(text),
    note: (text) => err.push(text),
    progress: () => undefined,
    clear: () => undefined,
    colour: false,
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

describe("lockstep export", () => {
  it("writes a zip that verify, diff and a second export take as the bundle", async () => {
    const zip = path.join(folder, "good.zip");
    const ran = await lockstep("export", good, "--out", zip);
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining(`verify: lockstep verify ${zip}`)]);
    const before = fs.readdirSync(path.dirname(folder)).filter((name) => name.startsWith("lockstep-open-"));
    const verified = await lockstep("verify", zip, "--json");
    const direct = await lockstep("verify", good, "--json");
    expect([verified.code, verified.out]).toEqual([0, direct.out]);
    expect((await lockstep("diff", zip, good)).code).toBe(0);
    // What was unpacked for a command goes with it.
    const after = fs.readdirSync(path.dirname(folder)).filter((name) => name.startsWith("lockstep-open-"));
    expect(after.filter((name) => !before.includes(name))).toEqual([]);
    const again = await lockstep("export", good, "--out", zip);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining("is there already")]);
    const json = await lockstep("export", good, "--out", path.join(folder, "other.zip"), "--json");
    expect(JSON.parse(json.out)).toEqual({ file: path.join(folder, "other.zip"), bytes: fs.statSync(zip).size });
  });

  it("of what is no bundle says so", async () => {
    expect(await lockstep("export", path.join(folder, "absent"))).toMatchObject({
      code: 2,
      err: expect.stringContaining("is no folder"),
    });
    const file = path.join(folder, "no.zip");
    fs.writeFileSync(file, "PK, but no zip");
    expect(await lockstep("verify", file)).toMatchObject({
      code: 2,
      err: expect.stringContaining("no folder and no zip"),
    });
    fs.writeFileSync(file, Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), Buffer.alloc(60)]));
    expect(await lockstep("verify", file)).toMatchObject({
      code: 2,
      err: expect.stringContaining("Nothing was unpacked"),
    });
  });
});

describe("lockstep diff", () => {
  it("names what differs, changed verdicts first, and exits 1 where one broke", async () => {
    const ran = await lockstep("diff", good, bad);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("Circumstances that differ: 1\n  outcome: passed -> failed");
    expect(ran.out).toContain("Verdicts that changed: 1 of 2 results that both have");
    expect(ran.out).toMatch(/broke {3}gqa_decode\S+ {2}naive: pass -> fail/);
    expect(ran.out).toMatch(/maxAbs: \S+ to 5\.00e-1, \S+ times/);
    expect(ran.out).toContain("Same bits in both: 1");
    expect((await lockstep("diff", bad, good)).code).toBe(0);
    const json = await lockstep("diff", good, bad, "--json");
    expect(JSON.parse(json.out)).toMatchObject({
      schema: "lockstep.diff/1",
      shared: 2,
      verdicts: [{ change: "broke" }],
    });
  });

  it("takes two bundles and says what is wrong with one that cannot be read", async () => {
    expect(await lockstep("diff", good)).toMatchObject({
      code: 2,
      err: expect.stringContaining("Missing required argument"),
    });
    expect(await lockstep("diff", good, folder)).toMatchObject({
      code: 2,
      err: expect.stringContaining("has no data/record.json"),
    });
    const torn = path.join(folder, "torn.lockstep");
    fs.cpSync(good, torn, { recursive: true });
    fs.writeFileSync(path.join(torn, "data/record.json"), '{"schema":"lockstep.record/9"}');
    expect(await lockstep("diff", good, torn)).toMatchObject({ code: 2, err: expect.stringContaining("Verify it") });
  });
});
