import { describe, expect, it } from "vitest";
import { flatten } from "../../../native/msl/source.ts";
import { readSource, shown } from "./workbench.ts";

const HELPER = { path: "lib/helper.h", text: "#pragma once\nint helper();" };

describe("flatten", () => {
  it("puts the text in place of the include, with #line both ways", () => {
    const result = flatten({ path: "lib/k.metal", text: 'int a;\n#include "helper.h"\nint b;\n' }, [HELPER]);
    expect(result.ok && result.flat.text).toBe(
      [
        '#line 1 "lib/k.metal"',
        "int a;",
        "#ifndef LOCKSTEP_INCLUDED_0",
        "#define LOCKSTEP_INCLUDED_0",
        '#line 1 "lib/helper.h"',
        "",
        "int helper();",
        "#endif",
        '#line 3 "lib/k.metal"',
        "int b;",
        "",
        "",
      ].join("\n"),
    );
    expect(result.ok && result.flat.files.map((file) => file.path)).toEqual(["lib/k.metal", "lib/helper.h"]);
  });

  it("takes each file once, also around a circle", () => {
    const a = { path: "a.h", text: '#include "b.h"\nint a;' };
    const b = { path: "b.h", text: '#include "a.h"\nint b;' };
    const result = flatten({ path: "k.metal", text: '#include "a.h"\n#include "b.h"\n' }, [a, b]);
    const text = result.ok ? result.flat.text : "";
    expect(text.match(/int a;/g)).toHaveLength(1);
    expect(text.match(/int b;/g)).toHaveLength(1);
  });

  it("keeps a file that was first included inside a condition that does not hold", async () => {
    const program = await readSource(
      '#if 0\n#include "helper.h"\n#endif\n#include "helper.h"\nkernel void k(device int* x) { x[0] = helper(); }\n',
      {},
      [HELPER],
    );
    const places = program.unit.tokens
      .filter((token) => token.text === "helper")
      .map((token) => program.unit.files[token.file]);
    expect(places).toEqual(["lib/helper.h", "kernel.metal"]);
  });

  it("leaves includes in comments and in angle brackets alone", () => {
    const text = '// #include "no.h"\n/*\n#include "no.h"\n*/\n#include <metal_stdlib>\n';
    const result = flatten({ path: "k.metal", text });
    expect(result.ok && result.flat.text).toBe(`#line 1 "k.metal"\n${text}\n`);
  });

  it("finds a file beside the including one before one of the same name elsewhere", () => {
    const files = [
      { path: "x/common.h", text: "int x;" },
      { path: "y/common.h", text: "int y;" },
    ];
    const result = flatten({ path: "y/k.metal", text: '#include "common.h"\n' }, files);
    expect(result.ok && result.flat.files[1]?.path).toBe("y/common.h");
  });

  it.each([
    [
      'int a;\n  #include "gone.h"\n',
      'k.metal:2:3: error: "gone.h" is not among the files given with this source (x/c.h, y/c.h)',
    ],
    ['#include "c.h"\n', 'k.metal:1:1: error: "c.h" could mean x/c.h or y/c.h: write more of the path'],
  ])("refuses what it does not find, at its line: %j", (text, expected) => {
    const files = [
      { path: "x/c.h", text: "" },
      { path: "y/c.h", text: "" },
    ];
    const result = flatten({ path: "k.metal", text }, files);
    expect(!result.ok && shown(result.diagnostics[0]!)).toContain(expected);
  });
});
