/**
 * The hand-written headers say no more than is used, and of what is newer than the oldest macOS they say so. Whether they are
 * true to macOS is not shown here: `availability.ts` names where each newer fact was read.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEPLOYMENT_TARGET } from "../../../build/native.mjs";
import { AppleTarget, eachOf, HEADERS, PATIENCE, ROOT, SOURCES, textOf } from "./apple_target.ts";
import { BY_LANGUAGE, BY_STAND_IN, NEWER } from "./availability.ts";
import { type Declaration, readDeclarations } from "./declarations.ts";

interface Header {
  readonly path: string;
  readonly text: string;
  readonly declarations: readonly Declaration[];
}

const ALL: readonly Header[] = readdirSync(HEADERS, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".h"))
  .sort()
  .map((path) => {
    const text = readFileSync(join(HEADERS, path), "utf8");
    return { path, text, declarations: readDeclarations(text) };
  });

const METAL = ALL.filter(({ path }) => path.startsWith("Metal/")).flatMap(({ declarations }) => declarations);

function isMember({ kind }: Declaration): boolean {
  return kind === "property" || kind === "method";
}

function isNewer(version: string): boolean {
  return Number(version) > Number(DEPLOYMENT_TARGET);
}

/** Differences between declarations and the table, in both directions. */
function disagreements(declarations: readonly Declaration[]): readonly string[] {
  const table = new Map(NEWER.map(({ name, since }) => [name, since]));
  const enumerations = new Map(
    declarations.flatMap(({ text }) => {
      const [, type = "", names = ""] = /NS_(?:ENUM|OPTIONS)\(\w+, (\w+)\) \{(.*)\}/.exec(text) ?? [];
      return names.split(",").map((name): [string, string] => [name.trim().split(" ")[0] ?? "", type]);
    }),
  );
  const unknown = declarations.flatMap(({ name, kind, since = "0" }) => {
    const holder = kind === "enumerator" ? enumerations.get(name) : name.split(".")[0];
    const expected = table.get(name) ?? table.get(holder ?? "");
    if (expected === undefined) return isNewer(since) ? [`${name} is of macOS ${since}: the table lacks it`] : [];
    return since === expected ? [] : [`${name} is of macOS ${since}; the table says ${expected}`];
  });
  const declared = new Set(declarations.map(({ name }) => name));
  return [...unknown, ...NEWER.flatMap(({ name }) => (declared.has(name) ? [] : [`${name} is declared nowhere`]))];
}

/** Members that the sources name, as clang sees them: each is marked as deprecated with its own name. */
async function usedMembers(): Promise<ReadonlySet<string>> {
  const folder = mkdtempSync(join(tmpdir(), "lockstep-headers-"));
  for (const { path, text, declarations } of ALL) {
    const members = declarations.filter(isMember).values();
    const marked = text.replace(/^((?:@property|[-+] \()[^;]*);/gm, (_, member: string) => {
      return `${member} __attribute__((deprecated("<${members.next().value?.name}>")));`;
    });
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), marked);
    expect(members.next().done, path).toBe(true);
  }
  const target = await AppleTarget.open(folder);
  const used = new Set<string>();
  try {
    await eachOf(
      SOURCES.filter(({ objective }) => objective),
      async (source) => {
        const flags = ["-Wno-everything", "-Wno-error", "-Wdeprecated-declarations"];
        const said = await target.diagnose(source, textOf(source.path), flags);
        for (const [, name = ""] of said.matchAll(/ is deprecated: <(.+?)>/g)) used.add(name);
      },
    );
  } finally {
    target.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return used;
}

describe("the headers", () => {
  // A Mac's SDK stands in their place.
  it.runIf(process.platform !== "darwin")(
    "declare no member that neither the sources, nor the language, nor the stand-in uses",
    async () => {
      const used = await usedMembers();
      const members = ALL.flatMap(({ declarations }) => declarations.filter(isMember).map(({ name }) => name));
      expect(members.length).toBeGreaterThan(100);
      const beyond = [...Object.keys(BY_LANGUAGE), ...BY_STAND_IN];
      expect(members.filter((name) => !used.has(name)).sort()).toEqual([...beyond].sort());
    },
    PATIENCE,
  );

  it("declare no function, constant, class or enumerator that is used nowhere", () => {
    const users = ["native/metal", "test/native/metal/stand_in"].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(?:mm|h)$/.test(name))
        .map((name) => textOf(`${folder}/${name}`).replace(/\/\/.*$/gm, "")),
    );
    const words = new Set(users.join("\n").match(/\w+/g));
    const others = ALL.flatMap(({ declarations }) => declarations).filter((declaration) => !isMember(declaration));
    const within = (name: string): boolean =>
      ALL.some(({ text }) => (text.match(new RegExp(`\\b${name}\\b`, "g")) ?? []).length > 1) ||
      ALL.filter(({ text }) => new RegExp(`\\b${name}\\b`).test(text)).length > 1;
    const unused = others.filter(({ kind, name }) => {
      if (words.has(name)) return false;
      // Types and words for clang serve the declarations around them.
      return !(["type", "macro", "protocol", "class"].includes(kind) && within(name));
    });
    expect(unused.map(({ name }) => name)).toEqual([]);
  });

  it("give what is newer than the oldest macOS the version that the table gives", () => {
    expect(disagreements(METAL)).toEqual([]);
  });

  it("hide what is newer than SDK 14.2 from an older SDK, and nothing else", () => {
    const wrong = METAL.filter(
      ({ since = "0", sdk }) => sdk !== (Number(since) >= 15 ? Number(since) * 10_000 : undefined),
    );
    expect(wrong.map(({ name, since, sdk }) => `${name}: macOS ${since}, SDK ${sdk}`)).toEqual([]);
  });
});

describe("the comparison bites: it finds", () => {
  /** Disagreements after a change of one header, which must apply. */
  function changed(path: string, find: string, replace: string): readonly string[] {
    const changes = ALL.map((header) => {
      if (header.path !== path) return header.declarations;
      expect(header.text).toContain(find);
      return readDeclarations(header.text.replace(find, replace));
    });
    return disagreements(changes.flat());
  }

  it("a version that is missing, wrong or not in the table", () => {
    const architecture = "*architecture API_AVAILABLE(macos(14.0))";
    expect(changed("Metal/MTLDevice.h", architecture, "*architecture")).toEqual([
      "MTLDevice.architecture is of macOS 0; the table says 14.0",
    ]);
    expect(changed("Metal/MTLDevice.h", architecture, "*architecture API_AVAILABLE(macos(13.3))")).toEqual([
      "MTLDevice.architecture is of macOS 13.3; the table says 14.0",
    ]);
    expect(changed("Metal/MTLDevice.h", "registryID;", "registryID API_AVAILABLE(macos(14.0));")).toEqual([
      "MTLDevice.registryID is of macOS 14.0: the table lacks it",
    ]);
  });

  it("a version that a whole class or enumeration has lost", () => {
    expect(changed("Metal/MTLLogState.h", "} API_AVAILABLE(macos(15.0));", "};")).toEqual([
      "MTLLogLevel is of macOS 0; the table says 15.0",
      "MTLLogLevelDebug is of macOS 0; the table says 15.0",
    ]);
  });

  it("a fact without a declaration", () => {
    expect(changed("Metal/MTLDevice.h", "queryTimestampFrequency", "queryTimestampfrequency")).toEqual([
      "MTLDevice.queryTimestampfrequency is of macOS 26.0: the table lacks it",
      "MTLDevice.queryTimestampFrequency is declared nowhere",
    ]);
  });

  it("a statement that it cannot read", () => {
    expect(() => readDeclarations("@interface A : B\nint c;\n@end\n")).toThrow("unknown in A: int c;");
    expect(() => readDeclarations("@interface A : B\n- (void)c\n")).toThrow("a statement has no end: - (void)c");
  });
});
