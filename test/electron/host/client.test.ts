/** The host may die: the run ends as stopped, the record says so, and the next run works. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeBundle, openStaging } from "../../../electron/evidence/bundle.ts";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import { HostClient } from "../../../electron/host/client.ts";
import { fromHostSchema, toHostSchema } from "../../../electron/host/messages.ts";
import { appCommit, appVersion, findRoot } from "../../../electron/host/root.ts";
import type { RunEvent } from "../../../electron/runs/events.ts";
import { Recorder } from "../../../electron/runs/recorder.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";
import { runRequest } from "./request.ts";

let folder: string;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

describe("a host that does not listen", () => {
  it("is killed some time after a cancel, and the run ends as cancelled", async () => {
    const deaf = path.join(folder, "deaf.mjs");
    fs.writeFileSync(deaf, 'process.on("message", () => { for (;;); });');
    const client = new HostClient({ path: deaf, cancelMs: 100 });
    const end = client.run(runRequest(folder), () => {});
    client.cancel();
    expect(await end).toMatchObject({ type: "finished", outcome: "cancelled" });
    await client.close();
  });
});

describe("a host that is killed", () => {
  it("ends the run as stopped; the record is crashed and valid; the next run works", async () => {
    const client = new HostClient({ path: WHERE.host });
    const staging = openStaging(folder, "crashed.lockstep");
    const recorder = new Recorder({
      app: { name: "lockstep", version: appVersion(WHERE.root), commit: appCommit(WHERE.root) },
      command: ["lockstep", "parity"],
      startedAt: new Date().toISOString(),
    });
    const end = await client.run(runRequest(folder, { staging: staging.folder, case: null }), (event) => {
      recorder.add(event);
      if (event.type === "result") client.kill();
    });
    expect(end).toMatchObject({ type: "stopped", reason: expect.stringContaining("SIGKILL") });
    const reason = end.type === "stopped" ? end.reason : null;
    const bundle = closeBundle(staging, recorder.draft("crashed", reason, new Date().toISOString()));
    expect(bundle.record.results.length).toBeGreaterThan(0);
    expect(bundle.record.results.length).toBeLessThan(bundle.record.planned.length);
    expect(verifyBundle(bundle.path).checks.flatMap((check) => check.reasons)).toEqual([]);

    const again = await client.run(runRequest(folder), () => undefined);
    expect(again).toMatchObject({ type: "finished", outcome: "passed" });
    await client.close();
  });

  it("says what it said last", async () => {
    const broken = path.join(folder, "broken.mjs");
    fs.writeFileSync(broken, 'process.on("message", () => { console.error("no such addon"); process.exit(70); });\n');
    const end = await new HostClient({ path: broken }).run(runRequest(folder), () => undefined);
    expect(end).toMatchObject({ type: "stopped", reason: expect.stringContaining("exit code 70") });
  });

  it("and one that talks nonsense is stopped", async () => {
    const nonsense = path.join(folder, "nonsense.mjs");
    fs.writeFileSync(
      nonsense,
      'process.on("message", () => process.send({ type: "finished", outcome: "perfect" }));\n',
    );
    const end = await new HostClient({ path: nonsense }).run(runRequest(folder), () => undefined);
    expect(end).toMatchObject({ type: "stopped", reason: expect.stringContaining("may not send") });
  });
});

describe("one client", () => {
  it("runs one thing at a time, several in a row, and refuses what cannot run", async () => {
    const client = new HostClient({ path: WHERE.host });
    const events: RunEvent[] = [];
    const first = client.run(runRequest(folder), (event) => events.push(event));
    await expect(client.run(runRequest(folder), () => undefined)).rejects.toThrow("one at a time");
    expect(await first).toMatchObject({ type: "finished", outcome: "passed" });
    expect(events.map((event) => event.type)).toContain("planned");
    expect(await client.run(runRequest(folder, { case: "L34" }), () => undefined)).toMatchObject({
      type: "refused",
      code: "usage",
    });
    expect(
      await client.run(runRequest(folder, { inputs: path.join(folder, "absent") }), () => undefined),
    ).toMatchObject({
      type: "refused",
      code: "input",
    });
    const unwritable = runRequest(folder, { staging: "/proc/nowhere" });
    expect(await client.run(unwritable, () => undefined)).toMatchObject({ type: "refused", code: "io" });
    expect(await client.run(runRequest(folder), () => undefined)).toMatchObject({
      type: "finished",
      outcome: "passed",
    });
    await client.close();
  });

  it("cancels", async () => {
    const client = new HostClient({ path: WHERE.host });
    const end = await client.run(runRequest(folder, { case: null }), (event) => {
      if (event.type === "result") client.cancel();
    });
    expect(end).toMatchObject({ type: "finished", outcome: "cancelled" });
    await client.close();
  });
});

describe("messages", () => {
  it("are strict, and keep NaN", () => {
    expect(toHostSchema.safeParse({ type: "run", request: runRequest(folder) }).success).toBe(true);
    expect(toHostSchema.safeParse({ type: "run", request: { ...runRequest(folder), extra: 1 } }).success).toBe(false);
    expect(toHostSchema.safeParse({ type: "run", request: { ...runRequest(folder), seed: -1 } }).success).toBe(false);
    const progress = { type: "progress", case: "c", route: null, phase: "oracle", fraction: null };
    expect(fromHostSchema.safeParse(progress).success).toBe(true);
    expect(fromHostSchema.safeParse({ ...progress, fraction: 2 }).success).toBe(false);
  });
});

describe("places", () => {
  it("are found from a bundle and from the tree", () => {
    expect(findRoot(path.join(WHERE.root, "out"))).toBe(WHERE.root);
    expect(() => findRoot("/")).toThrow("in no folder with package.json");
    expect(appVersion(WHERE.root)).toMatch(/^\d+\.\d+\.\d+/);
    expect(appCommit(folder)).toBeNull();
  });
});
