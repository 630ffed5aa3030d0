/** docs/metal-facts.md names what the stand-in headers declare and what native/metal passes by number, all of it. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { FAMILY_VALUES } from "../../native/metal/binding.ts";
import { typeName } from "../../native/metal/constants.ts";
import { commandBufferFailure } from "../../native/metal/failure.ts";
import { LANGUAGES } from "../../native/metal/language.ts";
import { HEADERS, ROOT } from "../native/metal/apple_target.ts";
import { type Declaration, readDeclarations } from "../native/metal/declarations.ts";

const TEXT = fs.readFileSync(path.join(ROOT, "docs", "metal-facts.md"), "utf8");

const DECLARED: readonly Declaration[] = fs
  .readdirSync(HEADERS, { recursive: true, encoding: "utf8" })
  .filter((name) => /^(?:Metal|Foundation|CoreFoundation|IOKit)\/.*\.h$/.test(name))
  .flatMap((name) => readDeclarations(fs.readFileSync(path.join(HEADERS, name), "utf8")));

/** Cells of the table under a heading, without its two first lines. */
function rows(heading: string, text = TEXT): readonly (readonly string[])[] {
  const section = text.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The number that an enumerator is given: `4`, `0x2 << 8`. */
function valueIn(name: string, text: string): number {
  const [, left = "", shift = "0"] = new RegExp(`\\b${name} = (\\w+)(?: << (\\d+))?\\s*[,}]`).exec(text) ?? [];
  return Number(left === "" ? Number.NaN : left) * 2 ** Number(shift);
}

/** `MTLDevice.name` for each member, `MTLHeapType = 0` for each enumerator, as the headers declare them. */
const HEADER_FACTS: readonly string[] = DECLARED.flatMap(({ kind, name, text }) => {
  if (kind === "property" || kind === "method") return [name];
  return kind === "enumerator" ? [`${name} = ${valueIn(name, text)}`] : [];
});

/** The same, as the document tells them. */
function toldFacts(text = TEXT): readonly string[] {
  const bare = (cell = ""): string => cell.replaceAll("`", "");
  const members = rows("Members", text).flatMap(([name, listed = ""]) =>
    [...listed.matchAll(/`([^`]+)`/g)].map(([, member]) => `${bare(name)}.${member}`),
  );
  return [...members, ...rows("Values", text).map(([name, value]) => `${bare(name)} = ${value}`)];
}

/** What one side has and the other has not. */
function differences(told: readonly string[]): readonly string[] {
  const both = [
    HEADER_FACTS.filter((fact) => !told.includes(fact)),
    told.filter((fact) => !HEADER_FACTS.includes(fact)),
  ];
  return both.flat();
}

describe("docs/metal-facts.md", () => {
  it("names every member of every class and gives every enumerator its value, and nothing else", () => {
    expect(HEADER_FACTS.length).toBeGreaterThan(130);
    expect(differences(toldFacts())).toEqual([]);
  });

  it("is found to lack a member or a value, or to have a wrong one", () => {
    expect(differences(toldFacts(TEXT.replace("`registryID`, ", "")))).toEqual(["MTLDevice.registryID"]);
    expect(differences(toldFacts(TEXT.replace("`registryID`", "`registryId`")))).toEqual([
      "MTLDevice.registryID",
      "MTLDevice.registryId",
    ]);
    expect(differences(toldFacts(TEXT.replace("ArchiveMiss` | 4", "ArchiveMiss` | 8")))).toEqual([
      "MTLPipelineOptionFailOnBinaryArchiveMiss = 4",
      "MTLPipelineOptionFailOnBinaryArchiveMiss = 8",
    ]);
  });

  it("has a witness in every row", () => {
    for (const heading of ["Members", "Values", "Numbers that TypeScript passes", "Behaviour"]) {
      expect(rows(heading).length, heading).toBeGreaterThan(5);
      for (const cells of rows(heading)) expect(cells.at(-1), `${heading}: ${cells[0]}`).not.toBe("");
    }
  });

  it("says the numbers that native/metal passes", () => {
    const numbers = new Map(rows("Numbers that TypeScript passes").map(([what = "", values = ""]) => [what, values]));
    const types = [...(numbers.get("`MTLDataType` of a constant") ?? "").matchAll(/(\d+) `(\w+)`/g)];
    expect(types).toHaveLength(12);
    expect(types.map(([, raw]) => typeName(Number(raw)))).toEqual(types.map(([, , name]) => name));
    const versions = (numbers.get("`MTLLanguageVersion` by macOS") ?? "").split(";").flatMap((part) => {
      const [, listed = "", macos] = /^(.*) on (\d+)$/.exec(part.trim()) ?? [];
      return [...listed.matchAll(/\d\.\d/g)].map(([version]) => ({ version, macos: Number(macos) }));
    });
    expect(versions).toEqual(LANGUAGES);
    expect(numbers.get("`MTLGPUFamily`")).toBe("1005 to 1010, 5001, 5002");
    expect(FAMILY_VALUES).toEqual([1005, 1006, 1007, 1008, 1009, 1010, 1011, 5001, 5002]);
    const codes = (numbers.get("`MTLCommandBufferError`") ?? "").split(", ").map(Number);
    const known = Array.from({ length: 20 }, (_, code) => code).filter((code) => {
      const error = { words: "", domain: "MTLCommandBufferErrorDomain", code };
      return !commandBufferFailure("It", error, []).message.includes("no reason that is known");
    });
    expect(codes).toEqual(known);
  });
});
