/** A kernel is native code: what it tries with the rights of its user is refused by the system, and nothing is left behind. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadAddon } from "../../../native/addon.ts";
import { ModuleCache } from "../../../native/emulator/cache.ts";
import { ModuleBuilder } from "../../../native/emulator/module.ts";
import { Runner, type RunnerBuffer } from "../../../native/emulator/runner.ts";
import type { SharedNativeMemory } from "../../../native/memory.ts";
import { ADDON_PATH, RUNNER_PATH, TEST_CACHE, testToolchain } from "../msl/workbench.ts";

const EPERM = -1;
const [O_RDWR, O_CREAT] = [2, 64];

let runner: Runner;
let folder: string;
let module: string;
const held: SharedNativeMemory[] = [];

/** Numbers of the calls, by architecture. */
const CALLS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  x64: {
    openat: 257,
    socket: 41,
    execve: 59,
    kill: 62,
    ptrace: 101,
    unlinkat: 263,
    clone: 56,
    clone3: 435,
    io_uring_setup: 425,
    process_vm_writev: 311,
    chmodat: 268,
    getpid: 39,
  },
  arm64: {
    openat: 56,
    socket: 198,
    execve: 221,
    kill: 129,
    ptrace: 117,
    unlinkat: 35,
    clone: 220,
    clone3: 435,
    io_uring_setup: 425,
    process_vm_writev: 271,
    chmodat: 53,
    getpid: 172,
  },
};

const SOURCE = `
using namespace metal;
static long call(const thread long* a) {
#if defined(__x86_64__)
  long result = a[0];
  register long r10 asm("r10") = a[4];
  register long r8 asm("r8") = a[5];
  register long r9 asm("r9") = a[6];
  asm volatile("syscall" : "+a"(result) : "D"(a[1]), "S"(a[2]), "d"(a[3]), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
#else
  register long x8 asm("x8") = a[0];
  register long x0 asm("x0") = a[1];
  register long x1 asm("x1") = a[2];
  register long x2 asm("x2") = a[3];
  register long x3 asm("x3") = a[4];
  register long x4 asm("x4") = a[5];
  register long x5 asm("x5") = a[6];
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#endif
}
kernel void run(device long* out, device long* in, uint i) {
  long a[7];
  for (int k = 0; k < 7; ++k) a[k] = in[k];
  // The value -2 stands for the address of the text behind the numbers.
  for (int k = 1; k < 7; ++k) if (a[k] == -2) a[k] = (long)(in + 7);
  out[0] = call(a);
}
extern "C" [[clang::sycl_external]] __attribute__((used, visibility("default"))) void lockstep_entry() {
  ::lockstep::Entry<&run, ::lockstep::Buffer<0>, ::lockstep::Buffer<1>,
    ::lockstep::Builtin<::lockstep::builtin::thread_index_in_threadgroup>>::run();
}
`;

function shared(
  bytes: Uint8Array,
  label: string,
): { readonly memory: SharedNativeMemory; readonly buffer: RunnerBuffer } {
  const memory = loadAddon(ADDON_PATH).allocate(bytes.length);
  held.push(memory);
  memory.write(0, bytes);
  const { path, fileOffset } = memory;
  return { memory, buffer: { path, fileOffset, bytes: bytes.length, label } };
}

/** Lets a kernel make one system call; `TEXT` as an argument is the address of `text`. */
const TEXT = -2;
async function call(name: string, args: readonly number[], text = ""): Promise<number> {
  const numbers = [CALLS[process.arch]![name]!, ...args, 0, 0, 0, 0, 0, 0].slice(0, 7).map(BigInt);
  const path = Buffer.from(`${text}\0`.padEnd(256, "\0"));
  const input = shared(Buffer.concat([Buffer.from(BigInt64Array.from(numbers).buffer), path]), "in");
  const out = shared(new Uint8Array(8), "out");
  await runner.submit({
    dispatches: [
      {
        label: name,
        module: { path: module, entry: "lockstep_entry" },
        threadgroups: [1, 1, 1],
        threadsPerThreadgroup: [1, 1, 1],
        arguments: [
          { index: 0, buffer: out.buffer },
          { index: 1, buffer: input.buffer },
        ],
      },
    ],
  });
  return Number(Buffer.from(out.memory.read(0, 8)).readBigInt64LE());
}

const APPLIES = process.platform === "linux" && CALLS[process.arch] !== undefined;

beforeAll(async () => {
  if (!APPLIES) return;
  runner = await Runner.start(RUNNER_PATH);
  folder = mkdtempSync(join(tmpdir(), "lockstep-confine-"));
  module = join(folder, "kernel.module");
  const builder = new ModuleBuilder(await testToolchain(), new ModuleCache(TEST_CACHE));
  const result = await builder.build(SOURCE, "fast", folder, module);
  if (!result.ok) throw new Error(JSON.stringify(result));
});

afterAll(async () => {
  if (!APPLIES) return;
  await runner.close();
  rmSync(folder, { recursive: true, force: true });
});

it("says what it applied, in words that are true", async () => {
  if (!APPLIES) return;
  expect(runner.rights).toMatch(/^(not )?confined/);
  // The same call is allowed where the filter could not be installed: then the words must say so.
  const made = await call("socket", [2, 1, 0]);
  expect(made === EPERM).toBe(runner.rights.startsWith("confined by seccomp: no network"));
});

it("refuses network, writing, other programs and other processes", async () => {
  if (!APPLIES || !runner.rights.startsWith("confined")) return;
  const victim = join(folder, "victim.txt");
  const fresh = join(folder, "fresh.txt");
  writeFileSync(victim, "mine");
  const AT_FDCWD = -100;
  expect(await call("socket", [1, 1, 0])).toBe(EPERM);
  expect(await call("openat", [AT_FDCWD, TEXT, O_RDWR], victim)).toBe(EPERM);
  expect(await call("openat", [AT_FDCWD, TEXT, O_CREAT, 0o644], fresh)).toBe(EPERM);
  expect(await call("openat", [AT_FDCWD, TEXT, O_RDWR], `/proc/${process.pid}/mem`)).toBe(EPERM);
  expect(await call("unlinkat", [AT_FDCWD, TEXT], victim)).toBe(EPERM);
  expect(await call("chmodat", [AT_FDCWD, TEXT, 0], victim)).toBe(EPERM);
  expect(await call("execve", [TEXT], "/bin/true")).toBe(EPERM);
  expect(await call("kill", [process.pid, 0])).toBe(EPERM);
  expect(await call("ptrace", [16, process.pid])).toBe(EPERM);
  expect(await call("process_vm_writev", [process.pid])).toBe(EPERM);
  expect(await call("io_uring_setup", [1])).toBe(EPERM);
  // A process of its own: SIGCHLD alone, no thread.
  expect(await call("clone", [17])).toBe(EPERM);
  expect(await call("clone3", [0, 0])).toBe(-38);
  expect([readFileSync(victim, "utf8"), existsSync(fresh)]).toEqual(["mine", false]);
});

it("leaves reading, and what a run needs", async () => {
  if (!APPLIES) return;
  const file = join(folder, "read.txt");
  writeFileSync(file, "read");
  expect(await call("openat", [-100, TEXT, 0], file)).toBeGreaterThan(2);
  expect(await call("getpid", [])).toBe(runner.pid);
});

it("opens nothing but shared memory of the client for writing", async () => {
  if (!APPLIES || !runner.rights.startsWith("confined")) return;
  const file = join(folder, "file.bin");
  writeFileSync(file, new Uint8Array(4096));
  const buffer = { path: file, fileOffset: 0, bytes: 4096, label: "a file" };
  const dispatch = {
    label: "file",
    module: { path: module, entry: "lockstep_entry" },
    threadgroups: [1, 1, 1] as const,
    threadsPerThreadgroup: [1, 1, 1] as const,
    arguments: [
      { index: 0, buffer },
      { index: 1, buffer },
    ],
  };
  await expect(runner.submit({ dispatches: [dispatch] })).rejects.toThrow("cannot be opened");
});
