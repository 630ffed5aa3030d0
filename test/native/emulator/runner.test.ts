/** What a kernel can do wrong, and that the next run works after it. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Addon, loadAddon } from "../../../native/addon.ts";
import type { Flavour, Size3 } from "../../../native/device.ts";
import { ModuleCache } from "../../../native/emulator/cache.ts";
import { ModuleBuilder } from "../../../native/emulator/module.ts";
import {
  Runner,
  type RunnerArgument,
  type RunnerBuffer,
  type RunnerDispatch,
} from "../../../native/emulator/runner.ts";
import type { SharedNativeMemory } from "../../../native/memory.ts";
import { ADDON_PATH, deviceError, RUNNER_PATH, TEST_CACHE, testToolchain } from "../msl/workbench.ts";

let addon: Addon;
let runner: Runner;
let folder: string;
let builder: ModuleBuilder;

beforeAll(async () => {
  addon = loadAddon(ADDON_PATH);
  runner = await Runner.start(RUNNER_PATH);
  folder = mkdtempSync(join(tmpdir(), "lockstep-runner-"));
  builder = new ModuleBuilder(await testToolchain(), new ModuleCache(TEST_CACHE));
});

afterAll(async () => {
  await runner.close();
  rmSync(folder, { recursive: true, force: true });
});

/** One kernel `run(device float* out, device float* in, threadgroup float* t, uint i)`, built by hand. */
async function moduleOf(name: string, body: string, flavour: Flavour = "fast"): Promise<string> {
  const output = join(folder, `${name}.${flavour}.module`);
  const text = `
using namespace metal;
static float again(thread float* x, int n) { float y[64]; for (int k = 0; k < 64; ++k) y[k] = x[k % 4] + k; return n == 0 ? y[3] : again(y, n - 1) + y[n % 64]; }
kernel void run(device float* out, device float* in, threadgroup float* t, constant float* c, uint i, uint g) {
  threadgroup_barrier(mem_flags::mem_none);
  ${body}
}
extern "C" [[clang::sycl_external]] __attribute__((used, visibility("default"))) void lockstep_entry() {
  ::lockstep::Entry<&run, ::lockstep::Buffer<0>, ::lockstep::Buffer<1>, ::lockstep::Threadgroup<2>, ::lockstep::Buffer<3>,
    ::lockstep::Builtin<::lockstep::builtin::thread_index_in_threadgroup>,
    ::lockstep::Builtin<::lockstep::builtin::threadgroup_position_in_grid>>::run();
}
`;
  const result = await builder.build(text, flavour, folder, output);
  if (!result.ok) throw new Error(JSON.stringify(result));
  return output;
}

/** Memory lives as long as something refers to it; the runner's use of it is no reference. */
const held: SharedNativeMemory[] = [];

function shared(bytes: number, label: string): { readonly memory: SharedNativeMemory; readonly buffer: RunnerBuffer } {
  const memory = addon.allocate(bytes);
  held.push(memory);
  return { memory, buffer: { path: memory.path, fileOffset: memory.fileOffset, bytes, label } };
}

interface Setup {
  readonly dispatch: RunnerDispatch;
  readonly out: SharedNativeMemory;
}

/** 64 threads; `out` and `in` of 1,000 and 500 floats, 1,000 bytes of threadgroup memory at index 2, two inline floats. */
function setup(path: string, threadgroups: Size3 = [4, 2, 1]): Setup {
  const out = shared(4000, "out");
  const input = shared(2000, "in");
  input.memory.write(0, new Uint8Array(new Float32Array(500).map((_, k) => k).buffer));
  const bound: RunnerArgument[] = [
    { index: 0, buffer: out.buffer },
    { index: 1, buffer: input.buffer },
    { index: 3, bytes: new Uint8Array(Float32Array.of(1, 2).buffer) },
  ];
  const dispatch: RunnerDispatch = {
    label: "the kernel",
    module: { path, entry: "lockstep_entry" },
    threadgroups,
    threadsPerThreadgroup: [64, 1, 1],
    arguments: bound,
    threadgroupMemory: [{ index: 2, bytes: 1000 }],
  };
  return { dispatch, out: out.memory };
}

let good: string;

/** Runs a kernel that does what it should, and looks at what it wrote. */
async function expectGoodRun(): Promise<void> {
  good ??= await moduleOf(
    "good",
    "t[i] = in[i] * c[1]; threadgroup_barrier(mem_flags::mem_threadgroup); out[g * 64 + i] = t[63 - i];",
  );
  const { dispatch, out } = setup(good);
  const { timings } = await runner.submit({ dispatches: [dispatch] }, { workers: 2 });
  expect(timings).toHaveLength(1);
  expect(timings[0]?.label).toBe("the kernel");
  const written = new Float32Array(out.read(0, 1024).slice().buffer);
  expect([...written]).toEqual(Array.from({ length: 256 }, (_, k) => 2 * (63 - (k % 64))));
}

const CRASHES: readonly (readonly [string, string, RegExp])[] = [
  [
    "a read behind a buffer",
    "out[i] = in[500 + (i == 9 ? 0 : -1)];",
    /out of bounds: buffer in \(index 1\), byte offset 2,000 of 2,000$/,
  ],
  [
    "a write far behind a buffer",
    "out[i == 9 ? 100000000 : i] = 1;",
    /out of bounds: buffer out \(index 0\), byte offset 400,000,000 of 4,000$/,
  ],
  [
    "a read before a buffer",
    "out[i] = i == 9 ? in[-100000] : 0;",
    /out of bounds: buffer in \(index 1\), byte offset -400,000 of 2,000$/,
  ],
  [
    "a write behind threadgroup memory",
    "t[i == 9 ? 252 : i] = 1;",
    /out of bounds: threadgroup memory \(index 2\), byte offset 1,008 of 1,000$/,
  ],
  [
    "a read behind inline bytes",
    "out[i] = i == 9 ? c[4] : 0;",
    /out of bounds: bytes \(index 3\), byte offset 16 of 8$/,
  ],
  [
    "a wild pointer",
    "if (i == 9) *(device float*)(0x123456789000ul + g) = 1;",
    /wild pointer: address 0x12345678900[0-3] belongs to no bound buffer$/,
  ],
  [
    "a null pointer",
    'if (i == 9) { device float* n = (device float*)(ulong)(g * 0); asm volatile("" : "+r"(n)); n[2] = 1; }',
    /null or wild pointer \(address 0x8\)/,
  ],
  [
    "endless recursion",
    "float x[4] = {1, 2, 3, 4}; if (i == 9) out[0] = again(x, 1000000);",
    /stack overflow of a thread: .* more than 65,536 bytes$/,
  ],
  [
    "a division by zero",
    'int z = int(in[0]); asm volatile("" : "+r"(z)); if (i == 9) out[i] = float(7 / z);',
    /integer division by zero/,
  ],
];

describe("a crash names kernel, threadgroup, thread and cause, and the next run works", () => {
  it.each(CRASHES)("%s", async (name, body, cause) => {
    const path = await moduleOf(name.replaceAll(" ", "_"), body);
    const before = runner.pid;
    const error = await deviceError(runner.submit({ dispatches: [setup(path).dispatch] }, { workers: 2 }));
    expect(error.code).toBe("crashed");
    expect(error.message).toMatch(
      /^Kernel "the kernel" crashed in threadgroup \([0-3], [01], 0\), thread 9 at \(9, 0, 0\): /,
    );
    expect(error.message).toMatch(cause);
    await expectGoodRun();
    expect(runner.pid).not.toBe(before);
  });
});

describe("a run that does not end", () => {
  const endless = "volatile uint n = 1; while (n) { n = 1 + (n & 1); }";

  it("is timed out, and the next run works", async () => {
    const path = await moduleOf("endless", endless);
    const error = await deviceError(runner.submit({ dispatches: [setup(path).dispatch] }, { timeoutMs: 1000 }));
    expect(error.code).toBe("timed_out");
    expect(error.message).toMatch(/limit of 1000 ms \(in dispatch "the kernel", threadgroup 0 of 8\)/);
    await expectGoodRun();
  });

  it("is cancelled by its signal, and the next run works", async () => {
    const path = await moduleOf("endless", endless);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    const error = await deviceError(runner.submit({ dispatches: [setup(path).dispatch] }, { signal: abort.signal }));
    expect(error.code).toBe("cancelled");
    await expectGoodRun();
  });

  it("is cancelled between threadgroups without losing the process", async () => {
    const path = await moduleOf("slow", "for (volatile int k = 0; k < 20000; k = k + 1) {} out[i] = 1;");
    const abort = new AbortController();
    await expectGoodRun();
    const before = runner.pid;
    const { dispatch } = setup(path, [100_000, 1, 1]);
    const error = await deviceError(
      runner.submit({ dispatches: [dispatch] }, { signal: abort.signal, onProgress: () => abort.abort() }),
    );
    expect(error.code).toBe("cancelled");
    await expectGoodRun();
    expect(runner.pid).toBe(before);
  });

  it("that was cancelled before it began does not run", async () => {
    const error = await deviceError(
      runner.submit({ dispatches: [setup(good).dispatch] }, { signal: AbortSignal.abort() }),
    );
    expect(error.code).toBe("cancelled");
  });
});

describe("the runner", () => {
  it("keeps its process, and maps a buffer anew when another file takes its place", async () => {
    await expectGoodRun();
    const before = runner.pid;
    const { dispatch, out } = setup(good);
    await runner.submit({ dispatches: [dispatch] });
    out.release();
    // The next allocation takes the descriptor, and so the path, that was just freed.
    await expectGoodRun();
    expect(runner.pid).toBe(before);
  });

  it("takes requests that come during a run after it", async () => {
    const path = await moduleOf("slow", "for (volatile int k = 0; k < 20000; k = k + 1) {} out[i] = 1;");
    const { dispatch } = setup(path, [500, 1, 1]);
    const other = setup(good);
    await runner.submit({ dispatches: [other.dispatch] });
    const running = runner.submit({ dispatches: [dispatch, dispatch] }, { workers: 1 });
    const buffer = other.dispatch.arguments.find((argument) => "buffer" in argument);
    if (buffer && "buffer" in buffer) runner.drop(buffer.buffer);
    expect((await running).timings).toHaveLength(2);
    await runner.submit({ dispatches: [other.dispatch] });
    await expectGoodRun();
  });

  it("tells what a module is", async () => {
    const path = await moduleOf(
      "facts",
      "threadgroup float s[10]; s[i % 10] = in[i]; out[i] = s[3];".replace(
        "threadgroup float",
        "static LS_STATIC_THREADGROUP threadgroup float",
      ),
      "lockstep",
    );
    expect(await runner.inspect(path)).toEqual({
      staticThreadgroupBytes: 40,
      maxThreadsPerThreadgroup: 1024,
      flavour: "lockstep",
    });
    expect(await runner.inspect(good)).toMatchObject({ staticThreadgroupBytes: 0, flavour: "fast" });
  });

  it("refuses what is not there or not legal, and says why", async () => {
    const { dispatch } = setup(good);
    const many = await deviceError(
      runner.submit({ dispatches: [{ ...dispatch, threadsPerThreadgroup: [32, 33, 1] }] }),
    );
    expect(many).toMatchObject({ code: "dispatch_refused" });
    expect(many.message).toMatch(/threadgroups of 32 x 33 x 1 threads; the limit is 1024/);
    const far = { index: 0, buffer: shared(16, "small").buffer, offset: 16 };
    const outside = await deviceError(runner.submit({ dispatches: [{ ...dispatch, arguments: [far] }] }));
    expect(outside.message).toMatch(/buffer "small" at index 0 at byte offset 16; it has 16 bytes/);
    const gone = { ...dispatch, module: { path: join(folder, "no such module"), entry: "lockstep_entry" } };
    expect(await deviceError(runner.submit({ dispatches: [gone] }))).toMatchObject({ code: "unavailable" });
    writeFileSync(join(folder, "text"), "not a library");
    const broken = { ...dispatch, module: { path: join(folder, "text"), entry: "lockstep_entry" } };
    expect((await deviceError(runner.submit({ dispatches: [broken] }))).message).toMatch(/cannot be loaded/);
    expect((await deviceError(runner.inspect(join(folder, "text")))).code).toBe("unavailable");
    await expectGoodRun();
  });

  it("that cannot be started says so", async () => {
    const error = await deviceError(Runner.start(join(folder, "no such runner")));
    expect(error).toMatchObject({ code: "unavailable" });
    expect(error.message).toMatch(/could not be started .*bootstrap/);
  });

  it("takes no submission after it was closed", async () => {
    const other = await Runner.start(RUNNER_PATH);
    await other.close();
    await other.close();
    expect(await deviceError(other.submit({ dispatches: [setup(good).dispatch] }))).toMatchObject({
      code: "cancelled",
    });
  });

  it("does not outlive a parent that is killed", async () => {
    const child = spawn(
      process.execPath,
      [
        "-e",
        `const r = require("node:child_process").spawn(${JSON.stringify(RUNNER_PATH)}); console.log(r.pid); setInterval(() => {}, 1000);`,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const pid = await new Promise<number>((resolve) => {
      child.stdout?.once("data", (data: Buffer) => resolve(Number(data.toString())));
    });
    expect(processState(pid)).toMatch(/^[RSDI]/);
    child.kill("SIGKILL");
    for (let k = 0; k < 100 && processState(pid) !== ""; ++k) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(processState(pid)).toBe("");
  });
});

/** The state of a process as `ps` tells it; empty if there is none, or only its entry is left. */
function processState(pid: number): string {
  try {
    const state =
      process.platform === "linux"
        ? (/\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1] ?? "")
        : execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).trim();
    return state.startsWith("Z") ? "" : state;
  } catch {
    return "";
  }
}
