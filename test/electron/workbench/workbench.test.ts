/** The calls of the contract against the real host and the real emulated device. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyBundle } from "../../../electron/evidence/verify.ts";
import { gatesDigest } from "../../../electron/gates/digest.ts";
import { follow, type OpenedWindow, openWindow, request } from "./fixture.ts";

let opened: OpenedWindow;

beforeAll(() => {
  opened = openWindow();
});

afterAll(() => opened.close());

describe("what is known before a run", () => {
  it("the program, devices with how each value is known, chips, cases, gates, kernels, commands", async () => {
    const { window, evidence } = opened;
    expect(await window.call("app.info", {})).toMatchObject({ name: "lockstep", evidence, gates: gatesDigest() });
    const { devices } = await window.call("devices.list", { chip: "M1" });
    expect(devices.map((entry) => entry.kind)).toEqual(["metal", "emulated", "nvidia"]);
    expect(devices[1]).toMatchObject({ available: true, profile: { id: "emulated:m1", family: { value: "apple7" } } });
    expect(devices[2]).toMatchObject({ available: false, reason: expect.any(String), mend: expect.any(String) });
    await expect(window.call("devices.list", { chip: "M99" })).rejects.toMatchObject({ name: "UsageError" });
    const { chips } = await window.call("chips.list", {});
    expect(chips.find((chip) => chip.shortName === "M3 Max")).toMatchObject({ family: "apple9" });
    const { cases } = await window.call("cases.list", { suite: "quick" });
    expect(cases).toHaveLength(14);
    const { gates } = await window.call("gates.table", {});
    expect(gates.map((gate) => gate.id)).toContain("nmse_row");
    const { routes, files } = await window.call("kernels.list", {});
    expect(routes.map((route) => route.name)).toContain("simdgroup_8x8");
    for (const file of files) expect((await window.call("kernels.source", { path: file })).text).not.toBe("");
    await expect(window.call("kernels.source", { path: "../package.json" })).rejects.toThrow("no kernel source");
    const { commands } = await window.call("actions.list", {});
    expect(commands.map((command) => command.usage)).toContain("lockstep verify <bundle> [options]");
  });

  it("dispatch, for a case of a suite and for any shape, forced or not", async () => {
    const { window } = opened;
    const subject = { kind: "case", suite: "quick", key: "gqa_decode/h32kv4d512/L33/spread/f32" } as const;
    const explained = await window.call("dispatch.explain", { subject, device: null, chip: "M5", forced: null });
    expect(explained).toMatchObject({ capabilities: { appleFamily: 10 }, decision: { route: "three_stage" } });
    if (explained.shape.operator !== "gqa_decode") throw new Error("a decode case has a decode shape");
    const shape = { ...explained.shape, dim: 48 };
    const other = await window.call("dispatch.explain", {
      subject: { kind: "shape", shape },
      device: null,
      chip: null,
      forced: null,
    });
    expect(other.decision.route).toBeNull();
    const forced = { subject, device: null, chip: null, forced: "naive" };
    expect((await window.call("dispatch.explain", forced)).decision.route).toBe("naive");
    await expect(window.call("dispatch.explain", { ...forced, forced: "nothing" })).rejects.toThrow("no route");
  });

  it("no runs, and a host that has not been started", async () => {
    expect(await opened.window.call("runs.list", {})).toEqual({ runs: [] });
    const state = await opened.window.stream("host.state", {}).next();
    expect(state.value).toMatchObject({ state: "idle", pid: null, starts: 0 });
  });
});

describe("a run", () => {
  it("is started, followed, listed, read back and verified", async () => {
    const { window, evidence } = opened;
    const { id } = await window.call("runs.start", request());
    await expect(window.call("runs.start", request())).rejects.toThrow("one runs at a time");
    expect((await window.call("runs.list", {})).runs[0]).toMatchObject({ state: "running", id });
    const items = await follow(window, id);
    expect(items[0]).toMatchObject({ type: "started", id, command: expect.arrayContaining(["--route", "naive"]) });
    expect(items.flatMap((item) => (item.type === "event" ? [item.event.type] : []))).toEqual(
      expect.arrayContaining(["planned", "case", "progress", "result"]),
    );
    expect(items.at(-1)).toMatchObject({ type: "ended", failure: null, entry: { outcome: "passed", passed: 1 } });

    const { runs } = await window.call("runs.list", {});
    expect(runs).toMatchObject([{ state: "kept", id, outcome: "passed", execution: "emulated", planned: 1 }]);
    const record = await window.call("runs.record", { id });
    expect(record.command.join(" ")).toBe(
      "lockstep parity --suite quick --route naive --case gqa_decode/h32kv4d512/L33/spread/f32",
    );
    const [result] = record.results;
    const metrics = await window.call("runs.metrics", { id, case: result!.case, route: "naive" });
    expect(metrics.heads).toHaveLength(32);
    const output = result!.outputs.find((entry) => entry.name === "out")!;
    const array = await window.call("runs.array", { id, path: output.path });
    expect([array.dtype, array.data.length]).toEqual(["f32", 32 * 512]);
    expect(array.data.some((value) => value !== 0)).toBe(true);
    await expect(window.call("runs.array", { id, path: "data/record.json" })).rejects.toThrow("no output");

    const asked = { id, case: result!.case, route: "naive" };
    const summary = await window.call("parity.inspect", { ...asked, what: { kind: "summary" } });
    expect(summary).toMatchObject({ kind: "summary", whole: { maxAbs: metrics.whole.maxAbs } });
    const worst = await window.call("parity.inspect", { ...asked, what: { kind: "worst", measure: "abs", count: 3 } });
    expect(worst.kind === "worst" && worst.index).toHaveLength(3);
    const missing = window.call("parity.inspect", { ...asked, route: "nothing", what: { kind: "summary" } });
    await expect(missing).rejects.toThrow("nothing");

    // The same bundle from elsewhere answers the same questions.
    const elsewhere = path.join(evidence, "..", `${path.basename(evidence)}-elsewhere.lockstep`);
    fs.cpSync(path.join(evidence, id), elsewhere, { recursive: true });
    const { id: foreign } = await window.call("bundle.open", { path: elsewhere });
    expect(await window.call("parity.inspect", { ...asked, id: foreign!, what: { kind: "summary" } })).toEqual(summary);
    await window.call("bundle.close", { id: foreign! });
    fs.rmSync(elsewhere, { recursive: true });

    const { lines } = await window.call("runs.log", { id });
    expect(lines?.map((line) => line.type)).toEqual(expect.arrayContaining(["planned", "phase", "result"]));
    expect(lines?.at(-1)).toMatchObject({ type: "ended", outcome: "passed", reason: null });

    const verified = await window.call("evidence.verify", { id });
    expect(verified).toMatchObject({ result: "valid", identity: verifyBundle(path.join(evidence, id)).identity });
    fs.appendFileSync(path.join(evidence, id, output.path), "x");
    expect((await window.call("evidence.verify", { id })).result).toBe("invalid");
    await expect(window.call("runs.array", { id, path: output.path })).rejects.toThrow("bytes");
  });

  it("that asks for what is not there leaves no bundle and says why", async () => {
    const { window, evidence } = opened;
    const before = fs.readdirSync(evidence);
    const { id } = await window.call("runs.start", request({ route: "nothing" }));
    expect((await follow(window, id)).at(-1)).toMatchObject({
      type: "ended",
      entry: null,
      failure: { message: expect.stringContaining('No route is called "nothing"'), mend: expect.any(String) },
    });
    expect(fs.readdirSync(evidence)).toEqual(before);
  });

  it("is cancelled, and what is finished is kept", async () => {
    const { window } = opened;
    const { id } = await window.call("runs.start", request({ case: null }));
    const items = await follow(window, id, (item) => {
      if (item.type === "event" && item.event.type === "result") void window.call("runs.cancel", { id });
    });
    expect(items.at(-1)).toMatchObject({ type: "ended", entry: { outcome: "cancelled" } });
    expect(await window.call("runs.cancel", { id })).toEqual({ cancelled: false });
  });

  it("whose host is killed is kept as crashed, and the next run works", async () => {
    const { window } = opened;
    const states: string[] = [];
    let pid: number | null = null;
    const watching = (async () => {
      for await (const item of window.stream("host.state", {})) {
        states.push(item.state);
        pid = item.pid ?? pid;
        if (item.state === "stopped") break;
      }
    })();
    const { id } = await window.call("runs.start", request({ case: null }));
    const items = await follow(window, id, (item) => {
      if (item.type === "event" && item.event.type === "result") process.kill(pid!, "SIGKILL");
    });
    expect(items.at(-1)).toMatchObject({
      type: "ended",
      entry: { outcome: "crashed", outcomeReason: expect.stringContaining("SIGKILL") },
    });
    await watching;
    expect(states).toContain("running");
    const { lines } = await window.call("runs.log", { id });
    expect(lines?.at(-1)).toMatchObject({
      type: "ended",
      outcome: "crashed",
      reason: expect.stringContaining("SIGKILL"),
    });
    expect((await window.call("evidence.verify", { id })).result).toBe("valid");
    const next = await window.call("runs.start", request());
    expect((await follow(window, next.id)).at(-1)).toMatchObject({ entry: { outcome: "passed" } });
    const state = await window.stream("host.state", {}).next();
    expect(state.value).toMatchObject({ state: "ready", lastStop: { reason: "The host stopped by SIGKILL" } });
  });
});

describe("what is no bundle", () => {
  it("is listed with the reason, and ids do not leave the folder", async () => {
    const { window, evidence } = opened;
    fs.mkdirSync(path.join(evidence, "empty.lockstep"));
    fs.mkdirSync(path.join(evidence, "torn.lockstep", "data"), { recursive: true });
    fs.writeFileSync(path.join(evidence, "torn.lockstep", "manifest-sha256.txt"), "");
    fs.writeFileSync(path.join(evidence, "torn.lockstep", "data", "record.json"), '{"schema": "lockstep.record/1"}');
    fs.symlinkSync("/etc", path.join(evidence, "link.lockstep"));
    fs.writeFileSync(path.join(evidence, "Upper Case.lockstep"), "");
    const { runs } = await window.call("runs.list", {});
    const bad = runs.flatMap((entry) => (entry.state === "bad" ? [`${entry.id}: ${entry.reason}`] : []));
    expect(bad.sort()).toEqual([
      "Upper Case.lockstep: its name is not that of a bundle",
      "empty.lockstep: a file that every bundle has is missing: the record or the manifest",
      expect.stringContaining("link.lockstep: link.lockstep is not in"),
      expect.stringContaining("torn.lockstep: data/record.json does not fit its schema at app"),
    ]);
    await expect(window.call("runs.record", { id: "../x.lockstep" })).rejects.toThrow("runs.record: id");
    await expect(window.call("evidence.verify", { id: "absent.lockstep" })).rejects.toThrow("is not in");
    expect((await window.call("evidence.verify", { id: "torn.lockstep" })).result).toBe("invalid");
  });

  it("a record that leads out of its bundle is not followed", async () => {
    const { window, evidence } = opened;
    const { runs } = await window.call("runs.list", {});
    const kept = runs.find((entry) => entry.state === "kept" && entry.outcome === "passed")!;
    const record = await window.call("runs.record", { id: kept.id });
    const file = path.join(evidence, kept.id, record.results[0]!.metricsPath!);
    fs.rmSync(file);
    fs.symlinkSync("/etc/hostname", file);
    const { case: key, route } = record.results[0]!;
    await expect(window.call("runs.metrics", { id: kept.id, case: key, route })).rejects.toThrow("leads out");
  });
});
