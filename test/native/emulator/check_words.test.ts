/** The words of the checker in two languages: what the runtime counts and writes is what its readers know, in one order. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { CHECK_KINDS, checkReportSchema } from "../../../native/check.ts";
import { runnerReply } from "../../../native/emulator/protocol.ts";

const RUNTIME = path.resolve(import.meta.dirname, "../../../native/emulator/runtime");
const HEADER = fs.readFileSync(path.join(RUNTIME, "check.h"), "utf8");
const LINES = fs.readFileSync(path.join(RUNTIME, "check_lines.cpp"), "utf8");

/** Enumerators of an enumeration in C, in order, without the prefix and in lower case. */
function enumerators(text: string, name: string, prefix: string): readonly string[] {
  const body = new RegExp(`typedef enum ${name} \\{([^}]*)\\}`).exec(text)?.[1] ?? "";
  return [...body.matchAll(/\b[A-Z][A-Z0-9_]*\b/g)].map(([word]) => word.replace(prefix, "").toLowerCase());
}

/** The strings of an array in C++. */
function strings(text: string, name: string): readonly string[] {
  const body = new RegExp(`${name}\\[[^\\]]*\\] = \\{([^}]*)\\}`).exec(text)?.[1] ?? "";
  return [...body.matchAll(/"([^"]*)"/g)].map(([, word]) => word ?? "");
}

/** Where the enumerator is shorter than the word. */
const LONGER: Readonly<Record<string, string>> = { exchange: "lockstep_exchange", same_value: "same_value_write" };

const kindsOf = (text: string): readonly string[] =>
  enumerators(text, "lockstep_report_kind", "LOCKSTEP_")
    .filter((word) => word !== "report_kinds")
    .map((word) => LONGER[word] ?? word);

describe("kinds of reports", () => {
  it("are the same words in the same order where they are counted, written and read", () => {
    expect(kindsOf(HEADER)).toEqual([...CHECK_KINDS]);
    expect(strings(LINES, "kKinds")).toEqual([...CHECK_KINDS]);
  });

  it("two that changed places, or one that is left out, are seen", () => {
    const swapped = HEADER.replace("LOCKSTEP_NAN_CREATED,\n  LOCKSTEP_INFINITY_CREATED,", (text) =>
      text.split(",").reverse().join(","),
    );
    expect(swapped).not.toBe(HEADER);
    expect(kindsOf(swapped)).not.toEqual([...CHECK_KINDS]);
    expect(strings(LINES.replace('    "misaligned",\n', ""), "kKinds")).not.toEqual([...CHECK_KINDS]);
  });
});

describe("address spaces and accesses", () => {
  it("are written as they are counted", () => {
    const spaces = strings(LINES, "kSpaces");
    expect(spaces).toEqual(enumerators(HEADER, "lockstep_space", "LOCKSTEP_SPACE_"));
    expect(spaces).toHaveLength(6);
    const read = runnerReply.options.flatMap(({ shape }) => ("space" in shape ? [shape.space.options] : []));
    expect(read.length).toBeGreaterThan(0);
    for (const options of read) expect(options).toEqual(spaces);
    const accesses = strings(LINES, "kAccesses");
    expect(accesses).toEqual(enumerators(HEADER, "lockstep_access", "LOCKSTEP_ACCESS_"));
    expect(accesses).toHaveLength(8);
    expect([...accesses].sort()).toEqual([...checkReportSchema.shape.first.shape.access.options].sort());
  });
});
