/** Which compiler the set-up takes, with folders of programs that only answer: macOS's tools are not here. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findApple, findLlvm, kernelNotice } from "../../build/compiler.mjs";
import { compilations, sources, targets } from "../../build/native.mjs";

const APPLE = "Apple clang version 17.0.0 (clang-1700.0.13.5)";
const LLVM = "Homebrew clang version 19.1.7";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "lockstep-compiler-")));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A program in a folder of its own; the path of it. */
function program(where: string, name: string, body: string): string {
  mkdirSync(join(folder, where), { recursive: true });
  const path = join(folder, where, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** PATH of the named folders. */
function path(...folders: readonly string[]): { readonly PATH: string } {
  return { PATH: folders.map((name) => join(folder, name)).join(":") };
}

/** The Command Line Tools: xcrun, and a clang++ outside PATH that it knows. */
function tools(version = APPLE): string {
  const clang = program("tools", "clang++", `echo "${version}"`);
  const answers = `*--find*) echo "${clang}" ;; *--show-sdk-path*) echo "${join(folder, "MacOSX.sdk")}" ;; *) exit 1 ;;`;
  program("usr", "xcrun", `case "$*" in ${answers} esac`);
  return clang;
}

describe("on a Mac", () => {
  it("takes Apple's clang with its SDK, without LLVM and before it", () => {
    const clang = tools();
    const expected = { clang, lld: "", major: 17, version: APPLE, sdk: join(folder, "MacOSX.sdk") };
    expect(findApple(path("usr"))).toEqual(expected);
    const llvm = program("llvm", "clang++-19", `echo "${LLVM}"`);
    expect(findApple({ ...path("llvm", "usr"), LOCKSTEP_CLANG: llvm })).toEqual(expected);
  });

  it("has none without xcrun, without an SDK or where what xcrun names is gone", () => {
    expect(findApple(path("usr"))).toBeUndefined();
    program("usr", "xcrun", 'echo "xcrun: error: invalid active developer path" >&2\nexit 1');
    expect(findApple(path("usr"))).toBeUndefined();
    const clang = tools();
    program("usr", "xcrun", `case "$*" in *--find*) echo "${clang}" ;; *) exit 1 ;; esac`);
    expect(findApple(path("usr"))).toBeUndefined();
    tools();
    rmSync(clang);
    expect(findApple(path("usr"))).toBeUndefined();
  });

  it("says in one line that the emulated device lacks LLVM, and how to get it", () => {
    // Named, so that a Mac that has LLVM in its usual place answers the same.
    const apple = tools();
    const notice = kernelNotice({ ...path("usr"), LOCKSTEP_CLANG: apple });
    expect(notice).toMatch(/the emulated device will not be available.*brew install llvm@19$/);
    expect(notice).not.toContain("\n");
    expect(kernelNotice({ ...path("usr"), LOCKSTEP_CLANG: join(folder, "gone") })).toBe(notice);
  });

  it("says nothing where there is LLVM, in PATH or named", () => {
    tools();
    const llvm = program("llvm", "clang++-19", `echo "${LLVM}"`);
    expect(kernelNotice(path("usr", "llvm"))).toBeUndefined();
    expect(kernelNotice({ ...path("usr"), LOCKSTEP_CLANG: llvm })).toBeUndefined();
  });
});

describe("the set-up on a Mac", () => {
  /** What it says and takes in a process that is told that it runs on macOS, in a folder of its own. */
  function setUp(env: Readonly<Record<string, string>>) {
    const module = pathToFileURL(join(import.meta.dirname, "..", "..", "build", "compiler.mjs")).href;
    const script = `Object.defineProperty(process, "platform", { value: "darwin" });
      const { compiler } = await import(${JSON.stringify(module)});
      process.stdout.write(JSON.stringify(compiler()));`;
    const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    return { status: run.status, out: run.stdout, said: run.stderr.split("\n").filter((line) => line !== "") };
  }

  it("goes on without LLVM, says so once, and starts no compiler again while it is the same", () => {
    const clang = tools();
    mkdirSync(join(folder, "MacOSX.sdk"));
    const env = { ...path("usr"), LOCKSTEP_CLANG: clang };
    const first = setUp(env);
    expect(first.status).toBe(0);
    expect(JSON.parse(first.out)).toMatchObject({ clang, version: APPLE, sdk: join(folder, "MacOSX.sdk") });
    expect(first.said).toEqual([expect.stringMatching(/^\[setup\] no LLVM clang was found/)]);
    const again = setUp({ PATH: "", LOCKSTEP_CLANG: clang });
    expect(again).toMatchObject({ status: 0, said: [] });
    expect(JSON.parse(again.out)).toMatchObject({ clang });
  });

  it("stops without the Command Line Tools, with the line that installs them", () => {
    const { status, said } = setUp(path("usr"));
    expect(status).toBe(2);
    expect(said.join("\n")).toContain("xcode-select --install");
  });
});

describe("on Linux", () => {
  it("takes the clang that has its linker beside it, version 19 before others", () => {
    program("old", "clang++", 'echo "clang version 18.1.3"');
    program("old", "ld.lld", "exit 0");
    expect(findLlvm(path("old"))).toMatchObject({ clang: join(folder, "old", "clang++"), major: 18 });
    const clang = program("new", "clang++-19", 'echo "clang version 19.1.7"');
    const lld = program("new", "ld.lld-19", "exit 0");
    expect(findLlvm(path("old", "new"))).toEqual({ clang, lld, major: 19, version: "clang version 19.1.7" });
  });

  it("has none without a linker, and asks no xcrun", () => {
    tools("clang version 19.1.7");
    expect(findLlvm(path("usr"))).toBeUndefined();
    program("new", "clang++-19", 'echo "clang version 19.1.7"');
    expect(findLlvm(path("new"))).toBeUndefined();
  });
});

describe("what is built", () => {
  it("has the Objective-C++ for macOS alone, with ARC, the oldest macOS and its frameworks", () => {
    const [addon] = targets("darwin");
    const objective = compilations(addon!).filter(({ source }) => source.endsWith(".mm"));
    expect(objective.map(({ source }) => source)).toEqual(sources("native/metal/SOURCES"));
    for (const { flags } of objective) {
      expect(flags).toEqual(expect.arrayContaining(["-fobjc-arc", "-mmacosx-version-min=13.0", "-DLOCKSTEP_METAL"]));
    }
    for (const { flags } of compilations(addon!).filter(({ source }) => source.endsWith(".cpp"))) {
      expect(flags).toContain("-DLOCKSTEP_METAL");
      expect(flags).not.toContain("-fobjc-arc");
    }
    const frameworks = addon!.link.filter((_, index) => addon!.link[index - 1] === "-framework");
    expect(frameworks).toEqual(["Metal", "Foundation", "CoreFoundation", "IOKit", "CoreGraphics"]);
    for (const { flags, source } of targets("linux").flatMap(compilations)) {
      expect(source).toMatch(/\.cpp$/);
      expect(flags.join(" ")).not.toMatch(/METAL|macos|objc/);
    }
  });
});
