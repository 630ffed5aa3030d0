/** Manifests that are wrong on purpose: each is refused with a sentence that names the place, none takes the program along. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KernelRun } from "../../../electron/manifest/run.ts";
import { loadManifest } from "../../../electron/manifest/sources.ts";
import { type Bench, openBench, scratchFolder } from "../runs/harness.ts";

const GOOD = {
  schema: "lockstep.kernel/1",
  name: "hostile",
  source: "k.metal",
  sizes: { N: 4 } as Record<string, unknown>,
  buffers: [{ name: "out", scratch: 16 }] as object[],
  dispatches: [
    { function: "k", threadgroups: [1], threadsPerThreadgroup: ["N"], arguments: [{ index: 0, buffer: "out" }] },
  ] as object[],
};

const KERNEL =
  "#include <metal_stdlib>\nusing namespace metal;\nkernel void k(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = i; }\n";

const CASE = {
  operator: "attention",
  heads: 1,
  kvHeads: 1,
  queries: 1,
  keys: 4,
  headDim: 4,
  scale: 1,
  dtype: "f32",
};

let bench: Bench;
let folder: string;
beforeAll(async () => {
  bench = await openBench();
  folder = scratchFolder();
  fs.writeFileSync(path.join(folder, "k.metal"), KERNEL);
});
afterAll(async () => {
  await bench.device.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

async function refusal(manifest: object | string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const file = path.join(folder, "m.kernel.json");
  fs.writeFileSync(file, typeof manifest === "string" ? manifest : JSON.stringify(manifest));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text);
  try {
    await new KernelRun(loadManifest(file), bench.device, bench.addon).run("fast", { timeoutMs: 5000 });
    return "nothing";
  } catch (error) {
    const { name, message } = error as Error;
    // A defect of the program is no answer.
    expect(["UsageError", "DeviceError"], message).toContain(name);
    return message;
  }
}

function dispatch(change: object): object {
  return { ...GOOD, dispatches: [{ ...GOOD.dispatches[0], ...change }] };
}

describe("what is refused", () => {
  it("is not the manifest that the others are made from", async () => {
    expect(await refusal(GOOD)).toBe("nothing");
  });

  it.each<readonly [string, object | string, string]>([
    ["no JSON", "{ schema", "JSON"],
    ["an array", "[]", "expected object"],
    ["a text", '"lockstep.kernel/1"', "expected object"],
    ["a key twice", '{"schema":"lockstep.kernel/1","schema":"lockstep.kernel/1"}', "stands twice"],
    ["depths", `${"[".repeat(100)}${"]".repeat(100)}`, "deeper than"],
    ["a prototype", '{"__proto__":{"schema":"lockstep.kernel/1"}}', "__proto__"],
    ["a number that overflows", JSON.stringify(GOOD).replace('"N":4', '"N":1e999'), "overflows"],
    ["a wrong type", { ...GOOD, buffers: {} }, "buffers"],
    ["no dispatch", { ...GOOD, dispatches: [] }, "dispatches"],
    ["a file that is not there", { ...GOOD, source: "none.metal" }, "none.metal cannot be read (ENOENT)"],
    ["a folder for a file", { ...GOOD, source: "." }, "is no file"],
    ["a way out of the root", { ...GOOD, source: "../../etc/passwd" }, "leads out of"],
    ["an absolute path", { ...GOOD, source: "/etc/passwd" }, "relative to the root"],
    ["geometry that is NaN", { ...GOOD, sizes: { N: "0 / 0" } }, "must be a whole number"],
    ["geometry that is infinite", { ...GOOD, sizes: { N: "1 / 0" } }, "must be a whole number"],
    ["no threads", { ...GOOD, sizes: { N: 0 } }, "at least 1"],
    ["a fraction of a thread", { ...GOOD, sizes: { N: 1.5 } }, "must be a whole number"],
    ["too many threads", { ...GOOD, sizes: { N: 4096 } }, "1,024"],
    ["threadgroups beyond 32 bits", dispatch({ threadgroups: ["2 ** 3"] }), "it is no expression"],
    ["a grid beyond counting", dispatch({ threadgroups: ["exp2(40)"] }), "threadgroups"],
    ["a size that uses itself", { ...GOOD, sizes: { N: "N + 1" } }, "it names N"],
    ["a function that is not there", dispatch({ function: "nothing" }), "nothing"],
    ["a buffer that is not there", dispatch({ arguments: [{ index: 0, buffer: "in" }] }), "there are out"],
    ["an argument that is missing", dispatch({ arguments: [] }), "nothing is bound to"],
    ["an offset behind the buffer", dispatch({ arguments: [{ index: 0, buffer: "out", offset: 1000 }] }), "offset"],
    ["every dispatch left out", dispatch({ when: "N > 100" }), "No dispatch is left"],
    [
      "a buffer of a petabyte",
      { ...GOOD, buffers: [{ name: "out", scratch: "exp2(50)" }] },
      "the limit is 8,589,934,592",
    ],
    [
      "a list of billions",
      { ...GOOD, buffers: [{ name: "out", values: { type: "f32", shape: ["exp2(32)"], value: 0 } }] },
      "the limit is 16777216",
    ],
    [
      "a list that its type does not hold",
      { ...GOOD, buffers: [{ name: "out", values: { type: "u8", shape: [4], value: 256 } }] },
      "u8 holds 0 to 255",
    ],
    ["one name twice", { ...GOOD, buffers: [...GOOD.buffers, ...GOOD.buffers] }, "the name"],
    ["a tensor without a case", { ...GOOD, buffers: [{ name: "out", tensor: "q", axes: ["dim"] }] }, 'no "case"'],
    ["a case beyond memory", { ...GOOD, case: { ...CASE, keys: "exp2(40)" } }, "the limit is"],
    [
      "a case beyond patience",
      { ...GOOD, case: { ...CASE, queries: "exp2(20)", keys: "exp2(20)" } },
      "the oracle would need",
    ],
    ["heads that do not divide", { ...GOOD, case: { ...CASE, heads: 3, kvHeads: 2 } }, "no multiple"],
    [
      "padding that is negative",
      dispatch({ threadgroupPadding: -16, threadgroupMemory: [{ index: 0, bytes: 16 }] }),
      "at least 0",
    ],
    ["threadgroup memory without end", dispatch({ threadgroupMemory: [{ index: 0, bytes: "exp2(30)" }] }), "32,768"],
  ])("%s", async (_, manifest, why) => {
    expect(await refusal(manifest)).toContain(why);
  });

  it("a cycle of includes is none: each file is taken once, whether it has a guard or not", async () => {
    const cycle = { ...GOOD, source: "c.metal" };
    const files = { "c.metal": `#include "a.h"\n${KERNEL}`, "a.h": '#include "b.h"\n', "b.h": '#include "a.h"\n' };
    expect(await refusal(cycle, files)).toBe("nothing");
    expect(await refusal(cycle, { ...files, "b.h": '#pragma once\n#include "a.h"\n' })).toBe("nothing");
  });

  it("an include that is not there, and one that leaves the root", async () => {
    const source = { ...GOOD, source: "i.metal" };
    expect(await refusal(source, { "i.metal": `#include "absent.h"\n${KERNEL}` })).toContain("absent.h");
    expect(await refusal(source, { "i.metal": `#include "../../../../etc/hostname"\n${KERNEL}` })).toContain(
      "hostname",
    );
  });
});
