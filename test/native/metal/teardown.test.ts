/**
 * What is in flight when JavaScript lets go: the environment of a worker ends, the process exits, handles are dropped, a
 * callback throws. Over the stand-in for Metal, in processes of their own, because a fault here ends the process.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { places } from "../../../electron/host/root.ts";
import { buildStandIn } from "./stand_in/build.ts";

let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  const files = await buildStandIn();
  const where = places();
  environment = {
    ...process.env,
    STAND_IN_NODE: process.execPath,
    STAND_IN_COMPILER: files.compiler,
    STAND_IN_ADDON: where.addon,
    STAND_IN_RUNNER: where.runner,
    ADDON: files.addon,
    CONTROL: files.control,
  };
}, 300_000);

const KERNEL = `
#include <metal_stdlib>
using namespace metal;
constant uint STEP [[function_constant(0)]];
kernel void count(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < 2000; ++k) out[i] += STEP;
}`;

/** Common to every process and to its workers. */
const SETUP = `
const { Worker, isMainThread, parentPort } = require("node:worker_threads");
const addon = require(process.env.ADDON);
const control = require(process.env.CONTROL);
const say = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function open() {
  const [{ registryId }] = await addon.metal.devices();
  const connection = await addon.metal.open(registryId, { logging: false });
  const source = { text: ${JSON.stringify(KERNEL)}, languageVersion: 0x30001, mathMode: "safe", macros: [], logging: false };
  const { library } = await connection.compile(source);
  const reply = await connection.pipeline(library, {
    function: "count",
    constants: [{ index: 0, type: 33, bytes: Uint8Array.of(1, 0, 0, 0) }],
    maxTotalThreadsPerThreadgroup: null,
    requiredThreadsPerThreadgroup: null,
    archive: null,
  });
  const memory = connection.allocate(20 << 20, "out");
  const dispatch = {
    label: "count",
    pipeline: reply.pipeline,
    threadgroups: [2, 1, 1],
    threadsPerThreadgroup: [32, 1, 1],
    bindings: [{ index: 0, memory, offset: 0 }],
    threadgroupMemory: [],
  };
  return { connection, memory, dispatch };
}
const many = (dispatch) => Array.from({ length: 300 }, () => dispatch);
const commandBuffers = () => Number(/^command buffers (\\d+)$/m.exec(control.counts())?.[1] ?? 0);
`;

/** What a process says that runs the body after the set-up, and how it ends. */
async function run(body: string): Promise<{ readonly said: readonly unknown[]; readonly code: number | string }> {
  const options = { env: environment, timeout: 100_000 };
  const script = `${SETUP}\n(async () => {${body}})();`;
  const ended = promisify(execFile)(process.execPath, ["--expose-gc", "-e", script], options).then(
    ({ stdout }) => ({ stdout, code: 0 }),
    (error: { readonly stdout?: string; readonly code?: number; readonly signal?: string }) => ({
      stdout: error.stdout ?? "",
      code: error.code ?? error.signal ?? "unknown",
    }),
  );
  const { stdout, code } = await ended;
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { said: lines.map((line) => JSON.parse(line) as unknown), code };
}

describe("what is in flight", () => {
  it("does no harm when its environment ends, and nothing further is committed", async () => {
    const { said, code } = await run(`
      const worker = ${JSON.stringify(SETUP)} + \`(async () => {
        const { connection, dispatch } = await open();
        const onDispatch = (index) => index === 1 && parentPort.postMessage("runs");
        connection.submit(many(dispatch), { counters: true, onDispatch });
      })();\`;
      for (let k = 0; k < 6; ++k) {
        const started = new Worker(worker, { eval: true });
        await new Promise((resolve) => started.on("message", resolve));
        await started.terminate();
      }
      for (let waited = 0; waited < 5000 && /StandIn(Queue|Buffer|Pipeline)/.test(control.objects().classes); waited += 50) await pause(50);
      say([commandBuffers(), control.objects().classes, control.violations()]);
    `);
    expect(code).toBe(0);
    const [[committed, alive, violations]] = said as [[number, string, string[]]];
    expect(committed).toBeGreaterThanOrEqual(12);
    expect(committed).toBeLessThan(6 * 300);
    expect(alive).not.toMatch(/StandIn(Queue|Buffer|Heap|Pipeline|Library|CommandBuffer)/);
    expect(violations).toEqual([]);
  });

  it("does no harm when the process exits", async () => {
    const { code } = await run(`
      const { connection, dispatch } = await open();
      connection.submit(many(dispatch), { counters: true, onDispatch: (index) => index === 1 && process.exit(7) });
    `);
    expect(code).toBe(7);
  });

  it("is kept when its handles are dropped and the connection is closed", async () => {
    const { said, code } = await run(`
      let { connection, memory, dispatch } = await open();
      memory.fill(0);
      const { done } = connection.submit(many(dispatch).slice(0, 20), { counters: true });
      connection.close();
      memory.release();
      connection = memory = dispatch = undefined;
      for (let k = 0; k < 4; ++k) { global.gc(); await pause(5); }
      const reply = await done;
      say([reply.ok, reply.timings.length]);
      for (let waited = 0; waited < 5000 && /StandIn(Queue|Buffer|Pipeline)/.test(control.objects().classes); waited += 50) { global.gc(); await pause(50); }
      say(control.objects().classes);
    `);
    expect(code).toBe(0);
    expect(said[0]).toEqual([true, 20]);
    expect(said[1]).not.toMatch(/StandIn(Queue|Buffer|Heap|Pipeline|Library|CommandBuffer)/);
  });

  it("goes on when a callback throws, which is an uncaught exception", async () => {
    const { said, code } = await run(`
      process.on("uncaughtException", (error) => say(error.message));
      const { connection, dispatch } = await open();
      const onDispatch = (index) => { throw new Error("thrown at " + index); };
      const { ok } = await connection.submit([dispatch, dispatch], { counters: false, onDispatch }).done;
      say(ok);
    `);
    expect(code).toBe(0);
    expect(said).toEqual(["thrown at 0", "thrown at 1", true]);
  });
});
