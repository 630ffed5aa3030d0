/**
 * The addon, the oracle and the runner type-check for macOS, every branch for it included. On Linux the headers in this
 * folder stand for those of macOS: what the sources use of them, with its types; other headers are the machine's own.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sources, targets } from "../../../build/native.mjs";
import { runProcess } from "../../../native/msl/process.ts";
import { testToolchain } from "../msl/workbench.ts";

const HEADERS = join(import.meta.dirname, "system");
const ROOT = join(HEADERS, "..", "..", "..", "..");
const TRIPLE = "arm64-apple-macos13";

const PATHS: readonly string[] = targets().flatMap(({ list }) => sources(join(ROOT, list)));
const FLAGS: readonly string[] = [
  ...[`--target=${TRIPLE}`, "-std=c++20", "-Wall", "-Wextra", "-fno-color-diagnostics"],
  ...targets().flatMap(({ compile }) => compile),
];

let clang: string;
let folder: string;
/** Flags with the include path of macOS, and with the headers of the C++ library read beforehand: they take longest. */
let flags: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lockstep-apple-"));
  clang = (await testToolchain()).clang;
  const system = [...FLAGS, ...(process.platform === "darwin" ? [] : await standIns())];
  const library = PATHS.flatMap((path) => textOf(path).match(/#include <(?:[a-z_]+|napi\.h)>/g) ?? []);
  const prefix = join(folder, "library.pch");
  const input = [...new Set(library)].join("\n");
  const { stderr } = await runProcess(clang, [...system, "-x", "c++-header", "-", "-o", prefix], { input });
  expect(stderr).toBe("");
  flags = [...system, "-include-pch", prefix];
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Flags that put this folder before the include path of the machine. */
async function standIns(): Promise<readonly string[]> {
  const { stderr } = await runProcess(clang, ["-E", "-v", "-x", "c++", "-"]);
  const listed = /#include <\.\.\.> search starts here:\n([\s\S]*?)End of search list/.exec(stderr)?.[1] ?? "";
  const folders = listed.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  return [
    "-nostdinc",
    "-nostdinc++",
    // The C++ library of Linux expects the first; the second is a word of Apple's clang that glibc uses for its own.
    ...["-D_GNU_SOURCE", "-U__nonnull"],
    ...[HEADERS, ...folders].flatMap((folder) => ["-isystem", folder]),
    ...["-include", "sys/types.h"],
  ];
}

/** What clang says about a text in the place of a source. */
async function diagnose(path: string, text: string): Promise<string> {
  const here = ["-I", join(ROOT, dirname(path))];
  return (await runProcess(clang, [...flags, ...here, "-fsyntax-only", "-x", "c++", "-"], { input: text })).stderr;
}

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The text without what stands between `#if defined(__linux__)` and its `#else` or `#endif`. */
function withoutLinux(text: string): string {
  let depth = 0;
  return text
    .split("\n")
    .filter((line) => {
      const opens = /^#if/.test(line);
      if (depth === 0) {
        depth = /^#if defined\(__linux__\)/.test(line) ? 1 : 0;
        return true;
      }
      if (opens) depth += 1;
      if (/^#endif/.test(line) || (depth === 1 && /^#(else|elif)/.test(line))) depth -= 1;
      return false;
    })
    .join("\n");
}

describe("macOS", () => {
  it("takes every source without a warning", async () => {
    expect(PATHS.length).toBeGreaterThan(20);
    const queue = [...PATHS];
    const found: string[] = [];
    const work = async (): Promise<void> => {
      for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
        const said = await diagnose(path, textOf(path));
        if (said !== "") found.push(`${path}:\n${said}`);
      }
    };
    await Promise.all([work(), work()]);
    expect(found).toEqual([]);
  });

  it("leaves out what is for Linux alone, and nothing else", () => {
    const text = ["a", "#if defined(__linux__) && X", "b", "#if Y", "c", "#endif", "#else", "d", "#endif", "e"].join(
      "\n",
    );
    expect(
      withoutLinux(text)
        .split("\n")
        .filter((line) => !line.startsWith("#")),
    ).toEqual(["a", "d", "e"]);
  });

  it("has every system header that a source names, in this folder", () => {
    const named = PATHS.flatMap((path) => [...withoutLinux(textOf(path)).matchAll(/#include <([a-z/]+\.h)>/g)]);
    const missing = named.flatMap(([, header = ""]) => (existsSync(join(HEADERS, header)) ? [] : [header]));
    expect(missing.filter((header) => header !== "napi.h")).toEqual([]);
  });
});

describe("the check bites: it finds", () => {
  const memory = "native/addon/shared_memory.cpp";

  /** The diagnosis after `find`, which must occur, was replaced. */
  async function seeded(find: string, replace: string): Promise<string> {
    const text = textOf(memory);
    expect(text).toContain(find);
    return await diagnose(memory, text.replace(find, replace));
  }

  it("an error in a branch for macOS alone", async () => {
    expect(await seeded("closedir(entries);", "closedir(folder);")).toMatch(/error: no matching function.*closedir/);
  });

  it("a call that only Linux has", async () => {
    expect(await seeded("mkstemp(path.data())", 'memfd_create("lockstep", 0)')).toMatch(/error: use of undeclared/);
    expect(await seeded("#include <unistd.h>", "#include <unistd.h>\n#include <sys/prctl.h>")).toMatch(/prctl/);
  });

  it("64-bit integers that are one type on Linux and two on macOS", async () => {
    const mixed = "std::uint64_t mixed(std::size_t a, std::uint64_t b) { return a < b ? a : std::max(a, b); }\n";
    expect(await diagnose(memory, mixed)).toMatch(/error: no matching function for call to 'max'/);
  });
});
