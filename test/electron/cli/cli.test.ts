/** The command line as a user meets it: exit codes, what stands on which stream, and nothing half-written. */
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeSafetensors } from "../../../oracle/safetensors.ts";
import { narrow } from "../../../oracle/tensor.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";

const CLI = path.join(WHERE.root, "out", "cli.mjs");

let folder: string;
let counter = 0;

beforeAll(() => {
  folder = scratchFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function lockstep(...args: readonly string[]): Ran {
  const result = spawnSync(process.execPath, [CLI, ...args], { cwd: folder, encoding: "utf8" });
  return { code: result.status, out: result.stdout, err: result.stderr };
}

function freshOut(): string {
  return path.join(folder, `out${counter++}`);
}

const SMALL = ["parity", "--suite", "quick", "--route", "naive", "--case", "L33.spread"];

describe("parity", () => {
  it("shows a row, the execution, the bundle and the line that verifies it", () => {
    const out = freshOut();
    const ran = lockstep(...SMALL, "--out", out);
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining("1 case, 1 result to come")]);
    const lines = ran.out.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^verdict +case +route +max abs +NMSE +worst row +time$/);
    expect(lines[1]).toMatch(
      /^pass +gqa_decode\/h32kv4d512\/L33\/spread\/f32 +naive +\d\.\d\de-\d +\d\.\d\de-\d+ +head \d+ +[\d.]+ m?s$/,
    );
    expect(ran.out).toContain("Pass: every required gate held in 1 of 1 results");
    expect(ran.out).toContain("naive f32: parity, emulated: supports no chip");
    expect(ran.out).toContain("execution: emulated.");
    expect(ran.out).toContain("This is no evidence about a chip");
    const bundle = /^verify: lockstep verify (\S+)$/m.exec(ran.out)![1]!;
    const verified = lockstep("verify", bundle);
    expect(verified.code).toBe(0);
    expect(verified.out).toContain("Valid: 12 of 12 checks held. Integrity only, author unknown");
    fs.appendFileSync(path.resolve(folder, bundle, "data/command.txt"), " ");
    const damaged = lockstep("verify", bundle);
    expect(damaged.code).toBe(1);
    expect(damaged.out).toMatch(/Invalid at step 4 of 12: data\/command.txt/);
  });

  it("--json holds standard output alone", () => {
    const ran = lockstep(...SMALL, "--json", "--out", freshOut());
    expect(ran.code).toBe(0);
    const summary = JSON.parse(ran.out) as Record<string, unknown>;
    expect(summary).toMatchObject({
      outcome: "passed",
      execution: "emulated",
      supportsChip: false,
      results: [{ verdict: "pass", route: "naive", miss: null }],
    });
    expect(ran.out.trimEnd().split("\n")).toHaveLength(1);
  });

  it("records another chip and another seed", () => {
    const ran = lockstep(...SMALL, "--chip", "M5", "--seed", "0x7", "--json", "--out", freshOut());
    const summary = JSON.parse(ran.out) as { device: string; results: { case: string }[] };
    expect([ran.code, summary.device, summary.results[0]?.case]).toEqual([
      0,
      "emulated:m5",
      "gqa_decode/h32kv4d512/L33/spread-seed7/f32",
    ]);
  });

  it("judges a file with NaN-free inputs, and fails a time-out with exit 1", () => {
    const file = path.join(WHERE.golden, "gqa_decode_d512_L127_h32kv4_gemma4_f32.safetensors");
    const ran = lockstep("parity", "--inputs", file, "--route", "naive", "--out", freshOut());
    expect([ran.code, ran.out]).toEqual([0, expect.stringMatching(/^pass .*gemma4/m)]);
    const late = lockstep(
      "parity",
      "--case",
      "L8192.spread",
      "--route",
      "naive",
      "--timeout",
      "0.001",
      "--out",
      freshOut(),
    );
    expect(late.code).toBe(1);
    expect(late.out).toMatch(/^timed out .*naive/m);
    expect(late.out).toContain("A required gate that did not run is not a pass");
    const bundle = /^verify: lockstep verify (\S+)$/m.exec(late.out)![1]!;
    expect(lockstep("verify", bundle)).toMatchObject({ code: 0, out: expect.stringContaining("run: timed_out") });
  });
});

describe("what cannot run exits 2 and leaves nothing", () => {
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    [
      "an unknown suite",
      ["--suite", "quik"],
      'No suite is called "quik". Nearest: quick. Names: quick, standard, full',
    ],
    ["an unknown operator", ["--operator", "gqa"], 'No operator is called "gqa". Nearest: gqa_decode'],
    ["an unknown route", ["--route", "naif"], 'No route is called "naif". Nearest: naive'],
    ["an unknown case", ["--case", "L8192.tial4"], 'No case is called "L8192.tial4"'],
    ["an unknown chip", ["--chip", "M3 Mux"], 'No chip is called "M3 Mux". Nearest: M3 Max'],
    ["an unknown device", ["--device", "emulatd"], 'No device is called "emulatd". Nearest: emulated'],
    ["a device that is not there", ["--device", "metal"], 'The device "metal" is not there'],
    ["a seed that is none", ["--seed", "x"], '--seed is "x"'],
    ["a time-out of nothing", ["--timeout", "0"], '--timeout is "0"'],
    ["no worker", ["--workers", "1.5"], '--workers is "1.5"'],
    ["outputs of nobody", ["--outputs", "x"], "--outputs needs --producer"],
    ["a producer of nothing", ["--producer", "x"], "--producer belongs to --outputs"],
    ["a file and a suite", ["--inputs", "x", "--suite", "quick"], "--inputs takes the place of --suite"],
    ["a file that is not there", ["--inputs", "absent.safetensors"], "cannot be opened"],
    ["an unknown option", ["--colour"], "Unknown option '--colour'"],
    ["an option without its value", ["--seed"], "--seed <n>' argument missing"],
    ["an argument too many", ["evidence"], "Too many arguments"],
    ["a seed for a file", ["--inputs", "x", "--seed", "7"], "--seed has no effect with --inputs"],
    [
      "a chip for outputs",
      ["--outputs", "x", "--producer", "y", "--chip", "M5"],
      "--chip has no effect with --outputs",
    ],
    ["an empty value", ["--case", ""], "--case is empty"],
    ["a device with two chips", ["--device", "emulated:apple9:apple8"], 'No device is called "emulated:apple9:apple8"'],
    ["a time-out that no timer holds", ["--timeout", "1e9"], "above 0, at most 1,000,000"],
    ["a crowd of workers", ["--workers", "99999"], "above 0, at most 1,024"],
  ];

  it.each(cases)("%s", (_, args, words) => {
    const out = freshOut();
    const ran = lockstep("parity", "--out", out, ...args);
    expect([ran.code, ran.out, ran.err]).toEqual([2, "", expect.stringContaining(words)]);
    const json = lockstep("parity", "--json", "--out", out, ...args);
    expect([json.code, JSON.parse(json.out)]).toEqual([
      2,
      { error: { code: expect.any(String), message: expect.stringContaining(words) } },
    ]);
    expect(fs.existsSync(out)).toBe(false);
  });

  it("a file with NaN in the live range", () => {
    const values = Float64Array.from({ length: 64 }, () => 0.5);
    values[40] = Number.NaN;
    const tensors = {
      q: narrow(new Float64Array(32).fill(1), "f32", [1, 32]),
      k: narrow(values, "f32", [2, 1, 32]),
      v: narrow(new Float64Array(64), "f32", [2, 1, 32]),
    };
    const file = path.join(folder, "nan.safetensors");
    fs.writeFileSync(file, encodeSafetensors(tensors, { scale: "1" }));
    const ran = lockstep("parity", "--inputs", file, "--json", "--out", freshOut());
    expect(ran.code).toBe(2);
    expect(JSON.parse(ran.out)).toMatchObject({
      error: { code: "input", message: expect.stringContaining('tensor "k": holds NaN at [1, 0, 8]') },
    });
  });

  it("an --out that cannot be written", () => {
    const file = path.join(folder, "file");
    fs.writeFileSync(file, "");
    for (const out of [file, path.join(file, "below"), "/proc/nowhere"]) {
      const ran = lockstep(...SMALL, "--out", out);
      expect([ran.code, ran.out, ran.err]).toEqual([2, "", expect.stringContaining("cannot be written")]);
    }
  });

  it("an unknown command", () => {
    const ran = lockstep("parrity");
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining("Nearest: parity")]);
    expect(lockstep("verify", path.join(folder, "absent"))).toMatchObject({ code: 2 });
  });
});

describe("endings that nobody planned", () => {
  /** Starts a run, does something to it after its first row, and waits until it and its host are gone. */
  async function disturbed(disturb: (child: ReturnType<typeof spawn>) => void) {
    const out = freshOut();
    const left = (): readonly string[] => (fs.existsSync(out) ? fs.readdirSync(out) : []);
    const child = spawn(process.execPath, [CLI, "parity", "--operator", "gqa_decode", "--out", out], { cwd: folder });
    child.stderr.resume();
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("pass")) disturb(child);
    });
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
      child.on("exit", (...how) => resolve(how));
    });
    // The host is a process of its own and ends a moment later.
    for (let waited = 0; waited < 5000 && left().length > 0; waited += 50) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return { code, signal, left: left() };
  }

  it("a reader that closes the pipe leaves nothing behind", async () => {
    expect(await disturbed((child) => child.stdout?.destroy())).toEqual({ code: 141, signal: null, left: [] });
  });

  it("a kill that cannot be caught leaves nothing behind", async () => {
    expect(await disturbed((child) => child.kill("SIGKILL"))).toEqual({ code: null, signal: "SIGKILL", left: [] });
  });

  it.runIf(fs.existsSync("/dev/full"))(
    "results that cannot be written end with exit 2 (by /dev/full, where it is)",
    () => {
      const full = fs.openSync("/dev/full", "w");
      const out = freshOut();
      const ran = spawnSync(process.execPath, [CLI, ...SMALL, "--out", out], { stdio: ["ignore", full, "pipe"] });
      fs.closeSync(full);
      expect([ran.status, String(ran.stderr)]).toEqual([2, expect.stringContaining("cannot be written (ENOSPC)")]);
      expect(fs.existsSync(out)).toBe(false);
    },
  );

  it("two runs in one second keep two bundles", () => {
    const out = freshOut();
    for (const code of [0, 0, 0]) expect(lockstep(...SMALL, "--out", out).code).toBe(code);
    expect(fs.readdirSync(out)).toHaveLength(3);
  });
});

describe("Ctrl-C", () => {
  function interrupted(times: number): Promise<Ran & { readonly left: readonly string[] }> {
    const out = freshOut();
    const child = spawn(process.execPath, [CLI, "parity", "--operator", "gqa_decode", "--out", out], { cwd: folder });
    return new Promise((resolve) => {
      let stdout = "";
      let stderr = "";
      let sent = 0;
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
        if (sent === 0 && /^pass/m.test(stdout)) {
          for (; sent < times; sent++) child.kill("SIGINT");
        }
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
        if (times > 1 && stderr.includes("Cancelling")) child.kill("SIGINT");
      });
      child.on("close", (code) => {
        resolve({ code, out: stdout, err: stderr, left: fs.existsSync(out) ? fs.readdirSync(out) : [] });
      });
    });
  }

  it("once: a cancelled record that verifies, and nothing half-written", async () => {
    const ran = await interrupted(1);
    expect(ran.code).toBe(130);
    expect(ran.out).toMatch(/^Cancelled by you at \d+ %\. Finished cases are kept$/m);
    expect(ran.left).toHaveLength(1);
    expect(ran.left[0]).toMatch(/^[^.].*\.lockstep$/);
    const bundle = /^verify: lockstep verify (\S+)$/m.exec(ran.out)![1]!;
    expect(lockstep("verify", bundle).out).toContain("outcome of the run: cancelled");
  });

  it("twice: out at once, nothing left", async () => {
    const ran = await interrupted(2);
    expect([ran.code, ran.left]).toEqual([130, []]);
  });
});

describe("other commands", () => {
  it("do not let what they show command the terminal", () => {
    const ran = lockstep("verify", "\u001b]0;owned\u0007\r\u009b31mx");
    expect(ran.err).toBe(
      "\\x1b]0;owned\\x07\\x0d\\x9b31mx is not there: give the folder of a bundle, or a zip of it.\n",
    );
  });

  it("dispatch explains every candidate", () => {
    const ran = lockstep("dispatch", "--case", "L8192.tail4", "--chip", "M1");
    expect(ran.code).toBe(0);
    expect(ran.out).toContain("gqa_decode/h32kv4d512/L8192/tail4/f32: three_stage");
    expect(ran.out).toMatch(/held +head_dim +requires a multiple of 32, 32 to 512; actual 512/);
    const json = JSON.parse(lockstep("dispatch", "--json").out) as {
      decisions: { route: string; candidates: unknown[] }[];
    };
    expect(json.decisions.map((decision) => decision.route)).toEqual(["three_stage", "simdgroup_8x8"]);
    const refusal = lockstep("dispatch", "--case", "mla_prefill_ragged_h2_x16", "--chip", "M3 Max").out;
    expect(refusal).toContain("simdgroup_matrix<T,16,16x16> operations are supported by GPUFamily10 and later");
  });

  it("dispatch takes a shape that is no case, and says what is wrong with one", () => {
    const shape =
      '{"operator":"gqa_decode","heads":8,"kvHeads":1,"dim":96,"live":5,"capacity":9,"scale":1,"dtype":"f32"}';
    const ran = lockstep("dispatch", "--shape", shape, "--chip", "M1");
    expect(ran.code).toBe(0);
    expect(ran.out).toContain("gqa_decode, given shape: three_stage");
    expect(ran.out).toMatch(/held +head_dim +requires a multiple of 32, 32 to 512; actual 96/);
    expect(lockstep("dispatch", "--shape", shape.replace("96", "90")).out).toContain(
      "given shape: no route is taken by itself",
    );
    expect(lockstep("dispatch", "--shape", "{").err).toMatch(/^--shape is no JSON: give a shape such as '/);
    expect(lockstep("dispatch", "--shape", shape.replace("96", "1.5")).err).toMatch(/^--shape, dim: /);
    const both = lockstep("dispatch", "--shape", shape, "--case", "L1.spread");
    expect([both.code, both.err]).toEqual([2, "--shape stands by itself: leave out --case, --suite and --inputs.\n"]);
  });

  it("devices says why a device is not there", () => {
    const ran = lockstep("devices");
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/nvidia +not there: .+\n +mend: .+/);
    expect(JSON.parse(lockstep("devices", "--json").out)).toMatchObject({ devices: [{ kind: "metal" }, {}, {}] });
  });

  it("cases lists a suite and a file", () => {
    expect(lockstep("cases", "--suite", "quick").out).toMatchInlineSnapshot(`
      "quick: a handful of cases of every kind
      gqa_decode/h32kv4d512/L1/spread/f32                                    L1         boundary
      gqa_decode/h32kv4d512/L33/spread/f32                                   L33        boundary
      gqa_decode/h32kv4d512/L1023/tail4/f32                                  L1023      boundary
      gqa_decode/h4kv4d32/L64/softmax_stress.increasing_steep/f32            L64        boundary
      gqa_decode/h4kv4d32/L64/softmax_stress.rows_fully_masked/f32           L64        boundary
      gqa_decode/h4kv4d32/L64/softmax_stress.v_large_cancel/f32              L64        boundary
      gqa_decode/h8kv1d512/L37/attention_stress.gqa.first_and_last/f32       L37        boundary
      mla_prefill/h2n128r64v128/T17/attention_stress.mla.first_last/f32      T17        boundary
      mla_prefill/h4n128r64v128/T77/mla_prefill_t77_h4_x16/f32               T77        boundary
      mla_prefill/h4n128r64v128/T13of77/mla_prefill_t77_h4_x16.chunk13/f32   T13of77    boundary
      mla_prefill/h4n128r64v128/T77/mla_prefill_t77_h4_x16/f16               T77        boundary
      mla_prefill/h4n128r64v128/T13of77/mla_prefill_t77_h4_x16.chunk13/f16   T13of77    boundary
      mla_prefill/h4n128r64v128/T77/mla_prefill_t77_h4_x16/bf16              T77        boundary
      mla_prefill/h4n128r64v128/T13of77/mla_prefill_t77_h4_x16.chunk13/bf16  T13of77    boundary
      14 cases, 14 of the boundary set
      "
    `);
    const json = JSON.parse(lockstep("cases", "--json").out) as { cases: unknown[] };
    expect(json.cases.length).toBeGreaterThan(90);
  });

  it("help and version", () => {
    expect(lockstep("--help")).toMatchObject({ code: 0, out: expect.stringContaining("parity") });
    expect(lockstep("--help").out).toContain("2 if it could not\nrun, 130 after Ctrl-C");
    expect(lockstep("parity", "--help").out).toContain("--producer <file>");
    expect(lockstep("--version").out).toMatch(/^\d+\.\d+\.\d+$/m);
  });
});
