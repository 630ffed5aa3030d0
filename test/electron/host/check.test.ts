/** Kernels compiled without a run: what the compiler says stands at its file, line and column. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { CheckRequest } from "../../../electron/analysis/check_messages.ts";
import { checkKernels } from "../../../electron/host/check.ts";
import { loadAddon } from "../../../native/addon.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";

const folder = scratchFolder();

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const SHAPE = {
  operator: "mla_prefill",
  heads: 2,
  nope: 128,
  rope: 64,
  value: 128,
  cuSeqlensQ: [0, 20],
  cuSeqlensK: [0, 20],
  qOffset: [0],
  scale: 0.1,
  dtype: "f32",
} as const satisfies CheckRequest["shape"];

const naive = (over: Partial<CheckRequest> = {}): CheckRequest => ({
  route: "naive",
  shape: { ...SHAPE, cuSeqlensQ: [0, 20], cuSeqlensK: [0, 20], qOffset: [0] },
  chip: null,
  ...over,
});

/** The kernels of this checkout with one file changed. */
function kernelsWith(name: string, file: string, change: (text: string) => string): string {
  const kernels = path.join(folder, name);
  fs.cpSync(WHERE.kernels, kernels, { recursive: true });
  const at = path.join(kernels, file);
  fs.writeFileSync(at, change(fs.readFileSync(at, "utf8")));
  return kernels;
}

const check = (request: CheckRequest, kernels: string = WHERE.kernels) =>
  checkKernels(request, { ...WHERE, kernels }, () => loadAddon(WHERE.addon));

describe("a check of kernels", () => {
  it("builds every kernel of a route that is right, and says on what", async () => {
    const answer = await check(naive({ chip: "M5" }));
    expect(answer).toMatchObject({ device: "emulated:m5", diagnostics: [], refusal: null });
    expect(answer.files).toEqual(["mla_prefill/naive.metal", "mla_prefill/sequence.h"]);
    expect(answer.pipelines.map(({ kernel }) => kernel)).toEqual(["mla_prefill_naive"]);
  });

  it("puts an error at its line and column, in a source and in what it includes", async () => {
    const file = "mla_prefill/naive.metal";
    const lines = fs.readFileSync(path.join(WHERE.kernels, file), "utf8").split("\n").length;
    const inSource = kernelsWith("source", file, (text) => `${text}\nfloat wrong() { return not_there; }\n`);
    const { diagnostics, pipelines, refusal } = await check(naive(), inSource);
    expect(pipelines).toEqual([]);
    expect(refusal).toBeNull();
    expect(diagnostics).toContainEqual({
      severity: "error",
      path: file,
      line: lines + 1,
      column: 24,
      message: expect.stringContaining("not_there"),
    });

    const header = "mla_prefill/sequence.h";
    const inHeader = kernelsWith("header", header, (text) => `${text}\nfloat wrong() { return gone; }\n`);
    const found = await check(naive(), inHeader);
    expect(found.diagnostics.some((one) => one.path === header && one.severity === "error")).toBe(true);
  });

  it("refuses a route without a kernel, a shape without a plan and a chip that does not exist", async () => {
    await expect(check(naive({ route: "matrix_16x16" }))).rejects.toMatchObject({ code: "usage" });
    await expect(check(naive({ route: "nothing" }))).rejects.toThrow('no route "nothing"');
    await expect(check(naive({ chip: "M99" }))).rejects.toMatchObject({ code: "usage" });
  });
});
