/** `lockstep run` and `lockstep check` as a user meets them, with kernels and manifests that mean no good among them. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratchFolder, WHERE } from "../runs/harness.ts";

const CLI = path.join(WHERE.root, "out", "cli.mjs");
const GUIDE = fs.readFileSync(path.join(WHERE.root, "docs", "kernel-manifest.md"), "utf8");

let folder: string;
beforeAll(() => {
  folder = scratchFolder();
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function lockstep(args: readonly string[], env: NodeJS.ProcessEnv = {}): Ran {
  const result = spawnSync(process.execPath, [CLI, ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { code: result.status, out: result.stdout, err: result.stderr };
}

/** Resolves with how a process that was started ends. */
function ended(child: ChildProcess): Promise<Ran> {
  let [out, err] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

let counter = 0;

/** A manifest of one dispatch of 64 threads on `out`, 256 bytes, without a case. */
function kernelFile(body: string, change: object = {}, before = ""): string {
  const name = `k${counter++}`;
  fs.writeFileSync(
    path.join(folder, `${name}.metal`),
    `#include <metal_stdlib>\nusing namespace metal;\n${before}\nkernel void k(device float *out [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {\n${body}\n}\n`,
  );
  const manifest = {
    schema: "lockstep.kernel/1",
    name,
    source: `${name}.metal`,
    buffers: [{ name: "out", scratch: 256 }],
    dispatches: [
      { function: "k", threadgroups: [1], threadsPerThreadgroup: [64], arguments: [{ index: 0, buffer: "out" }] },
    ],
    ...change,
  };
  const file = path.join(folder, `${name}.kernel.json`);
  fs.writeFileSync(file, JSON.stringify(manifest));
  return file;
}

const RACE = "threadgroup float t[64];\nt[i] = i;\nout[i] = t[63 - i];";
const FOREVER = "volatile int n = 1;\nwhile (n) {}\nout[i] = n;";

describe("the guide's first example", () => {
  it("passes as it stands, says so with its gates, and fails when it is spoilt", () => {
    const [, text = ""] = /```metal\n([\s\S]*?)```/.exec(GUIDE) ?? [];
    // Of this folder alone: the checker's word on the same text may be in the cache since the last time.
    const metal = `${text}// ${folder}\n`;
    const [, json = ""] = /```json\n([\s\S]*?)```/.exec(GUIDE) ?? [];
    fs.writeFileSync(path.join(folder, "plain.metal"), metal);
    fs.writeFileSync(path.join(folder, "plain.kernel.json"), json);
    const ran = lockstep(["run", "plain.kernel.json"]);
    expect(ran.out).toMatch(/^Pass: Every gate that applies held, and the checker reports no error$/m);
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/execution: emulated\..*no evidence about a chip/);
    expect(ran.out).toMatch(/pass +bit-equal repeat +0 +limit 0/);
    expect(ran.out).toMatch(/left out +resource contract: the manifest states no/);
    expect(ran.out).toContain("checker, check: 0 errors");
    // The checker's word is cited the second time.
    const again = lockstep(["run", "plain.kernel.json", "--json"]);
    expect(JSON.parse(again.out)).toMatchObject({ verdict: "pass", stageCached: true, pinned: false });
    const sized = lockstep(["run", "plain.kernel.json", "--set", "N=33", "--set", "Hk=8", "--json"]);
    expect(JSON.parse(sized.out)).toMatchObject({ verdict: "pass", sizes: { N: 33, Hk: 8 }, stageCached: false });

    fs.writeFileSync(path.join(folder, "plain.metal"), metal.replace("acc[d] / sum", "acc[d]"));
    const spoilt = lockstep(["run", "plain.kernel.json"]);
    expect([spoilt.code, /^Fail: A gate failed$/m.test(spoilt.out)]).toEqual([1, true]);
  });
});

describe("check", () => {
  it("shows a race with both lines and carets, ends with a count and exit 1, and writes SARIF", () => {
    const sarif = path.join(folder, "race.sarif");
    const ran = lockstep(["check", kernelFile(RACE), "--sarif", sarif, "--traffic"]);
    expect(ran.code).toBe(1);
    expect(ran.out).toMatch(/^k\d+\.metal:\d+:\d+: error: race between simdgroups \[race\]$/m);
    expect(ran.out).toMatch(/^ +7 \| out\[i\] = t\[63 - i\];\n +\| +\^$/m);
    expect(ran.out).toMatch(/^traffic of "k", bytes$/m);
    expect(ran.out.trimEnd()).toMatch(/, check: \d+ errors?, \d+ warnings?, \d+ benign/);
    const log = JSON.parse(fs.readFileSync(sarif, "utf8")) as { runs: { results: { ruleId: string }[] }[] };
    expect(log.runs[0]?.results.map(({ ruleId }) => ruleId)).toContain("race");
    const judged = lockstep(["run", kernelFile(RACE)]);
    expect([judged.code, judged.out]).toEqual([1, expect.stringMatching(/^Fail: The checker reports \d+ error/m)]);
  });

  it("pins a kernel whose lanes exchange data to lockstep, and run says so", () => {
    const file = kernelFile("threadgroup float t[32];\nt[i] = i;\nout[i] = t[31 - i];", {
      dispatches: [
        { function: "k", threadgroups: [1], threadsPerThreadgroup: [32], arguments: [{ index: 0, buffer: "out" }] },
      ],
    });
    const ran = lockstep(["run", file, "--flavour", "fast"]);
    expect(ran.out).toContain("Pinned to lockstep");
    expect(ran.out).toContain("flavour lockstep");
    expect(ran.out).toMatch(/^Ran: .*in lockstep, to which it is pinned/m);
    expect(lockstep(["check", file]).out).toContain("lockstep-dependent exchange [lockstep_exchange]");
  });

  it("refuses what is not supported by name and line, with exit 2", () => {
    const ran = lockstep(["check", kernelFile("out[i] = 0;", {}, "constant texture2d<float> *image = nullptr;")]);
    expect([ran.code, ran.out]).toEqual([2, ""]);
    expect(ran.err).toMatch(/k\d+\.metal:3:\d+: error: .*texture2d/);
    expect(ran.err).toMatch(/3 \| constant texture2d<float>/);
    expect(ran.err).toMatch(/^Not run: the kernel does not compile/m);
  });

  it("prints the schema without a manifest, and asks for one otherwise", () => {
    expect(JSON.parse(lockstep(["check", "--schema"]).out)).toMatchObject({ title: "Lockstep kernel manifest" });
    expect(lockstep(["check"])).toMatchObject({ code: 2, err: expect.stringContaining("check takes a manifest") });
  });
});

describe("kernels that mean no good", () => {
  it("loop for ever: stopped by the limit, and there is no verdict", () => {
    const ran = lockstep(["run", kernelFile(FOREVER), "--timeout", "1"]);
    expect([ran.code, ran.out]).toEqual([1, expect.stringMatching(/^No verdict: .*limit of 1000 ms/m)]);
  });

  it("run wild: the place is named, and the next run works", () => {
    const ran = lockstep(["run", kernelFile("out[i * 100000000] = 1;")]);
    expect([ran.code, ran.out]).toEqual([1, expect.stringMatching(/^Fail: .*out of bounds/m)]);
    expect(lockstep(["run", kernelFile("out[i] = 1;")]).code).toBe(0);
  });

  it("are stopped by Ctrl-C with exit 130", async () => {
    const child = spawn(process.execPath, [CLI, "run", kernelFile(FOREVER)], { cwd: folder });
    const end = ended(child);
    await runnerOf(child.pid!);
    child.kill("SIGINT");
    expect(await end).toMatchObject({ code: 130, out: "", err: expect.stringContaining("Cancelling") });
  });

  it("whose runner is killed end with words and no verdict", async () => {
    const child = spawn(process.execPath, [CLI, "run", kernelFile(FOREVER)], { cwd: folder });
    const end = ended(child);
    process.kill(await runnerOf(child.pid!), "SIGKILL");
    // The checker's run lost its process; the run behind it got a fresh one, which loops as well.
    process.kill(await runnerOf(child.pid!), "SIGKILL");
    expect(await end).toMatchObject({ code: 1, out: expect.stringMatching(/^No verdict: .*SIGKILL/m) });
  });

  it("two at once do not disturb each other", async () => {
    const files = [kernelFile("out[i] = 1;"), kernelFile("out[i] = 2;")];
    const ends = files.map((file) => ended(spawn(process.execPath, [CLI, "run", file], { cwd: folder })));
    expect((await Promise.all(ends)).map(({ code }) => code)).toEqual([0, 0]);
  });
});

describe("places that take no bytes", () => {
  it("a full disk below the SARIF file, and a cache that cannot be written", () => {
    const file = kernelFile("out[i] = 1;");
    if (fs.existsSync("/dev/full")) {
      const full = lockstep(["check", file, "--sarif", "/dev/full"]);
      expect([full.code, full.err]).toEqual([2, expect.stringContaining("cannot be written (ENOSPC)")]);
    }
    const cache = lockstep(["run", file], { LOCKSTEP_CACHE: path.join(file, "below-a-file") });
    expect([cache.code, cache.err]).toEqual([2, expect.stringContaining("LOCKSTEP_CACHE")]);
  });
});

/** The process that runs kernels for a command line: a grandchild by the name of the runner, once it is busy. */
async function runnerOf(pid: number): Promise<number> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const found = descendants(pid).find((one) => isBusyRunner(one));
    if (found !== undefined) return found;
  }
}

function descendants(pid: number): readonly number[] {
  const out = spawnSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).stdout;
  const pairs = out
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number): readonly number[] =>
    pairs.flatMap(([child, of]) => (of === parent ? [child!, ...below(child!)] : []));
  return below(pid);
}

function isBusyRunner(pid: number): boolean {
  const line = spawnSync("ps", ["-o", "time=", "-o", "args=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
  return line.includes("lockstep-runner") && !line.startsWith("00:00:00") && !line.startsWith("0:00");
}
