/** Finds the compiler and the linker that kernels are built with, and says what to install where there is none. */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { candidates, findLinker, installLine, majorVersion, xcrun } from "./compilers.mjs";
import { runProcess } from "./process.ts";

export interface Toolchain {
  /** clang++ as it is started. */
  readonly clang: string;
  /** The file behind it. */
  readonly realPath: string;
  /** Real path of ld.lld; undefined on macOS, where clang itself links. */
  readonly linker: string | undefined;
  /** First line of `clang++ --version`. */
  readonly version: string;
  readonly major: number;
  readonly platform: NodeJS.Platform;
  readonly architecture: "x86_64" | "aarch64";
  /** Triple of another machine that modules are built for; undefined for this one. */
  readonly target?: string;
  /** `-march=` and friends that this CPU runs, in a fixed order. */
  readonly features: readonly string[];
  /** System libraries that modules are linked with, as paths. */
  readonly libraries: readonly string[];
  /** Folder of the SDK, on macOS: a clang that is started by its path may find none, or one that an update has removed. */
  readonly sdk?: string;
  /** Digest of all of the above: the compiler's identity in every cache key and receipt. */
  readonly id: string;
}

export type ToolchainResult =
  | { readonly found: Toolchain }
  | { readonly found?: undefined; readonly reason: string; readonly mend: string };

export interface ToolchainQuery {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Says why a toolchain must not be used, or undefined. Called once for each until one passes. */
  readonly refuse?: (toolchain: Toolchain) => Promise<string | undefined>;
}

/**
 * Finds clang++ and its linker: `LOCKSTEP_CLANG`, then PATH and the usual places, version 19 before others. Starts the
 * compiler twice (version, library paths); callers keep the result (see `emulator/open.ts`).
 */
export async function findToolchain(query: ToolchainQuery = {}): Promise<ToolchainResult> {
  const environment = query.environment ?? process.env;
  const forced = environment.LOCKSTEP_CLANG;
  const rejected: string[] = [];
  for (const candidate of candidates(environment)) {
    const result = await probe(candidate, environment);
    const refusal = typeof result === "string" ? result : await query.refuse?.(result);
    if (typeof result !== "string" && refusal === undefined) return { found: result };
    rejected.push(`${candidate}: ${refusal}`);
  }
  if (forced !== undefined && forced !== "") {
    const reason = `LOCKSTEP_CLANG is ${forced}, which cannot be used (${rejected[0] ?? "there is no such program"})`;
    return { reason, mend: `unset LOCKSTEP_CLANG or name a clang++; to install one: ${installLine()}` };
  }
  const reason = rejected.length > 0 ? `no usable clang++ (${rejected.join("; ")})` : "no clang++ on this machine";
  return { reason, mend: installLine() };
}

/** The toolchain around one clang++, or why it cannot be used. */
async function probe(
  candidate: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Toolchain | string> {
  const realPath = realpathSync(candidate);
  // By its name clang decides whether it is the C++ compiler, so it is started by the name it was found under.
  const clang = candidate;
  const answer = await runProcess(clang, ["--version"]).catch((error: Error) => error.message);
  if (typeof answer === "string") return answer;
  const version = answer.stdout.split("\n")[0]?.trim() ?? "";
  if (answer.status !== 0) return "it is not clang";
  const known = majorVersion(version);
  if (known.major === undefined) return known.reason;
  const { major } = known;
  const architecture = machine();
  if (architecture === undefined) return `kernels are built for x86-64 and arm64, not for ${process.arch}`;
  const linker = process.platform === "darwin" ? undefined : findLinker(realPath, major, environment);
  if (process.platform !== "darwin" && linker === undefined) return "there is no ld.lld beside it";
  const libraries = process.platform === "darwin" ? [] : await systemLibraries(clang);
  if (typeof libraries === "string") return libraries;
  const features = cpuFeatures(architecture);
  if (typeof features === "string") return features;
  const sdk = process.platform === "darwin" ? xcrun(environment, "--show-sdk-path") : undefined;
  if (process.platform === "darwin" && sdk === undefined) {
    return "xcrun knows no SDK for macOS: xcode-select --install brings one";
  }
  const facts = {
    clang,
    realPath,
    linker,
    version,
    major,
    platform: process.platform,
    architecture,
    features,
    libraries,
    ...(sdk === undefined ? {} : { sdk }),
  };
  return identified(facts);
}

/** Another machine that modules are built for. */
export type CrossTarget = Pick<Toolchain, "architecture" | "features"> & { readonly target: string };

/** The same compiler and linker for another Linux, or why not: its C library comes from the system's cross packages. */
export async function crossToolchain(host: Toolchain, cross: CrossTarget): Promise<Toolchain | string> {
  const libraries = await systemLibraries(host.clang, cross.target);
  if (typeof libraries === "string") return libraries;
  const { id: _, ...facts } = host;
  return identified({ ...facts, ...cross, platform: "linux", libraries });
}

function identified(facts: Omit<Toolchain, "id">): Toolchain {
  return { ...facts, id: createHash("sha256").update(JSON.stringify(facts)).digest("hex") };
}

function machine(): Toolchain["architecture"] | undefined {
  if (process.arch === "x64") return "x86_64";
  return process.arch === "arm64" ? "aarch64" : undefined;
}

async function systemLibraries(clang: string, target?: string): Promise<readonly string[] | string> {
  const names = ["libc.so.6", "libm.so.6"];
  const paths: string[] = [];
  for (const name of names) {
    const where = target === undefined ? [] : [`--target=${target}`];
    const answer = await runProcess(clang, [...where, `-print-file-name=${name}`]);
    const path = answer.stdout.trim();
    if (!path.startsWith("/")) return `it finds no ${name}${target === undefined ? "" : ` for ${target}`}`;
    paths.push(realpathSync(path));
  }
  return paths;
}

/**
 * A fixed level instead of `-march=native`: results then do not depend on which machine built the module, and AVX2
 * measured as fast as AVX-512 here. FMA is needed so that both flavours contract the same products.
 */
function cpuFeatures(architecture: Toolchain["architecture"]): readonly string[] | string {
  if (process.platform === "darwin") return architecture === "aarch64" ? ["-mcpu=apple-m1"] : ["-march=x86-64-v3"];
  const info = readFileSync("/proc/cpuinfo", "utf8");
  const has = new Set(/^(?:flags|Features)\s*:\s*(.*)$/m.exec(info)?.[1]?.split(/\s+/) ?? []);
  if (architecture === "aarch64") return has.has("asimdhp") ? ["-march=armv8.2-a+fp16"] : ["-march=armv8-a"];
  const missing = ["avx2", "fma", "f16c", "bmi2"].filter((feature) => !has.has(feature));
  if (missing.length > 0)
    return `this CPU lacks ${missing.join(", ")}, which emulated kernels are built for (x86-64-v3)`;
  return ["-march=x86-64-v3"];
}
