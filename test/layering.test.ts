/** Holds the import rules of docs/architecture.md: imports run downwards only. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "..");

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

/** What a folder may import, by prefix of the importing file; the longest prefix that fits is in force. */
const ALLOWED: readonly { readonly from: string; readonly may: readonly string[]; readonly why: string }[] = [
  { from: "oracle/", may: ["oracle/"], why: "the oracle shares no code with any kernel" },
  { from: "kernels/", may: ["kernels/"], why: "kernels and their tables stand on their own" },
  { from: "native/", may: ["native/"], why: "a device knows nothing of what runs on it" },
  {
    from: "electron/",
    may: ["electron/", "native/", "kernels/", "oracle/"],
    why: "electron stands on the three below",
  },
  {
    from: "renderer/",
    may: [
      "renderer/",
      "electron/contract.ts",
      "electron/contract/",
      "electron/actions.ts",
      "electron/words.ts",
      "electron/analysis/layout.ts",
      "electron/analysis/lengths.ts",
      "electron/analysis/messages.ts",
      "electron/attachments/attachment.ts",
      "electron/attachments/matches.ts",
      "electron/captures/messages.ts",
      "electron/captures/occupancy.ts",
      "electron/checker/excerpt.ts",
      "electron/checker/merge.ts",
      "electron/checker/rules.ts",
      "electron/checker/sarif.ts",
      "electron/checker/text.ts",
      "electron/gates/gates.ts",
      "electron/device/budget.ts",
      "electron/device/models.ts",
      "electron/device/working_set.ts",
      "kernels/",
      "native/check.ts",
      "native/device.ts",
    ],
    why: "the window talks through the contract",
  },
];

/** Packages that only some files may import. */
const RESTRICTED: readonly { readonly what: RegExp; readonly only: RegExp; readonly why: string }[] = [
  { what: /^electron$/, only: /^electron\/(preload\.ts$|shell\/)/, why: "only the desktop shell imports electron" },
  { what: /native\/addon\.ts$/, only: /^(electron\/host\/|native\/)/, why: "only the host loads the addon" },
];

function sourceFiles(folder: string): string[] {
  const full = path.join(ROOT, folder);
  if (!fs.existsSync(full)) return [];
  return fs.readdirSync(full, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const file = path.posix.join(folder, name.split(path.sep).join("/"));
    return /\.tsx?$/.test(file) ? [file] : [];
  });
}

function importsOf(file: string, text: string): Import[] {
  const pattern = /^\s*(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gms;
  return [...text.matchAll(pattern)].map((match) => {
    const target = match[2] ?? "";
    const to = target.startsWith(".") ? path.posix.join(path.posix.dirname(file), target) : target;
    return { from: file, to, typeOnly: match[1] !== undefined };
  });
}

/** Every file of the project that `entry` brings along, itself included, without what is imported for its types alone. */
function reachable(entries: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file) || !fs.existsSync(path.join(ROOT, file))) return;
    seen.add(file);
    for (const { to, typeOnly } of importsOf(file, fs.readFileSync(path.join(ROOT, file), "utf8"))) {
      if (!typeOnly && /\.tsx?$/.test(to)) visit(to);
    }
  };
  for (const entry of entries) visit(entry);
  return seen;
}

function violations(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to, typeOnly }) => {
    const broken: string[] = [];
    const rule = ALLOWED.find((candidate) => from.startsWith(candidate.from));
    const internal = ALLOWED.some((candidate) => to.startsWith(candidate.from));
    if (rule !== undefined && internal && !rule.may.some((prefix) => to.startsWith(prefix))) {
      broken.push(`${from} imports ${to}: ${rule.why}`);
    }
    for (const restricted of RESTRICTED) {
      if (!typeOnly && restricted.what.test(to) && !restricted.only.test(from)) {
        broken.push(`${from} imports ${to}: ${restricted.why}`);
      }
    }
    return broken;
  });
}

describe("layering", () => {
  it("imports run downwards only", () => {
    const files = ["oracle", "kernels", "native", "electron", "renderer"].flatMap(sourceFiles);
    expect(files.length).toBeGreaterThan(10);
    const imports = files.flatMap((file) => importsOf(file, fs.readFileSync(path.join(ROOT, file), "utf8")));
    expect(violations(imports)).toEqual([]);
  });

  it("what the window brings along is pure: nothing of Node, none of the processes behind it", () => {
    const brought = [...reachable(sourceFiles("renderer"))];
    expect(brought).toContain("electron/runs/record.ts");
    const needNode = brought.flatMap((file) =>
      importsOf(file, fs.readFileSync(path.join(ROOT, file), "utf8"))
        .filter(({ to, typeOnly }) => !typeOnly && /^(node:|ws$|electron$|commander$)/.test(to))
        .map(({ from, to }) => `${from} imports ${to}`),
    );
    expect(needNode).toEqual([]);
    // Of the device only its words and the form of its reports.
    expect(brought.filter((file) => /^(native|electron\/(host|workbench|cli))\//.test(file)).sort()).toEqual([
      "native/check.ts",
      "native/device.ts",
    ]);
    expect([...reachable(["electron/serve.ts"])]).toContain("electron/host/client.ts");
  });

  it("only the desktop's main process and preload bring Electron along", () => {
    const bringsElectron = (entry: string): readonly string[] =>
      [...reachable([entry])].filter((file) =>
        importsOf(file, fs.readFileSync(path.join(ROOT, file), "utf8")).some(
          ({ to, typeOnly }) => !typeOnly && to === "electron",
        ),
      );
    for (const entry of ["electron/cli.ts", "electron/serve.ts", "electron/host/main.ts", "electron/host/bench.ts"]) {
      expect(bringsElectron(entry), entry).toEqual([]);
    }
    expect(bringsElectron("electron/main.ts")).toContain("electron/shell/utility_host.ts");
    expect(bringsElectron("electron/preload.ts")).toEqual(["electron/preload.ts"]);
  });

  it("flags an import that runs upwards, and the addon outside the host", () => {
    const upwards = importsOf("oracle/metrics.ts", 'import { gate } from "../electron/gates/gates.ts";\n');
    expect(violations(upwards)).toEqual([
      "oracle/metrics.ts imports electron/gates/gates.ts: the oracle shares no code with any kernel",
    ]);
    const addon = importsOf("electron/cli.ts", 'import { loadAddon } from "../native/addon.ts";\n');
    expect(violations(addon)).toEqual(["electron/cli.ts imports native/addon.ts: only the host loads the addon"]);
    const types = importsOf("electron/runs/run.ts", 'import type { Addon } from "../../native/addon.ts";\n');
    expect(violations(types)).toEqual([]);
    const behind = importsOf("renderer/state/x.ts", 'import { Runs } from "../../electron/workbench/runs.ts";\n');
    expect(violations(behind)).toEqual([
      "renderer/state/x.ts imports electron/workbench/runs.ts: the window talks through the contract",
    ]);
    const shell = importsOf("electron/serve.ts", 'import {\n  app,\n} from "electron";\n');
    expect(violations(shell)).toEqual(["electron/serve.ts imports electron: only the desktop shell imports electron"]);
  });
});
