import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeShape } from "../../../electron/cases/case.ts";
import { answerLines, knownArchitectures, offline } from "../../../electron/cli/offline.ts";
import type { Output } from "../../../electron/cli/output.ts";
import { places } from "../../../electron/host/root.ts";
import { librarySteps, pipelineScript, translateStep } from "../../../electron/offline/plan.ts";
import { offlineReceipts } from "../../../electron/offline/receipts.ts";
import { LIVE_FLOATS, selfTestKernel, selfTestReasons, selfTestSource } from "../../../electron/offline/self_test.ts";
import { findRoute } from "../../../kernels/routes.ts";
import { temporary } from "../evidence/fixture.ts";
import { gpuBinary } from "./binaries.ts";

let folder: string;
let before: string | undefined;

beforeEach(() => {
  folder = temporary();
  before = process.env.PATH;
});

afterEach(() => {
  process.env.PATH = before;
  fs.rmSync(folder, { recursive: true, force: true });
});

/**
 * An `xcrun` that stands first on the path: `metal` and `metallib` copy, `metal-tt` copies the binary of the kernel that its
 * script names. It writes every call to a file.
 */
function fakeXcrun(
  binaries: Readonly<Record<string, Buffer>>,
  change: (script: string) => string = (script) => script,
): void {
  for (const [kernel, bytes] of Object.entries(binaries))
    fs.writeFileSync(path.join(folder, `${kernel}.gpubin`), bytes);
  const script = `#!/bin/sh
echo "$*" >> "${folder}/calls"
shift 2
if [ "$1" = "--find" ]; then echo "/fake/$2"; exit 0; fi
tool="$1"; shift
if [ "$tool" = metal ] && [ "$1" = "--version" ]; then echo "Apple metal version 32023.850 (stand-in)"; exit 0; fi
for word in "$@"; do last="$word"; done
case "$tool" in
  metal) while [ $# -gt 1 ]; do [ "$1" = "-c" ] && cp "$2" "$last"; shift; done ;;
  metallib) cp "$1" "$last" ;;
  metal-tt)
    kernel=$(sed 's/.*"compute_function":"\\([a-z0-9_]*\\)".*/\\1/' "$4")
    grep -q "kernel void $kernel(" "$3" || { echo "error: no function $kernel" >&2; exit 1; }
    cp "${folder}/$kernel.gpubin" "$last" ;;
esac
`;
  fs.writeFileSync(path.join(folder, "xcrun"), change(script), { mode: 0o755 });
  process.env.PATH = `${folder}:${before}`;
}

const SELF_TEST = {
  [selfTestKernel(8)]: gpuBinary(13, 0),
  [selfTestKernel(48)]: gpuBinary(53, 0),
  [selfTestKernel(256)]: gpuBinary(126, 592),
};

const shape = decodeShape({ heads: 32, kvHeads: 4, dim: 512, live: 100, scale: 1 });
const plan = findRoute("gqa_decode", "naive").plan(shape);
const KERNEL = plan.dispatches[0]!.kernel;
const read = (architectures: readonly string[] = ["applegpu_g16s"]) =>
  offlineReceipts({ plan, kernels: places().kernels, architectures });

describe("registers and spill through the offline tools", () => {
  it("come from the binary of each kernel, once the self-test has held", async () => {
    fakeXcrun({ ...SELF_TEST, [KERNEL]: gpuBinary(44, 16, 2048) });
    const answer = await read(["applegpu_g13g", "applegpu_g16s"]);
    expect(answer).toMatchObject({
      available: true,
      compiler: "Apple metal version 32023.850 (stand-in)",
      selfTests: [
        { architecture: "applegpu_g13g", reasons: [] },
        { architecture: "applegpu_g16s", reasons: [] },
      ],
      receipts: ["applegpu_g13g", "applegpu_g16s"].map((architecture) => ({
        architecture,
        kernel: KERNEL,
        figures: { registers: 44, spillBytes: 16, codeBytes: 2048 },
        reason: null,
        by: "probe",
        source: expect.stringContaining("undocumented: fields found by"),
      })),
    });
    const calls = fs.readFileSync(path.join(folder, "calls"), "utf8");
    expect(calls).toContain("-sdk macosx metal -std=metal3.1 -O2 -fno-fast-math");
    expect(calls.match(/metal-tt -arch applegpu_g13g/g)).toHaveLength(4);
  });

  it("are withheld where the self-test does not hold, with the reason", async () => {
    fakeXcrun({ ...SELF_TEST, [selfTestKernel(256)]: gpuBinary(126, 0), [KERNEL]: gpuBinary(44, 16) });
    const answer = await read();
    expect(answer).toMatchObject({
      available: true,
      receipts: [
        {
          figures: null,
          reason:
            "withheld, the self-test did not hold: a kernel that holds 256 floats spills nothing; no Apple GPU holds them",
        },
      ],
    });
    if (!answer.available) throw new Error("not available");
    expect(answerLines(answer, "naive", "a").join("\n")).toMatch(
      /self-test applegpu_g16s: .*did not hold: a kernel that holds 256/,
    );
  });

  it("are withheld where the binary is of another form", async () => {
    fakeXcrun({ ...SELF_TEST, [selfTestKernel(8)]: Buffer.from("another form"), [KERNEL]: gpuBinary(44, 16) });
    expect(await read()).toMatchObject({
      receipts: [{ figures: null, reason: expect.stringContaining("the binary is not of the form that is known") }],
    });
  });

  it("keep the words of a tool that refuses, for that kernel alone", async () => {
    fakeXcrun({ ...SELF_TEST, [KERNEL]: gpuBinary(44, 16) }, (script) =>
      script.replace(
        "metal-tt)",
        `metal-tt)\n    grep -q ${KERNEL} "$4" && { echo "error: cannot find private metadata at offset 8" >&2; exit 1; }`,
      ),
    );
    expect(await read()).toMatchObject({
      selfTests: [{ reasons: [] }],
      receipts: [{ figures: null, reason: "error: cannot find private metadata at offset 8" }],
    });
  });

  it("are not available without xcrun or without a tool, with the mend", async () => {
    process.env.PATH = folder;
    expect(await read()).toMatchObject({
      available: false,
      reason: "there is no xcrun on this machine",
      mend: expect.stringContaining("install Xcode 26"),
    });
    fakeXcrun({}, (script) =>
      script.replace(
        'if [ "$1" = "--find" ]',
        'if [ "$2" = metal-tt ]; then echo "xcrun: error: unable to find utility" >&2; exit 72; fi\nif [ "$1" = "--find" ]',
      ),
    );
    expect(await read()).toMatchObject({
      available: false,
      reason: "xcrun finds no metal-tt: xcrun: error: unable to find utility",
    });
  });

  it("leave nothing on the disk", async () => {
    fakeXcrun({ ...SELF_TEST, [KERNEL]: gpuBinary(44, 16) });
    const temp = temporary();
    const was = process.env.TMPDIR;
    process.env.TMPDIR = temp;
    await read();
    process.env.TMPDIR = was;
    if (was === undefined) delete process.env.TMPDIR;
    expect(fs.readdirSync(temp)).toEqual([]);
    fs.rmSync(temp, { recursive: true });
  });
});

describe("lockstep offline", () => {
  const lines: string[] = [];
  const output: Output = {
    line: (text) => void lines.push(text),
    note: () => undefined,
    progress: () => undefined,
    clear: () => undefined,
    colour: false,
  };
  beforeEach(() => void lines.splice(0));

  it("shows a table, the self-test and how the figures are known", async () => {
    fakeXcrun({ ...SELF_TEST, [KERNEL]: gpuBinary(44, 16, 2048) });
    const options = { route: "naive", case: "L33.spread", arch: "applegpu_g16s" };
    expect(await offline(options, places(), output)).toBe(0);
    expect(lines.slice(1)).toEqual([
      "architecture   kernel     stages     registers  spill, B  code, B",
      expect.stringMatching(/^applegpu_g16s {2}\S+ +\S+ +44 +16 +2,048$/),
      "self-test applegpu_g16s: registers/spill 13/0, 53/0, 126/592 for 8, 48, 256 floats; held",
      expect.stringMatching(/^known by: probe, undocumented: fields found by .* may change with any Xcode$/),
    ]);
  });

  it("exits 2 where the tools are not there, and refuses what is no architecture", async () => {
    process.env.PATH = folder;
    expect(await offline({ json: true }, places(), output)).toBe(2);
    expect(JSON.parse(lines.join("\n"))).toMatchObject({ available: false, architectures: knownArchitectures() });
    for (const arch of ["g16s; rm", "applegpu_", "--help", ""]) {
      await expect(offline({ arch }, places(), output)).rejects.toThrow("No architecture is called");
    }
  });
});

describe("the plan of commands", () => {
  it("is a table from the source to the binary", () => {
    const files = { source: "a.metal", air: "a.air", library: "a.metallib" };
    const steps = [
      ...librarySteps(files, "3.1", { T: "half", D: 512 }),
      translateStep("applegpu_g17s", "a.metallib", "a.mtlp-json", "a.gpubin"),
    ];
    expect(steps.map(({ command }) => command.join(" "))).toEqual([
      "xcrun -sdk macosx metal -std=metal3.1 -O2 -fno-fast-math -DT=half -DD=512 -c a.metal -o a.air",
      "xcrun -sdk macosx metallib a.air -o a.metallib",
      "xcrun -sdk macosx metal-tt -arch applegpu_g17s a.metallib a.mtlp-json -o a.gpubin",
    ]);
  });

  it("names the kernel and its constants in the script", () => {
    expect(JSON.parse(pipelineScript("k"))).toEqual({ pipelines: { compute_pipelines: [{ compute_function: "k" }] } });
    const script = pipelineScript("k", [
      { index: 0, type: "bool", value: true },
      { index: 3, type: "uint", value: 7 },
    ]);
    expect(JSON.parse(script)).toMatchObject({
      libraries: {
        specialized_functions: [
          {
            label: "lockstep",
            function: "k",
            specialized_name: "k_specialised",
            constant_values: [
              { id_type: "FunctionConstantIndex", id: { data: 0 }, value_type: "ConstantBool", value: { data: true } },
              { id_type: "FunctionConstantIndex", id: { data: 3 }, value_type: "ConstantUInt", value: { data: 7 } },
            ],
          },
        ],
      },
      pipelines: { compute_pipelines: [{ compute_function: "alias:lockstep#k_specialised" }] },
    });
    expect(() => pipelineScript("k", [{ index: 0, type: "float", value: 1 }])).toThrow("A constant of type float");
  });
});

describe("the self-test", () => {
  const figures = (registers: number, spillBytes: number) => ({ registers, spillBytes, codeBytes: 1 });

  it("has a kernel for each number of floats, whose values all live through a loop", () => {
    const source = selfTestSource();
    for (const live of LIVE_FLOATS) expect(source).toContain(`kernel void ${selfTestKernel(live)}(`);
    expect(source.match(/= fma\(/g)).toHaveLength(8 + 48 + 256);
  });

  it("holds for figures that rise and spill only where they must", () => {
    expect(selfTestReasons([figures(13, 0), figures(53, 0), figures(96, 700)])).toEqual([]);
  });

  it.each([
    [[figures(2, 0), figures(53, 0), figures(96, 700)], "has 2 registers; 8 to 40 are expected"],
    [[figures(41, 0), figures(53, 0), figures(96, 700)], "has 41 registers"],
    [[figures(13, 0), figures(20, 0), figures(96, 700)], "48 at least are expected"],
    [[figures(13, 16), figures(53, 0), figures(96, 700)], "8 floats spills 16 bytes"],
    [[figures(13, 0), figures(53, 16), figures(96, 700)], "48 floats spills 16 bytes"],
    [[figures(13, 0), figures(53, 0), figures(96, 0)], "256 floats spills nothing"],
    [[figures(13, 0), figures(97, 0), figures(96, 700)], "they must rise"],
  ] as const)("does not hold otherwise (%#)", (read, words) => {
    expect(selfTestReasons(read).join("; ")).toContain(words);
  });
});
