/**
 * What native code does where there is no memfd, as on macOS: buffers and copies of modules are files in the temporary folder. The
 * sources are compiled here as if this were not Linux, and run.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ModuleCache } from "../../../native/emulator/cache.ts";
import { ModuleBuilder } from "../../../native/emulator/module.ts";
import { runProcess } from "../../../native/msl/process.ts";
import { TEST_CACHE, testToolchain } from "../msl/workbench.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const SOURCES = [
  "native/addon/shared_memory.cpp",
  "native/addon/host_memory.cpp",
  "native/emulator/runtime/module_copy.cpp",
];

const PROGRAM = `
#include <dirent.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include "native/addon/shared_memory.h"
#include "native/emulator/runtime/module_copy.h"
using namespace lockstep;

int files(const char *prefix) {
  int found = 0;
  DIR *folder = opendir(std::getenv("TMPDIR"));
  while (const dirent *entry = readdir(folder)) found += std::strncmp(entry->d_name, prefix, std::strlen(prefix)) == 0;
  closedir(folder);
  return found;
}

int main(int, char **words) {
  {
    auto memory = SharedMemory::allocate(100);
    std::printf("buffers %d of this process %d\\n", files("lockstep-memory-"),
                std::strstr(memory->path().c_str(), std::to_string(getpid()).c_str()) != nullptr);
    memory->fill(7);
    std::fstream file(memory->path(), std::ios::in | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(memory->file_offset()));
    std::printf("first byte %d, end at a page %d\\n", file.get(),
                static_cast<int>(memory->file_bytes() % static_cast<std::size_t>(sysconf(_SC_PAGESIZE))));
  }
  std::printf("buffers left %d\\n", files("lockstep-memory-"));
  std::ifstream module(words[1], std::ios::binary);
  const std::vector<char> image{std::istreambuf_iterator<char>(module), std::istreambuf_iterator<char>()};
  {
    const ModuleCopy one(image, "lockstep_entry"), two(image, "lockstep_entry");
    std::printf("errors '%s%s', apart %d, files %d\\n", one.error().c_str(), two.error().c_str(), one.entry() != two.entry(),
                files("lockstep-module-"));
  }
  const ModuleCopy broken(std::vector<char>(64, 'x'), "");
  std::printf("broken %d, files %d\\n", broken.error().find("cannot be loaded") != std::string::npos, files("lockstep-module-"));
}
`;

const TEXT = `
extern "C" [[clang::sycl_external]] __attribute__((used, visibility("default"))) void lockstep_entry() {}
`;

let folder: string;
let module: string;
let program: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lockstep-files-"));
  module = join(folder, "module");
  program = join(folder, "program");
  const toolchain = await testToolchain();
  const builder = new ModuleBuilder(toolchain, new ModuleCache(TEST_CACHE));
  expect(await builder.build(TEXT, "fast", folder, module)).toEqual({ ok: true });
  writeFileSync(join(folder, "program.cpp"), PROGRAM);
  const flags = [
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-U__linux__",
    "-I",
    ROOT,
    "-I",
    "native/emulator/runtime",
  ];
  const linker = toolchain.linker === undefined ? [] : [`--ld-path=${toolchain.linker}`];
  const sdk = toolchain.sdk === undefined ? [] : ["-isysroot", toolchain.sdk];
  const args = [...flags, join(folder, "program.cpp"), ...SOURCES, ...linker, ...sdk, "-o", program];
  expect((await runProcess(toolchain.clang, args, { cwd: ROOT })).stderr).toBe("");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The lines of the program, with a temporary folder of its own that holds `files`. */
async function run(files: readonly string[] = []): Promise<{ lines: readonly string[]; left: readonly string[] }> {
  const place = mkdtempSync(join(folder, "tmp-"));
  for (const name of files) writeFileSync(join(place, name), "");
  const { status, stdout, stderr } = await runProcess("env", [`TMPDIR=${place}`, program, module]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return { lines: stdout.trim().split("\n"), left: readdirSync(place).sort() };
}

describe("without memfd", () => {
  it("buffers are files as long as they live, modules until they are loaded, and each copy is its own", async () => {
    expect((await run()).lines).toEqual([
      "buffers 1 of this process 1",
      "first byte 7, end at a page 0",
      "buffers left 0",
      "errors '', apart 1, files 0",
      "broken 1, files 0",
    ]);
  });

  it("what a killed process left is removed; what a living one holds, and what is somebody else's, is not", async () => {
    const gone = (await runProcess("sh", ["-c", "echo $$"])).stdout.trim();
    const kept = [`lockstep-memory-${process.pid}-ABCDEF`, "lockstep-memory-of-somebody", "other"];
    const { left } = await run([`lockstep-memory-${gone}-ABCDEF`, ...kept]);
    expect(left).toEqual([...kept].sort());
  });
});
