/** What kernels log, and captures, through the binding. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import type { MetalConnection, MetalLogLine } from "../../../native/metal/binding.ts";
import { build, connect, LOGGING, scalePipeline, scaling, settled } from "./stand_in/bench.ts";
import { withStandIn } from "./stand_in/hooks.ts";
import type { StandIn } from "./stand_in/open.ts";

let standIn: StandIn;

withStandIn(async (opened) => {
  standIn = opened;
  await connect(opened);
});

async function run(connection: MetalConnection, logging: boolean): Promise<readonly MetalLogLine[]> {
  const built = await build(connection, LOGGING, "tells", {}, { languageVersion: 3 * 65_536 + 2, logging });
  if (!built.ok) throw new Error(built.error.words);
  const memory = connection.allocate(128, "out");
  const lines: MetalLogLine[] = [];
  const dispatch = {
    label: "tells",
    pipeline: built.pipeline,
    threadgroups: [1, 1, 1],
    threadsPerThreadgroup: [32, 1, 1],
    bindings: [{ index: 0, memory, offset: 0 }],
    threadgroupMemory: [],
  } as const;
  const { done } = connection.submit([dispatch], { counters: false, onLog: (line) => lines.push(line) });
  expect(await done).toMatchObject({ ok: true });
  memory.release();
  return lines;
}

test("lines of a kernel come before its submission has ended", async () => {
  const connection = await connect(standIn, true);
  const line = { level: 4, subsystem: "test.lockstep", category: "kernels", message: "thread 3" };
  expect(await run(connection, true)).toEqual([line]);
  expect(await run(connection, true)).toEqual([line]);
  connection.close();
});

test("no lines where the library or the connection takes none", async () => {
  const logging = await connect(standIn, true);
  expect(await run(logging, false)).toEqual([]);
  logging.close();
  const silent = await connect(standIn);
  expect(await run(silent, true)).toEqual([]);
  silent.close();
});

test("a connection with logging goes when it is closed", async () => {
  const before = await settled(standIn);
  const connection = await connect(standIn, true);
  await run(connection, true);
  connection.close();
  expect(await settled(standIn, before), standIn.objects().classes).toBe(before);
});

function tracePath(): string {
  return path.join(fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-test-")), "case.gputrace");
}

test("a capture is written where the process may capture", async () => {
  standIn.set({ capture: 1 });
  const connection = await connect(standIn);
  const pipeline = await scalePipeline(connection);
  const memory = connection.allocate(256, "data");
  const trace = tracePath();
  expect(connection.startCapture(trace)).toEqual({ ok: true });
  const dispatches = [1, 2].map((factor) => scaling(pipeline, memory, { n: 64, factor }));
  expect(await connection.submit(dispatches, { counters: false }).done).toMatchObject({ ok: true });
  connection.stopCapture();
  expect(fs.readFileSync(path.join(trace, "stand-in"), "utf8")).toBe("no trace: 2 command buffers\n");
  connection.stopCapture();
  expect(connection.startCapture(trace)).toMatchObject({ ok: false, error: { domain: "MTLCaptureError" } });
  memory.release();
  connection.close();
});

test("a capture that cannot be: this process, Metal", async () => {
  const connection = await connect(standIn);
  expect(connection.startCapture(tracePath())).toMatchObject({
    ok: false,
    error: { domain: "lockstep", words: expect.stringContaining("MTL_CAPTURE_ENABLED=1") },
  });
  standIn.set({ capture: 1, "fail.capture": "Layer not found" });
  expect(connection.startCapture(tracePath())).toMatchObject({ ok: false, error: { words: "Layer not found" } });
  connection.close();
});
