/** How kernels and the module runtime are compiled: one table, each flag with its reason. */
import type { Flavour } from "../device.ts";
import type { Toolchain } from "../msl/toolchain.ts";

/** `kernel`: the precompiled prefix and kernels; `runtime`: the scheduler linked into each module. */
export type CompileStep = "kernel" | "runtime";

interface FlagRow {
  readonly flags: readonly string[];
  readonly why: string;
  readonly step?: CompileStep;
  /** The flavours that it is for; all if absent. */
  readonly flavours?: readonly Flavour[];
  readonly architecture?: Toolchain["architecture"];
}

const INSTRUMENTED: readonly Flavour[] = ["lockstep", "check", "check+lockstep"];
const CHECKING: readonly Flavour[] = ["check", "check+lockstep"];

const HOST_TRIPLES: Readonly<Record<string, string>> = {
  "linux-x86_64": "x86_64-pc-linux-gnu",
  "linux-aarch64": "aarch64-unknown-linux-gnu",
  "darwin-x86_64": "x86_64-apple-macosx",
  "darwin-aarch64": "arm64-apple-macosx",
};

function rows(toolchain: Toolchain): readonly FlagRow[] {
  const triple = HOST_TRIPLES[`${toolchain.platform}-${toolchain.architecture}`] ?? "x86_64-pc-linux-gnu";
  return [
    {
      flags: toolchain.target === undefined ? [] : [`--target=${toolchain.target}`],
      why: "where modules are built for another machine",
    },
    {
      flags: toolchain.sdk === undefined ? [] : ["-isysroot", toolchain.sdk],
      why: "the C headers of macOS lie in its SDK, and which one is decided once",
    },
    { flags: ["-std=c++20"], why: "class-type template arguments; MSL itself is C++14 and up" },
    { flags: ["-O2"], why: "-O3 measured no faster" },
    { flags: ["-fPIC", "-fvisibility=hidden"], why: "modules are shared libraries that export the entry alone" },
    {
      step: "kernel",
      flags: ["-Xclang", "-fsycl-is-device", "-Xclang", "-aux-triple", "-Xclang", triple],
      why: "address spaces become types (overloads, specialisations) and still convert to plain references; without the auxiliary triple clang cannot mangle __bf16",
    },
    { step: "kernel", flags: ["-fdeclspec"], why: "swizzles are __declspec(property)" },
    {
      step: "kernel",
      flags: ["-Xclang", "-cl-single-precision-constant"],
      why: "MSL has no double: a literal without a suffix is a float",
    },
    {
      step: "kernel",
      flags: ["-fmax-type-align=16"],
      why: "long4 and ulong4 have 32 bytes, buffers and their offsets are aligned to 16 at most",
    },
    { step: "kernel", flags: ["-fsigned-char"], why: "MSL's char is signed, the host's need not be" },
    {
      step: "kernel",
      flags: ["-fno-finite-loops"],
      why: "a loop that never ends runs into the time-out; C++ would let the compiler assume it away, and then it crashes",
    },
    { step: "kernel", flags: ["-fconvergent-functions"], why: "collectives must not be moved across branches" },
    {
      step: "kernel",
      flags: [...["-mllvm", "-inline-threshold=100000"], ...["-mllvm", "-inline-cold-callsite-threshold=100000"]],
      why: "helper functions become part of the kernel, as on a GPU: a collective is known by its code address, which must differ from call to call",
    },
    { flags: ["-mno-red-zone"], why: "the fiber switch pushes onto the stack", architecture: "x86_64" },
    {
      flags: ["-mno-outline-atomics"],
      why: "on the first arm64 level atomics would be functions of the compiler's runtime library",
      architecture: "aarch64",
    },
    {
      step: "kernel",
      flags: ["-fsanitize=integer-divide-by-zero", "-fsanitize-trap=integer-divide-by-zero"],
      why: "arm64 divides by zero without a word; x86-64 raises a signal, which names the kernel and the thread",
      architecture: "aarch64",
    },
    {
      step: "kernel",
      flags: ["-mllvm", "-force-ordered-reductions=false"],
      why: "arm64 alone vectorises sums that keep their order, and then products are no longer fused with them",
      architecture: "aarch64",
    },
    { flags: ["-fomit-frame-pointer"], why: "the fiber switch clobbers every register, the frame pointer too" },
    { flags: ["-fno-exceptions", "-fno-rtti"], why: "MSL has neither; unwinding cannot cross fibers" },
    { flags: ["-fno-math-errno", "-fno-trapping-math"], why: "as on a GPU; lets sqrt and selects be instructions" },
    {
      flags: ["-ffp-contract=on"],
      why: "the same products are fused in every flavour, so results are equal bit for bit",
    },
    {
      step: "kernel",
      flags: ["-Xclang", "-ffloat16-excess-precision=none", "-Xclang", "-fbfloat16-excess-precision=none"],
      why: "half and bfloat round after every operation, as on a GPU",
    },
    {
      flags: ["-fno-stack-protector", "-U_FORTIFY_SOURCE"],
      why: "distributions add both; a fiber stack has no canary",
    },
    { flags: ["-fno-threadsafe-statics"], why: "a module copy belongs to one thread" },
    { step: "kernel", flags: ["-Wno-everything"], why: "warnings of C++ about MSL help nobody" },
    {
      flags: ["-fno-crash-diagnostics"],
      why: "a compiler that ends early must not leave files in the temporary folder",
    },
    {
      step: "kernel",
      flags: ["-fno-spell-checking"],
      why: "corrections reach for names of the headers and go on with them",
    },
    {
      flavours: ["lockstep", "check+lockstep"],
      flags: ["-DLOCKSTEP_FLAVOUR_LOCKSTEP=1"],
      why: "the headers and the runtime take part in the rendezvous at every threadgroup access",
    },
    {
      flavours: CHECKING,
      flags: ["-DLOCKSTEP_FLAVOUR_CHECK=1"],
      why: "the headers tell the runtime of rendezvous, and the callbacks look at every access",
    },
    {
      step: "kernel",
      flavours: INSTRUMENTED,
      flags: ["-fsanitize=thread"],
      why: "a callback before every load and store; the callbacks are the project's own",
    },
    {
      step: "kernel",
      flavours: INSTRUMENTED,
      flags: ["-mllvm", "-tsan-instrument-read-before-write=1", "-mllvm", "-tsan-instrument-func-entry-exit=0"],
      why: "a read that a write follows is an access too; calls are of no interest",
    },
    {
      step: "kernel",
      flavours: INSTRUMENTED,
      flags: ["-fno-vectorize", "-fno-slp-vectorize"],
      why: "accesses wider than 16 bytes would not be seen",
    },
    {
      step: "kernel",
      flavours: INSTRUMENTED,
      flags: ["-fno-optimize-sibling-calls"],
      why: "a collective is known by the address it returns to, which a tail call does not have",
    },
    {
      step: "kernel",
      flavours: CHECKING,
      flags: ["-fsanitize=array-bounds", "-fno-sanitize-recover=array-bounds"],
      why: "an index outside of an array of known size is found before the address is formed; the handler does not return, so loads around it are merged as without it",
    },
    {
      step: "kernel",
      flavours: CHECKING,
      flags: ["-fsanitize=signed-integer-overflow,unsigned-integer-overflow,implicit-signed-integer-truncation"],
      why: "index arithmetic that leaves its width; the handlers are the project's own and go on",
    },
    {
      step: "kernel",
      flavours: CHECKING,
      flags: ["-ftrivial-auto-var-init=pattern", "-ftrivial-auto-var-init-max-size=256"],
      why: "local variables that nobody wrote hold a pattern; matrices are larger and are NaN by themselves",
    },
    {
      step: "kernel",
      flavours: CHECKING,
      flags: ["-mllvm", "-capture-tracking-max-uses-to-explore=0"],
      why: "the instrumentation skips local arrays whose address does not escape; now none counts as such",
    },
    {
      step: "kernel",
      flavours: CHECKING,
      flags: ["-mllvm", "-sink-common-insts=false", "-mllvm", "-hoist-common-insts=false"],
      why: "an access that stands for those of two branches has no line",
    },
    { step: "kernel", flavours: INSTRUMENTED, flags: ["-gline-tables-only"], why: "reports name source lines" },
  ];
}

/** Flags of one compilation, in the order of the table. */
export function compileFlags(toolchain: Toolchain, step: CompileStep, flavour: Flavour): readonly string[] {
  const chosen = rows(toolchain).filter(
    (row) =>
      (row.step === undefined || row.step === step) &&
      (row.flavours === undefined || row.flavours.includes(flavour)) &&
      (row.architecture === undefined || row.architecture === toolchain.architecture),
  );
  return [...chosen.flatMap((row) => row.flags), ...toolchain.features];
}

/**
 * On macOS clang links, and the linker signs for this machine, as arm64 needs.
 * - one name for every module, in place of the path of a draft: a module is the same bytes wherever it was built
 * - functions of equal code stay apart: which rendezvous a lane waits at is told by the address of what completes it
 * - no map to objects that are gone
 * - no C++ library, which nothing in a module needs
 */
const MAC_LINK = ["-nostdlib++", "-Wl,-install_name,lockstep-module", "-Wl,-no_deduplicate", "-Wl,-S"];

/** Arguments of the linker for a module of `objects`. */
export function linkCommand(
  toolchain: Toolchain,
  objects: readonly string[],
  output: string,
): { readonly program: string; readonly args: readonly string[] } {
  if (toolchain.linker === undefined) {
    const sdk = toolchain.sdk === undefined ? [] : ["-isysroot", toolchain.sdk];
    return { program: toolchain.clang, args: ["-dynamiclib", ...sdk, ...MAC_LINK, "-o", output, ...objects] };
  }
  // The linker alone, without clang's driver around it: 0.08 s instead of 0.2 s.
  const args = ["-shared", "--no-undefined", "--hash-style=gnu", "-z", "noexecstack", "-o", output];
  return { program: toolchain.linker, args: [...args, ...objects, ...toolchain.libraries] };
}
