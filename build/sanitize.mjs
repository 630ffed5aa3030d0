// @ts-check
/**
 * `npm run test:sanitize`: the native code under AddressSanitizer and UndefinedBehaviorSanitizer, the threaded oracle under
 * ThreadSanitizer as well. Kernels themselves are not instrumented: what they do wrong is the emulated device's business.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { compiler, requirePackages } from "./compiler.mjs";
import { buildNative } from "./native.mjs";

const OUT = "out/sanitize";
const MEMORY = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
const THREADS = ["-fsanitize=thread"];

const ENVIRONMENT = {
  ...process.env,
  // The runner ends by _exit and is killed on purpose; leaks of a process that is going away say nothing.
  ASAN_OPTIONS: "detect_leaks=0:abort_on_error=1",
  UBSAN_OPTIONS: "print_stacktrace=1",
};

/** @param {string} title @param {string} command @param {string[]} args @param {NodeJS.ProcessEnv} env */
function check(title, command, args, env = ENVIRONMENT) {
  process.stdout.write(`${title}\n`);
  const result = spawnSync(command, args, { stdio: ["ignore", 1, 2], env });
  if (result.status !== 0) {
    process.stderr.write(`failed: ${command} ${args.join(" ")}\n`);
    process.exit(1);
  }
}

/** @param {string} question */
function printed(question) {
  return spawnSync(clang.clang, [question], { encoding: "utf8" }).stdout.trim();
}

/**
 * Proves that the sanitizers bite: the program must be built and must fail.
 * @param {string} title @param {string} program @param {readonly string[]} [flags]
 */
function control(title, program, flags = MEMORY) {
  const file = `${OUT}/control.cpp`;
  fs.writeFileSync(file, program);
  const build = spawnSync(clang.clang, ["-O0", "-g", ...flags, file, "-pthread", "-o", `${OUT}/control`], {
    encoding: "utf8",
  });
  const run = spawnSync(`${OUT}/control`, [], { encoding: "utf8", env: ENVIRONMENT });
  const found =
    build.status === 0 &&
    run.status !== 0 &&
    /ERROR: AddressSanitizer|runtime error:|ThreadSanitizer: data race/.test(run.stderr);
  process.stdout.write(`control: ${title} is ${found ? "found" : "NOT found"}\n`);
  if (!found) {
    process.stderr.write(`the sanitizers of ${clang.version} do not work here:\n${build.stderr}${run.stderr}`);
    process.exit(1);
  }
}

const clang = compiler();
requirePackages("The sanitizers need clang's runtime libraries.", [`libclang-rt-${clang.major}-dev`], () => {
  // The name has the architecture in it on most systems, and not on others.
  const names = ["libclang_rt.asan.a", "libclang_rt.asan-x86_64.a", "libclang_rt.asan-aarch64.a"];
  return process.platform === "darwin" || names.some((name) => fs.existsSync(printed(`-print-file-name=${name}`)));
});
fs.mkdirSync(OUT, { recursive: true });
control("a read behind a heap block", "int main() { int* p = new int[1]; volatile int i = 1; return p[i] == 7; }");
control("a signed overflow", "int main() { volatile int i = 2147483647; i = i + 1; return 0; }");
control(
  "a data race",
  "#include <thread>\nint n; int main() { std::thread t([] { ++n; }); ++n; t.join(); return 0; }",
  THREADS,
);

const oracle = fs
  .readdirSync("native/oracle")
  .filter((file) => file.endsWith(".cpp"))
  .map((file) => `native/oracle/${file}`);
const sources = [
  "test/native/oracle/sanitize.cpp",
  ...oracle,
  "native/addon/host_memory.cpp",
  "native/addon/shared_memory.cpp",
];
for (const [name, flags] of /** @type {const} */ ([
  ["memory", MEMORY],
  ["threads", THREADS],
])) {
  const program = `${OUT}/oracle-${name}`;
  check(`building the oracle for ${name}`, clang.clang, [
    "-std=c++20",
    "-O1",
    "-g",
    ...flags,
    ...sources,
    "-pthread",
    "-o",
    program,
  ]);
  check(`oracle, generator, shared memory: ${flags.join(" ")}`, program, []);
}

process.stdout.write("building the runner\n");
await buildNative(clang, OUT, ["-O1", "-g", ...MEMORY], ["lockstep-runner"]);
check(`runner: ${MEMORY.join(" ")}`, "npx", ["vitest", "run", "test/native/emulator"], {
  ...ENVIRONMENT,
  LOCKSTEP_RUNNER: fs.realpathSync(`${OUT}/lockstep-runner`),
});

// The Metal device over the stand-in for Metal. Node itself is not instrumented, so that the runtime is loaded before it.
const STAND_IN = [
  "conformance",
  "detection",
  "hostile",
  "library",
  "logs_and_captures",
  "memory",
  "parity",
  "pipeline",
  "submission",
  "teardown",
].map((name) => `test/native/metal/${name}.test.ts`);

/** @param {"asan" | "tsan"} name */
function sharedRuntime(name) {
  const files = ["", "-x86_64", "-aarch64"].map((suffix) =>
    printed(`-print-file-name=libclang_rt.${name}${suffix}.so`),
  );
  const found = files.find((file) => fs.existsSync(file));
  if (found !== undefined) return found;
  process.stderr.write(`${clang.clang} has no shared ${name} runtime: install libclang-rt-${clang.major}-dev\n`);
  return process.exit(1);
}

if (process.platform === "linux") {
  check(`Metal device over the stand-in: ${MEMORY.join(" ")}`, "npx", ["vitest", "run", ...STAND_IN], {
    ...ENVIRONMENT,
    // Both libraries have the emulator's shared memory, each its own.
    ASAN_OPTIONS: `${ENVIRONMENT.ASAN_OPTIONS}:detect_odr_violation=0`,
    LD_PRELOAD: sharedRuntime("asan"),
    STAND_IN_SANITIZE: "memory",
  });
  check(`Metal device over the stand-in: ${THREADS.join(" ")}`, "npx", ["vitest", "run", ...STAND_IN], {
    ...process.env,
    // What Node and its libraries do among themselves is not seen whole.
    TSAN_OPTIONS: "halt_on_error=1:ignore_noninstrumented_modules=1:report_signal_unsafe=0",
    LD_PRELOAD: sharedRuntime("tsan"),
    STAND_IN_SANITIZE: "threads",
  });
} else {
  process.stdout.write("not run: the Metal device over the stand-in for Metal, which is for Linux\n");
}
