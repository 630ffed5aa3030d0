/** The checker's word for a window: of a kept run, and of a manifest's kernel, through the contract and the real host. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallOutput, StreamItem } from "../../../electron/contract.ts";
import { scratchFolder } from "../runs/harness.ts";
import { follow, type OpenedWindow, openWindow, request } from "./fixture.ts";

let opened: OpenedWindow;
let id: string;
let checks: CallOutput<"checks.list">;
let folder: string;

const SOURCE = `#include <metal_stdlib>
using namespace metal;

kernel void reverse(device const float* in [[buffer(0)]],
                    device float* out [[buffer(1)]],
                    uint i [[thread_index_in_threadgroup]]) {
  threadgroup float shared[64];
  shared[i] = in[i];
  BARRIER
  out[i] = shared[63 - i];
}
`;

const MANIFEST = {
  schema: "lockstep.kernel/1",
  name: "reverse",
  source: "reverse.metal",
  sizes: { N: 64 },
  buffers: [
    { name: "in", values: { type: "f32", shape: ["N"], index: ["i"], value: "i" } },
    { name: "out", scratch: "4 * N" },
  ],
  dispatches: [
    {
      function: "reverse",
      threadgroups: [1],
      threadsPerThreadgroup: ["N"],
      arguments: [
        { index: 0, buffer: "in" },
        { index: 1, buffer: "out" },
      ],
    },
  ],
};

beforeAll(async () => {
  opened = openWindow();
  folder = scratchFolder();
  ({ id } = await opened.window.call("runs.start", request({ case: "gqa_decode/h32kv4d512" })));
  await follow(opened.window, id);
  checks = await opened.window.call("checks.list", { id });
});

afterAll(async () => {
  await opened.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

type Item = StreamItem<"kernel.check">;

async function checkOf(barrier: string, texts = false): Promise<readonly Item[]> {
  const files = {
    "reverse.metal": SOURCE.replace("BARRIER", barrier),
    "reverse.kernel.json": JSON.stringify(MANIFEST),
  };
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text);
  const from = texts
    ? {
        kind: "texts" as const,
        name: "reverse.kernel.json",
        manifest: files["reverse.kernel.json"],
        files: [{ path: "reverse.metal", text: files["reverse.metal"] }],
      }
    : { kind: "file" as const, path: path.join(folder, "reverse.kernel.json"), root: null };
  const items: Item[] = [];
  for await (const item of opened.window.stream("kernel.check", { from, sizes: {}, chip: null })) items.push(item);
  return items;
}

function reportsOf(items: readonly Item[]) {
  const end = items.at(-1);
  if (end?.type !== "kernel_ended") throw new Error(`it ended with ${JSON.stringify(end)}`);
  return end.answer.stage.outcomes.at(-1)?.check?.reports ?? [];
}

describe("the checks of a run", () => {
  it("are those that its results name, each for every result of the same pipelines", () => {
    expect(checks.checks).toHaveLength(1);
    const [check] = checks.checks;
    expect(check).toMatchObject({ operator: "gqa_decode", route: "naive", flavour: "check", pinned: false });
    expect(check?.results.map((result) => result.case.split("/")[2])).toEqual(["L1", "L33", "L1023"]);
    expect(check?.result.reports).toEqual([]);
    expect(check?.result.traffic.exact).toBe(true);
  });

  it("name the shape of the small case, so that its logical bytes can be derived", () => {
    const { shape, case: key, defines } = checks.checks[0]!;
    if (shape?.operator !== "gqa_decode") throw new Error(`the shape is ${JSON.stringify(shape)}`);
    expect(key).toBe(`gqa_decode/h32kv4d512/L${shape.live}/spread/f32`);
    expect(shape).toMatchObject({ heads: 32, kvHeads: 4, dim: 512 });
    expect(defines).not.toBeNull();
  });

  it("come with the sources as they were compiled", () => {
    const paths = checks.texts.map((text) => text.path);
    expect(paths).toContain("gqa_decode/naive.metal");
    const named = checks.checks.flatMap(({ result }) =>
      result.traffic.dispatches.flatMap(({ lines }) => lines.flatMap(({ location }) => location?.path ?? [])),
    );
    expect([...new Set(named)].filter((name) => !paths.includes(name))).toEqual([]);
  });

  it("are refused for a run that is not there", async () => {
    await expect(opened.window.call("checks.list", { id: "no.lockstep" })).rejects.toThrow("no.lockstep is not in");
  });

  it("say of every kind what it cannot see", async () => {
    const { kinds } = await opened.window.call("checks.kinds", {});
    expect(kinds.map(({ kind }) => kind)).toContain("race");
    expect(kinds.filter(({ blindSpot, mechanism }) => blindSpot === "" || mechanism === "")).toEqual([]);
  });
});

describe("the kernel of a manifest", () => {
  it("is silent where a barrier stands, and reports the race with both lines where it does not", async () => {
    const sound = await checkOf("threadgroup_barrier(mem_flags::mem_threadgroup);");
    expect(sound[0]?.type).toBe("kernel_progress");
    expect(reportsOf(sound).filter(({ severity }) => severity === "error")).toEqual([]);
    const races = reportsOf(await checkOf("", true)).filter(({ kind }) => kind === "race");
    const lines = races.flatMap(({ first, second }) => [first.location?.line, second?.location?.line]);
    expect(new Set(lines)).toEqual(new Set([8, 10]));
  });

  it("is refused with the compiler's words where it does not compile", async () => {
    const end = (await checkOf("lost_name();")).at(-1);
    expect(end).toMatchObject({ type: "kernel_refused", code: "compile_failed" });
    expect(end?.type === "kernel_refused" ? end.diagnostics[0] : undefined).toMatchObject({ line: 9 });
  });

  it("keeps a run from beginning, and another check", async () => {
    const from = { kind: "file" as const, path: path.join(folder, "reverse.kernel.json"), root: null };
    fs.writeFileSync(
      path.join(folder, "reverse.metal"),
      SOURCE.replace("BARRIER", "threadgroup_barrier(mem_flags::mem_none);"),
    );
    const going = opened.window.stream("kernel.check", { from, sizes: {}, chip: null });
    await going.next();
    await expect(opened.window.call("runs.start", request())).rejects.toThrow("is being checked");
    const second = opened.window.stream("kernel.check", { from, sizes: {}, chip: null });
    await expect(second.next()).rejects.toThrow("is being checked");
    // Leaving early cancels it; the host then takes the next one.
    await going.return();
    await expect
      .poll(
        () =>
          opened.window.call("runs.start", request()).then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
  });
});
