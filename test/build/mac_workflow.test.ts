/** The workflow for a Mac says what it must: the same command, pinned actions, the word about virtual GPUs, everything kept. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "..", "..");
const text = fs.readFileSync(path.join(ROOT, ".github", "workflows", "mac.yml"), "utf8");
const scripts = (
  JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> }
).scripts;

/** Actions that are used by anything but a full commit with its version beside it. */
function unpinned(workflow: string): readonly string[] {
  return [...workflow.matchAll(/uses:\s*(.+)$/gm)]
    .map((match) => match[1] ?? "")
    .filter((used) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used));
}

/** What a workflow for acceptances lacks, in words. */
function lacks(workflow: string): readonly string[] {
  const needs: readonly (readonly [string, RegExp])[] = [
    ["the command", /npm run --silent mac:accept -- --suite "\$SUITE" --out accept/],
    ["that a failing command fails the job behind tee", /set -o pipefail\n/],
    ["a runner that is arm64", /uname -m\)" = arm64/],
    ["an input for the runner's label", /workflow_dispatch:\n {4}inputs:\n {6}runner:/],
    ["the label where the job runs", /runs-on: \$\{\{ inputs\.runner \|\| 'macos-15' \}\}/],
    ["a comment about the virtual GPU", /^# .*paravirtual.*Apple5/m],
    [
      "the same in the summary of the job",
      /echo "On a hosted runner the GPU is a paravirtual one that reports family Apple5/,
    ],
    ["the summary of the job", />> "\$GITHUB_STEP_SUMMARY"/],
    ["that bundle and log are kept whatever happened", /if: always\(\)\n {8}uses: actions\/upload-artifact@/],
    ["the folder that is kept", /path: accept\/\n {10}if-no-files-found: error/],
    ["rights to read alone", /^permissions:\n {2}contents: read$/m],
    ["a time limit", /timeout-minutes: \d+/],
  ];
  return needs.filter(([, pattern]) => !pattern.test(workflow)).map(([what]) => what);
}

describe("the workflow for a Mac", () => {
  it("has what it needs, with pinned actions", () => {
    expect(lacks(text)).toEqual([]);
    expect(unpinned(text)).toEqual([]);
    expect(scripts["mac:accept"]).toBe("node build/accept.mjs");
  });

  it("passes no input into a shell but through the environment", () => {
    const shells = [...text.matchAll(/run: \|\n((?: {10}.*\n| *\n)+)/g)].map((match) => match[1] ?? "");
    expect(shells.length).toBe(2);
    for (const shell of shells) expect(shell).not.toContain("${{");
  });

  it("has no tabs and an even indentation", () => {
    expect(text).not.toContain("\t");
    expect(text.split("\n").filter((line) => /^( {2})* \S/.test(line))).toEqual([]);
  });

  it("is found wanting where a part is taken away", () => {
    expect(lacks(text.replace("set -o pipefail\n", ""))).toEqual(["that a failing command fails the job behind tee"]);
    expect(lacks(text.replace("|| 'macos-15' }}", "}}"))).toEqual(["the label where the job runs"]);
    expect(unpinned(text.replace(/@[0-9a-f]{40}/, "@v4"))).toHaveLength(1);
    expect(unpinned("uses: someone/something@main")).toEqual(["someone/something@main"]);
  });
});
