/**
 * The real host as a child of the real command line, on the Metal device over the stand-in for Metal: a folder laid out like the
 * program, whose addon is the stand-in's. The stand-in never says that it validates, and is no evidence of a GPU.
 */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Output } from "../../../electron/cli/output.ts";
import { main } from "../../../electron/cli.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import { HostClient } from "../../../electron/host/client.ts";
import { type Places, places } from "../../../electron/host/root.ts";
import { VALIDATION_TEXT } from "../../../electron/validation/report.ts";
import { openWorkbench } from "../../../electron/workbench/workbench.ts";
import { buildStandIn } from "../../native/metal/stand_in/build.ts";
import { openStandIn, STAND_IN_NAME, STAND_IN_TIMEOUT_MS } from "../../native/metal/stand_in/open.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";

let folder: string;
let where: Places;

beforeAll(async () => {
  folder = scratchFolder();
  // Sets what the stand-in needs in the environment, which a child inherits.
  await openStandIn();
  const { addon } = await buildStandIn();
  const root = path.join(folder, "program");
  fs.mkdirSync(path.join(root, "out"), { recursive: true });
  for (const name of ["package.json", "kernels", "test", "native"]) {
    fs.symlinkSync(path.join(WHERE.root, name), path.join(root, name));
  }
  where = places(root);
  fs.copyFileSync(WHERE.host, where.host);
  fs.symlinkSync(WHERE.runner, where.runner);
  fs.symlinkSync(addon, where.addon);
}, STAND_IN_TIMEOUT_MS);

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const CASE = "gqa_decode/h32kv4d512/L33/spread/f32";

async function lockstep(...words: readonly string[]): Promise<{ readonly exit: number; readonly text: string }> {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const output: Output = { line: say, note: say, progress: () => undefined, clear: () => undefined, colour: false };
  const exit = await main(words, where, output);
  return { exit, text: said.join("\n") };
}

function onlyBundle(place: string): string {
  const [name] = fs.readdirSync(place).filter((entry) => entry.endsWith(".lockstep"));
  return path.join(place, name!);
}

it("a run takes the Metal device by itself, and its bundle verifies", async () => {
  const place = path.join(folder, "plain");
  const { exit, text } = await lockstep("parity", "--case", CASE, "--route", "three_stage", "--out", place);
  expect(text).toContain("metal:0 is there, and a device comes before an emulated one");
  expect(text).toContain(`execution: metal. ${STAND_IN_NAME}`);
  expect(exit).toBe(0);
  const { result, record } = verifyBundle(onlyBundle(place));
  expect(result).toBe("valid");
  expect(record).toMatchObject({ execution: "metal", outcome: "passed", choice: { asked: null } });
});

it("a run under validation has Metal's variables and a mark before each result; without banners it is no pass", async () => {
  const place = path.join(folder, "validated");
  const { exit, text } = await lockstep("parity", "--validation", "--case", CASE, "--route", "naive", "--out", place);
  expect(exit).toBe(1);
  expect(text).toContain("validation: API NOT SEEN ON, shader NOT SEEN ON");
  const bundle = onlyBundle(place);
  const { checks, record } = verifyBundle(bundle);
  expect(checks.flatMap(({ reasons }) => reasons)).toEqual([]);
  expect(record?.results).toMatchObject([{ verdict: "not_run", state: "completed" }]);
  expect(fs.readFileSync(path.join(bundle, VALIDATION_TEXT), "utf8")).toContain(
    `lockstep-at ${JSON.stringify({ case: CASE, route: "naive" })}`,
  );
});

it("a capture is of one case, and is where it says", async () => {
  const out = path.join(folder, "one.gputrace");
  const { exit, text } = await lockstep("capture", "--case", CASE, "--route", "naive", "--out", out);
  expect(text).toContain(`captured: ${out}`);
  expect(exit).toBe(0);
  expect(fs.existsSync(out)).toBe(true);
});

it("the host tells its doors of the device, and the window captures beside its bundles", async () => {
  const client = new HostClient({ path: where.host });
  expect(await client.metal()).toMatchObject([{ available: true, profile: { id: "metal:0" } }]);
  await client.close();
  const workbench = openWorkbench({ places: where, evidence: path.join(folder, "evidence") });
  const { signal } = new AbortController();
  const take = { suite: "quick", case: CASE, route: "naive", device: null, out: null } as const;
  const answer = await workbench.handlers["captures.take"](take, { signal });
  expect(path.dirname(answer.path)).toBe(path.join(folder, "evidence", "captures"));
  expect(fs.existsSync(answer.path)).toBe(true);
  await workbench.close();
});
