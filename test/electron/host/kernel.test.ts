/** The host runs the kernel of a manifest: from texts, with progress, once at a time, and it may die. */
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KernelProgress, KernelRequest } from "../../../electron/checker/messages.ts";
import { HostClient } from "../../../electron/host/client.ts";
import { fromHostSchema, toHostSchema } from "../../../electron/host/messages.ts";
import { scratchFolder, WHERE } from "../runs/harness.ts";

const FOLDER = path.join(import.meta.dirname, "..", "manifest", "golden");

let folder: string;
beforeAll(() => {
  folder = scratchFolder();
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function text(name: string): string {
  return fs.readFileSync(path.join(FOLDER, name), "utf8");
}

/** The golden manifest as texts. */
function request(change: Partial<KernelRequest> = {}, source = text("attention.metal")): KernelRequest {
  return {
    from: {
      kind: "texts",
      name: "attention",
      manifest: text("attention.kernel.json"),
      files: [
        { path: "attention.metal", text: source },
        { path: "shape.h", text: text("shape.h") },
      ],
    },
    purpose: "run",
    flavour: null,
    sizes: {},
    device: null,
    chip: null,
    timeoutMs: null,
    workers: null,
    ...change,
  };
}

describe("a host", () => {
  it("runs a kernel from texts, tells its phases, and answers questions and runs afterwards", async () => {
    const client = new HostClient({ path: WHERE.host });
    const seen: KernelProgress[] = [];
    const end = client.kernel(request(), (progress) => seen.push(progress));
    await expect(client.kernel(request(), () => undefined)).rejects.toThrow("one at a time");
    expect(await end).toMatchObject({ type: "kernel_ended", answer: { verdict: "pass", pinned: false } });
    expect(new Set(seen.map(({ phase }) => phase))).toEqual(new Set(["compile", "run", "repeat", "oracle"]));
    const checked = await client.kernel(request({ purpose: "check" }), () => undefined);
    expect(checked).toMatchObject({
      type: "kernel_ended",
      answer: { stageCached: false, result: { flavour: "check" } },
    });
    await client.close();
  });

  it("refuses with a code, and with the compiler's places and the text they stand in", async () => {
    const client = new HostClient({ path: WHERE.host });
    const run = (asked: KernelRequest) => client.kernel(asked, () => undefined);
    expect(await run(request({ sizes: { Z: 1 } }))).toMatchObject({ type: "kernel_refused", code: "usage" });
    expect(await run(request({ chip: "M99" }))).toMatchObject({ type: "kernel_refused", code: "usage" });
    const absent = { kind: "file", path: path.join(folder, "absent.kernel.json"), root: null } as const;
    expect(await run(request({ from: absent }))).toMatchObject({ type: "kernel_refused", code: "usage" });
    const broken = await run(request({}, text("attention.metal").replace("float sum = 0;", "float sum = zero;")));
    expect(broken).toMatchObject({
      type: "kernel_refused",
      code: "compile_failed",
      diagnostics: [{ path: "attention.metal", severity: "error", message: expect.stringContaining("zero") }],
      texts: [{ path: "attention.metal" }],
    });
    await client.close();
  });

  it("is cancelled, and may be killed: both end with words", async () => {
    const forever = text("attention.metal").replace("float sum = 0;", "float sum = 0; for (volatile int n = 1; n;) {}");
    const client = new HostClient({ path: WHERE.host });
    const cancelled = client.kernel(request({}, forever), ({ phase }) => {
      if (phase === "run") client.cancel();
    });
    expect(await cancelled).toMatchObject({ type: "kernel_refused", code: "cancelled" });
    const killed = client.kernel(request({}, forever), ({ phase }) => {
      if (phase === "run") client.kill();
    });
    expect(await killed).toMatchObject({ type: "stopped", reason: expect.stringContaining("SIGKILL") });
    await client.close();
  });

  it("that talks nonsense is stopped", async () => {
    const nonsense = path.join(folder, "nonsense.mjs");
    fs.writeFileSync(nonsense, 'process.on("message", () => process.send({ type: "kernel_ended", answer: 1 }));\n');
    const end = await new HostClient({ path: nonsense }).kernel(request(), () => undefined);
    expect(end).toMatchObject({ type: "stopped", reason: expect.stringContaining("may not send") });
  });
});

describe("messages", () => {
  it("are strict", () => {
    expect(toHostSchema.safeParse({ type: "kernel", request: request() }).success).toBe(true);
    expect(toHostSchema.safeParse({ type: "kernel", request: { ...request(), extra: 1 } }).success).toBe(false);
    expect(toHostSchema.safeParse({ type: "kernel", request: request({ timeoutMs: -1 }) }).success).toBe(false);
    const progress = { type: "kernel_progress", flavour: "fast", phase: "run", dispatch: null, fraction: null };
    expect(fromHostSchema.safeParse(progress).success).toBe(true);
    expect(fromHostSchema.safeParse({ ...progress, fraction: 2 }).success).toBe(false);
  });
});
