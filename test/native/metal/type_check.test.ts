/**
 * The native code for macOS type-checks, Objective-C++ and C++, every branch for macOS included. The addon's sources with the
 * newest SDK are compiled to objects in `link.test.ts`, with the same warnings; here are older SDKs, the runner, and errors
 * that must be found. On Linux the headers of this folder stand for those of macOS (see `apple_target.ts` for what that shows
 * and what not); on a Mac they are the SDK's own.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  AppleTarget,
  eachOf,
  HEADERS,
  PATIENCE,
  ROOT,
  SOURCES,
  type Source,
  SYSTEM,
  sourceAt,
  textOf,
} from "./apple_target.ts";

/** A Mac has one SDK, with all its names: what is about the stand-ins alone is for Linux. */
const MAC = process.platform === "darwin";

const OBJECTIVE = SOURCES.filter((source) => source.objective);

/** Versions of the SDK: what is newer is not declared. 14.2 is the oldest that was read, and Xcode 15's. */
const SDK_14 = ["-D__MAC_OS_X_VERSION_MAX_ALLOWED=140200"];
const SDK_15 = ["-D__MAC_OS_X_VERSION_MAX_ALLOWED=150000"];

/** Between SDK 14.2 and 26 only sources that ask for 15 are another text. */
const SDKS: readonly { sdk: string; sources: readonly Source[]; flags: readonly string[] }[] = MAC
  ? [{ sdk: "the SDK at hand", sources: OBJECTIVE, flags: [] }]
  : [
      { sdk: "SDK 14.2, which knows fewer names", sources: OBJECTIVE, flags: SDK_14 },
      {
        sdk: "SDK 15.0, where its text is another one",
        sources: OBJECTIVE.filter(({ path }) => textOf(path).includes("LOCKSTEP_SDK_15")),
        flags: SDK_15,
      },
    ];

let target: AppleTarget;

beforeAll(async () => {
  target = await AppleTarget.open();
});

afterAll(() => {
  target.close();
});

/** What clang says about the sources that it does not take. */
async function complaints(sources: readonly Source[], extra: readonly string[] = []): Promise<readonly string[]> {
  const found: string[] = [];
  await eachOf(sources, async (source) => {
    const said = await target.diagnose(source, textOf(source.path), extra);
    if (said !== "") found.push(`${source.path}:\n${said}`);
  });
  return found;
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
  it(
    "takes the runner's sources without a warning",
    async () => {
      expect(await complaints(SOURCES.filter(({ output }) => output === "lockstep-runner"))).toEqual([]);
    },
    PATIENCE,
  );

  it.each(SDKS)(
    "takes the Objective-C++ with $sdk",
    async ({ sources, flags }) => {
      expect(sources.length).toBeGreaterThan(2);
      expect(await complaints(sources, flags)).toEqual([]);
    },
    PATIENCE,
  );

  it("takes every header alone: its source includes it first, or it is compiled here", async () => {
    const headers = ["native/addon", "native/metal"].flatMap((folder) =>
      readdirSync(join(ROOT, folder))
        .filter((name) => name.endsWith(".h"))
        .map((name) => `${folder}/${name}`),
    );
    const leaning = headers.filter((header) => {
      const own = SOURCES.find(({ path }) => path.replace(/\.\w+$/, ".h") === header);
      const first = /#(?:include|import) (\S+)/.exec(own === undefined ? "" : textOf(own.path))?.[1];
      return first !== `"${basename(header)}"`;
    });
    expect(headers.length).toBeGreaterThan(15);
    const found: string[] = [];
    await eachOf(leaning, async (path) => {
      const source = { ...sourceAt(OBJECTIVE[0]?.path ?? ""), path };
      const said = await target.diagnose(source, `#include "${basename(path)}"\n`);
      if (said !== "") found.push(`${path}:\n${said}`);
    });
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

  it("has every system header that a source names, among the stand-ins", () => {
    const named = SOURCES.flatMap(({ path }) => [
      ...withoutLinux(textOf(path)).matchAll(/#(?:include|import) <([A-Za-z_/]+\.h)>/g),
    ]);
    const missing = named
      .map(([, header = ""]) => header)
      .filter((header) => ![HEADERS, SYSTEM].some((folder) => existsSync(join(folder, header))));
    expect([...new Set(missing)].filter((header) => header !== "napi.h")).toEqual([]);
  });
});

describe("the check bites: it finds", () => {
  /**
   * The diagnosis after `find`, which must occur, was replaced; without what stands in other lines than the replacement.
   */
  async function seeded(path: string, find: string, replace: string, extra: readonly string[] = []): Promise<string> {
    const text = textOf(path);
    const at = text.indexOf(find);
    expect(at, `${path} has no "${find}"`).toBeGreaterThanOrEqual(0);
    const line = text.slice(0, at).split("\n").length;
    const last = line + replace.split("\n").length - 1;
    const said = await target.diagnose(
      sourceAt(path),
      text.replace(find, () => replace),
      extra,
    );
    return said
      .split("\n")
      .filter((words) => {
        const [, place] = /^<stdin>:(\d+):\d+: error: /.exec(words) ?? [];
        return place !== undefined && Number(place) >= line && Number(place) <= last;
      })
      .join("\n");
  }

  const cases: readonly {
    what: string;
    path: string;
    find: string;
    replace: string;
    words: RegExp;
    older?: boolean;
  }[] = [
    {
      what: "a selector that is misspelled",
      path: "native/metal/submission.mm",
      find: "setComputePipelineState:",
      replace: "setComputePipelinestate:",
      words: /instance method 'setComputePipelinestate:' not found/,
    },
    {
      what: "an argument of another type",
      path: "native/metal/submission.mm",
      find: "setBuffer:bound.memory->buffer()",
      replace: "setBuffer:dispatch.pipeline->state",
      words: /incompatible pointer types|cannot initialize a parameter of type/,
    },
    {
      what: "a property that is misspelled",
      path: "native/metal/submission.mm",
      find: "buffer.GPUStartTime",
      replace: "buffer.gpuStartTime",
      words: /property 'gpuStartTime' not found/,
    },
    {
      what: "an enumerator that is misspelled",
      path: "native/metal/submission.mm",
      find: "MTLDispatchTypeSerial",
      replace: "MTLDispatchSerial",
      words: /use of undeclared identifier 'MTLDispatchSerial'/,
    },
    {
      what: "an object as void* without a word to ARC",
      path: "native/metal/connection.mm",
      find: "namespace lockstep::metal {",
      replace: "namespace lockstep::metal {\nvoid* bare(id<MTLDevice> device) { return (void*)device; }",
      words: /requires a bridged cast/,
    },
    {
      what: "a number for a MTLSize",
      path: "native/metal/submission.mm",
      find: "dispatchThreadgroups:dispatch.threadgroups ",
      replace: "dispatchThreadgroups:dispatch.threadgroups.width ",
      words: /no viable conversion from '(const )?NSUInteger'.* to 'MTLSize'/,
    },
    {
      what: "a write to a property that is read only",
      path: "native/metal/memory.mm",
      find: "memory->buffer_.label = to_ns_string(label);",
      replace: "memory->buffer_.length = length;",
      words: /assignment to readonly property/,
    },
    {
      what: "an object of another protocol",
      path: "native/metal/memory.mm",
      find: "residency->add(memory->heap_);",
      replace: "residency->add(memory->buffer_);",
      words: /cannot (initialize a parameter of type|convert)|incompatible/,
    },
    {
      what: "a call that the oldest macOS lacks, without @available",
      path: "native/metal/detection.mm",
      find: "if (@available(macOS 14.0, *)) facts.architecture",
      replace: "facts.architecture",
      words: /'architecture' is only available on macOS 14\.0 or newer/,
    },
    {
      what: "a call behind @available of a macOS that lacks it",
      path: "native/metal/log.mm",
      find: "if (@available(macOS 15.0, *)) descriptor.logState",
      replace: "if (@available(macOS 14.0, *)) descriptor.logState",
      words: /'setLogState:' is only available on macOS 15\.0 or newer/,
    },
    {
      what: "what may be nil where Metal wants an object",
      path: "native/metal/words.mm",
      find: "return made == nil",
      replace:
        "static_cast<void>([NSURL fileURLWithPath:[NSString stringWithUTF8String:text.c_str()]]);\n  return made == nil",
      words: /implicit conversion from nullable pointer 'NSString \* _Nullable'.* to non-nullable/,
    },
    {
      what: "a name that an older SDK does not have",
      path: "native/metal/library.mm",
      find: "options.fastMathEnabled = mode == MathMode::fast;",
      replace: "options.fastMathEnabled = static_cast<long>(mode) == MTLMathModeFast;",
      words: /use of undeclared identifier 'MTLMathModeFast'/,
      older: true,
    },
    {
      what: "a family of a newer SDK by its name instead of its number",
      path: "native/metal/detection.mm",
      find: "static_cast<MTLGPUFamily>(family)",
      replace: "MTLGPUFamilyApple10",
      words: /use of undeclared identifier 'MTLGPUFamilyApple10'/,
    },
  ];

  it.runIf(!MAC).each(cases)("$what", async ({ path, find, replace, words, older }) => {
    expect(await seeded(path, find, replace, older === true ? SDK_14 : [])).toMatch(words);
  });

  const memory = "native/addon/shared_memory.cpp";

  it("an error in a branch for macOS alone", async () => {
    expect(await seeded(memory, "closedir(entries);", "closedir(folder);")).toMatch(/no matching function.*closedir/);
  });

  it("a call that only Linux has", async () => {
    expect(await seeded(memory, "mkstemp(path.data())", 'memfd_create("lockstep", 0)')).toMatch(/use of undeclared/);
    expect(await target.diagnose(sourceAt(memory), `#include <sys/prctl.h>\n${textOf(memory)}`)).toMatch(/prctl/);
  });

  it("64-bit integers that are one type on Linux and two on macOS", async () => {
    const mixed = "std::uint64_t mixed(std::size_t a, std::uint64_t b) { return a < b ? a : std::max(a, b); }\n";
    expect(await target.diagnose(sourceAt(memory), mixed)).toMatch(/error: no matching function for call to 'max'/);
  });
});
