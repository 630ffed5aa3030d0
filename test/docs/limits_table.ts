/** The table of docs/limits.md, and what in it does not fit the repository. */
import fs from "node:fs";
import path from "node:path";
import { withBundle } from "../../electron/cli/bundle_argument.ts";
import { chipSupport } from "../../electron/evidence/level.ts";
import { verifyBundle } from "../../electron/evidence/verify.ts";
import { recordSchema } from "../../electron/runs/record.ts";

export const COLUMNS = [
  "part",
  "executed on Linux",
  "type-checked for macOS",
  "linked for macOS",
  "on a stand-in",
  "emulated",
  "on a Mac",
] as const;

/** Folder of bundles from Macs, in the repository. */
const HARDWARE = "hardware/";

/** Words of a cell in which nothing was done. `no` may be followed by a reason. */
const NOT_DONE = /^(no(: .+)?|not native|no kernel|by hand: `[^`]+`)$/;

export interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

/** The rows of the table under "By part"; the first is the head. */
export function tableOf(text: string): readonly Row[] {
  const lines = text.split("\n");
  const start = lines.indexOf("## By part");
  const rows: Row[] = [];
  for (let at = start + 1; start >= 0 && at < lines.length && !lines[at]!.startsWith("#"); at++) {
    const line = lines[at]!;
    if (!line.startsWith("|") || /^\|( --- \|)+$/.test(line)) continue;
    rows.push({
      line: at + 1,
      cells: line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    });
  }
  return rows;
}

function linksOf(cell: string): readonly string[] {
  return [...cell.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1]!);
}

/** Why a file of the repository is no evidence from a Mac; undefined where it is. */
function hardwareProblem(root: string, file: string): string | undefined {
  if (!file.startsWith(HARDWARE)) return `${file} is not in ${HARDWARE}`;
  const full = path.join(root, file);
  if (!fs.existsSync(full)) return `${file} is not there`;
  try {
    return withBundle(full, (folder) => {
      const { result } = verifyBundle(folder);
      if (result !== "valid") return `${file} does not verify`;
      const record = recordSchema.parse(JSON.parse(fs.readFileSync(path.join(folder, "data", "record.json"), "utf8")));
      const { chip, why } = chipSupport(record);
      return chip === null ? `${file} supports no chip: ${why ?? `its execution is ${record.execution}`}` : undefined;
    });
  } catch (error) {
    return `${file}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Immediate folders of `native/` and `electron/`, with `/` at the end. */
function foldersOf(root: string): readonly string[] {
  return ["native", "electron"].flatMap((top) =>
    fs
      .readdirSync(path.join(root, top), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${top}/${entry.name}/`),
  );
}

function cellProblems(root: string, { line, cells }: Row): readonly string[] {
  const at = `line ${line}`;
  if (cells.length !== COLUMNS.length) return [`${at} has ${cells.length} cells; the table has ${COLUMNS.length}`];
  const checks = cells.slice(1, -1).flatMap((cell, index) => {
    const where = `${at}, ${COLUMNS[index + 1]}`;
    const links = linksOf(cell);
    if (links.length === 0)
      return NOT_DONE.test(cell) ? [] : [`${where}: "${cell}" is neither a test nor a known word`];
    return links.flatMap((link) => {
      const file = path.join(root, "docs", link);
      if (!/^\.\.\/test\/.*\.test\.ts$/.test(link)) return [`${where}: ${link} is no test`];
      return fs.existsSync(file) ? [] : [`${where}: ${link} is not there`];
    });
  });
  const mac = cells.at(-1)!;
  const bundles = linksOf(mac).map((link) => path.posix.normalize(path.posix.join("docs", link)));
  const hardware =
    bundles.length === 0
      ? mac === "never"
        ? []
        : [`${at}, on a Mac: "${mac}" is neither "never" nor a bundle`]
      : bundles.flatMap((file) => hardwareProblem(root, file) ?? []).map((problem) => `${at}, on a Mac: ${problem}`);
  return [...checks, ...hardware];
}

/** Everything in which the table does not fit the repository; empty where it does. */
export function problemsOf(text: string, root: string): readonly string[] {
  const [head, ...rows] = tableOf(text);
  if (head === undefined || head.cells.join() !== COLUMNS.join()) {
    return [`the columns are ${head?.cells.join(", ") ?? "not there"}; they must be ${COLUMNS.join(", ")}`];
  }
  const parts = rows.map(({ cells }) => cells[0] ?? "");
  const missing = foldersOf(root).filter((folder) => !parts.some((part) => part.includes(`\`${folder}`)));
  const named = parts.flatMap((part) => [...part.matchAll(/`([^`*]+\/)[^`]*`/g)].map((match) => match[1]!));
  return [
    ...missing.map((folder) => `${folder} has no row`),
    ...named.filter((folder) => !fs.existsSync(path.join(root, folder))).map((folder) => `${folder} is not there`),
    ...rows.flatMap((row) => cellProblems(root, row)),
  ];
}
