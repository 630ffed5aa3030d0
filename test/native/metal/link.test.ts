/**
 * The addon for macOS compiles to arm64 objects and links to a bundle, on Linux: with the stand-ins for headers of
 * `apple_target.ts`, and with library stubs written by hand (`tbd/`) that list what it takes of each library and nothing else.
 *
 * What this shows: every name that the objects ask for is one that was looked up and listed; Node-API's are the only ones
 * left to be found at run time, and only those of the version that is compiled for; names newer than the oldest macOS are
 * weak. What it does not show: that macOS has them, that they do what the sources expect, or that the bundle loads. Nothing
 * here has run on a Mac. The C++ library's names come from libc++'s own headers, an SDK's may ask for a few others. Compiler-rt,
 * which clang links in on a Mac, is stood in for by `tbd/platform_version.c`.
 *
 * On a Mac the bundle is the one that was built with the SDK; its libraries and what it takes of Apple's frameworks are the same.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEPLOYMENT_TARGET, targets } from "../../../build/native.mjs";
import { packageConfig } from "../../../build/package_config.mjs";
import { runProcess } from "../../../native/msl/process.ts";
import { linkFlags } from "./apple_link.ts";
import { AppleTarget, eachOf, PATIENCE, ROOT, SOURCES, TARGET } from "./apple_target.ts";
import { CPU_TYPE_ARM64, type MachO, MH_BUNDLE, PLATFORM_MACOS, readMachO } from "./mach_o.ts";
import { STUBS, textStubs } from "./text_stub.ts";

const MAC = process.platform === "darwin";
const ADDON = "lockstep.node";
const NODE_API: { symbols: Record<string, { js_native_api_symbols: string[]; node_api_symbols: string[] }> } =
  createRequire(import.meta.url)("node-api-headers");

let target: AppleTarget;
let objects: readonly string[] = [];
let bundle: MachO;

beforeAll(async () => {
  target = await AppleTarget.open();
  if (!MAC) objects = await compileAll();
  const file = MAC ? join(ROOT, "out", ADDON) : join(target.folder, ADDON);
  if (!MAC) expect(await link(file)).toBe("");
  bundle = readMachO(readFileSync(file));
}, PATIENCE);

afterAll(() => {
  target.close();
});

async function compileAll(): Promise<readonly string[]> {
  const version = join(target.folder, "platform_version.o");
  const { stderr } = await runProcess(target.clang, [
    ...[TARGET, `-mmacosx-version-min=${DEPLOYMENT_TARGET}`],
    ...["-x", "c", "-c", join(STUBS, "platform_version.c"), "-o", version],
  ]);
  expect(stderr).toBe("");
  const jobs = SOURCES.filter(({ output }) => output === ADDON).map((source) => ({
    source,
    object: join(target.folder, `${source.path.replaceAll("/", "__")}.o`),
  }));
  await eachOf(jobs, ({ source, object }) => target.compile(source, object));
  return [...jobs.map(({ object }) => object), version];
}

/** Symbols of the Node-API version that the addon is compiled for. */
function nodeApi(): readonly string[] {
  const version = SOURCES.flatMap(({ flags }) => flags).find((flag) => flag.startsWith("-DNAPI_VERSION="));
  const known = NODE_API.symbols[`v${version?.split("=")[1]}`];
  if (known === undefined) throw new Error(`node-api-headers knows no symbols for ${version}`);
  return [...known.js_native_api_symbols, ...known.node_api_symbols].map((name) => `_${name}`);
}

interface LinkOptions {
  readonly stubs?: string;
  readonly lookedUp?: readonly string[];
  readonly without?: readonly string[];
}

/** Links with the flags of the product, but for what is looked up at run time: listed here, anything there. */
async function link(output: string, options: LinkOptions = {}): Promise<string> {
  const { stubs = STUBS, lookedUp = nodeApi(), without = [] } = options;
  const product =
    targets("darwin")
      .find((built) => built.output === ADDON)
      ?.link.join(" ") ?? "";
  expect(product).toContain("-undefined dynamic_lookup");
  const flags = [" -undefined dynamic_lookup", ...without].reduce(
    (text, flag) => text.replace(flag, ""),
    ` ${product}`,
  );
  const args = [
    ...(await linkFlags(target.clang, stubs)),
    ...flags.trim().split(" "),
    ...lookedUp.map((name) => `-Wl,-U,${name}`),
  ];
  const { status, stderr } = await runProcess(target.clang, [...args, ...objects, "-o", output], { cwd: ROOT });
  if ((status === 0) !== (stderr === "")) throw new Error(`status ${status}:\n${stderr}`);
  return stderr;
}

/** A copy of the stubs in which a line of one is missing. */
function stubsWithout(path: string, line: string): string {
  const folder = join(target.folder, basename(path), line.trim().replace(/\W+/g, "_"));
  mkdirSync(dirname(folder), { recursive: true });
  cpSync(STUBS, folder, { recursive: true });
  const text = readFileSync(join(folder, path), "utf8");
  expect(text).toContain(`${line}\n`);
  writeFileSync(join(folder, path), text.replace(`${line}\n`, ""));
  return folder;
}

describe("the bundle", () => {
  it("is for arm64 macOS, from the oldest version that is built for", () => {
    const { cpuType, fileType, platform, oldestMacos } = bundle;
    expect({ cpuType, fileType, platform, oldestMacos }).toEqual({
      cpuType: CPU_TYPE_ARM64,
      fileType: MH_BUNDLE,
      platform: PLATFORM_MACOS,
      oldestMacos: DEPLOYMENT_TARGET,
    });
    const { mac } = packageConfig({ app: "", output: "", electronVersion: "45.0.0", signing: "none" });
    expect(mac?.minimumSystemVersion).toBe(DEPLOYMENT_TARGET);
  });

  it("loads the libraries that are expected and no other", () => {
    expect([...bundle.libraries].sort()).toEqual(
      textStubs()
        .map(({ library }) => library)
        .sort(),
    );
  });

  it("offers what Node looks up in it and nothing else", () => {
    expect(bundle.exports).toEqual(["_napi_register_module_v1", "_node_api_module_get_api_version_v1"]);
  });

  it("asks the libraries for what their stubs list, so that nothing listed is unused", () => {
    // With an SDK the C++ library's own headers decide what is asked of it and of the C library, and the SDK where a class lies.
    const stubs = textStubs().filter(({ path }) => !MAC || path.startsWith("System/"));
    const place = (library: string | undefined): string => (MAC ? "frameworks" : `${library}`);
    const listed = stubs.flatMap(({ library, symbols }) => symbols.map((name) => `${place(library)}: ${name}`));
    const asked = bundle.imports
      .filter(({ library }) => stubs.some((stub) => stub.library === library))
      .map(({ name, library }) => `${place(library)}: ${name}`);
    expect(asked.sort()).toEqual(listed.sort());
  });

  it("leaves nothing but Node-API to be found at run time", () => {
    const found = bundle.imports.filter(({ library }) => library === undefined).map(({ name }) => name);
    expect(found.length).toBeGreaterThan(30);
    expect(found.filter((name) => !nodeApi().includes(name))).toEqual([]);
  });

  it("loads without what is newer than the oldest macOS, and without nothing else", () => {
    const weak = bundle.imports.filter((symbol) => symbol.weak).map(({ name }) => name);
    expect(weak.sort()).toEqual(["_OBJC_CLASS_$_MTLLogStateDescriptor", "_OBJC_CLASS_$_MTLResidencySetDescriptor"]);
  });
});

describe.runIf(!MAC)("the link bites: it refuses", () => {
  const METAL = "System/Library/Frameworks/Metal.framework/Metal.tbd";
  const cases = [
    { what: "a function of Metal", stub: METAL, name: "_MTLCopyAllDevices", words: "MTLCopyAllDevices" },
    { what: "a class of Metal", stub: METAL, name: "MTLHeapDescriptor", words: "OBJC_CLASS_$_MTLHeapDescriptor" },
    { what: "a C function", stub: "usr/lib/libSystem.tbd", name: "_sysctlbyname", words: "sysctlbyname" },
    {
      what: "a C++ name",
      stub: "usr/lib/libc++.tbd",
      name: "__ZNSt3__15mutex4lockEv",
      words: "std::__1::mutex::lock()",
    },
  ];

  it.each(cases)("$what that is not listed", async ({ stub, name, words }) => {
    const stubs = stubsWithout(stub, `      - ${name}`);
    const said = await link(join(target.folder, "refused.node"), { stubs });
    expect(said).toContain(`error: undefined symbol: ${words}`);
  });

  it("a library that the product does not name", async () => {
    const said = await link(join(target.folder, "refused.node"), { without: [" -framework IOKit"] });
    expect(said).toContain("error: undefined symbol: IOServiceGetMatchingService");
  });

  it("a name of Node-API that the version does not have", async () => {
    const lookedUp = nodeApi().filter((name) => name !== "_napi_create_promise");
    const said = await link(join(target.folder, "refused.node"), { lookedUp });
    expect(said).toContain("error: undefined symbol: napi_create_promise");
  });
});
